package txn

import (
	"fmt"
	"time"

	"barnabas/internal/base/timeline"
	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"
)

// rig is a core with a log and a clock: a runtime of the smallest kind, where a test
// decides when an append succeeds.
type rig struct {
	*Core
	registry *timeline.Registry
	settings Settings
	level    int16
	now      time.Time
	log      []machine.Replayed
	marks    []mark // of what is in flight
	hold     bool   // appends wait for release or fail
	refuse   kafka.ErrorCode
	fresh    kafka.ProducerID // the next producer id
	sent     []Markers
	replayed func(before, after *transaction) // sees each step
}

// mark is a batch in flight.
type mark struct {
	begin int // of it and of all that is in flight later
	done  func(kafka.ErrorCode)
}

var beginning = time.UnixMilli(1_000_000_000_000)

func defaults() Settings {
	return Settings{MaxTimeout: 15 * time.Minute, Expiration: 7 * 24 * time.Hour, AbortInterval: 10 * time.Second, RemoveInterval: time.Hour}
}

func newRig(s Settings) *rig {
	r := &rig{settings: s, level: 2, now: beginning, fresh: 1000}
	r.restart()
	return r
}

// restart makes a new core of what is in the log. What is in flight is lost, and so
// are markers that are not written.
func (r *rig) restart() {
	if r.Core != nil {
		r.Core.Unload(kafka.ErrNotCoordinator)
		r.fail(kafka.ErrNotCoordinator)
	}
	r.registry, r.sent = timeline.NewRegistry(), nil
	r.Core = r.newCore(r.registry)
	r.registry.Direct(true)
	for _, rec := range r.log {
		if err := r.Core.Replay(rec); err != nil {
			panic(err)
		}
	}
	r.registry.Direct(false)
	r.Core.Loaded(r.now)
}

func (r *rig) newCore(registry *timeline.Registry) *Core {
	return New(Options{
		Registry: registry, Settings: r.settings, TransactionVersion: func() int16 { return r.level },
		Send: func(m Markers) { r.sent = append(r.sent, m) },
	})
}

// loggedState is a state that another server has written.
func loggedState(t *transaction) machine.Replayed {
	return machine.Replayed{Record: machine.Record{Key: keyOf(t.id), Value: t.value(1)}}
}

// newID gives a producer id that nobody has.
func (r *rig) newID() kafka.ProducerID {
	r.fresh++
	return r.fresh - 1
}

// do applies what an operation decided.
func (r *rig) do(d machine.Decision) {
	if r.refuse != kafka.ErrNone && len(d.Records) > 0 {
		code := r.refuse
		r.refuse = kafka.ErrNone
		if d.Done != nil {
			d.Done(code)
		}
		return
	}
	begin := len(r.log)
	for _, rec := range d.Records {
		played := machine.Replayed{Record: rec, Offset: kafka.Offset(len(r.log)), Timestamp: r.now, ProducerID: kafka.NoProducerID}
		id := string(rec.Key[4:])
		before := r.get(id)
		if err := r.Core.Replay(played); err != nil {
			panic(err)
		}
		if r.replayed != nil {
			r.replayed(before, r.get(id))
		}
		r.log = append(r.log, played)
	}
	if len(d.Records) > 0 {
		r.registry.Mark(int64(len(r.log)))
	}
	if len(d.Records) > 0 || d.Done != nil {
		r.marks = append(r.marks, mark{begin, d.Done})
	}
	if !r.hold {
		r.release()
	}
}

// release commits all that is in flight.
func (r *rig) release() {
	r.registry.Commit(int64(len(r.log)))
	done := r.marks
	r.marks = nil
	for _, m := range done {
		if m.done != nil {
			m.done(kafka.ErrNone)
		}
	}
}

// expire ends the wait for what is in flight, which stays.
func (r *rig) expire() {
	for i, m := range r.marks {
		r.marks[i].done = nil
		if m.done != nil {
			m.done(kafka.ErrCoordinatorNotAvailable)
		}
	}
}

// fail ends all that is in flight with an error.
func (r *rig) fail(code kafka.ErrorCode) {
	done := r.marks
	r.marks = nil
	if len(done) == 0 {
		return
	}
	r.registry.Revert(int64(done[0].begin))
	r.log = r.log[:done[0].begin]
	for _, m := range done {
		if m.done != nil {
			m.done(code)
		}
	}
}

// pass lets time pass, with a tick at each deadline.
func (r *rig) pass(d time.Duration) {
	end := r.now.Add(d)
	for {
		next := r.Core.Next()
		if next.IsZero() || next.After(end) {
			break
		}
		if next.After(r.now) {
			r.now = next
		}
		for _, d := range r.Core.Tick(r.now) {
			r.do(d)
		}
	}
	r.now = end
}

// describe is all that is known of an id, but for what is no part of the log.
func (t *transaction) describe() string {
	if t == nil {
		return "nothing"
	}
	s := fmt.Sprintf("%s producer %d epoch %d previous %d", t.state, t.producer, t.epoch, t.previous)
	if t.next != kafka.NoProducerID {
		s += fmt.Sprintf(" next %d", t.next)
	}
	s += fmt.Sprintf(" timeout %d partitions %v client %d updated %+d", t.timeoutMs, t.list(), t.client, t.updatedMs-beginning.UnixMilli())
	if t.startMs != noStart {
		s += fmt.Sprintf(" began %+d", t.startMs-beginning.UnixMilli())
	}
	return s
}
