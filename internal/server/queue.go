package server

import "time"

// maxCorked is the number of bytes of answers up to which the answers of a drain
// wait for each other.
const maxCorked = 64 << 10

// enqueue puts a run at the end of the queue; false if the connection has ended.
func (c *Conn) enqueue(run []*Request) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	for _, r := range run {
		if c.tail == nil {
			c.head = r
		} else {
			c.tail.next = r
		}
		c.tail = r
	}
	c.unanswered += len(run)
	c.unordered += len(run)
	c.corked = true
	c.listener.stats.Unanswered.Add(int64(len(run)))
	return true
}

// settle notes what became of a request: that it is ordered, or how it ends,
// which orders it too. If that completes the head of the queue, the caller
// writes.
func (c *Conn) settle(r *Request, st state, pieces []Piece) {
	at := c.server.options.Now()
	var slowest []*Conn
	c.mu.Lock()
	if st != unanswered {
		if r.state != unanswered {
			c.mu.Unlock()
			panic("BUG: server: request of " + r.API.Name + " is answered twice")
		}
		r.state, r.replied = st, at
		if !c.closed {
			r.pieces, pieces = pieces, nil
			c.queued += r.bytes
			c.unsent++
			if c.stalled || c.owed > 0 {
				slowest = c.oweLocked()
			}
		}
	}
	first := !r.ordered
	if first {
		r.ordered = true
		c.unordered--
		if r.throttle > 0 {
			c.pauseLocked(at.Add(r.throttle))
		}
	}
	write := st != unanswered && !c.heldBackLocked(r) && c.claimLocked()
	if !write {
		c.signalLocked()
	}
	c.mu.Unlock()

	closeUnread(slowest)
	releaseAll(pieces) // of an answer that nobody waits for
	if first {
		r.release()
	}
	if write {
		c.write(now)
	}
}

func (c *Conn) pauseLocked(until time.Time) {
	if until.After(c.pause) {
		c.pause = until
	}
}

// heldBackLocked says whether r's answer waits for others of the same drain.
func (c *Conn) heldBackLocked(r *Request) bool {
	return c.corked && r.drain == c.drain && c.queued < maxCorked
}

// claimLocked makes the caller the writer, if there is something to write and
// nobody else is.
func (c *Conn) claimLocked() bool {
	if c.writing || c.closed || c.head == nil || c.head.state == unanswered {
		return false
	}
	c.writing = true
	return true
}

// uncorkLocked ends the holding back and writes what is ready; it returns false
// if there was nothing. The lock is given up meanwhile.
func (c *Conn) uncorkLocked() bool {
	c.corked = false
	if !c.claimLocked() {
		return false
	}
	c.mu.Unlock()
	c.write(now)
	c.mu.Lock()
	return true
}

// resumeLocked goes on where another goroutine left a full socket, and waits for
// it; it returns false if nobody did. The lock is given up meanwhile.
func (c *Conn) resumeLocked() bool {
	if !c.stalled {
		return false
	}
	c.stalled = false
	c.mu.Unlock()
	c.write(later)
	c.mu.Lock()
	return true
}

// write is run by the writer: it sends all that is ready at the head of the
// queue, and gives the role up when there is no more, or leaves it to the
// connection's goroutine when the socket is full and p is now.
func (c *Conn) write(p patience) {
	c.mu.Lock()
	for !c.closed && c.collectLocked() {
		c.signalLocked() // there may be room for more requests
		c.mu.Unlock()
		done := c.send(p)
		c.mu.Lock()
		if !done && !c.closed {
			slowest := c.leaveLocked()
			c.mu.Unlock()
			closeUnread(slowest)
			return
		}
	}
	ends := c.closed || c.out.fatal || c.stopping && c.parked && c.head == nil
	if !ends {
		c.giveUpLocked()
	}
	c.mu.Unlock()
	if ends {
		c.close()
		c.out.drop()
		c.mu.Lock()
		c.giveUpLocked()
		c.mu.Unlock()
	}
}

// giveUpLocked ends the writer's role.
func (c *Conn) giveUpLocked() {
	c.writing = false
	c.signalLocked()
}

// collectLocked moves the answers that are ready to out; false if out is empty
// after that.
func (c *Conn) collectLocked() bool {
	for c.out.empty() && !c.out.fatal {
		if c.head == nil || c.head.state == unanswered {
			return false
		}
		for r := c.head; r != nil && r.state != unanswered && !c.out.full(); r = c.head {
			if c.head = r.next; c.head == nil {
				c.tail = nil
			}
			r.next = nil
			c.unanswered--
			c.listener.stats.Unanswered.Add(-1)
			switch r.state {
			case answered:
				c.out.add(r)
			case silent:
				c.unsent--
			case fatal:
				c.unsent--
				c.out.fatal = true
				return !c.out.empty()
			}
		}
	}
	return !c.out.empty()
}

// leaveLocked leaves the writer's role, with what is in out, to the connection's
// goroutine, or to one that is started for it.
func (c *Conn) leaveLocked() (slowest []*Conn) {
	c.stalled = true
	slowest = append(c.oweLocked(), c.out.slacken()...)
	if !c.parked {
		c.signalLocked()
		return slowest
	}
	c.server.running.Go(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.resumeLocked()
	})
	return slowest
}

// oweLocked charges what the client does not read, and returns who is to be closed
// for it once the lock is given up.
func (c *Conn) oweLocked() (slowest []*Conn) {
	if held := c.heldLocked(); held > c.owed {
		slowest = c.keepBack(held - c.owed)
		c.owed = held
	}
	return slowest
}

// heldLocked is what the answers that have not left take.
func (c *Conn) heldLocked() int64 { return c.queued + int64(c.unsent)*requestOverhead }

// send sends out's bytes; it returns false when the socket is full or the
// connection has failed.
func (c *Conn) send(p patience) bool {
	sent, done, err := c.out.send(c.transport, p, c.server.options.Pool)
	if sent > 0 || done {
		at := c.server.options.Now()
		c.lastActive.Store(at.UnixNano())
		if done {
			for _, r := range c.out.requests {
				c.server.sent(r, at)
			}
		}
	}
	if err != nil {
		c.setReason(readReason(err))
		c.close()
		return false
	}
	if !done {
		return false
	}
	gone := len(c.out.requests)
	bytes := c.out.reset()
	c.mu.Lock()
	c.queued -= bytes
	c.unsent -= gone
	if held := c.heldLocked(); c.owed > held {
		c.letGo(c.owed - held)
		c.owed = held
	}
	c.mu.Unlock()
	return true
}
