package runtime

import (
	"time"

	"barnabas/internal/kafka"
)

// waiter is a decision that waits for its records to be committed.
type waiter struct {
	done     func(kafka.ErrorCode)
	deadline time.Time
}

// flight is a batch that is appended and not committed.
type flight struct {
	end     kafka.Offset
	bytes   int
	waiters []waiter // oldest first; those that have expired are gone
}

// flights are the batches of a shard that are appended and not committed, oldest
// first.
type flights struct {
	list     []flight
	end      kafka.Offset // of all that is appended
	bytes    int
	waiting  int
	awaiting bool // the log will say when the first one is committed
}

// Bounds of what is in flight: beyond them operations are refused. The high
// watermark then stands still, and what is in flight is what has to be undone.
const (
	maxFlights       = 4096
	maxFlightBytes   = 32 << 20
	maxFlightWaiters = 16384
)

// full says whether the shard takes no more before something is committed.
func (s *shard[M]) full() bool {
	f := &s.flights
	return len(f.list) >= maxFlights || f.bytes >= maxFlightBytes || f.waiting+len(s.batch.waiters) >= maxFlightWaiters
}

func (f *flights) push(next flight) {
	f.list = append(f.list, next)
	f.end = next.end
	f.bytes += next.bytes
	f.waiting += len(next.waiters)
}

// wait adds a waiter to the last flight.
func (f *flights) wait(w waiter) {
	last := &f.list[len(f.list)-1]
	last.waiters = append(last.waiters, w)
	f.waiting++
}

// deadline is when the first waiter expires, the zero time if none waits.
func (f *flights) deadline() time.Time {
	for i := range f.list {
		if w := f.list[i].waiters; len(w) > 0 {
			return w[0].deadline
		}
	}
	return time.Time{}
}

// expire ends waits whose time is over and says how many. Their records stay where
// they are.
func (f *flights) expire(now time.Time) (n int) {
	for i := range f.list {
		at := &f.list[i]
		for len(at.waiters) > 0 {
			w := at.waiters[0]
			if w.deadline.After(now) {
				return n
			}
			n++
			at.waiters = at.waiters[1:]
			f.waiting--
			w.done(kafka.ErrCoordinatorNotAvailable)
		}
	}
	return n
}

// commit takes out what ends at or before the high watermark.
func (f *flights) commit(highWatermark kafka.Offset) []flight {
	n := 0
	for n < len(f.list) && f.list[n].end <= highWatermark {
		f.bytes -= f.list[n].bytes
		f.waiting -= len(f.list[n].waiters)
		n++
	}
	done := f.list[:n:n]
	f.list = f.list[n:]
	if len(f.list) == 0 {
		f.list = nil
	}
	return done
}

// failAll ends all waits.
func (f *flights) failAll(code kafka.ErrorCode) {
	list := f.list
	*f = flights{end: f.end}
	for _, at := range list {
		for _, w := range at.waiters {
			w.done(code)
		}
	}
}

// reached commits all below the high watermark.
func (s *shard[M]) reached(highWatermark kafka.Offset) {
	s.registry.Commit(int64(highWatermark))
	for _, at := range s.flights.commit(highWatermark) {
		for _, w := range at.waiters {
			w.done(kafka.ErrNone)
		}
	}
}

// awaitFlights has the log say when the first batch in flight is committed.
func (s *shard[M]) awaitFlights() {
	f := &s.flights
	if len(f.list) == 0 || f.awaiting {
		return
	}
	f.awaiting = true
	led := s.led
	led.Log.Await(f.list[0].end, func(code kafka.ErrorCode) {
		s.mu.Lock()
		s.waited = append(s.waited, wait{led, code})
		s.mu.Unlock()
		s.poke()
	})
}

// waitOver goes on after a wait for the log.
func (s *shard[M]) waitOver(code kafka.ErrorCode) {
	if s.phase() != active {
		return
	}
	switch code {
	case kafka.ErrNone:
		s.flights.awaiting = false
		if st, code := s.led.Log.State(); code == kafka.ErrNone {
			s.reached(st.HighWatermark)
		}
	case kafka.ErrKafkaStorageError:
		s.r.o.Log.Error("the log of a coordinator's partition has failed", "partition", s.name())
		s.unload(failed)
	default:
		// The leadership is over. What comes next the metadata says: this node again
		// under another epoch, or another one. Until then nothing is awaited.
	}
}
