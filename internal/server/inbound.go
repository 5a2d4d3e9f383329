package server

import (
	"encoding/binary"
	"fmt"
	"time"

	"barnabas/internal/base/bufpool"
	"barnabas/internal/wire"
)

// firstRead is the size of the buffer of a connection that was idle.
const firstRead = 64 << 10

// shortRead is its size where memory is short, the smallest that the pool has (and its slack): most
// requests fit, and it is within the share that need not wait behind large ones.
const shortRead = 4 << 10

// inbound is the read side of a connection: the buffer that is being filled and
// the bytes in it that are not yet a request.
type inbound struct {
	conn    *Conn
	buffer  *bufpool.Buffer // charged with its length; nil while idle
	r, w    int             // buffer[r:w] is unread
	stash   []byte          // instead of a buffer: few bytes that wait, charged with their length
	drain   int             // size of the next buffer
	largest int             // the last frame that was larger, with its length
	arrived time.Time
}

// pending is what was read and is not yet a request.
func (in *inbound) pending() []byte {
	if in.buffer == nil {
		return in.stash
	}
	return in.buffer.Bytes()[in.r:in.w]
}

// frameSize is the size of the frame that pending begins with, with its length;
// 0 if too few bytes are there, or if the length is none.
func (in *inbound) frameSize() int {
	p := in.pending()
	if len(p) < wire.LengthBytes {
		return 0
	}
	n := int32(binary.BigEndian.Uint32(p))
	if n < 0 {
		return 0
	}
	return int(n) + wire.LengthBytes
}

// frame returns the next whole frame without its length, but does not pass it.
func (in *inbound) frame(limit int) (frame []byte, ok bool, err error) {
	p := in.pending()
	if len(p) < wire.LengthBytes {
		return nil, false, nil
	}
	n := int(int32(binary.BigEndian.Uint32(p)))
	if n < 0 || n > limit {
		return nil, false, fmt.Errorf("%w: frame of %d bytes, %d are allowed", wire.ErrMalformed, n, limit)
	}
	p = p[wire.LengthBytes:]
	if n > len(p) {
		return nil, false, nil
	}
	return p[:n:n], true, nil
}

// pass takes a frame that frame returned.
func (in *inbound) pass(frame []byte) {
	in.r += wire.LengthBytes + len(frame)
	if len(frame) > firstRead {
		in.largest = wire.LengthBytes + len(frame)
	}
}

// filled notes n bytes more. A read that took all the room asks for larger ones.
func (in *inbound) filled(n int, at time.Time) {
	in.w += n
	in.arrived = at
	if in.w == len(in.buffer.Bytes()) && in.frameSize() <= firstRead {
		in.drain = min(2*in.drain, max(firstRead, in.conn.server.options.DrainOnceBytes))
	}
}

// lend implements lender.
func (in *inbound) lend() []byte {
	if !in.makeRoom(in.conn.account.TryTake, plenty) && !in.makeRoom(in.conn.account.TryTake, scarce) {
		return nil
	}
	b := in.buffer.Bytes()
	end := len(b)
	// Behind a large frame nothing is read along, or it would have to be moved.
	if size := in.frameSize(); size > firstRead {
		end = min(end, in.r+size)
	}
	return b[in.w:end]
}

// supply says how much a connection without a buffer asks for.
type supply int8

const (
	plenty supply = iota
	scarce        // little, for memory is short
)

// makeRoom sees to it that there is room to read, with memory from take; it
// returns false if there is none. A frame gets a buffer twice as large, or as
// large as the last large frame, when it has filled the one it has.
func (in *inbound) makeRoom(take func(n int64) bool, s supply) bool {
	size, pending := in.frameSize(), in.pending()
	want, roomy := in.drain, false
	if s == scarce && in.buffer == nil {
		want = shortRead
	}
	if b := in.buffer; b != nil {
		have := len(b.Bytes())
		if b.Unique() && in.r > 0 && (len(pending) == 0 || in.r+size > have || have-in.w < have/4) {
			copy(b.Bytes(), pending)
			in.r, in.w = 0, len(pending)
		}
		switch {
		case len(pending) == 0 && b.Unique() && have < want:
			roomy = true // it would do, but the connection is busier than it was
		case in.w < have && (in.r+size <= have || in.r == 0):
			return true
		case in.w == have && in.r == 0:
			want = min(size, max(2*have, in.largest))
		}
		// Else requests that wait for their order hold the buffer.
	}
	want = max(want, len(pending)+1)
	if !take(int64(bufpool.Size(want))) {
		return roomy
	}
	b := in.conn.server.options.Pool.Get(want)
	n := copy(b.Bytes(), pending)
	in.drop()
	in.buffer, in.r, in.w = b, 0, n
	return true
}

// idle implements lender: nothing can or may be read now. A buffer without bytes
// goes back; of one with few, they are kept aside in memory of their own size.
func (in *inbound) idle() {
	if in.buffer == nil {
		return
	}
	pending := in.pending()
	have := int64(len(in.buffer.Bytes()))
	if in.w < in.drain/4 {
		in.drain = max(firstRead, in.drain/2)
	}
	switch keep := int64(len(pending)); {
	case keep == 0:
		in.drop()
		in.conn.run = nil
	case keep <= have/4 && in.buffer.Unique():
		in.stash = append([]byte(nil), pending...)
		in.buffer.Release()
		in.buffer, in.r, in.w = nil, 0, 0
		in.conn.account.Return(have - keep)
	}
}

// drop gives back what is held, with the bytes in it.
func (in *inbound) drop() {
	if in.buffer != nil {
		in.conn.releaseBuffer(in.buffer)
		in.buffer, in.r, in.w = nil, 0, 0
	}
	if in.stash != nil {
		in.conn.account.Return(int64(len(in.stash)))
		in.stash = nil
	}
}
