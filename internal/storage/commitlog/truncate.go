package commitlog

import (
	"errors"
	"io/fs"
	"slices"
	"sort"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
)

// Garbage names files that the log no longer knows. They have been renamed to
// ".deleted"; the owner removes them when no reader can want them any more. A
// crash before that is harmless: Open removes them.
type Garbage struct {
	Dir   string
	Files []string
}

// Remove removes the files. Those that are gone already, with their folder
// perhaps, are no error.
func (g Garbage) Remove(fsys vfs.FS) error {
	for _, name := range g.Files {
		if err := fsys.Remove(joinPath(g.Dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Sync makes the names durable. It is called without the lock; a folder that is
// gone meanwhile needs no durability.
func (g Garbage) Sync(fsys vfs.FS) error {
	if len(g.Files) == 0 {
		return nil
	}
	if err := fsys.SyncDir(g.Dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// TruncateTo removes everything at and above o. If o is inside a batch, the whole
// batch goes, and the log still ends at o. The checkpointed recovery point must
// be rewritten soon after it, because the log may now end below it.
func (l *Log) TruncateTo(o kafka.Offset, now kafka.TimestampMs) (Garbage, error) {
	var g Garbage
	if err := l.change(); err != nil {
		return g, err
	}
	if o >= l.end {
		return g, l.truncateEpochs(l.end)
	}
	if l.segments[0].base > o {
		return l.TruncateFullyAndStartAt(o, now)
	}
	if err := l.voidSwap(); err != nil {
		return g, err
	}
	l.truncations++
	before := l.segments
	if err := l.truncateTo(max(o, 0), now, &g); err != nil {
		err = l.fail(err)
		retireAll(before)
		return g, err
	}
	l.publish()
	return g, nil
}

func (l *Log) truncateEpochs(end kafka.Offset) error {
	next, changed := l.epochs.truncateEnd(end)
	if !changed {
		return nil
	}
	err := l.setEpochs(next)
	l.publish()
	return err
}

// truncateTo shows readers the shorter log before it touches a file. Whoever reads
// on by an older snapshot finds the segments gone and comes back.
func (l *Log) truncateTo(o kafka.Offset, now kafka.TimestampMs, g *Garbage) error {
	keep := floorSegment(l.segments, o) + 1
	removed := l.segments[keep:]
	if len(removed) > 0 {
		for _, s := range l.segments[keep-1 : len(l.segments)-1] {
			l.sealedBytes -= s.size
		}
		l.segments = slices.Clone(l.segments[:keep])
		if err := l.loadActive(now); err != nil {
			return err
		}
	}
	old := l.active()
	if err := l.cutActive(o, now); err != nil {
		return err
	}
	l.end = o
	l.recoveryPoint = min(l.recoveryPoint, o)
	l.flushing = min(l.flushing, o)
	l.start = min(l.start, o)
	l.highWatermark = min(l.highWatermark, o)
	l.publish()
	old.retire()
	if err := l.discard(removed, g); err != nil {
		return err
	}
	if err := l.trimActive(o); err != nil {
		return err
	}
	if next, changed := l.epochs.truncateEnd(o); changed {
		if err := l.setEpochs(next); err != nil {
			return err
		}
	}
	_, err := l.rebuildProducers(now)
	return err
}

// TruncateFullyAndStartAt removes everything and lets the log begin and end at o.
func (l *Log) TruncateFullyAndStartAt(o kafka.Offset, now kafka.TimestampMs) (Garbage, error) {
	var g Garbage
	if err := l.change(); err != nil {
		return g, err
	}
	if err := l.voidSwap(); err != nil {
		return g, err
	}
	l.truncations++
	before := l.segments
	if err := l.restartAt(o, now, &g); err != nil {
		err = l.fail(err)
		retireAll(before)
		return g, err
	}
	l.publish()
	return g, nil
}

func (l *Log) restartAt(o kafka.Offset, now kafka.TimestampMs, g *Garbage) error {
	removed := l.segments
	l.segments, l.sealedBytes, l.act = nil, 0, newActive(o, now, 0)
	l.start, l.end, l.highWatermark, l.recoveryPoint, l.flushing = o, o, o, o, o
	l.producers.clear()
	l.producers.mapEnd, l.producers.snapEnd = o, 0
	l.publish()
	if err := l.discard(removed, g); err != nil {
		return err
	}
	if err := l.removeSnapshots(func(kafka.Offset) bool { return true }); err != nil {
		return err
	}
	if err := l.setEpochs(nil); err != nil {
		return err
	}
	return l.startSegment(o, now)
}

// startSegment makes the first segment of a log that has none.
func (l *Log) startSegment(base kafka.Offset, now kafka.TimestampMs) error {
	if err := removeSegmentFiles(l.env, l.dir, base); err != nil {
		return err
	}
	if err := createSegmentFiles(l.env, l.dir, base, l.config.Load()); err != nil {
		return err
	}
	l.segments = []*segment{newSegment(base)}
	l.act = l.emptyActive(base, now)
	return nil
}

// discard gives the files of segments that are no longer in the log the names of
// garbage. When it returns they are durably gone: after a power cut they must not
// come back beside what is written next.
func (l *Log) discard(removed []*segment, g *Garbage) error {
	if len(removed) == 0 {
		return nil
	}
	if err := l.rename(removed, g); err != nil {
		return err
	}
	return l.env.FS.SyncDir(l.dir)
}

// rename gives the files of segments the names of garbage, the oldest segment
// first.
func (l *Log) rename(removed []*segment, g *Garbage) error {
	for _, s := range removed {
		s.retire()
		if err := deleteFiles(l.env, l.dir, s.base, g); err != nil {
			return err
		}
		if err := deleteFile(l.env, l.dir, fileName(s.base, snapshotSuffix), g); err != nil {
			return err
		}
		l.forgetSnapshot(s.base)
	}
	return nil
}

// cutActive drops what is at and above o from what is known of the active
// segment; the files stay as they are. The segment becomes a new object: readers
// that know the old one must not take what will be written for what they were
// promised. Index entries that are only in memory are copied, because snapshots
// share them.
func (l *Log) cutActive(o kafka.Offset, now kafka.TimestampMs) error {
	v := l.activeView()
	at, found, err := v.seek(o)
	if err != nil {
		return err
	}
	a, rel := &l.act, int64(o-v.segment.base)
	if err := l.cutIndex(&v, rel); err != nil {
		return err
	}
	if err := l.cutTimeIndex(&v, rel); err != nil {
		return err
	}
	if found {
		a.size = at.pos
	}
	if a.size == 0 {
		a.created, a.firstTimestamp = now, noTimestampYet
	}
	a.sinceIndex = 0
	s := newSegment(v.segment.base)
	s.hasTxnIndex.Store(v.segment.hasTxnIndex.Load())
	l.segments = append(slices.Clone(l.segments[:len(l.segments)-1]), s)
	return l.findMaxTimestamp()
}

func (l *Log) cutIndex(v *view, rel int64) error {
	a := &l.act
	keep := sort.Search(len(a.index), func(i int) bool { return int64(a.index[i].rel) >= rel })
	a.index = slices.Clone(a.index[:keep])
	if keep > 0 {
		return nil
	}
	n := 0
	err := v.floorInFile(byOffset(), rel-1, v.span, func(number int, _ []byte) { n = number + 1 })
	a.indexFile = int32(n)
	return err
}

func (l *Log) cutTimeIndex(v *view, rel int64) error {
	a := &l.act
	keep := sort.Search(len(a.time), func(i int) bool { return int64(a.time[i].rel) >= rel })
	a.time = slices.Clone(a.time[:keep])
	if keep > 0 {
		a.lastTime = a.time[keep-1]
		return nil
	}
	n := 0
	a.lastTime = timeEntry{timestamp: kafka.NoTimestamp}
	err := v.floorInFile(byTimeOffset(), rel-1, v.span, func(number int, entry []byte) {
		n, a.lastTime = number+1, parseTimeEntry(entry)
	})
	a.timeFile = int32(n)
	return err
}

// findMaxTimestamp looks for the largest timestamp of the active segment after it
// was cut: the last entry of the time index, unless a batch behind it has more.
func (l *Log) findMaxTimestamp() error {
	a, v := &l.act, l.activeView()
	if a.maxTimestamp < 0 {
		return nil
	}
	a.maxTimestamp, a.maxOffset = a.lastTime.timestamp, v.segment.base+kafka.Offset(a.lastTime.rel)
	from, err := v.floorPosition(a.maxOffset)
	if err != nil {
		return err
	}
	f, err := v.hold(logSuffix)
	if err != nil {
		return err
	}
	defer f.Release()
	sc := scanner{f: f, pos: from, size: v.size, env: v.env}
	defer sc.close()
	for sc.next() {
		if h := &sc.header; h.MaxTimestamp > a.maxTimestamp {
			a.maxTimestamp, a.maxOffset = h.MaxTimestamp, h.LastOffset()
		}
	}
	return sc.err
}

// trimActive cuts the files of the active segment to what is known of it. The cut is
// made durable at once: a power cut after the next roll would else bring back the
// old bytes, with offsets that belong to the segment behind.
func (l *Log) trimActive(o kafka.Offset) error {
	a, s := &l.act, l.active()
	if err := trimFile(l.env, l.dir, s, indexSuffix, int64(a.indexFile)*offsetEntrySize); err != nil {
		return err
	}
	if err := trimFile(l.env, l.dir, s, timeIndexSuffix, int64(a.timeFile)*timeEntrySize); err != nil {
		return err
	}
	if err := l.truncateTxnIndex(s, o); err != nil {
		return err
	}
	a.reserved = a.size
	if err := cutFile(l.env, l.dir, s, logSuffix, a.size); err != nil {
		return err
	}
	return syncPath(l.env.FS, filePath(l.dir, s.base, logSuffix))
}
