package txn

import (
	"fmt"
	"time"

	"barnabas/internal/base/timeline"
	"barnabas/internal/coordinator/machine"
	"barnabas/internal/coordinator/machine/machinetest"
	"barnabas/internal/kafka"
)

// rig is a core with a log and a clock, and what it has had sent.
type rig struct {
	*Core
	machinetest.Rig
	settings Settings
	level    int16
	fresh    kafka.ProducerID // the next producer id
	sent     []Markers
	replayed func(before, after *transaction) // sees each step
}

var beginning = time.UnixMilli(1_000_000_000_000)

func defaults() Settings {
	return Settings{MaxTimeout: 15 * time.Minute, Expiration: 7 * 24 * time.Hour, AbortInterval: 10 * time.Second, RemoveInterval: time.Hour}
}

func newRig(s Settings) *rig {
	r := &rig{Rig: machinetest.Rig{Now: beginning}, settings: s, level: 2, fresh: 1000}
	r.Around = r.around
	r.restart()
	return r
}

// restart makes a new core of what is in the log. What is in flight is lost, and so
// are markers that are not written.
func (r *rig) restart() {
	r.Start(func(registry *timeline.Registry) machine.Machine {
		r.Core, r.sent = r.newCore(registry), nil
		return r.Core
	})
}

// around tells replayed of a step.
func (r *rig) around(rec machine.Record, replay func()) {
	id := string(rec.Key[4:])
	before := r.get(id)
	replay()
	if r.replayed != nil {
		r.replayed(before, r.get(id))
	}
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
