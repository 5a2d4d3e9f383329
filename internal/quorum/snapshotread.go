package quorum

import (
	"errors"
	"fmt"
	"io"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/metarec"
	"barnabas/internal/record"
)

// ErrBadSnapshot marks a snapshot file whose content cannot be trusted.
var ErrBadSnapshot = errors.New("damaged snapshot")

// SnapshotReader reads a snapshot batch by batch. It takes memory for one batch.
type SnapshotReader struct {
	id     SnapshotID
	file   vfs.File
	size   int64
	pos    int64
	next   kafka.Offset // the base offset that the next batch must have
	header *metarec.SnapshotHeaderRecord
	head   record.Batch // the batch that the header is in, read by open
	begun  bool         // Next has returned head
	footer bool         // the footer has been read
}

// openSnapshot opens the file and reads its header.
func openSnapshot(fsys vfs.FS, path string, id SnapshotID) (*SnapshotReader, error) {
	f, err := fsys.Open(path, vfs.Read)
	if err != nil {
		return nil, err
	}
	r := &SnapshotReader{id: id, file: f}
	if err := r.readHeader(); err != nil {
		return nil, errors.Join(fmt.Errorf("snapshot %s: %w", path, err), f.Close())
	}
	return r, nil
}

func (r *SnapshotReader) readHeader() (err error) {
	if r.size, err = r.file.Size(); err != nil {
		return err
	}
	if r.head, err = r.read(); err != nil {
		return err
	}
	err = eachControl(r.head, func(_ kafka.Offset, c metarec.ControlRecord) error {
		if h, ok := c.(*metarec.SnapshotHeaderRecord); ok {
			r.header = h
		}
		return nil
	})
	if err == nil && r.header == nil {
		err = fmt.Errorf("%w: it does not begin with a header", ErrBadSnapshot)
	}
	return err
}

// ID names the snapshot.
func (r *SnapshotReader) ID() SnapshotID { return r.id }

// Size is the size of the file.
func (r *SnapshotReader) Size() int64 { return r.size }

// LastContainedLogTimestamp is the append time of the last record that the
// snapshot stands for.
func (r *SnapshotReader) LastContainedLogTimestamp() kafka.TimestampMs {
	return r.header.LastContainedLogTimestamp
}

// Next returns the next batch, control batches included; the batch may be kept.
// At the end it is io.EOF; a file that ends before its footer is damaged.
func (r *SnapshotReader) Next() (record.Batch, error) {
	if !r.begun {
		r.begun = true
		return r.head, r.noteFooter(r.head)
	}
	b, err := r.read()
	if err != nil {
		return nil, err
	}
	return b, r.noteFooter(b)
}

func (r *SnapshotReader) noteFooter(b record.Batch) error {
	return eachControl(b, func(_ kafka.Offset, c metarec.ControlRecord) error {
		if _, ok := c.(*metarec.SnapshotFooterRecord); ok {
			r.footer = true
		}
		return nil
	})
}

// read reads the batch at the position. Its length is held against what is left
// of the file before memory is taken for it.
func (r *SnapshotReader) read() (record.Batch, error) {
	left := r.size - r.pos
	if left == 0 && r.footer {
		return nil, io.EOF
	}
	bad := func(why string) error { return fmt.Errorf("%w: position %d: %s", ErrBadSnapshot, r.pos, why) }
	switch {
	case r.footer:
		return nil, bad("there are bytes after the footer")
	case left == 0:
		return nil, bad("it ends without a footer")
	case left < record.HeaderSize:
		return nil, bad("it ends inside a batch")
	}
	var head [record.HeaderSize]byte
	if _, err := r.file.ReadAt(head[:], r.pos); err != nil {
		return nil, err
	}
	h, err := record.ParseHeader(head[:])
	if err != nil {
		return nil, bad(err.Error())
	}
	if int64(h.Size) > left {
		return nil, bad("it ends inside a batch")
	}
	buf := make([]byte, h.Size)
	if _, err := r.file.ReadAt(buf, r.pos); err != nil {
		return nil, err
	}
	b, _, err := record.Next(buf)
	if err != nil {
		return nil, bad(err.Error())
	}
	if err := b.CheckCRC(); err != nil {
		return nil, bad(err.Error())
	}
	if b.BaseOffset() != r.next {
		return nil, bad(fmt.Sprintf("base offset %d, want %d", b.BaseOffset(), r.next))
	}
	r.pos, r.next = r.pos+int64(h.Size), b.NextOffset()
	return b, nil
}

// Close closes the file.
func (r *SnapshotReader) Close() error { return r.file.Close() }
