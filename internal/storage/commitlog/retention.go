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

// Removal says how many of a log's oldest segments are to go.
type Removal struct {
	// Start is where the log begins afterwards: the base of the first segment that
	// stays, or the log's end if none does.
	Start    kafka.Offset
	Segments int
	Bytes    int64
	all      bool
}

// Removable counts the segments at the start of the log that a rule dooms, behind
// those that an earlier removal takes already. Only what is wholly below the high
// watermark may go, and an empty active segment stays: there is nothing in it to
// remove.
func (s *Snapshot) Removable(behind Removal, doomed Doomed) (Removal, error) {
	r := behind
	for i := r.Segments; i < len(s.segments); i++ {
		v := s.view(i)
		info := SegmentInfo{Base: v.segment.base, End: s.end, Size: v.size, Active: i == len(s.segments)-1}
		if !info.Active {
			info.End = s.segments[i+1].base
		}
		if info.End > s.highWatermark || info.Active && info.Size == 0 {
			break
		}
		var err error
		if info.LargestTimestamp, err = s.largestTimestamp(&v, i); err != nil {
			return behind, err
		}
		if !doomed(info) {
			break
		}
		r = Removal{Start: info.End, Segments: i + 1, Bytes: r.Bytes + info.Size, all: info.Active}
	}
	return r, nil
}

// Remove removes what a removal names, as far as it is still there, and raises the
// log start. If all segments go, a new one is begun first, so that the log goes on
// where it ended.
//
// Nothing is synced. After a power cut some or all of the segments may be there
// again, the newest ones first of all. Whoever must not see them writes the new
// start to a checkpoint before, and keeps it there until Garbage.Sync has
// returned: Open takes the log to begin there, and a removal takes the rest.
func (l *Log) Remove(r Removal, now kafka.TimestampMs) (Garbage, error) {
	var g Garbage
	if err := l.usable(); err != nil {
		return g, err
	}
	n := 0
	for n+1 < len(l.segments) && l.segments[n+1].base <= r.Start {
		n++
	}
	all := r.all && l.end == r.Start && n == len(l.segments)-1 && l.act.size > 0
	if n == 0 && !all {
		return g, nil
	}
	if err := l.voidSwap(); err != nil {
		return g, err
	}
	l.dirty = true
	if all {
		if err := l.rollAt(l.end, now); err != nil {
			return g, err
		}
		n++
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
	if err := l.rename(removed, &g); err != nil {
		err = l.fail(err)
		retireAll(removed)
		return g, err
	}
	return g, nil
}

// RemoveSegments removes the oldest segments that are doomed; when it returns they
// are durably gone.
func (l *Log) RemoveSegments(doomed Doomed, now kafka.TimestampMs) (Garbage, error) {
	l.publish()
	r, err := l.Snapshot().Removable(Removal{}, doomed)
	if err != nil || r.Segments == 0 {
		return Garbage{}, err
	}
	g, err := l.Remove(r, now)
	if err != nil {
		return g, err
	}
	return g, g.Sync(l.env.FS)
}
