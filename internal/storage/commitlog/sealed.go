package commitlog

import (
	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
)

// SealedSegment is what a cleaning needs to know of a segment that takes no more
// appends.
type SealedSegment struct {
	Base, Next     kafka.Offset // Next is the base of the segment behind it
	Size           int64        // of the log file
	IndexBytes     int64        // of the offset index
	TimeIndexBytes int64
}

// SealedSegments is the number of segments that take no more appends: all but the
// last.
func (s *Snapshot) SealedSegments() int { return len(s.segments) - 1 }

// SealedSegment describes the i-th segment, which is not the last.
func (s *Snapshot) SealedSegment(i int) (SealedSegment, error) {
	v := s.view(i)
	info := SealedSegment{Base: v.segment.base, Next: s.segments[i+1].base, Size: v.size}
	for _, key := range [...]indexKey{byOffset(), byTimestamp()} {
		_, n, err := v.fileEntries(key)
		if err != nil {
			return info, err
		}
		if key.size == offsetEntrySize {
			info.IndexBytes = int64(n) * offsetEntrySize
		} else {
			info.TimeIndexBytes = int64(n) * timeEntrySize
		}
	}
	return info, nil
}

// SealedSizes calls visit with base, end and size of each sealed segment. It reads
// nothing.
func (s *Snapshot) SealedSizes(visit func(base, next kafka.Offset, size int64)) {
	for i := range s.SealedSegments() {
		visit(s.segments[i].base, s.segments[i+1].base, s.segments[i].size)
	}
}

// LargestTimestamp is that of the records of the i-th segment, or the file's
// modification time where records have none.
func (s *Snapshot) LargestTimestamp(i int) (kafka.TimestampMs, error) {
	v := s.view(i)
	return s.largestTimestamp(&v, i)
}

// Modified is when records were last appended to the i-th segment.
func (s *Snapshot) Modified(i int) (kafka.TimestampMs, error) {
	v := s.view(i)
	return v.modified()
}

// FirstTimestamp is the largest timestamp of the first batch of the i-th segment,
// which is not the last one; kafka.NoTimestamp if it has none. It is remembered.
func (s *Snapshot) FirstTimestamp(i int) (kafka.TimestampMs, error) {
	v := s.view(i)
	if ts := v.segment.firstTimestamp.Load(); ts != noTimestampYet {
		return ts, nil
	}
	f, err := v.hold(logSuffix)
	if err != nil {
		return 0, err
	}
	defer f.Release()
	sc := scanner{f: f, size: v.size, env: v.env}
	defer sc.close()
	ts := int64(kafka.NoTimestamp)
	if sc.next() {
		ts = sc.header.MaxTimestamp
	}
	if err := v.check(sc.err); err != nil {
		return 0, err
	}
	v.segment.firstTimestamp.Store(ts)
	return ts, nil
}

// HoldLog gives the log file of the i-th segment, with a hold, which stays good when
// the segment is removed.
func (s *Snapshot) HoldLog(i int) (*vfs.Shared, error) {
	v := s.view(i)
	return v.hold(logSuffix)
}

// SeekPosition is the position in the i-th segment of the batch that holds o, or of
// the first one behind it; the segment's size if there is none.
func (s *Snapshot) SeekPosition(i int, o kafka.Offset) (int64, error) {
	v := s.view(i)
	at, found, err := v.seek(o)
	if err == nil && !found {
		return v.size, nil
	}
	return at.pos, err
}
