package commitlog

import (
	"slices"

	"barnabas/internal/kafka"
)

// SegmentInfo is what a decision to remove a segment needs to know.
type SegmentInfo struct {
	Base, End kafka.Offset // End is the next segment's base, or the log's end
	Size      int64
	// LargestTimestamp is that of the records, or the file's modification time
	// where records have none.
	LargestTimestamp kafka.TimestampMs
	Active           bool
}

// Doomed says whether a segment is to be removed. It is asked from the oldest
// segment on until it says no.
type Doomed func(SegmentInfo) bool

// BelowLogStart dooms segments that end at or below the log start.
func BelowLogStart(logStart kafka.Offset) Doomed {
	return func(s SegmentInfo) bool { return !s.Active && s.End <= logStart }
}

// BeyondBytes dooms the oldest segments as long as what is left is at least limit
// (retention.bytes). A negative limit dooms none.
func BeyondBytes(logSize, limit int64) Doomed {
	excess := logSize - limit
	return func(s SegmentInfo) bool {
		if limit < 0 || excess < s.Size {
			return false
		}
		excess -= s.Size
		return true
	}
}

// OlderThan dooms segments whose largest timestamp is more than ms ago
// (retention.ms). A negative age dooms none.
func OlderThan(now kafka.TimestampMs, ms int64) Doomed {
	return func(s SegmentInfo) bool { return ms >= 0 && now-s.LargestTimestamp > ms }
}

// RemoveSegments removes the oldest segments that are doomed and wholly below the
// high watermark, and raises the log start to the first one that stays. If all of
// them go, a new one is begun first, so that the log goes on where it ended.
func (l *Log) RemoveSegments(doomed Doomed, now kafka.TimestampMs) (Garbage, error) {
	var g Garbage
	if err := l.usable(); err != nil {
		return g, err
	}
	n, err := l.countDoomed(doomed)
	if err != nil || n == 0 {
		return g, err
	}
	if err := l.voidSwap(); err != nil {
		return g, err
	}
	l.dirty = true
	if n == len(l.segments) {
		if err := l.rollAt(l.end, now); err != nil {
			return g, err
		}
	}
	if o := l.segments[n].base; o > l.start {
		l.raiseStart(o)
	}
	removed := l.segments[:n]
	l.segments = slices.Clone(l.segments[n:])
	for _, s := range removed {
		l.sealedBytes -= s.size
	}
	l.publish()
	if err := l.discard(removed, &g); err != nil {
		err = l.fail(err)
		retireAll(removed)
		return g, err
	}
	return g, nil
}

// countDoomed counts the segments at the start of the log that are to be removed.
// An empty active segment stays: there is nothing in it to remove.
func (l *Log) countDoomed(doomed Doomed) (int, error) {
	l.publish()
	s := l.Snapshot()
	for i := range s.segments {
		v := s.view(i)
		info := SegmentInfo{Base: v.segment.base, End: s.end, Size: v.size, Active: i == len(s.segments)-1}
		if !info.Active {
			info.End = s.segments[i+1].base
		}
		if info.End > l.highWatermark || info.Active && info.Size == 0 {
			return i, nil
		}
		var err error
		if info.LargestTimestamp, err = s.largestTimestamp(&v, i); err != nil {
			return 0, err
		}
		if !doomed(info) {
			return i, nil
		}
	}
	return len(s.segments), nil
}
