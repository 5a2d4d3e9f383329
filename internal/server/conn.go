package server

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"barnabas/internal/base/budget"
	"barnabas/internal/base/bufpool"
	"barnabas/internal/kafka"
	"barnabas/internal/wire"
)

const (
	maxUnanswered = 256     // requests of a connection without an answer
	maxQueued     = 1 << 20 // bytes of answers of a connection
)

// Conn is a connection.
type Conn struct {
	id        uint64
	server    *Server
	listener  *listener
	transport transport
	clientIP  netip.Addr // as counted by the quota
	account   budget.Account
	wake      chan struct{} // to the goroutine, when it waits
	done      chan struct{} // closed by close

	lastActive atomic.Int64 // Unix nanoseconds of the last byte in or out
	moved      atomic.Int64 // bytes in and out
	memory     atomic.Int32 // a memoryState

	// owned by the janitor
	seen int64     // moved, when it last looked
	slow time.Time // since when the client has kept memory and moved little

	// owned by the goroutine
	in            inbound
	clientID      string // of the last request
	authenticated bool
	drain         uint32 // counts the reads
	room          int    // requests that may still be read
	run           []*Request

	out outbound // owned by whoever set writing

	mu         sync.Mutex
	principal  string    // this and all below are guarded by mu
	software   [2]string // name and version of the client
	head, tail *Request  // in order of arrival, until they are taken to be written
	unanswered int       // of them
	unordered  int       // of them
	queued     int64     // bytes of answers not yet written
	unsent     int       // requests that were answered, or need no answer, and have not left the queue
	owed       int64     // of what they take, charged since the socket is full
	pause      time.Time // read nothing before that
	reason     error     // why it ends, if that is worth a line
	corked     bool      // answers of the present drain wait for its end
	writing    bool      // someone owns out
	stalled    bool      // out's owner left it to the goroutine
	parked     bool      // the goroutine sits in a read, or there is none
	asleep     bool      // there is none, see sleep.go
	waiting    bool      // the goroutine waits for wake
	stopping   bool      // read nothing more, end when all is answered
	closed     bool
}

// memoryState says how a connection stands with its budget.
type memoryState = int32

const (
	enough   memoryState = iota
	starved              // it waits for memory
	favoured             // it may go over the limit until it has made a run
)

// takeWaiting takes memory and waits for it, first in, first out.
func (c *Conn) takeWaiting(n int64) bool {
	c.server.stats.MemoryWaits.Add(1)
	c.memory.Store(starved)
	err := c.account.Take(n, c.done)
	c.lastActive.Store(c.server.options.Now().UnixNano())
	c.memory.Store(enough)
	if c.account.Indebted() {
		c.memory.Store(favoured)
	}
	return err == nil
}

// yield ends what takeWaiting may have given.
func (c *Conn) yield() {
	if c.memory.Load() == favoured {
		c.memory.Store(enough)
		c.account.Yield()
	}
}

// Listener is the name of the listener that accepted the connection.
func (c *Conn) Listener() string { return c.listener.options.Name }

// Scope is the listener's.
func (c *Conn) Scope() wire.Scope { return c.listener.options.Scope }

// Protocol is the listener's security protocol.
func (c *Conn) Protocol() kafka.SecurityProtocol { return c.listener.options.Protocol }

// RemoteAddr is the client's address.
func (c *Conn) RemoteAddr() netip.AddrPort { return c.transport.remote() }

// LocalAddr is the address at which the client reached this node.
func (c *Conn) LocalAddr() netip.AddrPort { return c.transport.local() }

// Principal is who the client is: "User:ANONYMOUS" without authentication.
func (c *Conn) Principal() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.principal
}

// Authenticated is called by the Authenticator, before it answers the request
// that proved who the client is.
func (c *Conn) Authenticated(principal string) {
	c.mu.Lock()
	c.principal = principal
	c.mu.Unlock()
}

// SetSoftware notes the client's software as it named itself in ApiVersions.
func (c *Conn) SetSoftware(name, version string) {
	c.mu.Lock()
	c.software = [2]string{name, version}
	c.mu.Unlock()
}

// Software is the client's software, or "unknown".
func (c *Conn) Software() (name, version string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.software[0], c.software[1]
}

// Closed says whether the connection has ended; answers go nowhere then.
func (c *Conn) Closed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// Done is closed when the connection ends.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Close ends the connection at once.
func (c *Conn) Close() { c.close() }

const anonymous = "User:ANONYMOUS"

func newConn(s *Server, l *listener, t transport, clientIP netip.Addr) *Conn {
	c := &Conn{
		server: s, listener: l, transport: t, clientIP: clientIP,
		account:   l.options.Budget.Open(),
		wake:      make(chan struct{}, 1),
		done:      make(chan struct{}),
		software:  [2]string{"unknown", "unknown"},
		principal: anonymous,
	}
	c.authenticated = l.options.Authenticator == nil
	if !c.authenticated {
		c.principal = ""
	}
	c.slow = s.options.Now()
	c.in.conn, c.out.conn = c, c
	c.in.drain = firstRead
	c.lastActive.Store(s.options.Now().UnixNano())
	return c
}

// serve is the connection's goroutine.
func (c *Conn) serve() {
	defer c.reportPanic()
	if !c.loop() {
		c.finish()
	}
}

// loop reads and serves. It returns true when the connection sleeps, and false at
// its end.
func (c *Conn) loop() (sleeps bool) {
	for c.await() {
		run, err := c.nextRun()
		switch {
		case err != nil:
			c.refuse(err)
		case len(run) > 0:
			c.serveRun(run)
		default:
			switch err := c.fill(); {
			case err == errInterrupted:
				if c.trySleep() {
					return true
				}
			case err != nil:
				c.stop(readReason(err))
			}
		}
	}
	return false
}

// refuse ends the connection for what the client sent.
func (c *Conn) refuse(err error) {
	reason := readReason(err)
	if reason != nil {
		c.server.stats.Refused.Add(1)
	}
	c.stop(reason)
}

// readReason is the error of a read that is worth a line, or nil: that clients go
// away is everyday life.
func readReason(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.ETIMEDOUT) {
		return nil
	}
	return err
}

// await returns true when the next request may be read: what came before it is
// ordered, and there is room for its answer. Meanwhile it writes what another
// goroutine had to leave. It returns false when the connection ends.
func (c *Conn) await() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	relaxed := false
	for !c.closed {
		pause := time.Duration(0)
		if !c.pause.IsZero() {
			if pause = c.pause.Sub(c.server.options.Now()); pause <= 0 {
				c.pause = time.Time{}
			}
		}
		switch {
		case c.resumeLocked():
		case c.stopping && c.head == nil && !c.writing:
			return false
		case !c.stopping && pause <= 0 && c.unordered == 0 && c.unanswered < maxUnanswered && c.queued < maxQueued:
			c.room = maxUnanswered - c.unanswered
			return true
		case c.uncorkLocked():
		case !relaxed: // the buffer is not needed meanwhile
			relaxed = true
			c.mu.Unlock()
			c.in.idle()
			c.mu.Lock()
		default:
			c.waitLocked(pause)
		}
	}
	return false
}

// waitLocked waits for a signal, or for a time.
func (c *Conn) waitLocked(limit time.Duration) {
	c.waiting = true
	c.mu.Unlock()
	if limit > 0 {
		t := time.NewTimer(limit)
		select {
		case <-c.wake:
		case <-t.C:
		}
		t.Stop()
	} else {
		<-c.wake
	}
	c.mu.Lock()
	c.waiting = false
}

// signalLocked lets the goroutine look again, if it waits.
func (c *Conn) signalLocked() {
	if c.waiting {
		select {
		case c.wake <- struct{}{}:
		default:
		}
	}
}

// fill reads what the socket has, at least a byte.
func (c *Conn) fill() error {
	if !c.park() {
		return net.ErrClosed
	}
	defer c.unpark()
	for {
		n, err := c.transport.read(&c.in)
		if err == errNoMemory {
			if !c.in.makeRoom(c.takeWaiting, scarce) {
				return net.ErrClosed
			}
			continue
		}
		if err != nil {
			return err
		}
		c.drain++
		c.in.filled(n, c.server.options.Now())
		c.moved.Add(int64(n))
		c.listener.stats.BytesIn.Add(int64(n))
		c.lastActive.Store(c.in.arrived.UnixNano())
		return nil
	}
}

// park writes what can be written and then marks the goroutine as not coming by:
// from now on others must find a goroutine for what the socket does not take.
func (c *Conn) park() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for !c.closed {
		if !c.resumeLocked() && !c.uncorkLocked() {
			c.parked = !c.stopping
			return c.parked
		}
	}
	return false
}

func (c *Conn) unpark() {
	c.mu.Lock()
	c.parked = false
	c.mu.Unlock()
}

// stop lets the connection end when all that was read is answered.
func (c *Conn) stop(reason error) {
	c.setReason(reason)
	c.mu.Lock()
	c.stopping = true
	c.signalLocked()
	// A goroutine that sits in a read with nothing to wait for is sent home.
	idle := c.parked && c.head == nil && !c.writing
	c.mu.Unlock()
	if idle {
		c.close()
	}
}

// setReason keeps the first reason.
func (c *Conn) setReason(err error) {
	c.mu.Lock()
	if c.reason == nil {
		c.reason = err
	}
	c.mu.Unlock()
}

// close ends the connection now. Answers that have not left are dropped.
func (c *Conn) close() {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return
	}
	c.closed = true
	slept := c.asleep
	c.asleep = false
	orphans := c.head
	c.head, c.tail = nil, nil
	c.listener.stats.Unanswered.Add(int64(-c.unanswered))
	c.unanswered = 0
	close(c.done)
	c.signalLocked()
	var pieces []Piece
	for r := orphans; r != nil; r = r.next {
		pieces = append(pieces, r.pieces...)
		r.pieces = nil
	}
	c.mu.Unlock()
	releaseAll(pieces)
	if err := c.transport.close(); err != nil && !errors.Is(err, net.ErrClosed) {
		c.server.log.Debug("closing a connection failed", "client", c.RemoteAddr(), "error", err)
	}
	if slept {
		c.finish()
	}
}

// finish is the last that happens to a connection, on its goroutine if it has one.
func (c *Conn) finish() {
	c.close()
	c.mu.Lock()
	abandoned := c.stalled // nobody else will come for out
	if abandoned {
		c.stalled, c.writing = false, false
	}
	reason, owed := c.reason, c.owed
	c.owed = 0
	c.mu.Unlock()
	c.letGo(owed)
	if abandoned {
		c.out.drop()
	}
	c.in.drop()
	c.yield()
	if reason != nil {
		c.server.clients.say("connection closed", "listener", c.Listener(), "client", c.RemoteAddr(), "reason", reason)
	}
	c.server.forget(c)
}

// releaseBuffer gives back one reference to a buffer that the connection read
// into, and with the last one its bytes.
func (c *Conn) releaseBuffer(b *bufpool.Buffer) {
	n := int64(len(b.Bytes()))
	if b.Release() {
		c.account.Return(n)
	}
}

func releaseAll(pieces []Piece) {
	for i := range pieces {
		pieces[i].Release()
	}
}
