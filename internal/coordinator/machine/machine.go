package machine

import (
	"time"

	"barnabas/internal/kafka"
)

// Record is a record of an internal topic as it lies in the log. A nil Value is
// a tombstone.
type Record struct{ Key, Value []byte }

// Replayed is a record on its way into the state. Key and Value are lent: what is
// kept of them is copied.
type Replayed struct {
	Record
	Offset    kafka.Offset
	Timestamp time.Time
	// Transactional records belong to a transaction of ProducerID and count when its
	// marker comes; others have kafka.NoProducerID.
	ProducerID    kafka.ProducerID
	ProducerEpoch kafka.ProducerEpoch
	Transactional bool
}

// Transaction is the transaction of a producer.
type Transaction struct {
	ProducerID kafka.ProducerID
	Epoch      kafka.ProducerEpoch
	// Guard is what the log has given for the verification of the transaction (KIP-890),
	// 0 if there was none. It means nothing here.
	Guard uint64
}

// Decision is what an operation wants done. The zero Decision wants nothing.
type Decision struct {
	// Records are appended as one batch: all or none. The core has not applied
	// them; Replay does, before the next operation begins.
	Records []Record
	// Divisible records may be appended as several batches, of which only the first
	// ones may succeed: what tidies up may be larger than a batch.
	Divisible bool
	// Transaction, if not nil, says whose transaction the records belong to: they count
	// when its marker comes. They are a batch of their own.
	Transaction *Transaction
	// Done, if not nil, is called once, after the operation has returned: with
	// kafka.ErrNone when the records are committed (without records: when all that
	// was replayed before is), else with one of these:
	//
	//   - ErrCoordinatorNotAvailable: the records were not appended (too few replicas,
	//     too much under way), or not committed in time (offsets.commit.timeout.ms).
	//     In the latter case they stay, and the state with them.
	//   - ErrNotCoordinator: the partition is led here no longer, or its directory
	//     has failed.
	//   - What the log has against the producer of a transaction, say
	//     ErrInvalidProducerEpoch.
	//   - ErrMessageTooLarge: the records do not fit into a batch. Apache answers
	//     UNKNOWN_SERVER_ERROR then.
	//
	// But for a timeout the state is what it was before the records.
	Done func(kafka.ErrorCode)
}

// Machine is the core of one partition of an internal topic.
type Machine interface {
	// Replay applies a record. An error means that the record cannot be read:
	// at load the runtime logs it and marks the partition as failed.
	Replay(r Replayed) error
	// Ended says that the transaction of a producer was committed or aborted.
	Ended(id kafka.ProducerID, epoch kafka.ProducerEpoch, committed bool)
	// Loaded is called once, when the whole log has been replayed.
	Loaded(now time.Time)
	// Next is when Tick wants to be called, the zero time if never. It may be
	// earlier than needed.
	Next() time.Time
	// Tick ends what has expired.
	Tick(now time.Time) []Decision
	// Unload is called when the partition is led here no longer: the core answers
	// all that waits with the error. What is in flight is taken back afterwards, and
	// its decisions end; else the core is not called again.
	Unload(err kafka.ErrorCode)
}
