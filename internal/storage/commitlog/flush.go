package commitlog

import (
	"errors"
	"io/fs"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
)

// Flush makes everything below upTo durable and raises the recovery point. It is
// BeginFlush, Sync and EndFlush in one, for callers that may hold the lock across
// the sync.
func (l *Log) Flush(upTo kafka.Offset) error {
	f, ok := l.BeginFlush(upTo)
	if !ok {
		return l.usable()
	}
	if err := f.Sync(); err != nil {
		return l.fail(err)
	}
	l.EndFlush(f)
	return nil
}

// Flushing is a flush under way.
type Flushing struct {
	log         *Log // for env and broken, which are safe to read
	dir         string
	upTo        kafka.Offset
	parts       []flushPart
	newNames    bool
	truncations uint64
	failed      error // why nothing can be synced
}

// flushPart is a segment that must be synced.
type flushPart struct {
	segment  *segment
	sealed   bool
	snapshot kafka.Offset // the producer snapshot that its roll wrote; -1: none
}

// UpTo is the offset below which everything is durable after the Sync.
func (f *Flushing) UpTo() kafka.Offset { return f.upTo }

// BeginFlush, under the lock, notes what must be synced so that everything below
// upTo is durable; ok is false if all of it is.
func (l *Log) BeginFlush(upTo kafka.Offset) (f *Flushing, ok bool) {
	upTo = min(upTo, l.end)
	if upTo <= l.recoveryPoint {
		return nil, false
	}
	if err := l.usable(); err != nil {
		return &Flushing{log: l, failed: err}, true
	}
	l.flushing = max(l.flushing, upTo)
	f = &Flushing{log: l, dir: l.dir, upTo: upTo, truncations: l.truncations}
	last := len(l.segments) - 1
	for i := max(0, floorSegment(l.segments, l.recoveryPoint)); i <= last && l.segments[i].base < upTo; i++ {
		part := flushPart{segment: l.segments[i], sealed: i < last, snapshot: kafka.NoOffset}
		if part.sealed && l.hasSnapshot(l.segments[i+1].base) {
			part.snapshot = l.segments[i+1].base
		}
		f.parts = append(f.parts, part)
		f.newNames = f.newNames || part.segment.base >= l.recoveryPoint
	}
	return f, true
}

// Sync does the work, without the lock. ErrClosed says that the log was abandoned
// meanwhile, and nothing about durability; any other error means that the log
// directory has failed, and must not be tried again.
//
// Of the active segment only the log is synced: as long as the recovery point lies
// in a segment, recovery makes its indexes anew.
func (f *Flushing) Sync() error {
	if f.failed != nil {
		return f.failed
	}
	for _, p := range f.parts {
		if err := f.syncFile(p.segment, logSuffix); err != nil {
			return err
		}
		if !p.sealed {
			continue
		}
		for _, suffix := range [...]string{indexSuffix, timeIndexSuffix} {
			if err := f.syncFile(p.segment, suffix); err != nil {
				return err
			}
		}
		if p.segment.hasTxnIndex.Load() {
			if err := f.syncFile(p.segment, txnIndexSuffix); err != nil {
				return err
			}
		}
		if p.snapshot >= 0 {
			if err := syncPath(f.log.env.FS, filePath(f.dir, p.snapshot, snapshotSuffix)); err != nil {
				return err
			}
		}
	}
	if f.newNames {
		return f.log.env.FS.SyncDir(f.dir)
	}
	return nil
}

// syncFile syncs a file of a segment. A segment that has been removed meanwhile
// needs no durability, and one whose log was closed has it.
func (f *Flushing) syncFile(s *segment, suffix string) error {
	file, err := s.hold(f.log.env, f.dir, suffix, vfs.ReadWrite)
	if errors.Is(err, ErrStale) {
		if f.log.broken.Load() {
			return ErrClosed
		}
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Release()
	return file.SyncData()
}

// syncPath syncs a file by name. One that is gone needs no durability.
func syncPath(fsys vfs.FS, path string) error {
	f, err := fsys.Open(path, vfs.ReadWrite)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(f.SyncData(), f.Close())
}

// EndFlush, under the lock again, raises the recovery point after a Sync that
// succeeded. If the log was truncated meanwhile, what was synced may not be what
// is there now, and nothing changes.
func (l *Log) EndFlush(f *Flushing) {
	if f.failed == nil && f.truncations == l.truncations {
		l.recoveryPoint = max(l.recoveryPoint, min(f.upTo, l.end))
	}
}

func (l *Log) hasSnapshot(o kafka.Offset) bool {
	for _, s := range l.snapshots {
		if s == o {
			return true
		}
	}
	return false
}

// Checkpoint writes to the files what is only in memory: index entries, and epochs
// that begin below recoveryPoint, or were dropped at the start. It syncs no log. The
// owner calls it before it writes that recovery point to a file: recovery does not
// look at batches below it, so that nothing but the file can tell of their epochs.
func (l *Log) Checkpoint(recoveryPoint kafka.Offset) error {
	if err := l.usable(); err != nil {
		return err
	}
	if err := l.act.writeIndexes(l.env, l.dir, l.active()); err != nil {
		return err
	}
	if l.epochsDirty || l.OwesEpochs(recoveryPoint) {
		if err := l.writeEpochs(); err != nil {
			return err
		}
	}
	l.publish()
	return nil
}

// OwesEpochs says whether the file of the epochs lacks one that begins below a
// recovery point that is to be written.
func (l *Log) OwesEpochs(recoveryPoint kafka.Offset) bool {
	return l.newEpochs && l.newEpochsFrom < recoveryPoint
}

// Close writes what is only in memory, brings the files to the form of a clean
// stop, takes a producer snapshot, syncs everything and closes the files. After
// it the log may be opened as clean.
func (l *Log) Close() error {
	if err := l.usable(); err != nil {
		return err
	}
	if err := l.voidSwap(); err != nil {
		return err
	}
	if err := l.close(); err != nil {
		err = l.fail(err)
		retireAll(l.segments)
		return err
	}
	l.failed = ErrClosed
	retireAll(l.segments)
	return nil
}

// close does nothing to a log that is as Open found it, but for an epoch in which
// nothing was appended: stopping a node with many idle partitions must not cost a
// sync each.
func (l *Log) close() error {
	if !l.dirty && !l.epochsDirty && l.producers.mapEnd <= l.producers.snapEnd {
		return nil
	}
	if err := l.act.finish(l.env, l.dir, l.active()); err != nil {
		return err
	}
	if err := l.closeEpochs(); err != nil {
		return err
	}
	if err := l.takeSnapshot(synced); err != nil {
		return err
	}
	last := l.active()
	for _, suffix := range [...]string{indexSuffix, timeIndexSuffix} {
		if err := syncPath(l.env.FS, filePath(l.dir, last.base, suffix)); err != nil {
			return err
		}
	}
	if err := l.Flush(l.end); err != nil {
		return err
	}
	if last.hasTxnIndex.Load() {
		if err := syncPath(l.env.FS, filePath(l.dir, last.base, txnIndexSuffix)); err != nil {
			return err
		}
	}
	return l.env.FS.SyncDir(l.dir)
}

// Abandon closes the files without writing, when the disk has failed or the
// folder is to be deleted. Snapshots that are still around become stale.
func (l *Log) Abandon() {
	l.broken.Store(true)
	if l.failed == nil {
		l.failed = ErrClosed
	}
	retireAll(l.segments)
}
