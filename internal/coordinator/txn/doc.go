// Package txn is the transaction coordinator: the core of one partition of
// __transaction_state, a machine.Machine. Its operations serve InitProducerId,
// AddPartitionsToTxn, AddOffsetsToTxn, EndTxn, DescribeTransactions and
// ListTransactions in all their versions, with the checks of Apache Kafka 4.4 in their
// order and its error codes (TransactionCoordinator, TransactionMetadata). It knows no
// connection, no configuration file, no authorization and no partition but by name:
// who calls has looked those up. Producer ids come as arguments; markers leave through
// a function. It reads no clock; time is an argument.
//
//	InitProducerID         Empty, with a new epoch
//	AddPartitions          Ongoing
//	EndTransaction         PrepareCommit, PrepareAbort; the markers are sent
//	Complete               CompleteCommit, CompleteAbort, when all are written
//
// A transaction that takes longer than its producer allowed, and one whose producer is
// replaced by another, is aborted with an epoch that its producer does not have. Ids
// that are not used for long are forgotten.
//
// Each step is one record with all that is known of the id. Apache Kafka lets the next
// step wait until the record is committed (CONCURRENT_TRANSACTIONS). Here it may be
// decided at once: the runtime takes back all that was decided on a record that fails,
// and each answer waits until all it stands on is committed.
//
// From transaction.version 2 on (KIP-890) each transaction has an epoch of its own: the
// end of one raises it, and the markers carry the raised one. So nothing that is late
// can touch a later transaction. Clients of the versions before keep their epoch.
//
// Limits: 1,000,000 transactional ids and 512 MiB of names and partitions of a core
// (COORDINATOR_NOT_AVAILABLE beyond); a transaction has as many partitions as fit
// into a record of max.message.bytes (UNKNOWN_SERVER_ERROR, as in Apache Kafka).
//
// Invariants:
//
//  1. Each request is answered once, when what the answer stands on is committed.
//  2. Epochs of a producer id only grow; a producer id belongs to one transactional id.
//  3. A transaction ends once: PrepareCommit and PrepareAbort are left for the Complete
//     of the same kind alone, when its markers are written.
//  4. Markers are sent when the end is committed, never before.
//  5. The state is what the records say, but for the epoch before the last, which is
//     for retries alone.
//
// Files:
//
//	core.go            Core: settings, limits, time, load
//	transaction.go     what is known of a transactional id
//	initproducerid.go  InitProducerId
//	addpartitions.go   AddPartitionsToTxn; verification
//	endtxn.go          EndTxn; fencing
//	markers.go         what follows the end: markers, and the end of the end
//	expire.go          transactions that take too long, ids that nobody uses
//	describe.go        DescribeTransactions, ListTransactions, counts
//	records.go         records, both ways
package txn
