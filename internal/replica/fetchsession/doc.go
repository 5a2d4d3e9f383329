// Package fetchsession keeps incremental fetch sessions (KIP-227): the
// partitions that a consumer or follower fetches stay with the server, and each
// request names only what is different.
//
// Every fetch works on a Session. That of a request without a session, or of the
// first request of one, is new; Finish puts the latter into the cache when there
// is room. What the owner needs per session and per partition (a watcher, its
// watches) hangs on the session and its slots as values of its own types, which
// this package never looks at.
//
// The package knows neither logs nor requests in flight. A Session belongs to the
// request that works on it, from Begin to Finish, one at a time: a second request
// for a busy session is refused with INVALID_FETCH_SESSION_EPOCH, after which
// clients begin a new session. (Apache Kafka lets both run, and refuses the one
// that ends later.) Only what the cache decides by is shared, under the lock of
// its shard.
//
// Invariants:
//
//	S1  A partition has one slot in its session. Slot numbers are small, stable
//	    while the partition stays, and used again.
//	S2  The epoch of a session goes up by one with each request that it accepts;
//	    after 2147483647 comes 1.
//	S3  A session is released exactly once, by whoever Begin, Finish or
//	    Clear hands it to.
//	S4  A cache of n slots in 8 shards holds n/8 sessions a shard at most, and all
//	    of them maxPartitions partitions, give or take what is being finished.
//
// Files:
//
//	session.go  partitions of a session, their order, what must be answered
//	cache.go    finding, making, evicting sessions
package fetchsession
