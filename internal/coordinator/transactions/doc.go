// Package transactions is the transaction coordinator of a broker: the cores of package
// txn in their runtime, with producer ids from the broker's block, and the markers of
// transactions that end, which are sent until each partition has its own.
//
//	c := transactions.New(transactions.Options{...})
//	c.Lead(3, leadership)                       // as package runtime
//	c.AddPartitions(txn.Partitions{...}, func(code kafka.ErrorCode) { ... })
//	c.Close()
//
// Who leads a partition to which a client writes makes sure by Enlist that it is part of
// the client's transaction (KIP-890).
//
// Answers come once, on any goroutine, possibly before the call returns. Beside those
// of package txn the errors are those of package runtime: COORDINATOR_LOAD_IN_PROGRESS,
// NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE.
//
// It does not know where partitions are: Partitions writes markers, here or on another
// broker.
//
// # Markers
//
// A job per transaction, from its decision in the log to its completion in the log. A
// partition that does not exist any more needs no marker. One that has an epoch above
// the marker's has no open transaction of the marker's producer and epoch, so it needs
// none either (Apache Kafka gives such a transaction up and leaves its id blocked).
// All other errors are tried again, with a pause, as long as this broker
// is the coordinator: when it is not any more, or loads anew, the next load finds the
// transaction and sends its markers again. Markers carry the leader epoch of the
// partition of __transaction_state, by which partitions refuse those of a coordinator
// that was replaced.
//
// The number of jobs is bounded by that of transactional ids; a few run at a time.
//
// Files:
//
//	coordinator.go  Coordinator: operations
//	enlist.go       partitions that are written to
//	sender.go       markers
package transactions
