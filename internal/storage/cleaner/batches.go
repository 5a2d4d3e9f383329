package cleaner

import (
	"errors"
	"fmt"
	"io"

	"barnabas/internal/kafka"
	"barnabas/internal/record"
	"barnabas/internal/storage/commitlog"
)

// CorruptError says that a log cannot be cleaned, because what is in it cannot be
// read. Nothing of it has been changed from Segment on.
type CorruptError struct {
	Segment  kafka.Offset // base offset
	Position int64
	Err      error
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("segment %d, position %d: %v", e.Segment, e.Position, e.Err)
}

func (e *CorruptError) Unwrap() error { return e.Err }

// batches reads the entries of a segment file, checked, a buffer at a time.
type batches struct {
	f       io.ReaderAt
	segment kafka.Offset
	at      int64 // position of the entry that next returned
	pos     int64 // where the next one begins
	size    int64
	offset  kafka.Offset // the next entry does not end before it
	limit   kafka.Offset // nor at or behind this
	step    int          // how much is read at once; an entry that is larger is read whole
	pace    func(int) error

	buffer []byte
	have   []byte // read and not returned yet
}

// open begins with an entry at pos of a segment.
func (b *batches) open(f io.ReaderAt, s *commitlog.SealedSegment, pos int64) {
	b.f, b.segment, b.pos, b.at, b.size, b.have = f, s.Base, pos, pos, s.Size, nil
	b.offset, b.limit = s.Base, s.Next
	if cap(b.buffer) > b.step {
		b.buffer = nil // a large entry is behind us
	}
}

// next returns the next entry, valid until it is called again. At the end it
// returns io.EOF.
func (b *batches) next() (h record.Header, entry []byte, err error) {
	if b.pos == b.size {
		return h, nil, io.EOF
	}
	b.at = b.pos
	if h, err = record.ParseHeader(b.have); errors.Is(err, record.ErrShort) {
		if err := b.fill(record.HeaderSize); err != nil {
			return h, nil, err
		}
		h, err = record.ParseHeader(b.have)
	}
	switch {
	case errors.Is(err, record.ErrShort), err == nil && b.pos+int64(h.Size) > b.size:
		return h, nil, b.corrupt(errors.New("the segment ends inside a batch"))
	case err != nil:
		return h, nil, b.corrupt(err)
	}
	if len(b.have) < h.Size {
		if err := b.fill(h.Size); err != nil {
			return h, nil, err
		}
	}
	entry = b.have[:h.Size:h.Size]
	if err := record.Verify(entry); err != nil {
		return h, nil, b.corrupt(err)
	}
	if last := h.LastOffset(); last < b.offset || last < h.BaseOffset || last >= b.limit {
		return h, nil, b.corrupt(fmt.Errorf("offsets [%d, %d] of a batch, expected some of [%d, %d)", h.BaseOffset, last, b.offset, b.limit))
	}
	b.offset = h.NextOffset()
	b.have = b.have[h.Size:]
	b.pos += int64(h.Size)
	return h, entry, nil
}

// fill reads until n bytes are at hand, or the segment ends.
func (b *batches) fill(n int) error {
	want := int(min(int64(max(n, b.step)), b.size-b.pos))
	if cap(b.buffer) < want {
		b.buffer = append(make([]byte, 0, want), b.have...)
	} else {
		b.buffer = append(b.buffer[:0], b.have...)
	}
	have := len(b.buffer)
	b.buffer = b.buffer[:max(want, have)]
	if _, err := b.f.ReadAt(b.buffer[have:], b.pos+int64(have)); err != nil {
		return err
	}
	b.have = b.buffer
	return b.pace(len(b.buffer) - have)
}

func (b *batches) corrupt(err error) error {
	return &CorruptError{Segment: b.segment, Position: b.at, Err: err}
}
