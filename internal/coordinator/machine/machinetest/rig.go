package machinetest

import (
	"time"

	"barnabas/internal/base/timeline"
	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"
)

// Rig is a core with a log and a clock.
type Rig struct {
	Registry *timeline.Registry
	Now      time.Time
	Log      []machine.Replayed
	Hold     bool            // appends wait for Release or Fail
	Refuse   kafka.ErrorCode // what the next append fails with
	// Around, if not nil, is called with each record that is decided, and calls replay.
	Around func(r machine.Record, replay func())

	core     machine.Machine
	inFlight []flight
}

// flight is a batch in flight.
type flight struct {
	begin int // of it and of all that is in flight later
	done  func(kafka.ErrorCode)
}

// InFlight is the number of decisions that wait.
func (r *Rig) InFlight() int { return len(r.inFlight) }

// Start makes a core of what is in the log. The one before ends, and what is in flight
// is lost.
func (r *Rig) Start(build func(*timeline.Registry) machine.Machine) {
	if r.core != nil {
		r.Resign(kafka.ErrNotCoordinator)
	}
	r.Registry = timeline.NewRegistry()
	r.core = build(r.Registry)
	r.Registry.Direct(true)
	for _, rec := range r.Log {
		if err := r.core.Replay(rec); err != nil {
			panic(err)
		}
	}
	r.Registry.Direct(false)
	r.core.Loaded(r.Now)
}

// Resign ends the core as a runtime does that loses the partition.
func (r *Rig) Resign(code kafka.ErrorCode) {
	r.core.Unload(code)
	r.Fail(code)
}

// Do applies what an operation decided.
func (r *Rig) Do(d machine.Decision) {
	if r.Refuse != kafka.ErrNone && len(d.Records) > 0 {
		code := r.Refuse
		r.Refuse = kafka.ErrNone
		if d.Done != nil {
			d.Done(code)
		}
		return
	}
	begin := len(r.Log)
	for _, rec := range d.Records {
		replay := func() { r.replay(rec, d.Transaction) }
		if r.Around == nil {
			replay()
		} else {
			r.Around(rec, replay)
		}
	}
	if len(d.Records) > 0 {
		r.Registry.Mark(int64(len(r.Log)))
	}
	if len(d.Records) > 0 || d.Done != nil {
		r.inFlight = append(r.inFlight, flight{begin, d.Done})
	}
	if !r.Hold {
		r.Release()
	}
}

func (r *Rig) replay(rec machine.Record, of *machine.Transaction) {
	played := machine.Replayed{Record: rec, Offset: kafka.Offset(len(r.Log)), Timestamp: r.Now, ProducerID: kafka.NoProducerID}
	if of != nil {
		played.Transactional, played.ProducerID, played.ProducerEpoch = true, of.ProducerID, of.Epoch
	}
	if err := r.core.Replay(played); err != nil {
		panic(err)
	}
	r.Log = append(r.Log, played)
}

// Release commits all that is in flight.
func (r *Rig) Release() {
	r.Registry.Commit(int64(len(r.Log)))
	r.end(kafka.ErrNone)
}

// Fail ends all that is in flight with an error.
func (r *Rig) Fail(code kafka.ErrorCode) {
	if len(r.inFlight) == 0 {
		return
	}
	begin := r.inFlight[0].begin
	r.Registry.Revert(int64(begin))
	r.Log = r.Log[:begin]
	r.end(code)
}

func (r *Rig) end(code kafka.ErrorCode) {
	over := r.inFlight
	r.inFlight = nil
	for _, f := range over {
		if f.done != nil {
			f.done(code)
		}
	}
}

// Expire ends the wait for what is in flight, which stays.
func (r *Rig) Expire() {
	for i, f := range r.inFlight {
		r.inFlight[i].done = nil
		if f.done != nil {
			f.done(kafka.ErrCoordinatorNotAvailable)
		}
	}
}

// Pass lets time pass, with a tick at each deadline.
func (r *Rig) Pass(d time.Duration) {
	end := r.Now.Add(d)
	for {
		next := r.core.Next()
		if next.IsZero() || next.After(end) {
			break
		}
		if next.After(r.Now) {
			r.Now = next
		}
		for _, d := range r.core.Tick(r.Now) {
			r.Do(d)
		}
	}
	r.Now = end
}
