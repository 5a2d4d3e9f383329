package commitlog

import (
	"errors"
	"sync/atomic"

	"barnabas/internal/kafka"
	"barnabas/internal/record"
)

// Log is one replica. All methods but Snapshot are called under its owner's
// append lock.
type Log struct {
	snap atomic.Pointer[Snapshot]
}

var errSoon = errors.New("commitlog: in preparation")

// Open opens or creates the log in o.Dir, recovers it if the last stop was not
// clean, and says what it did.
func Open(o Options) (*Log, OpenReport, error) { return nil, OpenReport{}, errSoon }

// Appended is what became of one batch.
type Appended struct {
	// Err is ErrNone or why the batch was refused. The others of its run are not
	// concerned, except by an error of the whole call.
	Err        kafka.ErrorCode
	Base, Last kafka.Offset
	// Duplicate says that the batch is in the log already, at Base and Last.
	Duplicate bool
	// Timestamp is, for a duplicate, the timestamp of the batch in the log.
	Timestamp kafka.TimestampMs
}

// AppendLeader appends batches that clients sent, in order. They come validated
// (record.Validate); their base offset and leader epoch are stamped in place.
// out, as long as batches, is filled. An error is one of the disk: then the log
// ends where it ended before the write that failed, and the batches of that
// write and those behind it carry ErrKafkaStorageError.
func (l *Log) AppendLeader(epoch kafka.LeaderEpoch, now kafka.TimestampMs, batches []record.Batch, out []Appended) error {
	return errSoon
}

// AppendCoordinator is AppendLeader for the batches of a coordinator: producer
// epochs are checked, sequences are not.
func (l *Log) AppendCoordinator(epoch kafka.LeaderEpoch, now kafka.TimestampMs, batches []record.Batch, out []Appended) error {
	return errSoon
}

// AppendRaft appends batches of a raft leader: offsets and the epoch are stamped
// in place, nothing else is checked. Control batches are allowed.
func (l *Log) AppendRaft(epoch kafka.LeaderEpoch, now kafka.TimestampMs, batches []record.Batch, out []Appended) error {
	return errSoon
}

// Marker ends a transaction.
type Marker struct {
	ProducerID       kafka.ProducerID
	ProducerEpoch    kafka.ProducerEpoch
	CoordinatorEpoch int32
	Commit           bool
	// TransactionVersion is the level of the feature at the coordinator. From 2
	// on the marker's epoch must be above the producer's, or repeat a marker that
	// has been written.
	TransactionVersion int16
}

// AppendMarker appends a transaction marker.
func (l *Log) AppendMarker(epoch kafka.LeaderEpoch, now kafka.TimestampMs, m Marker) (Appended, error) {
	return Appended{}, errSoon
}

// Followed is what a follower took over.
type Followed struct {
	Base, Last   kafka.Offset // of the batches appended; Last < Base if none was
	Batches      int
	Bytes        int
	MaxTimestamp kafka.TimestampMs
}

// AppendFollower appends batches as the leader has them. A partial batch at the
// end is ignored, and so are batches from the first one on whose leader epoch is
// above epoch, this replica's own. ErrOffsetOutOfOrder refuses batches below the
// log's end.
func (l *Log) AppendFollower(epoch kafka.LeaderEpoch, now kafka.TimestampMs, raw []byte) (Followed, error) {
	return Followed{}, errSoon
}

// Snapshot returns what is readable now. It is safe to call without the lock.
func (l *Log) Snapshot() *Snapshot { return l.snap.Load() }

// SetHighWatermark sets the high watermark, clamped to [log start, log end], and
// returns it.
func (l *Log) SetHighWatermark(o kafka.Offset) kafka.Offset { return 0 }

// LogStart is the first offset that may be read.
func (l *Log) LogStart() kafka.Offset { return 0 }

// LogEnd is the next offset.
func (l *Log) LogEnd() kafka.Offset { return 0 }

// HighWatermark is the offset below which everything is committed.
func (l *Log) HighWatermark() kafka.Offset { return 0 }

// LastStableOffset is the offset below which every transaction is decided.
func (l *Log) LastStableOffset() kafka.Offset { return 0 }

// RecoveryPoint is the offset below which everything has been synced.
func (l *Log) RecoveryPoint() kafka.Offset { return 0 }

// IncrementLogStart raises the log start. ErrOffsetOutOfRange refuses an offset
// above the high watermark; a lower one than the log start changes nothing.
func (l *Log) IncrementLogStart(o kafka.Offset) error { return errSoon }

// AssignEpoch notes that epoch begins at the log's end, as a new leader does
// before its first append.
func (l *Log) AssignEpoch(epoch kafka.LeaderEpoch) error { return errSoon }

// LatestEpoch is the newest epoch in the log, or NoLeaderEpoch.
func (l *Log) LatestEpoch() kafka.LeaderEpoch { return 0 }

// EndOffsetForEpoch answers where epoch ends here: the largest epoch of the log
// that is not above it, and where that one ends. Both are -1 if that cannot be
// said.
func (l *Log) EndOffsetForEpoch(epoch kafka.LeaderEpoch) (kafka.LeaderEpoch, kafka.Offset) {
	return 0, 0
}

// Garbage names files that the log no longer knows. They have been renamed to
// ".deleted"; Remove them when no reader can want them any more. A crash before
// that is harmless: Open removes them.
type Garbage struct {
	Dir   string
	Files []string
}

// TruncateTo removes everything at and above o. The checkpointed recovery point
// must be rewritten soon after it.
func (l *Log) TruncateTo(o kafka.Offset) (Garbage, error) { return Garbage{}, errSoon }

// TruncateFullyAndStartAt removes everything and lets the log begin and end at o.
func (l *Log) TruncateFullyAndStartAt(o kafka.Offset) (Garbage, error) { return Garbage{}, errSoon }

// Flush makes everything below upTo durable and raises the recovery point. It is
// BeginFlush, Sync and EndFlush in one, for callers that may hold the lock across
// the sync.
func (l *Log) Flush(upTo kafka.Offset) error { return errSoon }

// Flushing is a flush under way.
type Flushing struct{}

// BeginFlush, under the lock, notes what must be synced so that everything below
// upTo is durable; ok is false if all of it is.
func (l *Log) BeginFlush(upTo kafka.Offset) (f *Flushing, ok bool) { return nil, false }

// Sync does the work, without the lock. Its error means that the log directory
// has failed; it must not be tried again.
func (f *Flushing) Sync() error { return errSoon }

// EndFlush, under the lock again, raises the recovery point after a Sync that
// succeeded.
func (l *Log) EndFlush(f *Flushing) {}

// SealedEnd is the base offset of the active segment: what lies below it will not
// change and is to be flushed in the background after a roll.
func (l *Log) SealedEnd() kafka.Offset { return 0 }

// ProducerState is what the log knows of one producer.
type ProducerState struct {
	ID               kafka.ProducerID
	Epoch            kafka.ProducerEpoch
	LastSequence     int32 // -1: none
	LastOffset       kafka.Offset
	LastTimestamp    kafka.TimestampMs
	CoordinatorEpoch int32 // -1: none
	TxnStart         kafka.Offset
}

// Producers appends the state of all producers to out.
func (l *Log) Producers(out []ProducerState) []ProducerState { return out }

// ExpireProducers forgets producers that have been silent too long.
func (l *Log) ExpireProducers(now kafka.TimestampMs) {}

// Roll starts a new segment at the log's end.
func (l *Log) Roll(now kafka.TimestampMs) error { return errSoon }

// SetConfig gives the log another configuration.
func (l *Log) SetConfig(c *Config) {}

// SetDir tells the log that its folder has been renamed.
func (l *Log) SetDir(dir string) {}

// Close writes what is only in memory (index tails, a producer snapshot), syncs
// everything and closes the files. After it the log may be opened as clean.
func (l *Log) Close() error { return errSoon }

// Abandon closes the files without writing, when the disk has failed or the
// folder is to be deleted.
func (l *Log) Abandon() {}
