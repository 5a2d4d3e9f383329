package commitlog

import (
	"math"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
)

// active is what the log knows of its active segment. It is a value: an append
// works on it and puts the old one back if its write fails. Slices only grow
// behind what a snapshot shows, and are replaced, not changed, when they shrink
// (invariant 3).
type active struct {
	size     int64 // bytes of the log file that count
	reserved int64 // blocks are reserved up to here

	// The indexes: entries in the file, and those that are only in memory.
	indexFile int32
	index     []offsetEntry
	timeFile  int32
	time      []timeEntry
	lastTime  timeEntry // the last entry of the time index; timestamp -1: none

	maxTimestamp kafka.TimestampMs // of all batches; -1: none has one
	maxOffset    kafka.Offset      // last offset of the first batch that has it
	sinceIndex   int64             // bytes since the last index entry

	firstTimestamp kafka.TimestampMs // largest timestamp of the first batch; noTimestampYet
	created        kafka.TimestampMs // when it was created, opened or emptied
	jitterMs       int64
}

// newActive describes an empty active segment.
func newActive(base kafka.Offset, now kafka.TimestampMs, jitterMs int64) active {
	return active{
		lastTime:       timeEntry{timestamp: kafka.NoTimestamp},
		maxTimestamp:   kafka.NoTimestamp,
		maxOffset:      base,
		firstTimestamp: noTimestampYet,
		created:        now,
		jitterMs:       jitterMs,
	}
}

func (a *active) indexEntries() int { return int(a.indexFile) + len(a.index) }
func (a *active) timeEntries() int  { return int(a.timeFile) + len(a.time) }

// indexFull says whether the offset index has no room for one more entry.
func (a *active) indexFull(c *Config) bool { return a.indexEntries() >= c.IndexBytes/offsetEntrySize }

// timeFull says the same of the time index, whose last place is kept for the
// closing entry.
func (a *active) timeFull(c *Config) bool { return a.timeEntries() >= c.IndexBytes/timeEntrySize-1 }

// batchFacts is what an append needs to know of a batch.
type batchFacts struct {
	base, last   kafka.Offset
	size         int
	maxTimestamp kafka.TimestampMs
}

// grow accounts for a batch that is appended at the segment's end, and adds index
// entries as Apache does: after more than index.interval.bytes since the last
// one, the batch's last offset goes into the index with its position, and the
// largest timestamp so far into the time index if it has grown.
func (a *active) grow(c *Config, segmentBase kafka.Offset, b batchFacts) {
	if a.size == 0 {
		a.firstTimestamp = b.maxTimestamp
	}
	if b.maxTimestamp > a.maxTimestamp {
		a.maxTimestamp, a.maxOffset = b.maxTimestamp, b.last
	}
	if a.sinceIndex > int64(c.IndexIntervalBytes) {
		if !a.indexFull(c) {
			a.index = append(a.index, offsetEntry{uint32(b.last - segmentBase), uint32(a.size)})
		}
		if !a.timeFull(c) {
			a.addTime(segmentBase)
		}
		a.sinceIndex = 0
	}
	a.size += int64(b.size)
	a.sinceIndex += int64(b.size)
}

// addTime adds the largest timestamp to the time index unless it is there.
func (a *active) addTime(segmentBase kafka.Offset) {
	if a.maxTimestamp > a.lastTime.timestamp {
		a.lastTime = timeEntry{a.maxTimestamp, uint32(a.maxOffset - segmentBase)}
		a.time = append(a.time, a.lastTime)
	}
}

// mustRoll is Apache's rule for starting a new segment before an append: the
// segment would become too large, has waited too long (by record time where there
// is one, else by the clock), has a full index, or cannot express the offset.
func (a *active) mustRoll(c *Config, segmentBase kafka.Offset, b batchFacts, now kafka.TimestampMs) bool {
	return a.size > int64(c.SegmentBytes)-int64(b.size) ||
		a.size > 0 && a.waitedMs(b.maxTimestamp, now) > c.SegmentMs-a.jitterMs ||
		a.size > 0 && (a.indexFull(c) || a.timeFull(c)) ||
		b.last-segmentBase > math.MaxInt32
}

// RollTime is the record timestamp from which on an append begins a new segment
// because the active one has waited for segment.ms, or the time, where records have
// none. ok is false if the active segment is empty.
func (l *Log) RollTime() (at kafka.TimestampMs, ok bool) {
	a := &l.act
	if a.size == 0 {
		return 0, false
	}
	since := a.firstTimestamp
	if since < 0 {
		since = a.created
	}
	wait := l.config.Load().SegmentMs - a.jitterMs
	if wait >= math.MaxInt64-since {
		return math.MaxInt64, true
	}
	return since + wait + 1, true
}

func (a *active) waitedMs(newest, now kafka.TimestampMs) int64 {
	if a.firstTimestamp >= 0 {
		return newest - a.firstTimestamp
	}
	return now - a.created
}

// writeIndexes writes the entries that are only in memory to the index files.
// They are not synced: recovery makes the indexes of the active segment anew.
func (a *active) writeIndexes(env *Env, dir string, s *segment) error {
	if len(a.index) > 0 {
		b := make([]byte, 0, len(a.index)*offsetEntrySize)
		for _, e := range a.index {
			b = e.appendTo(b)
		}
		if err := writeTail(env, dir, s, indexSuffix, b, int64(a.indexFile)*offsetEntrySize); err != nil {
			return err
		}
		a.indexFile += int32(len(a.index))
		a.index = nil
	}
	if len(a.time) > 0 {
		b := make([]byte, 0, len(a.time)*timeEntrySize)
		for _, e := range a.time {
			b = e.appendTo(b)
		}
		if err := writeTail(env, dir, s, timeIndexSuffix, b, int64(a.timeFile)*timeEntrySize); err != nil {
			return err
		}
		a.timeFile += int32(len(a.time))
		a.time = nil
	}
	return nil
}

func writeTail(env *Env, dir string, s *segment, suffix string, b []byte, off int64) error {
	f, err := s.hold(env, dir, suffix, vfs.Create)
	if err != nil {
		return err
	}
	defer f.Release()
	_, err = f.WriteAt(b, off)
	return err
}

// finish brings the files of the segment to the form in which a sealed segment
// stays: the closing entry in the time index, indexes and log cut to their size.
func (a *active) finish(env *Env, dir string, s *segment) error {
	a.addTime(s.base)
	if err := a.writeIndexes(env, dir, s); err != nil {
		return err
	}
	if err := trimFile(env, dir, s, indexSuffix, int64(a.indexFile)*offsetEntrySize); err != nil {
		return err
	}
	if err := trimFile(env, dir, s, timeIndexSuffix, int64(a.timeFile)*timeEntrySize); err != nil {
		return err
	}
	if a.reserved <= a.size {
		return nil
	}
	a.reserved = a.size
	return cutFile(env, dir, s, logSuffix, a.size)
}

// trimFile gives a file exactly size bytes. It creates it if it is not there:
// Apache takes a segment without an index for a damaged one.
func trimFile(env *Env, dir string, s *segment, suffix string, size int64) error {
	f, err := s.hold(env, dir, suffix, vfs.Create)
	if err != nil {
		return err
	}
	defer f.Release()
	if now, err := f.Size(); err != nil || now == size {
		return err
	}
	return f.Truncate(size)
}

// cutFile sets the size of a file even if it has it already: that gives back
// blocks which are reserved beyond it.
func cutFile(env *Env, dir string, s *segment, suffix string, size int64) error {
	f, err := s.hold(env, dir, suffix, vfs.ReadWrite)
	if err != nil {
		return err
	}
	defer f.Release()
	return f.Truncate(size)
}
