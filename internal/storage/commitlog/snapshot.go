package commitlog

import (
	"errors"

	"barnabas/internal/kafka"
)

// ErrStale says that the log has changed under a snapshot: a segment it names was
// removed, cut or moved. Take a new snapshot and read again.
var ErrStale = errors.New("commitlog: snapshot is out of date")

// Snapshot is the readable state of a log at one moment. It is immutable and may
// be used by any number of goroutines without a lock.
type Snapshot struct {
	log      *Log // for env and config, which are safe to read
	dir      string
	segments []*segment
	epochs   epochs

	start, end                kafka.Offset
	highWatermark, lastStable kafka.Offset

	// of the active segment
	position     int64 // where end is
	indexFile    int32
	timeFile     int32
	index        []offsetEntry
	time         []timeEntry
	maxTimestamp kafka.TimestampMs
	maxOffset    kafka.Offset

	sealedBytes int64
}

// LogStart is the first offset that may be read.
func (s *Snapshot) LogStart() kafka.Offset { return s.start }

// LogEnd is the next offset.
func (s *Snapshot) LogEnd() kafka.Offset { return s.end }

// HighWatermark is the offset below which everything is committed.
func (s *Snapshot) HighWatermark() kafka.Offset { return s.highWatermark }

// LastStableOffset is the offset below which every transaction is decided.
func (s *Snapshot) LastStableOffset() kafka.Offset { return s.lastStable }

// Size is the number of bytes of all segments.
func (s *Snapshot) Size() int64 { return s.sealedBytes + s.position }

// Segments is the number of segments.
func (s *Snapshot) Segments() int { return len(s.segments) }

// SegmentBase is the base offset of the segment in which offset o lies or would
// lie, or -1 if it is before all segments.
func (s *Snapshot) SegmentBase(o kafka.Offset) kafka.Offset {
	if i := floorSegment(s.segments, o); i >= 0 {
		return s.segments[i].base
	}
	return kafka.NoOffset
}

// EndOffsetForEpoch answers where epoch ends here: the largest epoch of the log
// that is not above it, and where that one ends. Both are -1 if that cannot be
// said.
func (s *Snapshot) EndOffsetForEpoch(epoch kafka.LeaderEpoch) (kafka.LeaderEpoch, kafka.Offset) {
	return s.epochs.endOffset(epoch, s.end)
}

// LatestEpoch is the newest epoch, or NoLeaderEpoch.
func (s *Snapshot) LatestEpoch() kafka.LeaderEpoch { return s.epochs.latest() }

// EpochOf is the epoch in which the record at offset o was or will be appended, or
// NoLeaderEpoch.
func (s *Snapshot) EpochOf(o kafka.Offset) kafka.LeaderEpoch { return s.epochs.at(o) }

// view is the i-th segment.
func (s *Snapshot) view(i int) view {
	seg := s.segments[i]
	if i < len(s.segments)-1 {
		return sealedView(s.log.env, s.dir, seg, s.segments[i+1].base)
	}
	return view{
		env: s.log.env, dir: s.dir, segment: seg, size: s.position, span: int64(s.end - seg.base),
		indexFile: s.indexFile, index: s.index, timeFile: s.timeFile, time: s.time,
	}
}
