package record

import (
	"errors"
	"io"
)

// stream is the unpacked bytes of a records section, of which only a part is
// in memory when they are compressed.
type stream struct {
	buf   []byte  // what is at hand and has not been read
	dec   decoder // where more comes from; nil when buf is all there is
	carry []byte  // holds buf when it had to be joined from several chunks

	passed int // bytes that skip, varint32 and varint64 have passed over
}

// open starts a stream; plain bytes are read where they are.
func (s *stream) open(c Codec, payload []byte, magic int8) error {
	s.close()
	if c == None {
		s.buf = payload
		return nil
	}
	dec, err := newDecoder(c, payload, magic)
	if err != nil {
		return err
	}
	s.dec = dec
	return nil
}

func (s *stream) close() {
	if s.dec != nil {
		s.dec.free()
		s.dec = nil
	}
	s.buf = nil
	if cap(s.carry) > maxPooled {
		s.carry = nil
	}
}

// atEnd says whether all has been read; it unpacks on to know.
func (s *stream) atEnd() (bool, error) {
	err := s.more()
	if errors.Is(err, io.EOF) {
		return true, nil
	}
	return false, err
}

// more makes sure that something is at hand, or returns io.EOF.
func (s *stream) more() error {
	if len(s.buf) > 0 {
		return nil
	}
	if s.dec == nil {
		return io.EOF
	}
	chunk, err := s.dec.next()
	if err != nil {
		return err
	}
	s.buf = chunk
	return nil
}

// need makes sure that n bytes are at hand in one piece. io.ErrUnexpectedEOF
// says that the stream ends before; then all that is left is at hand.
func (s *stream) need(n int) error {
	if err := s.more(); err != nil {
		return endsEarly(err)
	}
	if len(s.buf) >= n {
		return nil
	}
	if s.dec == nil {
		return io.ErrUnexpectedEOF
	}
	// buf may lie inside carry: append moves it to the front.
	s.carry = append(s.carry[:0], s.buf...)
	for len(s.carry) < n {
		s.buf = nil
		if err := s.more(); err != nil {
			s.buf = s.carry
			return endsEarly(err)
		}
		s.carry = append(s.carry, s.buf...)
	}
	s.buf = s.carry
	return nil
}

// endsEarly turns the end of the stream into one that comes too early.
func endsEarly(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// skip passes n bytes over, without joining them.
func (s *stream) skip(n int) error {
	s.passed += n
	for n > len(s.buf) {
		n -= len(s.buf)
		s.buf = nil
		if err := s.more(); err != nil {
			return endsEarly(err)
		}
	}
	s.buf = s.buf[n:]
	return nil
}

// varint32 reads an int that may lie across two chunks.
func (s *stream) varint32() (int32, error) {
	u, err := s.varint(maxVarint32)
	return unzigzag32(uint32(u)), err
}

// varint64 reads a long that may lie across two chunks.
func (s *stream) varint64() (int64, error) {
	u, err := s.varint(maxVarint64)
	return unzigzag64(u), err
}

func (s *stream) varint(limit int) (uint64, error) {
	u, n := longVarint(s.buf, limit)
	if n == 0 {
		if err := s.need(limit); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			return 0, err
		}
		u, n = longVarint(s.buf, limit)
	}
	switch {
	case n == 0:
		return 0, io.ErrUnexpectedEOF
	case n < 0:
		return 0, errBody("number too long")
	}
	s.buf = s.buf[n:]
	s.passed += n
	return u, nil
}
