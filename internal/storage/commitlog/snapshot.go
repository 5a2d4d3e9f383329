package commitlog

import (
	"errors"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
)

// ErrStale says that the log has changed under a snapshot: a segment it names was
// removed, cut or moved. Take a new snapshot and read again.
var ErrStale = errors.New("commitlog: snapshot is out of date")

// ErrOffsetOutOfOrder refuses a follower's append below the log's end or with
// falling offsets.
var ErrOffsetOutOfOrder = errors.New("commitlog: offsets out of order")

// Snapshot is the readable state of a log at one moment. It is immutable and may
// be used by any number of goroutines without a lock.
type Snapshot struct {
	logStart, logEnd, highWatermark, lastStable kafka.Offset
}

// LogStart is the first offset that may be read.
func (s *Snapshot) LogStart() kafka.Offset { return s.logStart }

// LogEnd is the next offset.
func (s *Snapshot) LogEnd() kafka.Offset { return s.logEnd }

// HighWatermark is the offset below which everything is committed.
func (s *Snapshot) HighWatermark() kafka.Offset { return s.highWatermark }

// LastStableOffset is the offset below which every transaction is decided.
func (s *Snapshot) LastStableOffset() kafka.Offset { return s.lastStable }

// ReadRequest says what to read.
type ReadRequest struct {
	From     kafka.Offset
	UpTo     kafka.Offset // exclusive: high watermark, last stable offset or log end
	MaxBytes int
	// WholeFirst returns the first batch whole even if it is larger than MaxBytes.
	WholeFirst bool
}

// Slice is a range of whole batches of one segment file, but for the last batch,
// which MaxBytes may cut. It begins with the batch that holds the offset asked
// for.
type Slice struct {
	// File is held for the reader, who calls Release once. It is nil if Length is 0.
	File             *vfs.Shared
	Position, Length int64
	// FirstOffset is the base offset of the first batch.
	FirstOffset kafka.Offset
	// FirstSize is the size of the first batch; Length may be less.
	FirstSize int
	// Segment is the base offset of the segment.
	Segment kafka.Offset
}

// Release gives the file back.
func (s *Slice) Release() {}

// Read finds a slice. ErrOffsetOutOfRange (a kafka.ErrorCode) refuses an offset
// outside the log; ErrStale asks for a new snapshot. An offset at or above UpTo
// gives an empty slice.
func (s *Snapshot) Read(r ReadRequest) (Slice, error) { return Slice{}, errSoon }

// AbortedTxn is a transaction that was aborted.
type AbortedTxn struct {
	ProducerID       kafka.ProducerID
	FirstOffset      kafka.Offset
	LastOffset       kafka.Offset // of its marker
	LastStableOffset kafka.Offset // at the moment of the marker
}

// AbortedTxns appends to out the aborted transactions that a reader of slice, who
// asked for offset from, must know of.
func (s *Snapshot) AbortedTxns(from kafka.Offset, slice Slice, out []AbortedTxn) ([]AbortedTxn, error) {
	return out, errSoon
}

// TimestampOffset is the answer to a lookup by timestamp.
type TimestampOffset struct {
	Timestamp   kafka.TimestampMs
	Offset      kafka.Offset
	LeaderEpoch kafka.LeaderEpoch
}

// OffsetByTimestamp finds the first record from the log start on whose timestamp
// is ts or more. ok is false if there is none.
func (s *Snapshot) OffsetByTimestamp(ts kafka.TimestampMs) (at TimestampOffset, ok bool, err error) {
	return at, false, errSoon
}

// MaxTimestamp finds the record with the largest timestamp (KIP-734). ok is false
// if there is none.
func (s *Snapshot) MaxTimestamp() (at TimestampOffset, ok bool, err error) { return at, false, errSoon }

// EndOffsetForEpoch is Log.EndOffsetForEpoch.
func (s *Snapshot) EndOffsetForEpoch(epoch kafka.LeaderEpoch) (kafka.LeaderEpoch, kafka.Offset) {
	return 0, 0
}

// LatestEpoch is the newest epoch, or NoLeaderEpoch.
func (s *Snapshot) LatestEpoch() kafka.LeaderEpoch { return 0 }

// EpochOf is the epoch in which the record at offset o was appended, or
// NoLeaderEpoch.
func (s *Snapshot) EpochOf(o kafka.Offset) kafka.LeaderEpoch { return 0 }

// Size is the number of bytes of all segments.
func (s *Snapshot) Size() int64 { return 0 }

// Segments is the number of segments.
func (s *Snapshot) Segments() int { return 0 }
