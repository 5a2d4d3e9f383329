// Package replica is every replica that this node hosts: it opens the logs of all
// log directories, gives each partition the role that the metadata says, appends
// what producers send, and reads what consumers fetch.
//
//	m, err := replica.Open(options)   // reads the directories; serves nothing yet
//	m.Apply(delta)                    // for each image, in order; the first opens the logs
//	m.Produce(run)                    // answers by ProduceCaller
//	m.Fetch(f)                        // answers by FetchCaller
//	m.Led(topic, partition, epoch)    // for the coordinator that lives in it
//	m.ListOffsets(...), m.OffsetForLeaderEpoch(...), m.DescribeProducers(...)
//	m.Close(epoch)                    // clean shutdown
//
// It knows no connections, no versions of requests beyond what changes a meaning,
// no authorizer (its callers ask), and not the controller but through two small
// interfaces. What a log is on disk, package commitlog knows.
//
// This node leads alone: followers are not served and nothing is followed. The
// arithmetic for more replicas is there (package isr); a partition whose leader
// is another node answers NOT_LEADER_OR_FOLLOWER.
//
// # How a produce request goes
//
// On the connection's goroutine: the partition is found, the records are
// validated, the run is grouped so that each partition gets one append, and
// appendLeader writes under the append lock. What the change means for others
// (effects) is collected under the lock and done after it (settle). Answers that
// wait sit in queues of the partition: first until the bytes are synced, where
// flush.messages asks for it, then until the high watermark has come. With
// flush.messages=1 the leader counts itself in the high watermark only as far as
// it is synced, so nothing is visible or acknowledged that a power cut could take
// away; one sync per log is under way and all that arrives meanwhile rides on the
// next.
//
// # How a fetch goes
//
// Every fetch works on a session (package fetchsession), those without one on a
// session of their own. Only partitions that are marked are read, from published
// snapshots, without a lock. If that is not enough, all are watched, looked at
// once more, and the fetch is parked: no goroutine waits. Whoever changes a
// partition marks it, and goes on with the fetch if that was what it waited for.
//
// # Who owns what
//
//   - Log, ISR and roles of a partition: its append lock (Partition.mu). It is the
//     one lock that is held across I/O, and only across one append (or the small
//     writes of a checkpoint). No sync of records runs under
//     it, but for what a roll adds to a segment that was synced before.
//   - What clients see of a partition: an immutable role behind an atomic pointer,
//     and the log's snapshot.
//   - The table of partitions: Manager.mu; written by who calls Apply.
//   - A log directory's checkpoints and deletions: its background goroutine.
//   - What is written in the place of a log's segments: the cleaner thread that took
//     the partition; putting it in place takes the append lock.
//   - A fetch: the goroutine that has claimed it; a session: its fetch.
//
// # Invariants
//
//  1. No two locks are held together. No callback runs under a lock.
//  2. What is acknowledged lies below the high watermark, or at acks=1 in the log;
//     with flush.messages=1 it is synced besides.
//  3. What comes after a failed write or sync in a log directory is never
//     acknowledged, and a sync is never repeated: the directory is offline.
//  4. A change of role first publishes the role and then ends all waits; whoever
//     queues a wait looks at the role afterwards. So no wait outlives its role.
//  5. A clean-shutdown mark is written only where every log was opened and closed
//     without an error.
//  6. Each request is answered exactly once.
//
// # Files
//
//	manager.go             Manager: options, the table of partitions
//	apply.go               the metadata publisher: replicas come, change, go
//	open.go                the logs of the start; new replicas; choice of directory
//	close.go               clean shutdown
//	dir.go                 a log directory: what lies in it, failing
//	cleaner.go             compaction: which partition, how many at once, what became of it
//	cleaner_target.go      a partition as a cleaning sees it; the limit of bytes per second
//	cleaner_checkpoint.go  how far each partition was cleaned
//	cleaner_status.go      what can be asked about it
//	background.go          its chores: checkpoints, flush.ms, deletion, expiry
//	retention.go           which old segments go, and how
//	deleterecords.go       DeleteRecords
//	settings.go            what a topic's configuration means here
//	env.go, executor.go    what partitions need of their surroundings
//	partition.go           Partition, its published role, effects of a change
//	partition_role.go      becoming leader, another configuration, leaving
//	append.go              the append under the lock
//	flush.go               group commit
//	produce.go             a run of Produce requests
//	produce_wait.go        answers that wait
//	verify.go              producers whose transaction begins in a partition
//	alter.go               proposals to the controller
//	fetch.go               a Fetch request from begin to answer
//	fetch_park.go          watching and waiting
//	fetch_read.go          reading the partitions of a fetch
//	led.go                 a led partition for a coordinator: append, read, wait
//	marker.go              markers of transactions
//	offsets.go             ListOffsets, OffsetForLeaderEpoch, DescribeProducers
//	full.go                a disk that is full
//	logdirs.go             DescribeLogDirs
//	explain.go             why old records are there; package why has the reasons
//	stats.go               numbers
package replica
