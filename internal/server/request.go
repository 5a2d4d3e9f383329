package server

import (
	"encoding/binary"
	"fmt"
	"time"

	"barnabas/internal/base/bufpool"
	"barnabas/internal/wire"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Request is one request of a connection. A handler may keep it until it has
// answered it.
type Request struct {
	Header wire.RequestHeader
	API    *wire.API
	// Msg is the decoded body. That of a Produce request lies in a pooled buffer
	// and must not be touched after Ordered or Reply; that of others, not after Reply.
	Msg     kmsg.Request
	Arrived time.Time // when its last byte was read
	Size    int       // of the frame, without its length

	conn *Conn

	// set before the handler sees the request
	body   []byte
	buffer *bufpool.Buffer // held until ordered; nil if Msg owns its memory
	charge int64           // taken from the budget until ordered
	drain  uint32          // the drain that it came with
	served time.Time

	// guarded by conn.mu
	next     *Request
	state    state
	ordered  bool
	throttle time.Duration

	// set by Reply, then owned by whoever writes
	pieces  []Piece
	replied time.Time
	head    [wire.LengthBytes + wire.ResponseHeaderSize]byte
	headLen int
	bytes   int64 // that the pieces take in memory
}

// state of a request in the queue.
type state uint8

const (
	unanswered state = iota
	answered         // pieces are set
	silent           // there will be no answer
	fatal            // when its turn comes, the connection closes
)

// Conn is the connection that the request came with.
func (r *Request) Conn() *Conn { return r.conn }

// Ordered says that the effects of the request are placed: the connection may
// read on before the request is answered. It is only useful for requests whose
// successors need not see the answer first, and counts once.
func (r *Request) Ordered() { r.conn.settle(r, unanswered, nil) }

// Reply answers the request with the body that the pieces make up; the header is
// the server's business. It takes over the pieces' files. A request is answered
// once, by any of Reply, ReplyMessage, NoReply and Abort, from any goroutine.
func (r *Request) Reply(pieces ...Piece) {
	size, inMemory := int64(0), int64(0)
	for i := range pieces {
		size += pieces[i].Size()
		inMemory += int64(cap(pieces[i].Bytes)) + pieceOverhead
	}
	h := wire.AppendResponseHeader(r.head[:wire.LengthBytes], r.Header.Key, r.Header.Version, r.Header.CorrelationID)
	r.headLen = len(h)
	size += int64(r.headLen - wire.LengthBytes)
	if size > 1<<31-1 {
		for i := range pieces {
			pieces[i].Release()
		}
		r.Abort(fmt.Errorf("answer of %d bytes to %s", size, r.API.Name))
		return
	}
	binary.BigEndian.PutUint32(r.head[:], uint32(size))
	r.bytes = inMemory + int64(r.headLen)
	r.conn.server.expectations[r.Header.Key].learn(r.bytes)
	r.conn.settle(r, answered, pieces)
}

// ReplyMessage answers with a message in the version of the request; where that
// version is not served (ApiVersions only), in the one that the message has.
func (r *Request) ReplyMessage(msg kmsg.Response) {
	if r.API.Serves(r.Header.Version) {
		msg.SetVersion(r.Header.Version)
	}
	r.Reply(Piece{Bytes: msg.AppendTo(nil)})
}

// NoReply ends a request to which the protocol gives no answer (acks=0).
func (r *Request) NoReply() { r.conn.settle(r, silent, nil) }

// Abort closes the connection when the answers before this one have left. It is
// how a Produce request with acks=0 learns of an error. The reason is logged.
func (r *Request) Abort(reason error) {
	r.conn.setReason(reason)
	r.conn.settle(r, fatal, nil)
}

// Throttle lets the connection read nothing for d from Ordered or the answer on,
// whichever comes first. It is called before them.
func (r *Request) Throttle(d time.Duration) {
	r.conn.mu.Lock()
	r.throttle = max(r.throttle, d)
	r.conn.mu.Unlock()
}

// release gives back the frame's memory. It is called once, when the request is
// ordered or answered.
func (r *Request) release() {
	r.body = nil
	if r.buffer != nil {
		r.conn.releaseBuffer(r.buffer)
		r.buffer = nil
	}
	r.conn.account.Return(r.charge)
}
