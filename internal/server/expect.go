package server

import "sync/atomic"

// What an answer takes while it is made is known only afterwards, and a small question
// may have a large answer. So the size of the last large answers of an API is remembered
// and charged for the time in which the handler has a request: thousands of connections
// that ask the same at once are served a few at a time. A request that the handler parks
// holds nothing of it. APIs with small answers are not charged.

const (
	// expectFrom is the size of answers from which on they are charged.
	expectFrom = 4 << 10
	// expectFactor is how many times its own size an answer takes while it is made: as
	// a message, and as bytes that are moved while they grow.
	expectFactor = 3
	// expectShare is the part of a budget that is charged at most.
	expectShare = 8
	// forgetting is the part by which the remembered size goes towards that of a smaller
	// answer.
	forgetting = 8
)

// expectation is the size of the last large answers of an API.
type expectation struct{ size atomic.Int64 }

// learn notes the size of an answer.
func (e *expectation) learn(size int64) {
	old := e.size.Load()
	switch {
	case size < expectFrom && old < expectFrom:
	case size >= old:
		e.size.Store(size)
	default:
		e.size.Store(old - max(1, (old-size)/forgetting))
	}
}

// expect is what is charged while the handler has a run that begins with r.
func (s *Server) expect(r *Request) int64 {
	size := s.expectations[r.Header.Key].size.Load()
	if size < expectFrom {
		return 0
	}
	return min(size*expectFactor, r.conn.listener.options.Budget.Limit()/expectShare)
}

// takeExpected waits for the memory of an answer; false if the connection ended.
func (c *Conn) takeExpected(n int64) bool {
	if n == 0 || c.account.TryTake(n) {
		return true
	}
	if !c.park() {
		return false
	}
	defer c.unpark()
	return c.takeWaiting(n)
}

// returnExpected gives it back, and the privilege that may have come with it.
func (c *Conn) returnExpected(n int64) {
	if n > 0 {
		c.account.Return(n)
		c.yield()
	}
}
