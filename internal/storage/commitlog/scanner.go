package commitlog

import (
	"errors"
	"fmt"
	"io"

	"barnabas/internal/record"
)

// smallRead is enough for the header of an entry.
const smallRead = 64

// scanner walks over the entries of a segment file by their headers.
type scanner struct {
	f    io.ReaderAt
	pos  int64 // where the next entry begins
	size int64 // the walk ends here
	env  *Env

	header record.Header // of the entry at hand
	at     int64         // and its position
	err    error

	block *block
	have  []byte // bytes read, beginning at pos
}

// next goes to the next entry. It says false at the end, at an entry that is not
// whole, and at an error.
func (sc *scanner) next() bool {
	if sc.block == nil {
		sc.block = sc.env.getBlock()
	}
	if sc.err != nil || sc.pos+record.MinHeaderSize >= sc.size {
		return false
	}
	h, err := record.ParseHeader(sc.have)
	if errors.Is(err, record.ErrShort) {
		n := min(sc.step(), sc.size-sc.pos)
		if _, sc.err = sc.f.ReadAt(sc.block[:n], sc.pos); sc.err != nil {
			return false
		}
		sc.have = sc.block[:n]
		h, err = record.ParseHeader(sc.have)
	}
	switch {
	case errors.Is(err, record.ErrShort):
		return false
	case err != nil:
		sc.err = fmt.Errorf("position %d: %w", sc.pos, err)
		return false
	case sc.pos+int64(h.Size) > sc.size:
		return false
	}
	sc.header, sc.at = h, sc.pos
	sc.pos += int64(h.Size)
	sc.have = sc.have[min(h.Size, len(sc.have)):]
	return true
}

// step is how much to read: a page holds several small entries, but behind a large
// one there is likely another, and of that only the header is wanted.
func (sc *scanner) step() int64 {
	if sc.header.Size > pageBytes/2 {
		return smallRead
	}
	return pageBytes
}

func (sc *scanner) close() {
	if sc.block != nil {
		sc.env.putBlock(sc.block)
		sc.block, sc.have = nil, nil
	}
}
