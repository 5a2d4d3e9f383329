package server

import (
	"container/list"
	"errors"
	"sync"
	"unsafe"
)

// unreadShare is the part of a budget that answers which nobody reads may hold.
const unreadShare = 2

// errUnread is why a connection ends that was the slowest of those that read too little.
var errUnread = errors.New("answers were not read, and all that wait for their readers take too much memory")

// backlog is what full sockets keep back, of all connections that share a budget:
// what each holds, in the order in which the sockets last took something.
//
// The bytes are in the budget as well. They are memory in use, so that their charge
// cannot wait, and whoever waits for memory cannot wait for readers: if the backlog
// had no bound, answers of small requests would fill the budget, and after that even
// small requests of others would stand. So it is bounded by its own limit, a half of the
// budget, and when it is over that, the connection whose socket has taken nothing for
// the longest time is closed, until it is not. Nobody waits for that, so there is no
// circle of waiting; the other half is always there for requests. One connection alone
// is never closed for it: an answer larger than the limit can be read.
type backlog struct {
	limit int64

	mu      sync.Mutex
	total   int64                   // guarded by mu, as is all below
	order   list.List               // of *unreader, the one that has stood longest first
	readers map[*Conn]*list.Element // its places
}

type unreader struct {
	conn *Conn
	held int64
}

func newBacklog(limit int64) *backlog {
	return &backlog{limit: limit, readers: map[*Conn]*list.Element{}}
}

// add counts n bytes more that c's socket keeps back (less, if n is negative), and
// returns who has to be closed for it. The caller closes them without a lock of a
// connection.
func (b *backlog) add(c *Conn, n int64) (victims []*Conn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.readers[c]
	switch {
	case e != nil:
	case n <= 0: // it was a victim
		return nil
	default:
		e = b.order.PushBack(&unreader{conn: c})
		b.readers[c] = e
	}
	u := e.Value.(*unreader)
	u.held += n
	b.total += n
	if u.held <= 0 {
		b.dropLocked(e)
	}
	for b.total > b.limit && b.order.Len() > 1 {
		slowest := b.order.Front()
		victims = append(victims, slowest.Value.(*unreader).conn)
		b.dropLocked(slowest)
	}
	return victims
}

// moved notes that c's socket has taken something.
func (b *backlog) moved(c *Conn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e := b.readers[c]; e != nil {
		b.order.MoveToBack(e)
	}
}

func (b *backlog) dropLocked(e *list.Element) {
	u := b.order.Remove(e).(*unreader)
	b.total -= u.held
	delete(b.readers, u.conn)
}

// held is the number of bytes of all connections.
func (b *backlog) held() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.total
}

// keepBack charges n bytes that the socket does not take, and returns who is to be
// closed for it.
func (c *Conn) keepBack(n int64) (slowest []*Conn) {
	c.account.Charge(n)
	return c.listener.backlog.add(c, n)
}

// letGo is the opposite of keepBack.
func (c *Conn) letGo(n int64) {
	c.account.Return(n)
	c.listener.backlog.add(c, -n)
}

// took notes that the socket has taken n bytes; slow says that it was full before.
func (c *Conn) took(n int64, slow bool) {
	c.listener.stats.BytesOut.Add(n)
	c.moved.Add(n)
	if slow {
		c.lastActive.Store(c.server.options.Now().UnixNano())
		c.listener.backlog.moved(c)
	}
}

// closeUnread ends connections for what they have not read. The caller holds no lock
// of a connection.
func closeUnread(slowest []*Conn) {
	for _, c := range slowest {
		c.server.stats.Unread.Add(1)
		c.setReason(errUnread)
		c.close()
	}
}

// pieceOverhead is what a piece takes beside its bytes.
const pieceOverhead = int64(unsafe.Sizeof(Piece{}))
