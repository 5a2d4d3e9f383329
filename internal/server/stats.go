package server

import (
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Stats are counters that only grow, but for Open and Unanswered. They are
// written with atomics and may be read at any time.
type Stats struct {
	Requests  [kmsg.MaxKey + 1]RequestStats
	Listeners []*ListenerStats // in the order of Options.Listeners

	// Refused counts connections closed for what the client sent.
	Refused atomic.Int64
	// Unread counts connections closed for answers that they did not read.
	Unread atomic.Int64
	// MemoryWaits counts the times that a connection waited for the budget.
	MemoryWaits atomic.Int64
}

// RequestStats count the requests of one key.
type RequestStats struct {
	Count atomic.Int64
	Bytes atomic.Int64
}

// ListenerStats count the connections of one listener.
type ListenerStats struct {
	Name       string
	Open       atomic.Int64
	Accepted   atomic.Int64
	Rejected   atomic.Int64 // beyond a limit
	BytesIn    atomic.Int64
	BytesOut   atomic.Int64
	Unanswered atomic.Int64
}

// sent tells the observer of an answer that has been written.
func (s *Server) sent(r *Request, now time.Time) {
	if s.options.Observe != nil {
		s.options.Observe(Observation{
			Connection: r.conn.id, Key: r.Header.Key,
			Queue: r.served.Sub(r.Arrived), Serve: r.replied.Sub(r.served), Send: now.Sub(r.replied),
		})
	}
}

// Observation is how long an answered request took.
type Observation struct {
	// Connection is a number of the connection: observers that count may use it to
	// keep apart what processors write at once.
	Connection uint64
	Key        int16
	Queue      time.Duration // from arrival to Handler.Serve
	Serve      time.Duration // from there to Reply
	Send       time.Duration // from there until written
}
