package quorum

import (
	"errors"
	"fmt"

	"barnabas/internal/kafka"
	"barnabas/internal/record"
	"barnabas/internal/storage/commitlog"
)

// ErrSnapshotExists: there is a snapshot of that name already.
var ErrSnapshotExists = errors.New("the snapshot exists already")

// SnapshotWriter writes one snapshot. It is used by one goroutine, any.
type SnapshotWriter struct {
	q    *Quorum
	file *snapshotFile
}

// CreateSnapshot begins a snapshot of what the log holds below id.EndOffset: an
// offset that is committed, in the log, and the start of a batch, after a record
// of epoch id.Epoch. lastContained is the append time of that record. If there is
// such a snapshot already, the error is ErrSnapshotExists itself.
func (q *Quorum) CreateSnapshot(id SnapshotID, lastContained kafka.TimestampMs) (*SnapshotWriter, error) {
	head, err := q.snapshotHead(id)
	if err == ErrSnapshotExists {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("snapshot %s: %w", id, err)
	}
	head.lastContainedLogTimestamp = lastContained
	file, err := createSnapshot(q.opts.FS, q.dir, id, head, q.opts.Now)
	if err != nil {
		return nil, fmt.Errorf("snapshot %s: %w", id, err)
	}
	return &SnapshotWriter{q: q, file: file}, nil
}

// snapshotHead checks the id and collects what was in force at its end.
func (q *Quorum) snapshotHead(id SnapshotID) (snapshotHead, error) {
	q.mu.Lock()
	hw := q.highWatermark
	exists := q.snapshots.has(id)
	kraftVersion, voters := q.history.before(id.EndOffset)
	q.mu.Unlock()
	log := q.log.Snapshot()
	switch {
	case exists:
		return snapshotHead{}, ErrSnapshotExists
	case id.EndOffset > hw:
		return snapshotHead{}, fmt.Errorf("it would end above the high watermark %d", hw)
	case id.EndOffset <= log.LogStart():
		return snapshotHead{}, fmt.Errorf("it would end at or below the start of the log, %d", log.LogStart())
	}
	if epoch := log.EpochOf(id.EndOffset - 1); epoch != id.Epoch {
		return snapshotHead{}, fmt.Errorf("the record before its end is of epoch %d", epoch)
	}
	if id.EndOffset < log.LogEnd() {
		base, err := batchAt(log, id.EndOffset)
		if err != nil {
			return snapshotHead{}, err
		}
		if base < id.EndOffset {
			return snapshotHead{}, fmt.Errorf("it would end inside the batch that begins at %d", base)
		}
	}
	return snapshotHead{kraftVersion: kraftVersion, voters: voters}, nil
}

// batchAt returns the base offset of the batch that holds offset.
func batchAt(log *commitlog.Snapshot, offset kafka.Offset) (kafka.Offset, error) {
	slice, err := log.Read(commitlog.ReadRequest{From: offset, UpTo: log.LogEnd(), MaxBytes: record.HeaderSize, WholeFirst: true})
	if err != nil {
		return kafka.NoOffset, err
	}
	defer slice.Release()
	return slice.FirstOffset, nil
}

// Append writes framed metadata records.
func (w *SnapshotWriter) Append(frames [][]byte) error { return w.file.append(frames) }

// Finish writes the end, makes the snapshot durable and gives it its name.
func (w *SnapshotWriter) Finish() error {
	if err := w.file.finish(); err != nil {
		return err
	}
	w.q.mu.Lock()
	w.q.snapshots.add(w.file.id)
	w.q.cleanDue = true
	w.q.mu.Unlock()
	w.q.signal()
	w.q.opts.Logger.Info("metadata snapshot written", "snapshot", w.file.id.String(), "bytes", w.file.pos)
	return nil
}

// Discard removes what was written. It does nothing after Finish.
func (w *SnapshotWriter) Discard() error { return w.file.giveUp() }

// LatestSnapshot is the newest snapshot of what was committed.
func (q *Quorum) LatestSnapshot() (SnapshotID, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.snapshots.latest()
}

// OpenSnapshot opens a snapshot for reading; the caller closes the reader.
func (q *Quorum) OpenSnapshot(id SnapshotID) (*SnapshotReader, error) { return q.snapshots.open(id) }
