package group

import (
	"encoding/binary"
	"io"
	"time"

	"barnabas/internal/base/timeline"
	"barnabas/internal/coordinator/consumergroup"
	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"
)

// rig is a core with a log and a clock: a runtime of the smallest kind, where a
// test decides when an append succeeds.
type rig struct {
	*Core
	registry *timeline.Registry
	settings Settings
	random   io.Reader
	now      time.Time
	log      []machine.Replayed
	marks    []mark // of what is in flight
	hold     bool   // appends wait for release or fail
	refuse   kafka.ErrorCode
	watch    func(machine.Record) // sees each record as it is decided

	cluster   *cluster
	config    GroupConfig
	questions []Resolution // that nobody has answered yet
}

// mark is a batch in flight.
type mark struct {
	begin int // of it and of all that is in flight later
	done  func(kafka.ErrorCode)
}

// counter is a source of member ids that people can read.
type counter struct{ n uint64 }

func (c *counter) Read(b []byte) (int, error) {
	c.n++
	clear(b)
	binary.BigEndian.PutUint64(b[8:], c.n)
	return len(b), nil
}

var beginning = time.UnixMilli(1_000_000_000_000)

func defaults() Settings {
	return Settings{
		MinSessionTimeout: 6 * time.Second, MaxSessionTimeout: 30 * time.Minute, InitialRebalanceDelay: 3 * time.Second,
		MaxSize: 1<<31 - 1, OffsetMetadataMax: 4096, OffsetsRetention: 7 * 24 * time.Hour, RetentionCheck: 10 * time.Minute,
		Consumer: ConsumerSettings{
			MaxSize: 1<<31 - 1, Assignors: []string{"uniform", "range"}, RegexRefresh: 10 * time.Minute, Upgrade: true, Downgrade: true, Mixed: true,
		},
	}
}

func newRig(s Settings) *rig {
	r := &rig{settings: s, random: &counter{}, now: beginning, cluster: newCluster()}
	r.config = GroupConfig{SessionTimeout: 45 * time.Second, HeartbeatInterval: 5 * time.Second, AssignmentInterval: time.Second}
	r.restart()
	return r
}

// restart makes a new core of what is in the log. What is in flight is lost.
func (r *rig) restart() {
	if r.Core != nil {
		r.unload(kafka.ErrNotCoordinator)
	}
	r.registry = timeline.NewRegistry()
	r.Core = New(r.options(r.registry))
	r.registry.Direct(true)
	for _, rec := range r.log {
		if err := r.Core.Replay(rec); err != nil {
			panic(err)
		}
	}
	r.registry.Direct(false)
	r.Core.Loaded(r.now)
}

// options of a core of the rig.
func (r *rig) options(registry *timeline.Registry) Options {
	return Options{
		Registry: registry, Settings: r.settings, Random: r.random,
		Topics:     func() consumergroup.Topics { return r.cluster.now() },
		Config:     func(string) GroupConfig { return r.config },
		Background: func(q Resolution) { r.questions = append(r.questions, q) },
	}
}

// resolve answers all questions.
func (r *rig) resolve() {
	questions := r.questions
	r.questions = nil
	for _, q := range questions {
		if answer, ok := q.Run(func() bool { return false }); ok {
			r.do(r.Core.Resolved(r.now, answer))
		}
	}
}

// unload ends the core as a runtime does that loses the partition.
func (r *rig) unload(code kafka.ErrorCode) {
	r.Core.Unload(code)
	r.fail(code)
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
		if r.watch != nil {
			r.watch(rec)
		}
		played := machine.Replayed{Record: rec, Offset: kafka.Offset(len(r.log)), Timestamp: r.now, ProducerID: kafka.NoProducerID}
		if d.Transaction != nil {
			played.Transactional, played.ProducerID, played.ProducerEpoch = true, d.Transaction.ProducerID, d.Transaction.Epoch
		}
		if err := r.Core.Replay(played); err != nil {
			panic(err)
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
