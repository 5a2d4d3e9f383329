package commitlog

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"barnabas/internal/kafka"
)

// Open opens the log in o.Dir, or creates it, recovers it if the last stop was not
// clean, and says what it did. The high watermark is at the log start until the
// owner sets it.
func Open(o Options) (*Log, OpenReport, error) {
	l := &Log{env: o.Env, dir: o.Dir, start: o.LogStart, recoveryPoint: o.RecoveryPoint}
	l.config.Store(o.Config)
	ld := loader{Log: l, o: o}
	if err := ld.load(); err != nil {
		retireAll(l.segments)
		return nil, ld.report, fmt.Errorf("log %s: %w", o.Dir, err)
	}
	if len(l.segments) == 1 {
		l.first[0] = l.segments[0]
		l.segments = l.first[:1:1]
	}
	// An idle log holds no descriptor: what was opened to look at it is closed.
	for _, s := range l.segments {
		s.dropFiles()
	}
	l.publish()
	return l, ld.report, nil
}

// loader opens a log. It follows the steps of Apache's, which the report names.
type loader struct {
	*Log
	o        Options
	report   OpenReport
	names    map[string]bool // files in the folder
	trusted  int             // segments before this one are below the recovery point
	progress Progress
}

func (ld *loader) load() error {
	if err := ld.list(); err != nil {
		return err
	}
	if err := ld.cleanUp(); err != nil {
		return err
	}
	if err := ld.findSegments(); err != nil {
		return err
	}
	var err error
	if ld.epochs, err = readEpochs(ld.env.FS, ld.dir); errors.Is(err, errBadEpochs) {
		ld.report.BadEpochs = err
	} else if err != nil {
		return err
	}
	if err := ld.recover(); err != nil {
		return err
	}
	if err := ld.findEnd(); err != nil {
		return err
	}
	ld.start = max(ld.o.LogStart, ld.segments[0].base)
	ld.recoveryPoint = min(ld.o.RecoveryPoint, ld.end)
	if ld.o.Clean && ld.report.ResetTo == nil {
		ld.recoveryPoint = ld.end
	}
	ld.highWatermark = ld.start
	if err := ld.loadEpochs(); err != nil {
		return err
	}
	return ld.loadProducers()
}

// list reads the folder, or makes it.
func (ld *loader) list() error {
	entries, err := ld.env.FS.ReadDir(ld.dir)
	if errors.Is(err, fs.ErrNotExist) {
		if err := ld.env.FS.MkdirAll(ld.dir); err != nil {
			return err
		}
		err = ld.env.FS.SyncDir(filepath.Dir(ld.dir))
	}
	if err != nil {
		return err
	}
	ld.names = make(map[string]bool, len(entries))
	for _, e := range entries {
		if !e.Dir {
			ld.names[e.Name] = true
		}
	}
	return nil
}

// remove removes a file of the folder.
func (ld *loader) remove(name string) error {
	if err := ld.env.FS.Remove(joinPath(ld.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	delete(ld.names, name)
	ld.report.FilesDeleted = append(ld.report.FilesDeleted, name)
	return nil
}

// sortedNames lists the files in order of names.
func (ld *loader) sortedNames() []string {
	names := make([]string, 0, len(ld.names))
	for name := range ld.names {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// findSegments makes the list of segments and of producer snapshots. Indexes
// without a log are removed.
func (ld *loader) findSegments() error {
	for _, name := range ld.sortedNames() {
		base, suffix, ok := parseName(name)
		if !ok {
			continue
		}
		switch suffix {
		case logSuffix:
			info, err := ld.env.FS.Stat(joinPath(ld.dir, name))
			if err != nil {
				return err
			}
			if info.Size > maxSegmentBytes {
				return fmt.Errorf("segment %d has %d bytes, more than %d", base, info.Size, maxSegmentBytes)
			}
			s := newSegment(base)
			s.size = info.Size
			s.hasTxnIndex.Store(ld.names[fileName(base, txnIndexSuffix)])
			ld.segments = append(ld.segments, s)
		case indexSuffix, timeIndexSuffix, txnIndexSuffix:
			if !ld.names[fileName(base, logSuffix)] {
				if err := ld.remove(name); err != nil {
					return err
				}
			}
		case snapshotSuffix:
			ld.snapshots = append(ld.snapshots, base)
		}
	}
	return nil
}

// findEnd finds the log's end from its last segment. If there is none, or the log
// ends below the checkpointed start, the log begins anew at that start.
func (ld *loader) findEnd() error {
	if len(ld.segments) > 0 {
		if err := ld.openLast(); err != nil {
			return err
		}
		if ld.end >= ld.o.LogStart {
			return nil
		}
		if err := ld.reset(); err != nil {
			return err
		}
	}
	ld.dirty = true
	ld.end = ld.o.LogStart
	return ld.startSegment(ld.o.LogStart, ld.o.Now)
}

// openLast reads what must be known of the last segment to append to it. If its
// end is not where a clean stop leaves it, it is recovered, clean or not.
func (ld *loader) openLast() error {
	if ld.report.SegmentsRecovered > 0 {
		return nil // recovery left the last segment open
	}
	for _, s := range ld.segments[:len(ld.segments)-1] {
		ld.sealedBytes += s.size
	}
	if err := ld.loadActive(ld.o.Now); err != nil {
		return err
	}
	end, whole, err := ld.walkToEnd()
	if err != nil && !isBadEntry(err) {
		return err
	}
	if err == nil && whole {
		ld.end = end
		return nil
	}
	last := len(ld.segments) - 1
	ld.sealedBytes = 0
	return ld.recoverFrom(last)
}

// loadActive reads what must be known of the last segment, whose size is known, to
// append to it.
func (l *Log) loadActive(now kafka.TimestampMs) error {
	s := l.active()
	size := s.size
	l.act = l.emptyActive(s.base, now)
	a := &l.act
	a.size, a.reserved = size, size
	v := sealedView(l.env, l.dir, s, s.base)
	_, n, err := v.fileEntries(byOffset())
	if err != nil {
		return err
	}
	a.indexFile = int32(n)
	suffix, n, err := v.fileEntries(byTimestamp())
	if err != nil {
		return err
	}
	a.timeFile = int32(n)
	if n > 0 {
		if a.lastTime, err = v.timeEntry(suffix, n-1); err != nil {
			return err
		}
		a.maxTimestamp = a.lastTime.timestamp
		a.maxOffset = s.base + kafka.Offset(a.lastTime.rel)
	}
	if size == 0 {
		return nil
	}
	return l.loadFirstTimestamp()
}

// loadFirstTimestamp reads the timestamp from which the age of the segment counts.
func (l *Log) loadFirstTimestamp() error {
	v := l.activeView()
	f, err := v.hold(logSuffix)
	if err != nil {
		return err
	}
	defer f.Release()
	sc := scanner{f: f, size: v.size, env: l.env}
	defer sc.close()
	if sc.next() {
		l.act.firstTimestamp = sc.header.MaxTimestamp
	}
	if isBadEntry(sc.err) {
		return nil // the walk to the end meets it too
	}
	return sc.err
}

// walkToEnd walks from the last index entry over the batches behind it. whole says
// that they end where the file does.
func (ld *loader) walkToEnd() (end kafka.Offset, whole bool, err error) {
	v := ld.activeView()
	end = v.segment.base
	from, err := v.floorPosition(end + maxRelativeOffset)
	if err != nil {
		return end, false, err
	}
	f, err := v.hold(logSuffix)
	if err != nil {
		return end, false, err
	}
	defer f.Release()
	sc := scanner{f: f, pos: from, size: v.size, env: v.env}
	defer sc.close()
	for sc.next() {
		end = sc.header.NextOffset()
	}
	return end, sc.pos == v.size, sc.err
}

// reset removes everything: the log ends below the start that was checkpointed,
// because files have been removed from its folder.
func (ld *loader) reset() error {
	for _, s := range ld.segments {
		s.retire()
		for _, suffix := range segmentSuffixes {
			if name := fileName(s.base, suffix); ld.names[name] {
				if err := ld.remove(name); err != nil {
					return err
				}
			}
		}
	}
	if err := ld.removeSnapshots(func(kafka.Offset) bool { return true }); err != nil {
		return err
	}
	ld.segments, ld.sealedBytes = nil, 0
	to := ld.o.LogStart
	ld.report.ResetTo = &to
	return ld.setEpochs(nil)
}

func (ld *loader) loadEpochs() error {
	if ld.report.BadEpochs != nil {
		if err := ld.collectEpochs(); err != nil {
			return err
		}
	}
	next, cutEnd := ld.epochs.truncateEnd(ld.end)
	next, cutStart := next.truncateStart(ld.start)
	if ld.epochsDirty {
		return ld.setEpochs(next)
	}
	// What the file has too much is dropped again by the next opening, should it be
	// the next to look at it.
	ld.epochs, ld.epochsDirty = next, cutStart
	if cutEnd {
		ld.newEpochs, ld.newEpochsFrom = true, ld.end
	}
	return nil
}

// collectEpochs reads the epochs from the headers of all batches.
func (ld *loader) collectEpochs() error {
	ld.epochs, ld.epochsDirty = nil, true
	for i := range ld.segments {
		v := ld.viewOf(i)
		f, err := v.hold(logSuffix)
		if err != nil {
			return err
		}
		sc := scanner{f: f, size: v.size, env: ld.env}
		for sc.next() {
			if h := &sc.header; h.LeaderEpoch > ld.epochs.latest() {
				ld.epochs, _ = ld.epochs.assign(h.LeaderEpoch, h.BaseOffset)
			}
		}
		sc.close()
		f.Release()
		if sc.err != nil && !isBadEntry(sc.err) {
			return sc.err
		}
	}
	return nil
}

// loadProducers brings the producers' state to the end. Snapshots that no segment
// begins with are removed, but for the newest.
func (ld *loader) loadProducers() error {
	if err := ld.removeStraySnapshots(); err != nil {
		return err
	}
	if len(ld.report.FilesDeleted) > 0 {
		if err := ld.env.FS.SyncDir(ld.dir); err != nil {
			return err
		}
	}
	ps := &ld.producers
	ps.clear()
	ps.mapEnd, ps.snapEnd = 0, 0
	if len(ld.snapshots) == 0 && ld.o.Clean && ld.report.SegmentsRecovered == 0 {
		// A clean stop without a snapshot is one of a release that had no
		// producers to keep account of.
		return ld.emptySnapshots()
	}
	bad, err := ld.rebuildProducers(ld.o.Now)
	ld.report.BadSnapshots = append(ld.report.BadSnapshots, bad...)
	return err
}

func (ld *loader) emptySnapshots() error {
	last := len(ld.segments) - 1
	for _, o := range [...]kafka.Offset{ld.segments[max(0, last-1)].base, ld.segments[last].base, ld.end} {
		ld.producers.mapEnd = max(ld.producers.mapEnd, o)
		if err := ld.takeSnapshot(synced); err != nil {
			return err
		}
	}
	return nil
}

func (ld *loader) removeStraySnapshots() error {
	isBase := func(o kafka.Offset) bool {
		i := floorSegment(ld.segments, o)
		return i >= 0 && ld.segments[i].base == o
	}
	newest := kafka.NoOffset
	for _, o := range ld.snapshots {
		if !isBase(o) {
			newest = o
		}
	}
	if newest < ld.active().base {
		newest = kafka.NoOffset
	}
	for _, o := range slices.Clone(ld.snapshots) {
		if o == newest || isBase(o) {
			continue
		}
		ld.forgetSnapshot(o)
		if err := ld.remove(fileName(o, snapshotSuffix)); err != nil {
			return err
		}
	}
	return nil
}

// exists says whether a file of a segment is in the folder.
func (ld *loader) exists(s *segment, suffix string) bool { return ld.names[fileName(s.base, suffix)] }
