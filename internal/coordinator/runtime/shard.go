package runtime

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"barnabas/internal/base/serial"
	"barnabas/internal/base/timeline"
	"barnabas/internal/base/wheel"
	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"
)

// phase is where a shard is in its life.
type phase int32

const (
	gone    phase = iota // not led here
	loading              // its log is being read, or not open yet
	active
	failed // its log could not be loaded
)

// shard is a partition of the internal topic.
type shard[M machine.Machine] struct {
	r         *Runtime[M]
	partition int32
	exec      *serial.Executor
	at        atomic.Int32 // phase; written by the executor

	mu     sync.Mutex
	wanted *Leadership // what the metadata wants; nil: none; guarded by mu
	ended  *load[M]    // a load that is over; guarded by mu
	waited []wait      // waits for the log that are over; guarded by mu
	poked  bool        // react is queued; guarded by mu

	// owned by the executor
	led      *Leadership
	load     *load[M] // while loading
	core     M
	registry *timeline.Registry
	next     kafka.Offset // of the next record
	batch    batch
	flights  flights
	timer    wheel.Timer
	timerAt  time.Time // zero: not set
	linger   wheel.Timer

	flushOp  func()      // flushTurn
	ticking  atomic.Bool // a tick is queued
	progress atomic.Pointer[load[M]]
}

// wait is how a wait for the log ended, and under which leadership it began.
type wait struct {
	led  *Leadership
	code kafka.ErrorCode
}

func newShard[M machine.Machine](r *Runtime[M], partition int32) *shard[M] {
	s := &shard[M]{r: r, partition: partition, exec: serial.New(serial.Options{Inputs: r.o.Queue})}
	s.flushOp = s.flushTurn
	return s
}

func (s *shard[M]) phase() phase     { return phase(s.at.Load()) }
func (s *shard[M]) setPhase(p phase) { s.at.Store(int32(p)) }

// refusal says why a shard in this phase runs no operation.
func (p phase) refusal() kafka.ErrorCode {
	switch p {
	case active:
		return kafka.ErrNone
	case loading:
		return kafka.ErrCoordinatorLoadInProgress
	}
	return kafka.ErrNotCoordinator
}

// want says what the metadata wants the shard to be.
func (s *shard[M]) want(l *Leadership) {
	s.mu.Lock()
	s.wanted = l
	s.mu.Unlock()
	s.poke()
}

// poke lets the executor look at what others have left for it. It may be called by
// anybody: the work is done on a worker's goroutine.
func (s *shard[M]) poke() {
	s.mu.Lock()
	queued := s.poked
	s.poked = true
	s.mu.Unlock()
	if !queued {
		s.r.workers.Submit(func() { s.must(s.exec.Callback(s.react)) })
	}
}

// must takes the answer of an executor that has room: at most one react, one tick
// and one flush by time are queued at any time.
func (s *shard[M]) must(err error) {
	if err != nil && !errors.Is(err, serial.ErrClosed) {
		panic(fmt.Sprintf("BUG: coordinator of %s: %v", s.name(), err))
	}
}

func (s *shard[M]) name() string { return fmt.Sprintf("%s-%d", s.r.o.Topic, s.partition) }

// react takes in what others have left.
func (s *shard[M]) react() {
	s.mu.Lock()
	wanted, ended, waited := s.wanted, s.ended, s.waited
	s.ended, s.waited, s.poked = nil, nil, false
	s.mu.Unlock()
	s.follow(wanted)
	if ended != nil && ended == s.load {
		s.loaded(ended)
	}
	for _, w := range waited {
		if w.led == s.led {
			s.waitOver(w.code)
		}
	}
	s.settle()
}

// follow makes the shard what the metadata wants.
func (s *shard[M]) follow(wanted *Leadership) {
	switch {
	case wanted == nil && s.led != nil:
		s.r.o.Log.Debug("no longer the coordinator", "partition", s.name(), "leader_epoch", s.led.Epoch)
		s.unload(gone)
		s.led = nil
	case wanted == nil || s.led != nil && s.led.same(wanted):
	case s.phase() == active && s.led.Topic == wanted.Topic && wanted.Epoch == s.led.Epoch+1:
		s.adopt(wanted)
	default:
		s.unload(gone)
		s.led = wanted
		s.startLoad()
	}
}

// adopt goes on under the next leader epoch. Nobody else has led in between, so the
// log holds what the shard has written, and nothing else.
func (s *shard[M]) adopt(wanted *Leadership) {
	s.led = wanted
	s.flights.awaiting = false
	if st, code := wanted.Log.State(); code != kafka.ErrNone || st.End != s.flights.end {
		s.reload("the log has changed under the next leader epoch")
		return
	}
	s.r.o.Log.Info("coordinator under a newer leader epoch", "partition", s.name(), "leader_epoch", wanted.Epoch)
}

// reload throws the state away and loads it anew.
func (s *shard[M]) reload(why string) {
	s.r.o.Log.Error("the coordinator's state is loaded anew", "partition", s.name(), "reason", why)
	s.unload(gone)
	s.startLoad()
}

// unload ends what the shard is: everything that waits is answered.
func (s *shard[M]) unload(next phase) {
	was := s.phase()
	s.setPhase(next)
	if s.load != nil {
		s.load.cancel()
		s.load = nil
		s.progress.Store(nil)
	}
	s.stopTimers()
	if was != active {
		return
	}
	s.core.Unload(kafka.ErrNotCoordinator) // first: it answers also who waits in what is taken back
	s.abandonBatch(kafka.ErrNotCoordinator)
	s.registry.Revert(-1)
	s.flights.failAll(kafka.ErrNotCoordinator)
	var none M
	s.core, s.registry = none, nil
}

// startLoad begins to load under the leadership. When the log is not open yet,
// it begins when it is.
func (s *shard[M]) startLoad() {
	s.setPhase(loading)
	ctx, cancel := context.WithCancel(s.r.stopped)
	l := &load[M]{s: s, ctx: ctx, cancel: cancel, led: s.led, queued: s.r.o.Now()}
	s.load = l
	s.progress.Store(l)
	switch _, code := s.led.Log.State(); code {
	case kafka.ErrNone:
		s.r.loads.Submit(l.run)
	case kafka.ErrReplicaNotAvailable:
		s.led.Log.Await(0, func(kafka.ErrorCode) { l.end(errNotOpen) })
	default:
		// Its leadership is over: the metadata is about to say so.
		l.err = code
		s.loaded(l)
	}
}

// loaded takes over what was loaded.
func (s *shard[M]) loaded(l *load[M]) {
	if l.err == nil && l.highWatermark < l.next {
		l.awaitCommit()
		return
	}
	l.cancel()
	s.load = nil
	s.progress.Store(nil)
	if errors.Is(l.err, errNotOpen) {
		s.startLoad()
		return
	}
	s.r.loadEnded(l)
	if l.err != nil {
		s.setPhase(failed)
		if code := kafka.ErrorCode(0); errors.As(l.err, &code) && code == kafka.ErrNotLeaderOrFollower {
			s.r.o.Log.Info("not loaded: this node leads the partition no longer", "partition", s.name(), "leader_epoch", l.led.Epoch)
			return
		}
		s.r.o.Log.Error("a coordinator's partition cannot be loaded; requests for its keys are refused with NOT_COORDINATOR",
			"partition", s.name(), "leader_epoch", l.led.Epoch, "offset", l.at.Load(), "error", l.err)
		return
	}
	s.core, s.registry = l.core, l.registry
	s.next = l.next
	s.flights = flights{end: l.next}
	s.setPhase(active)
	s.core.Loaded(s.r.o.Now())
}

// do runs an operation when the shard is free.
func (s *shard[M]) do(op Operation[M], refuse func(kafka.ErrorCode)) {
	s.submit(func() { s.operate(op, refuse) }, refuse)
}

// submit has f run by the executor, or refuses it.
func (s *shard[M]) submit(f func(), refuse func(kafka.ErrorCode)) {
	if code := s.phase().refusal(); code != kafka.ErrNone {
		s.refuse(code, refuse)
		return
	}
	switch err := s.exec.Submit(f); {
	case errors.Is(err, serial.ErrFull):
		s.r.count.overloaded.Add(1)
		s.refuse(kafka.ErrCoordinatorNotAvailable, refuse)
	case err != nil:
		s.refuse(kafka.ErrNotCoordinator, refuse)
	}
}

func (s *shard[M]) refuse(code kafka.ErrorCode, refuse func(kafka.ErrorCode)) {
	s.r.count.refused.Add(1)
	refuse(code)
}

// operate runs an operation.
func (s *shard[M]) operate(op Operation[M], refuse func(kafka.ErrorCode)) {
	if !s.admit(refuse) {
		return
	}
	now := s.r.o.Now()
	s.decided(op(s.core, now), now)
	s.settle()
}

// admit says whether the shard can do something now, or refuses it.
func (s *shard[M]) admit(refuse func(kafka.ErrorCode)) bool {
	if code := s.phase().refusal(); code != kafka.ErrNone {
		s.refuse(code, refuse)
		return false
	}
	if s.full() {
		s.r.count.overloaded.Add(1)
		s.refuse(kafka.ErrCoordinatorNotAvailable, refuse)
		return false
	}
	return true
}

// settle does what has to follow each change: it waits for the log if something is
// in flight, and sets the timer.
func (s *shard[M]) settle() {
	if s.phase() != active {
		return
	}
	s.awaitFlights()
	s.setTimer()
}

// setTimer sets the timer to when something has to be done next. One that fires too
// early does no harm, so it is only ever moved forward.
func (s *shard[M]) setTimer() {
	at := s.core.Next()
	if d := s.flights.deadline(); !d.IsZero() && (at.IsZero() || d.Before(at)) {
		at = d
	}
	if !at.IsZero() && (s.timerAt.IsZero() || at.Before(s.timerAt)) {
		s.postpone(at)
	}
}

// fullPause is how long a tick waits for room in flight.
const fullPause = 100 * time.Millisecond

// postpone has tick called at that time.
func (s *shard[M]) postpone(at time.Time) {
	s.timerAt = at
	s.r.o.Wheel.Schedule(&s.timer, at, func() {
		if !s.ticking.Swap(true) {
			s.r.workers.Submit(func() { s.must(s.exec.Timer(s.tick)) })
		}
	})
}

func (s *shard[M]) stopTimers() {
	s.timerAt = time.Time{}
	s.r.o.Wheel.Cancel(&s.timer)
	s.r.o.Wheel.Cancel(&s.linger)
}

// tick ends what has expired.
func (s *shard[M]) tick() {
	s.ticking.Store(false)
	s.timerAt = time.Time{}
	if s.phase() != active {
		return
	}
	now := s.r.o.Now()
	s.r.count.expired.Add(int64(s.flights.expire(now)))
	if s.full() {
		// The core has to wait like everybody else. It is asked again when
		// something has been committed, or after a while.
		s.postpone(now.Add(fullPause))
		return
	}
	s.decideAll(s.core.Tick(now), now)
	s.settle()
}

// close waits until nothing runs.
func (s *shard[M]) close() {
	// The workers are closed: nobody else reacts to what is left.
	s.must(s.exec.Callback(s.react))
	s.exec.Close()
	s.stopTimers()
}
