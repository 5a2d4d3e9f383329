// Package runtime gives a coordinator's cores (package machine) what they live in:
// a shard for each partition of an internal topic that this node leads. A shard
// loads the state from the log, runs operations one at a time, appends what they
// decide in batches, and answers when the high watermark has passed them. In Apache
// Kafka this is CoordinatorRuntime with its loader and its partition writer.
//
//	r := runtime.New(runtime.Options[*group.Core]{New: newCore, ...})
//	r.Lead(12, runtime.Leadership{...})       // loads, then serves
//	r.Do(12, operation, refuse)               // decide → replay → append → commit → Done
//	r.Resign(12)                              // all that waits is answered
//	r.Close()
//
// It does not know what the records mean, which key lives in which partition, nor
// what a log is beyond PartitionLog.
//
// # An operation
//
// It runs on the goroutine that brought it when its shard is free (package serial).
// Its records are replayed and join the open batch, which is appended when nothing
// else is queued (group.coordinator.append.linger.ms=-1), after the linger time, or
// when it is full. What is appended and not yet committed is in flight: no goroutine
// waits for it. The registry is marked with the end of each batch, so an append that
// fails takes the state back to before the batch, and everything that was
// decided on that state is refused.
//
// Records of a transaction are a batch of their own, with the producer's id and epoch,
// which is appended at once. The marker that ends the transaction comes by WriteMarker,
// behind all that is decided.
//
// If the log ends elsewhere than the shard believes (somebody else has written to the
// partition), the state is thrown away and loaded anew, as in Apache.
//
// # Refusals
//
//	COORDINATOR_LOAD_IN_PROGRESS  the partition is being loaded
//	NOT_COORDINATOR               not led here, or its log could not be loaded, or
//	                              the node stops
//	COORDINATOR_NOT_AVAILABLE     a queue of the shard is full (operations that wait to
//	                              run, or batches in flight); Apache has no bound there.
//	                              Clients look the coordinator up again and retry
//
// What Done is told is in package machine.
//
// # Loading
//
// A few partitions are loaded at a time, each on a goroutine of a pool, from the log
// start to the log end, until the end stands still. Then the load waits for the high
// watermark to reach that end: a state that is older than what was acknowledged before
// the start is never shown. Checksums are
// verified: state that is served must not come from flipped bits. What cannot be read
// fails the shard, with one ERROR that names the offset; it is tried again when
// the partition gets another leader epoch.
//
// # Who owns what
//
//   - The core, its registry, the open batch, what is in flight, the timer: the
//     shard's executor. While loading, the core belongs to the load.
//   - What the metadata wants, a load that has ended, a wait for the log that is
//     over: shard.mu; whoever writes it pokes the executor.
//   - The table of shards: Runtime.mu.
//
// # Invariants
//
//  1. Records are replayed in the order in which they lie in the log, each once.
//  2. Done is called once for each decision that has one, by the executor.
//  3. An operation is run or refused, never both, never neither.
//  4. No operation sees a state that is being loaded.
//  5. What is answered without an error is committed in the log.
//
// Files:
//
//	log.go      PartitionLog
//	runtime.go  Runtime: options, the table of shards, operations
//	shard.go    a shard: its states, leadership
//	append.go   decisions to batches
//	marker.go   markers of transactions
//	flight.go   what is appended and not yet committed; timeouts
//	load.go     loading
//	stats.go    numbers
package runtime
