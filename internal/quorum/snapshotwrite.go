package quorum

import (
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/metarec"
	"barnabas/internal/raft"
	"barnabas/internal/record"
)

// snapshotMode is the mode of a finished snapshot: nobody changes it any more.
const snapshotMode fs.FileMode = 0o400

// snapshotHead is what the first batch of a snapshot says.
type snapshotHead struct {
	lastContainedLogTimestamp kafka.TimestampMs
	kraftVersion              int16
	voters                    raft.VoterSet // nil: none are known
}

// snapshotFile writes one snapshot: header, data, footer, each a batch of its own.
type snapshotFile struct {
	fsys vfs.FS
	dir  string
	id   SnapshotID
	now  func() time.Time
	file vfs.File // nil once finished or given up
	pos  int64
	next kafka.Offset
}

// createSnapshot begins a snapshot in dir. A part of the same name that a crash
// left is removed first: it may be read-only already.
func createSnapshot(fsys vfs.FS, dir string, id SnapshotID, head snapshotHead, now func() time.Time) (*snapshotFile, error) {
	w := &snapshotFile{fsys: fsys, dir: dir, id: id, now: now}
	if err := w.giveUp(); err != nil {
		return nil, err
	}
	f, err := fsys.Open(w.partPath(), vfs.CreateNew)
	if err != nil {
		return nil, err
	}
	w.file = f
	header := metarec.NewSnapshotHeaderRecord()
	header.LastContainedLogTimestamp = head.lastContainedLogTimestamp
	records := []metarec.ControlRecord{header}
	if head.kraftVersion >= raft.KRaftVersion1 {
		records = append(records, kraftVersionRecord(head.kraftVersion))
		if head.voters != nil {
			records = append(records, votersRecord(head.voters))
		}
	}
	if err := w.control(records...); err != nil {
		return nil, errors.Join(err, w.giveUp())
	}
	return w, nil
}

func (w *snapshotFile) partPath() string {
	return filepath.Join(w.dir, w.id.String()+partSnapshotSuffix)
}

func (w *snapshotFile) options() record.BatchOptions {
	return record.BatchOptions{BaseOffset: w.next, LeaderEpoch: w.id.Epoch}
}

func (w *snapshotFile) control(records ...metarec.ControlRecord) error {
	b, err := controlBatch(w.options(), w.now().UnixMilli(), records...)
	if err != nil {
		return err
	}
	return w.write(b)
}

// append writes framed metadata records.
func (w *snapshotFile) append(frames [][]byte) error {
	batches, err := dataBatches(frames, Divisible, w.options(), w.now().UnixMilli())
	if err != nil {
		return err
	}
	return w.write(batches...)
}

func (w *snapshotFile) write(batches ...record.Batch) error {
	for _, b := range batches {
		n, err := w.file.WriteAt(b, w.pos)
		if err != nil {
			return err
		}
		w.pos, w.next = w.pos+int64(n), b.NextOffset()
	}
	return nil
}

// finish writes the footer and gives the file its name, durably. It costs two
// fsyncs, as the mode is set before the first.
func (w *snapshotFile) finish() error {
	if err := w.finishPart(); err != nil {
		return errors.Join(err, w.giveUp())
	}
	if err := w.fsys.Rename(w.partPath(), filepath.Join(w.dir, w.id.fileName())); err != nil {
		return err
	}
	return w.fsys.SyncDir(w.dir)
}

func (w *snapshotFile) finishPart() error {
	if err := w.control(metarec.NewSnapshotFooterRecord()); err != nil {
		return err
	}
	if err := w.fsys.Chmod(w.partPath(), snapshotMode); err != nil {
		return err
	}
	if err := w.file.Sync(); err != nil {
		return err
	}
	f := w.file
	w.file = nil
	return f.Close()
}

// giveUp removes the part. It does nothing after finish.
func (w *snapshotFile) giveUp() error {
	var closing error
	if w.file != nil {
		closing = w.file.Close()
		w.file = nil
	}
	err := w.fsys.Remove(w.partPath())
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(closing, err)
}
