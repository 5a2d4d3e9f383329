package commitlog

import (
	"io"
	"sort"

	"barnabas/internal/kafka"
	"barnabas/internal/record"
)

// TimestampOffset is the answer to a lookup by timestamp.
type TimestampOffset struct {
	Timestamp   kafka.TimestampMs
	Offset      kafka.Offset
	LeaderEpoch kafka.LeaderEpoch
}

// OffsetByTimestamp finds the first record from the log start on whose timestamp
// is ts or more. ok is false if there is none. As with Apache, only the first
// segment that has such a timestamp at all is searched: if what it has is below
// the log start, there is no answer.
func (s *Snapshot) OffsetByTimestamp(ts kafka.TimestampMs) (at TimestampOffset, ok bool, err error) {
	for i := range s.segments {
		v := s.view(i)
		if v.size == 0 {
			continue // what compaction leaves of a segment; Apache ends its search there
		}
		largest, err := s.largestTimestamp(&v, i)
		if err != nil {
			return at, false, err
		}
		if largest < ts {
			continue
		}
		from, err := v.floorByTime(ts, s.start)
		if err != nil {
			return at, false, err
		}
		return s.search(&v, from, func(h *record.Header) bool { return h.MaxTimestamp >= ts }, func(w *record.Walker) bool {
			return w.Timestamp() >= ts && w.Offset() >= s.start
		})
	}
	return at, false, nil
}

// MaxTimestamp finds the first record that has the largest timestamp of the log
// (KIP-734). ok is false if there is none.
func (s *Snapshot) MaxTimestamp() (at TimestampOffset, ok bool, err error) {
	best, bestTimestamp, bestOffset := -1, kafka.TimestampMs(0), kafka.Offset(0)
	for i := range s.segments {
		v := s.view(i)
		ts, o, err := s.maxTimestampOf(&v, i)
		if err != nil {
			return at, false, err
		}
		if best < 0 || ts > bestTimestamp {
			best, bestTimestamp, bestOffset = i, ts, o
		}
	}
	if best < 0 {
		return at, false, nil
	}
	v := s.view(best)
	from, err := v.floorPosition(bestOffset)
	if err != nil {
		return at, false, err
	}
	seen := false // only the first batch with the timestamp is looked into
	return s.search(&v, from, func(h *record.Header) bool {
		match := h.MaxTimestamp == bestTimestamp && !seen
		seen = seen || match
		return match && h.Magic > 0
	}, func(w *record.Walker) bool {
		return w.Timestamp() == bestTimestamp
	})
}

// largestTimestamp is what decides whether a segment is searched or kept: its
// largest record timestamp, or the file's where records have none.
func (s *Snapshot) largestTimestamp(v *view, i int) (kafka.TimestampMs, error) {
	ts, _, err := s.maxTimestampOf(v, i)
	if err != nil || ts >= 0 {
		return ts, err
	}
	return v.modified()
}

// modified is when records were last appended to the segment.
func (v *view) modified() (kafka.TimestampMs, error) {
	if at := v.segment.modified; at != 0 {
		return at, nil
	}
	info, err := v.env.FS.Stat(filePath(v.dir, v.segment.base, logSuffix))
	if err := v.check(err); err != nil {
		return 0, err
	}
	return info.ModTime.UnixMilli(), nil
}

// maxTimestampOf is the largest timestamp of a segment, and the last offset of the
// batch that has it; -1 and the base offset if no record has one.
func (s *Snapshot) maxTimestampOf(v *view, i int) (kafka.TimestampMs, kafka.Offset, error) {
	if i == len(s.segments)-1 {
		return s.maxTimestamp, s.maxOffset, nil
	}
	return v.sealedMaxTimestamp()
}

// sealedMaxTimestamp reads the last entry of the time index, which the segment got
// when it was sealed.
func (v *view) sealedMaxTimestamp() (kafka.TimestampMs, kafka.Offset, error) {
	seg := v.segment
	if ts := seg.maxTimestamp.Load(); ts != noTimestampYet {
		return ts, kafka.Offset(seg.maxTimestampOffset.Load()), nil
	}
	suffix, n, err := v.fileEntries(byTimestamp())
	if err != nil {
		return 0, 0, err
	}
	last := timeEntry{timestamp: kafka.NoTimestamp}
	if n > 0 {
		if last, err = v.timeEntry(suffix, n-1); err != nil {
			return 0, 0, err
		}
	}
	o := seg.base + kafka.Offset(last.rel)
	seg.maxTimestampOffset.Store(int64(o))
	seg.maxTimestamp.Store(last.timestamp)
	return last.timestamp, o, nil
}

func (v *view) timeEntry(suffix string, number int) (timeEntry, error) {
	f, err := v.hold(suffix)
	if err != nil {
		return timeEntry{}, err
	}
	defer f.Release()
	var b [timeEntrySize]byte
	_, err = f.ReadAt(b[:], int64(number)*timeEntrySize)
	return parseTimeEntry(b[:]), v.check(err)
}

// floorByTime is a position before which all records are earlier than ts, or below
// the offset least.
func (v *view) floorByTime(ts kafka.TimestampMs, least kafka.Offset) (int64, error) {
	from := v.segment.base
	i := sort.Search(len(v.time), func(i int) bool { return v.time[i].timestamp > ts })
	if i > 0 {
		from += kafka.Offset(v.time[i-1].rel)
	} else {
		// Timestamps may jump anywhere, so no proportion is guessed from.
		err := v.floorInFile(byTimestamp(), ts, 0, func(_ int, entry []byte) {
			from += kafka.Offset(parseTimeEntry(entry).rel)
		})
		if err != nil {
			return 0, err
		}
	}
	return v.floorPosition(max(from, least))
}

// search walks over the entries from a position on and looks into those that
// batch says so of for the first record that match says so of.
func (s *Snapshot) search(v *view, from int64, batch func(*record.Header) bool, match func(*record.Walker) bool) (at TimestampOffset, ok bool, err error) {
	f, err := v.hold(logSuffix)
	if err != nil {
		return at, false, err
	}
	defer f.Release()
	var w record.Walker
	w.MaxRecordSize = s.log.config.Load().MaxDecompressedBytes
	defer w.Close()
	sc := scanner{f: f, pos: from, size: v.size, env: v.env}
	defer sc.close()
	for sc.next() {
		if !batch(&sc.header) {
			continue
		}
		entry := make([]byte, sc.header.Size)
		if _, err := f.ReadAt(entry, sc.at); err != nil && err != io.EOF {
			return at, false, v.check(err)
		}
		for w.Reset(entry); w.Next(); {
			if match(&w) {
				return TimestampOffset{w.Timestamp(), w.Offset(), sc.header.LeaderEpoch}, true, v.check(nil)
			}
		}
		if err := w.Err(); err != nil {
			return at, false, v.check(err)
		}
	}
	return at, false, v.check(sc.err)
}
