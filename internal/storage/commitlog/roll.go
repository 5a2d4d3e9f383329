package commitlog

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
)

// Roll starts a new segment at the log's end. If the active segment is empty
// nothing happens.
func (l *Log) Roll(now kafka.TimestampMs) error {
	if err := l.change(); err != nil {
		return err
	}
	err := l.rollAt(l.end, now)
	l.publish()
	return err
}

// rollAt ends the active segment and begins a new one at base, which is at or
// above the log's end. What was the active segment is to be flushed by the owner
// in the background (SealedEnd): a roll itself waits for no disk.
func (l *Log) rollAt(base kafka.Offset, now kafka.TimestampMs) error {
	old := l.active()
	base = max(base, l.end)
	if base == old.base {
		return nil
	}
	if err := l.act.finish(l.env, l.dir, old); err != nil {
		return err
	}
	// If everything is durable already, or is about to be, no later flush covers
	// what has just been written.
	if max(l.recoveryPoint, l.flushing) >= base {
		if err := l.syncSegment(old); err != nil {
			return err
		}
	}
	if err := removeSegmentFiles(l.env, l.dir, base); err != nil {
		return err
	}
	if err := createSegmentFiles(l.env, l.dir, base, l.config.Load()); err != nil {
		return l.takeBack(base, err)
	}
	old.seal(&l.act)
	l.sealedBytes += old.size
	l.segments = append(slices.Clip(l.segments), newSegment(base))
	l.act = l.emptyActive(base, now)
	l.producers.mapEnd = base
	return l.takeSnapshot(unsynced)
}

// takeBack removes the files of a segment that could not be begun. The old one goes
// on, perhaps beyond that base, and recovery would take an empty segment there for
// the end of the log.
func (l *Log) takeBack(base kafka.Offset, cause error) error {
	if err := removeSegmentFiles(l.env, l.dir, base); err != nil {
		return l.fail(fmt.Errorf("%w; and then %w", cause, err))
	}
	return cause
}

// syncSegment makes all files of a segment durable.
func (l *Log) syncSegment(s *segment) error {
	for _, suffix := range segmentSuffixes {
		if err := syncPath(l.env.FS, filePath(l.dir, s.base, suffix)); err != nil {
			return err
		}
	}
	return nil
}

// emptyActive describes the active segment after its files were created.
func (l *Log) emptyActive(base kafka.Offset, now kafka.TimestampMs) active {
	c := l.config.Load()
	var jitter int64
	if limit := min(c.SegmentJitterMs, c.SegmentMs); limit > 0 && l.env.Random != nil {
		jitter = l.env.Random(limit)
	}
	a := newActive(base, now, jitter)
	if c.Preallocate {
		a.reserved = int64(c.SegmentBytes)
	}
	return a
}

// removeSegmentFiles removes what an earlier process left under a name that is to
// be used.
func removeSegmentFiles(env *Env, dir string, base kafka.Offset) error {
	for _, suffix := range segmentSuffixes {
		if err := env.FS.Remove(filePath(dir, base, suffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// createSegmentFiles makes the files of an empty segment. The indexes are made at
// once, because Apache takes a segment without one for damaged.
func createSegmentFiles(env *Env, dir string, base kafka.Offset, c *Config) error {
	for _, suffix := range [...]string{logSuffix, indexSuffix, timeIndexSuffix} {
		f, err := env.FS.Open(filePath(dir, base, suffix), vfs.CreateEmpty)
		if err != nil {
			return err
		}
		if suffix == logSuffix && c.Preallocate {
			err = f.Truncate(int64(c.SegmentBytes))
		}
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}
