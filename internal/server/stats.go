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
	// MemoryWaits counts the times that a connection waited for the budget.
	MemoryWaits atomic.Int64
}

// RequestStats count the requests of one key. The sums of time are in
// nanoseconds; requests without an answer count in neither Serve nor Send.
type RequestStats struct {
	Count atomic.Int64
	Bytes atomic.Int64
	Queue atomic.Int64 // from arrival to Handler.Serve
	Serve atomic.Int64 // from there to Reply
	Send  atomic.Int64 // from there until written
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

// sent notes an answer that has been written.
func (s *Server) sent(r *Request, now time.Time) {
	queue, serve, send := r.served.Sub(r.Arrived), r.replied.Sub(r.served), now.Sub(r.replied)
	st := &s.stats.Requests[r.Header.Key]
	st.Queue.Add(int64(queue))
	st.Serve.Add(int64(serve))
	st.Send.Add(int64(send))
	if s.options.Observe != nil {
		s.options.Observe(r.Header.Key, queue, serve, send)
	}
}
