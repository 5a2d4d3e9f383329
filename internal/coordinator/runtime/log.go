package runtime

import (
	"barnabas/internal/kafka"
	"barnabas/internal/record"
)

// PartitionLog is the log of a partition under one leadership. Append, AppendMarker,
// Read and MaxBatchBytes are called by one goroutine at a time, State and Await by any.
type PartitionLog interface {
	// Append appends a batch, whose offsets and leader epoch are filled in, if this
	// node still leads with the epoch of the leadership. guard is that of a batch of a
	// transaction. The errors are then also what the log has against its producer:
	// ErrInvalidProducerEpoch, ErrInvalidTxnState.
	Append(batch record.Batch, guard uint64) (Appended, kafka.ErrorCode)
	// AppendMarker appends the marker of a transaction, as Append does. The errors are
	// also what the log has against the marker: ErrInvalidProducerEpoch,
	// ErrTransactionCoordinatorFenced.
	AppendMarker(m kafka.Marker) (Appended, kafka.ErrorCode)
	// State says where the log begins and ends. ErrReplicaNotAvailable means that it
	// is not open yet.
	State() (LogState, kafka.ErrorCode)
	// Read reads entries from the first one that holds from or a later offset:
	// as many as fit into buf, but at least one, for which it may make a larger buffer.
	// The last one may be cut. Nothing is read at the end of the log.
	Read(from kafka.Offset, buf []byte) ([]byte, error)
	// Await calls done once, when the high watermark has reached the offset, or with
	// an error when the leadership is over. It may do so before it returns. While the
	// log is not open, opening it ends the wait too, with any code.
	Await(offset kafka.Offset, done func(kafka.ErrorCode))
	// MaxBatchBytes is the size of the largest batch that is taken (max.message.bytes).
	MaxBatchBytes() int
}

// Appended says where the log stands after an append.
type Appended struct {
	End           kafka.Offset // of the batch: the offset behind it
	HighWatermark kafka.Offset
}

// LogState is where a log begins and ends.
type LogState struct {
	Start, HighWatermark, End kafka.Offset
}
