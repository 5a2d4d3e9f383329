package quorum

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/metarec"
)

// snapshotSet is the finished snapshots in the folder of the metadata log, oldest
// first. Its files are read and removed here; its owner guards the list.
type snapshotSet struct {
	fsys vfs.FS
	dir  string
	ids  []SnapshotID
}

// scanSnapshots lists the snapshots in dir and removes what interrupted writes
// and removals left.
func scanSnapshots(fsys vfs.FS, dir string) (*snapshotSet, error) {
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	s := &snapshotSet{fsys: fsys, dir: dir}
	for _, e := range entries {
		if leftOver(e.Name) {
			if err := fsys.Remove(filepath.Join(dir, e.Name)); err != nil {
				return nil, err
			}
		} else if id, ok := parseSnapshotName(e.Name); ok {
			s.ids = append(s.ids, id)
		}
	}
	slices.SortFunc(s.ids, SnapshotID.Compare)
	return s, nil
}

func (s *snapshotSet) path(id SnapshotID) string { return filepath.Join(s.dir, id.fileName()) }

func (s *snapshotSet) open(id SnapshotID) (*SnapshotReader, error) {
	return openSnapshot(s.fsys, s.path(id), id)
}

// latest is the newest snapshot of what was committed; the one that formatting
// wrote is none.
func (s *snapshotSet) latest() (SnapshotID, bool) {
	if n := len(s.ids); n > 0 && s.ids[n-1] != bootstrapID() {
		return s.ids[n-1], true
	}
	return SnapshotID{}, false
}

// add puts a finished snapshot into the list.
func (s *snapshotSet) add(id SnapshotID) {
	at, there := slices.BinarySearchFunc(s.ids, id, SnapshotID.Compare)
	if !there {
		s.ids = slices.Insert(slices.Clone(s.ids), at, id)
	}
}

// dropBelow takes the snapshots that end below offset off the list and returns
// them, so that their files can be removed.
func (s *snapshotSet) dropBelow(offset kafka.Offset) []SnapshotID {
	n := 0
	for n < len(s.ids) && s.ids[n].EndOffset < offset {
		n++
	}
	dropped := s.ids[:n]
	s.ids = s.ids[n:]
	return dropped
}

// remove removes the files of snapshots.
func (s *snapshotSet) remove(ids []SnapshotID) error {
	for _, id := range ids {
		if err := s.fsys.Remove(s.path(id)); err != nil {
			return err
		}
	}
	return nil
}

// retention says beyond what the oldest snapshot goes; negative is no limit.
type retention struct {
	bytes int64
	age   time.Duration
}

// surplus says how many of the oldest snapshots the limits no longer allow, of a
// log of logBytes bytes. The newest stays in any case.
func (s *snapshotSet) surplus(limit retention, logBytes int64, now time.Time) (int, error) {
	total := logBytes
	sizes := make([]int64, len(s.ids))
	for i, id := range s.ids {
		info, err := s.fsys.Stat(s.path(id))
		if err != nil {
			return 0, err
		}
		sizes[i] = info.Size
		total += info.Size
	}
	for i, id := range s.ids[:max(len(s.ids)-1, 0)] {
		tooLarge := limit.bytes >= 0 && total > limit.bytes
		tooOld, err := s.olderThan(id, limit.age, now)
		if err != nil {
			return 0, err
		}
		if !tooLarge && !tooOld {
			return i, nil
		}
		total -= sizes[i]
	}
	return max(len(s.ids)-1, 0), nil
}

func (s *snapshotSet) olderThan(id SnapshotID, age time.Duration, now time.Time) (bool, error) {
	if age < 0 {
		return false, nil
	}
	r, err := s.open(id)
	if err != nil {
		return false, err
	}
	return now.Sub(time.UnixMilli(r.LastContainedLogTimestamp())) > age, r.Close()
}

// learnSnapshot takes what the snapshot says of kraft.version and the voters: they
// were in force at its end. They stand beside the header.
func (h *history) learnSnapshot(r *SnapshotReader) error {
	return eachControl(r.head, func(_ kafka.Offset, c metarec.ControlRecord) error {
		return h.learn(r.ID().EndOffset-1, c)
	})
}

// withSnapshot opens a snapshot, hands it to use and closes it.
func (s *snapshotSet) withSnapshot(id SnapshotID, use func(*SnapshotReader) error) error {
	r, err := s.open(id)
	if err != nil {
		return err
	}
	if err := errors.Join(use(r), r.Close()); err != nil {
		return fmt.Errorf("snapshot %s: %w", id, err)
	}
	return nil
}

// has says whether the snapshot is there.
func (s *snapshotSet) has(id SnapshotID) bool {
	_, there := slices.BinarySearchFunc(s.ids, id, SnapshotID.Compare)
	return there
}
