package server

import (
	"errors"
	"fmt"
	"io"

	"barnabas/internal/base/bufpool"
)

const (
	// copied is the size up to which a range of a file is read and joined with its
	// neighbours; larger ones go from the page cache to the socket. One write of
	// warm bytes costs less than what sendfile saves: header, range and trailer
	// would be segments of their own, of as many fragments as the file has pages.
	copied = 64 << 10
	// joined is the size up to which bytes in memory are copied to their
	// neighbours instead of being a vector of their own.
	joined  = 4 << 10
	vectors = 64  // per write
	batched = 256 // answers that are taken at once
	kept    = 64  // pieces that there is memory for between batches, until the connection sleeps
)

// outbound is what a connection's writer has taken to be written.
type outbound struct {
	conn     *Conn
	requests []*Request
	pieces   []Piece
	next     int   // the first piece that is not on its way
	bytes    int64 // of the answers in memory
	fatal    bool  // after them the connection closes

	vecs  [][]byte        // to be sent now
	chunk *bufpool.Buffer // holds those of them that were joined
	slow  bool            // the socket was full: the chunk is charged
	file  Piece           // to be sent now, after vecs
}

func (o *outbound) empty() bool { return len(o.requests) == 0 }
func (o *outbound) full() bool  { return len(o.requests) >= batched || o.bytes >= maxQueued }

// add takes an answered request.
func (o *outbound) add(r *Request) {
	o.requests = append(o.requests, r)
	o.bytes += r.bytes
	o.pieces = append(o.pieces, Piece{Bytes: r.head[:r.headLen]})
	o.pieces = append(o.pieces, r.pieces...)
	r.pieces, r.Msg = nil, nil // what it was is not needed to write the answer
}

// send sends what the socket takes. It is done when all bytes have left.
func (o *outbound) send(t transport, p patience, pool *bufpool.Pool) (sent int64, done bool, err error) {
	for {
		var n int64
		switch {
		case len(o.vecs) > 0:
			n, err = o.sendVectors(t, p)
		case o.file.N > 0:
			n, err = o.sendFile(t, p, pool)
		case o.next < len(o.pieces):
			o.releaseChunk()
			if err = o.load(pool); err != nil {
				return sent, false, err
			}
			continue
		default:
			o.releaseChunk()
			return sent, true, nil
		}
		sent += n
		if n > 0 {
			o.conn.took(n, o.slow)
		}
		if err != nil || n == 0 {
			return sent, false, err
		}
	}
}

func (o *outbound) sendVectors(t transport, p patience) (int64, error) {
	more := o.file.N > 0 || o.next < len(o.pieces)
	n, err := t.write(o.vecs, more, p)
	for left := n; left > 0; {
		if left < len(o.vecs[0]) {
			o.vecs[0] = o.vecs[0][left:]
			break
		}
		left -= len(o.vecs[0])
		o.vecs[0] = nil
		o.vecs = o.vecs[1:]
	}
	return int64(n), err
}

func (o *outbound) sendFile(t transport, p patience, pool *bufpool.Pool) (int64, error) {
	fd, ok := o.file.File.Fd()
	if ok {
		var n int64
		var eof bool
		var err error
		n, eof, ok, err = t.sendFile(fd, o.file.Off, o.file.N, p)
		if eof {
			return 0, endOfFile(&o.file)
		}
		if ok {
			o.sentFile(n)
			return n, err
		}
	}
	// No descriptor, or a transport that must see the bytes: by way of a chunk.
	n := min(o.file.N, copied)
	if err := o.readChunk(&o.file, n, pool); err != nil {
		return 0, err
	}
	o.sentFile(n)
	return o.sendVectors(t, p)
}

// sentFile takes n bytes off the file that is being sent.
func (o *outbound) sentFile(n int64) {
	o.file.Off += n
	o.file.N -= n
	if o.file.N == 0 {
		o.file.Release()
	}
}

// load makes vectors of the next pieces, or makes the next file the one to be
// sent.
func (o *outbound) load(pool *bufpool.Pool) error {
	room := o.newChunk(pool)
	for o.next < len(o.pieces) && len(o.vecs) < vectors {
		p := &o.pieces[o.next]
		switch {
		case p.File != nil && p.N > copied:
			o.file = *p
			*p = Piece{}
			o.next++
			return nil
		case p.File != nil:
			if int(p.N) > len(room) {
				return nil
			}
			if err := readRange(p, room[:p.N]); err != nil {
				return err
			}
			o.join(room[:p.N])
			room = room[p.N:]
			p.Release()
		case len(p.Bytes) <= joined:
			if len(p.Bytes) > len(room) {
				return nil
			}
			o.join(room[:copy(room, p.Bytes)])
			room = room[len(p.Bytes):]
			p.Bytes = nil
		default:
			o.vecs = append(o.vecs, p.Bytes)
			p.Bytes = nil
		}
		o.next++
	}
	return nil
}

// newChunk gets memory for the pieces that load will join: as many as fit into
// the buffer that the largest of them would need alone.
func (o *outbound) newChunk(pool *bufpool.Pool) []byte {
	need, most := int64(0), int64(bufpool.Size(copied))
	for i := o.next; i < len(o.pieces); i++ {
		p := &o.pieces[i]
		if p.File == nil && len(p.Bytes) > joined {
			continue // a vector of its own
		}
		if p.File != nil && p.N > copied || need+p.Size() > most {
			break
		}
		need += p.Size()
	}
	if need == 0 {
		return nil
	}
	return o.getChunk(pool, int(need))
}

// join appends bytes of the chunk to the vectors.
func (o *outbound) join(b []byte) {
	if len(b) == 0 {
		return
	}
	if n := len(o.vecs); n > 0 {
		last := o.vecs[n-1]
		if cap(last) >= len(last)+len(b) && &last[:len(last)+1][len(last)] == &b[0] {
			o.vecs[n-1] = last[:len(last)+len(b)]
			return
		}
	}
	o.vecs = append(o.vecs, b)
}

// readChunk reads the first n bytes of a file piece to be sent at once.
func (o *outbound) readChunk(p *Piece, n int64, pool *bufpool.Pool) error {
	o.releaseChunk()
	chunk := o.getChunk(pool, int(n))[:n]
	part := *p
	part.N = n
	if err := readRange(&part, chunk); err != nil {
		return err
	}
	o.vecs = append(o.vecs, chunk)
	return nil
}

// readRange reads all of a file piece (invariant 6).
func readRange(p *Piece, b []byte) error {
	n, err := p.File.ReadAt(b, p.Off)
	switch {
	case n == len(b):
		return nil
	case err == nil || errors.Is(err, io.EOF):
		return endOfFile(p)
	}
	return fmt.Errorf("reading %d bytes at %d for an answer: %w", p.N, p.Off, err)
}

func endOfFile(p *Piece) error {
	return fmt.Errorf("BUG: a file ends inside the range promised to a client (%d bytes at %d)", p.N, p.Off)
}

func (o *outbound) getChunk(pool *bufpool.Pool, n int) []byte {
	o.chunk = pool.Get(n)
	if o.slow {
		closeUnread(o.conn.keepBack(int64(len(o.chunk.Bytes()))))
	}
	return o.chunk.Bytes()
}

// slacken notes that the socket is full, and returns who is to be closed for that.
func (o *outbound) slacken() (slowest []*Conn) {
	if !o.slow && o.chunk != nil {
		slowest = o.conn.keepBack(int64(len(o.chunk.Bytes())))
	}
	o.slow = true
	return slowest
}

func (o *outbound) releaseChunk() {
	if o.chunk != nil {
		if o.slow {
			o.conn.letGo(int64(len(o.chunk.Bytes())))
		}
		o.chunk.Release()
		o.chunk = nil
	}
	if len(o.vecs) == 0 {
		o.vecs = nil
	}
}

// reset forgets a batch that has left, and returns its bytes in memory.
func (o *outbound) reset() (bytes int64) {
	bytes = o.bytes
	clear(o.requests)
	clear(o.pieces)
	o.requests, o.pieces, o.next, o.bytes, o.slow = o.requests[:0], o.pieces[:0], 0, 0, false
	if cap(o.pieces) > kept {
		o.shrink()
	}
	return bytes
}

// shrink gives up the memory of an empty one.
func (o *outbound) shrink() { o.requests, o.pieces = nil, nil }

// drop forgets everything that has not left.
func (o *outbound) drop() {
	o.vecs = nil
	o.releaseChunk()
	o.file.Release()
	releaseAll(o.pieces)
	*o = outbound{conn: o.conn, fatal: o.fatal}
}
