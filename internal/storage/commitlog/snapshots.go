package commitlog

import (
	"errors"
	"io/fs"
	"slices"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
)

// syncMode says whether a file is synced as it is written.
type syncMode int8

const (
	unsynced syncMode = iota // the flush that follows does it
	synced
)

// takeSnapshot writes the producers' state to a file named by the offset up to
// which it speaks, unless there is one.
func (l *Log) takeSnapshot(mode syncMode) error {
	ps := &l.producers
	if ps.mapEnd <= ps.snapEnd {
		return nil
	}
	path := filePath(l.dir, ps.mapEnd, snapshotSuffix)
	if err := writeFile(l.env.FS, path, ps.encodeSnapshot(), mode); err != nil {
		if vfs.IsFull(err) {
			_ = l.env.FS.Remove(path) // Open removes what it cannot read
		}
		return err
	}
	ps.snapEnd = ps.mapEnd
	if i, found := slices.BinarySearch(l.snapshots, ps.mapEnd); !found {
		l.snapshots = slices.Insert(l.snapshots, i, ps.mapEnd)
	}
	return nil
}

func writeFile(fsys vfs.FS, path string, data []byte, mode syncMode) error {
	if mode == synced {
		return vfs.WriteFile(fsys, path, data)
	}
	f, err := fsys.Open(path, vfs.CreateEmpty)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(data, 0)
	return errors.Join(err, f.Close())
}

// newestSnapshot is the offset of the newest snapshot, or or if there is none.
func (l *Log) newestSnapshot(or kafka.Offset) kafka.Offset {
	if n := len(l.snapshots); n > 0 {
		return l.snapshots[n-1]
	}
	return or
}

// removeSnapshot removes a snapshot file.
func (l *Log) removeSnapshot(o kafka.Offset) error {
	err := l.env.FS.Remove(filePath(l.dir, o, snapshotSuffix))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	l.forgetSnapshot(o)
	return nil
}

func (l *Log) forgetSnapshot(o kafka.Offset) {
	l.snapshots = slices.DeleteFunc(l.snapshots, func(s kafka.Offset) bool { return s == o })
}

// removeSnapshots removes the snapshot files whose offset drop says so of. When it
// returns they are durably gone: one that came back after a power cut would speak
// of batches that are no longer those of the log.
func (l *Log) removeSnapshots(drop func(kafka.Offset) bool) error {
	before := len(l.snapshots)
	for _, o := range slices.Clone(l.snapshots) {
		if drop(o) {
			if err := l.removeSnapshot(o); err != nil {
				return err
			}
		}
	}
	if len(l.snapshots) == before {
		return nil
	}
	return l.env.FS.SyncDir(l.dir)
}

// loadSnapshot takes over the newest snapshot at or below an offset that can be
// read; those that cannot are removed and named in bad. Without any, nothing is
// known at the log start.
func (l *Log) loadSnapshot(now kafka.TimestampMs, upTo kafka.Offset) (bad []string, err error) {
	ps, c := &l.producers, l.config.Load()
	ps.clear()
	for i := len(l.snapshots) - 1; i >= 0; i-- {
		o := l.snapshots[i]
		if o > upTo {
			continue
		}
		data, err := vfs.ReadFile(l.env.FS, filePath(l.dir, o, snapshotSuffix))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return bad, err
		}
		if err == nil {
			err = decodeSnapshot(data, func(p *producer) {
				if p.expired(now, c) {
					return
				}
				ps.put(p)
				if p.txnStart >= 0 {
					ps.begin(p.id, p.txnStart)
				}
			})
		}
		if err == nil {
			ps.mapEnd, ps.snapEnd = o, o
			return bad, nil
		}
		ps.clear()
		bad = append(bad, fileName(o, snapshotSuffix))
		if err := l.removeSnapshot(o); err != nil {
			return bad, err
		}
	}
	ps.mapEnd, ps.snapEnd = l.start, l.start
	return bad, nil
}
