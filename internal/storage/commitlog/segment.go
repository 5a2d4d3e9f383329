package commitlog

import (
	"errors"
	"io/fs"
	"math"
	"sync/atomic"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
)

// maxSegmentBytes is the largest size of a segment: positions in an index are
// 31 bits.
const maxSegmentBytes = math.MaxInt32

// maxRelativeOffset is the largest offset of an index entry, relative to the base
// offset of its segment.
const maxRelativeOffset = math.MaxInt32

// unknown marks a fact of a segment that has not been read yet.
const unknown = -1

// noTimestampYet is unknown for timestamps, where -1 has a meaning of its own.
const noTimestampYet = math.MinInt64

// segment is one file of batches with its indexes. What is in a segment only
// grows while it is the active one, and its size is then the log's business; a
// segment whose bytes are cut is replaced by a new object (invariant 4).
type segment struct {
	base kafka.Offset

	log, index, timeIndex, txnIndex vfs.Slot

	// gone is set before the segment's files are renamed, removed or cut.
	// Whatever a reader has found out about the segment before it saw gone
	// counts for nothing.
	gone atomic.Bool

	// swapping says that the files may still have the suffix ".swap": the segment is
	// shown to readers before the files get their names (swap.go).
	swapping atomic.Bool

	// size is written once, before the snapshot that shows the segment as sealed.
	size int64

	// Facts of a sealed segment, read from its files when first needed. They are
	// the same whoever reads them.
	indexEntries, timeEntries atomic.Int32 // unknown: not read yet
	maxTimestamp              atomic.Int64 // noTimestampYet: not read yet
	maxTimestampOffset        atomic.Int64
	hasTxnIndex               atomic.Bool

	// firstTimestamp is that of the first batch, noTimestampYet: not read yet.
	firstTimestamp atomic.Int64
	// modified is when the records were appended, as the file says; 0: ask the file.
	modified kafka.TimestampMs
}

func newSegment(base kafka.Offset) *segment {
	s := &segment{base: base}
	s.indexEntries.Store(unknown)
	s.timeEntries.Store(unknown)
	s.maxTimestamp.Store(noTimestampYet)
	s.firstTimestamp.Store(noTimestampYet)
	return s
}

// slot returns the slot of a file by its suffix.
func (s *segment) slot(suffix string) *vfs.Slot {
	switch suffix {
	case indexSuffix:
		return &s.index
	case timeIndexSuffix:
		return &s.timeIndex
	case txnIndexSuffix:
		return &s.txnIndex
	}
	return &s.log
}

// hold returns one of the segment's files with a hold. It opens the file by its
// name if it is not open; a segment that is gone is not opened any more, because
// another one may bear its name.
func (s *segment) hold(env *Env, dir, suffix string, mode vfs.Mode) (*vfs.Shared, error) {
	slot := s.slot(suffix)
	if f := slot.TryHold(); f != nil {
		return f, nil
	}
	if s.gone.Load() {
		return nil, ErrStale
	}
	path := filePath(dir, s.base, suffix)
	var f *vfs.Shared
	err := fs.ErrNotExist
	if s.swapping.Load() {
		f, err = env.Files.Hold(slot, env.FS, path+swapSuffix, vfs.ReadWrite)
	}
	if errors.Is(err, fs.ErrNotExist) {
		f, err = env.Files.Hold(slot, env.FS, path, mode)
	}
	if s.gone.Load() {
		if err == nil {
			f.Release()
		}
		slot.Drop()
		return nil, ErrStale
	}
	return f, err
}

// retire makes the segment unreadable for whoever comes now. Readers who hold a
// file keep it.
func (s *segment) retire() {
	s.gone.Store(true)
	s.dropFiles()
}

func retireAll(segments []*segment) {
	for _, s := range segments {
		s.retire()
	}
}

func (s *segment) dropFiles() {
	s.log.Drop()
	s.index.Drop()
	s.timeIndex.Drop()
	s.txnIndex.Drop()
}

// seal notes the facts of a segment that has stopped growing.
func (s *segment) seal(a *active) {
	s.size = a.size
	s.indexEntries.Store(a.indexFile)
	s.timeEntries.Store(a.timeFile)
	s.maxTimestampOffset.Store(int64(a.maxOffset))
	s.maxTimestamp.Store(a.maxTimestamp)
}

// floorSegment returns the index of the last segment whose base is at or below o,
// or -1.
func floorSegment(segments []*segment, o kafka.Offset) int {
	lo, hi := 0, len(segments)
	for lo < hi {
		if mid := (lo + hi) / 2; segments[mid].base <= o {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo - 1
}

// deleteFiles renames all files of a segment, so that they are known to be
// garbage even if the process ends before they are removed.
func deleteFiles(env *Env, dir string, base kafka.Offset, g *Garbage) error {
	for _, suffix := range segmentSuffixes {
		if err := deleteFile(env, dir, fileName(base, suffix), g); err != nil {
			return err
		}
	}
	return nil
}

func deleteFile(env *Env, dir, name string, g *Garbage) error {
	from := joinPath(dir, name)
	err := env.FS.Rename(from, from+deletedSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	g.Dir = dir
	g.Files = append(g.Files, name+deletedSuffix)
	return nil
}
