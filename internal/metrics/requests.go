package metrics

import (
	"math/bits"
	"runtime"
	"sync/atomic"
	"time"

	"barnabas/internal/kafka"
)

// maxShards bounds the memory of Requests.
const maxShards = 32

// Requests are histograms of how long requests take, by their key. What many
// processors write at once lies apart: each connection has a shard.
type Requests struct {
	keys   int
	shards []requestShard
}

// requestShard has the histograms of a key from its first request on.
type requestShard struct {
	byKey []atomic.Pointer[requestTimes]
}

// requestTimes are the parts of a request's life and the whole of it.
type requestTimes struct{ total, queue, serve, send Durations }

// NewRequests makes histograms for keys below the given number.
func NewRequests(keys int) *Requests {
	n := 1 << bits.Len(uint(runtime.GOMAXPROCS(0)-1)) // at least the processors, a power of two
	r := &Requests{keys: keys, shards: make([]requestShard, min(n, maxShards))}
	for i := range r.shards {
		r.shards[i].byKey = make([]atomic.Pointer[requestTimes], keys)
	}
	return r
}

// Observe counts a request of a connection: how long it waited for its turn, took
// to be answered, and its answer to be written.
func (r *Requests) Observe(connection uint64, key int16, queue, serve, send time.Duration) {
	at := &r.shards[connection%uint64(len(r.shards))].byKey[key]
	times := at.Load()
	if times == nil {
		at.CompareAndSwap(nil, new(requestTimes))
		times = at.Load()
	}
	times.total.Observe(queue + serve + send)
	times.queue.Observe(queue)
	times.serve.Observe(serve)
	times.send.Observe(send)
}

// Collect tells the histograms of the keys that were seen, by the names of name.
func (r *Requests) Collect(s *Scrape, name func(key int16) string) {
	for key := range int16(r.keys) {
		var total, queue, serve, send totals
		seen := false
		for i := range r.shards {
			if t := r.shards[i].byKey[key].Load(); t != nil {
				seen = true
				total.add(&t.total)
				queue.add(&t.queue)
				serve.add(&t.serve)
				send.add(&t.send)
			}
		}
		if seen {
			s.histogram(RequestTotalTime, &total, name(key))
			s.histogram(RequestQueueTime, &queue, name(key))
			s.histogram(RequestServeTime, &serve, name(key))
			s.histogram(RequestSendTime, &send, name(key))
		}
	}
}

// errorCodes is the number of codes that Errors tells apart; any other is counted
// as UNKNOWN_SERVER_ERROR.
const errorCodes = 256

// Errors count the error codes of answers, by the key of the request.
type Errors struct{ byKey []atomic.Pointer[errorCounts] }

type errorCounts [errorCodes]atomic.Int64

// NewErrors counts for keys below the given number.
func NewErrors(keys int) *Errors { return &Errors{make([]atomic.Pointer[errorCounts], keys)} }

// Add counts n errors of one code. ErrNone is none.
func (e *Errors) Add(key int16, code kafka.ErrorCode, n int) {
	if code == kafka.ErrNone || n == 0 {
		return
	}
	at := &e.byKey[key]
	counts := at.Load()
	if counts == nil {
		at.CompareAndSwap(nil, new(errorCounts))
		counts = at.Load()
	}
	i := int(code) + 1
	if i < 0 || i >= errorCodes {
		i = int(kafka.ErrUnknownServerError) + 1
	}
	counts[i].Add(int64(n))
}

// Collect tells the errors that there were.
func (e *Errors) Collect(s *Scrape, name func(key int16) string) {
	for key := range e.byKey {
		counts := e.byKey[key].Load()
		if counts == nil {
			continue
		}
		for i := range counts {
			if n := counts[i].Load(); n > 0 {
				s.Set(RequestErrors, float64(n), name(int16(key)), kafka.ErrorCode(i-1).String())
			}
		}
	}
}
