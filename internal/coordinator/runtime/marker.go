package runtime

import (
	"fmt"

	"barnabas/internal/kafka"
)

// WriteMarker writes the marker of a transaction to a partition that is coordinated
// here, and tells its core. done is called once, when the marker is committed, or with
// the reason why not: those of Do, and what the log has against the marker.
func (r *Runtime[M]) WriteMarker(partition int32, m kafka.Marker, done func(kafka.ErrorCode)) {
	s := r.shard(partition)
	if s == nil {
		r.count.refused.Add(1)
		done(kafka.ErrNotCoordinator)
		return
	}
	s.submit(func() { s.mark(m, done) }, done)
}

// markerBytes is the size of a marker's batch.
const markerBytes = 78

// mark appends a marker behind all that is decided.
func (s *shard[M]) mark(m kafka.Marker, done func(kafka.ErrorCode)) {
	if !s.admit(done) {
		return
	}
	if s.batch.open() {
		s.flush() // who is in it is told if it fails
	}
	if s.phase() != active {
		s.refuse(s.phase().refusal(), done)
		return
	}
	at, code := s.led.Log.AppendMarker(m)
	switch {
	case code != kafka.ErrNone:
		if !againstProducer(code) {
			code = appendRefusal(code)
		}
		done(code)
	case at.End != s.next+1:
		s.reload(fmt.Sprintf("a marker at offset %d ends at %d: somebody else writes to the partition", s.next, at.End))
		done(kafka.ErrNotCoordinator)
	default:
		s.core.Ended(m.ProducerID, m.ProducerEpoch, m.Commit)
		s.next = at.End
		s.registry.Mark(int64(at.End))
		s.flights.push(flight{end: at.End, bytes: markerBytes, waiters: []waiter{{done, s.r.o.Now().Add(s.r.o.CommitTimeout)}}})
		s.reached(at.HighWatermark)
	}
	s.settle()
}
