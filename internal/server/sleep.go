package server

import (
	"errors"
	"net"
)

// A goroutine that has served a request keeps a stack of 4 KiB at least, which is
// more than all the rest of an idle connection. So a connection that has been
// quiet for a while lets its goroutine go: the sentinel watches its socket and
// starts a new one when there is something to read. The janitor sends
// connections to sleep by interrupting their reads.
//
// A sleeping connection counts as parked, has no request and no answer, and
// whoever takes the mark asleep away owns what its goroutine owned.

// trySleep lets the connection sleep, if nothing is going on; then the goroutine
// must end without another look at the connection.
func (c *Conn) trySleep() bool {
	if c.server.sentinel == nil {
		return false
	}
	c.in.idle()
	if c.in.buffer != nil {
		return false
	}
	c.mu.Lock()
	if c.closed || c.stopping || c.stalled || c.writing || c.head != nil {
		c.mu.Unlock()
		return false
	}
	c.out.shrink() // nobody writes
	c.asleep, c.parked = true, true
	c.mu.Unlock()
	// From here on the connection may be woken or closed by others.
	err := c.transport.watch(func(fd int) error { return c.server.sentinel.add(fd, c.id) })
	if err == nil {
		return true
	}
	if !c.takeAwake() {
		return true
	}
	if !errors.Is(err, net.ErrClosed) {
		c.server.log.Debug("a connection cannot sleep", "client", c.RemoteAddr(), "error", err)
	}
	return false
}

// takeAwake ends the sleep; false if another did so.
func (c *Conn) takeAwake() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.asleep {
		return false
	}
	c.asleep, c.parked = false, false
	return true
}

// wake is called by the sentinel.
func (s *Server) wake(id uint64) {
	s.mu.Lock()
	c := s.conns[id]
	s.mu.Unlock()
	if c != nil && c.takeAwake() {
		go c.serve()
	}
}

// mayDoze says whether the janitor should send the connection to sleep.
func (c *Conn) mayDozeLocked() bool {
	return c.parked && !c.asleep && c.head == nil && !c.writing && c.memory.Load() == enough
}
