// Package membership makes this broker a member of the cluster: it registers with
// the controller, sends heartbeats, has the broker unfenced when it is ready, and
// at the end asks for a controlled shutdown. It also tells the controller in
// which log directory each replica lies (AssignReplicasToDirs, in batches).
//
// It knows nothing of the wire (the controller is an interface: a call in this
// process today), of logs, or of what the metadata says beyond its offset and
// level.
//
// There are no fixed waits: the next heartbeat leaves at once when something has
// changed that the controller must hear or that it waits for, so that in a
// combined node registration to unfencing takes the commits of two records.
//
// State: core is a pure state machine; Member owns one behind a serial executor,
// and Assignments its own lock. No goroutine is started. Channels that are
// returned close once.
//
// Invariants:
//
//  1. At most one registration or heartbeat is under way.
//  2. A heartbeat that reports a change leaves as soon as none is under way; what
//     changed while one was under way leads to another.
//  3. States only go forward: starting, recovery, running, draining, stopped.
//  4. A member never takes back its id from a newer incarnation: after
//     STALE_BROKER_EPOCH it does not register again (as Apache Kafka), but may
//     shut down at once, since it leads nothing.
//
// Files:
//
//	core.go         the state machine: what to send and when
//	member.go       Member: core, executor, timer, controller
//	assignments.go  Assignments: directories of replicas
package membership
