package replica

import (
	"sync/atomic"
	"time"

	"barnabas/internal/base/vfs"
	"barnabas/internal/base/wheel"
	"barnabas/internal/kafka"
	"barnabas/internal/replica/purgatory"
)

// MarkerWrite asks for a marker in a partition, and tells what became of it.
type MarkerWrite struct {
	Topic     string
	Partition int32
	Marker    kafka.Marker

	Code kafka.ErrorCode
}

// WriteMarkers appends markers as acks=all: done is called once, when each of them is
// refused or below the high watermark, or when the time is over
// (REQUEST_TIMED_OUT; those stay in the log).
func (m *Manager) WriteMarkers(list []MarkerWrite, timeout time.Duration, done func()) {
	w := &markerWrites{env: m.env, waits: make([]markerWait, 0, len(list)), done: done}
	for i := range list {
		x := &list[i]
		p, code := m.hosted(x.Topic, x.Partition)
		if code != kafka.ErrNone {
			x.Code = code
			continue
		}
		end, epoch, code := p.appendMarker(kafka.NoLeaderEpoch, x.Marker)
		if x.Code = code; code == kafka.ErrNone {
			w.waits = append(w.waits, markerWait{owner: w, out: x, partition: p, epoch: epoch, end: end})
		}
	}
	w.left.Store(int32(len(w.waits)) + 1)
	if len(w.waits) > 0 {
		m.env.wheel.Schedule(&w.timer, m.env.now().Add(timeout), func() { m.env.answers.submit(w) })
	}
	for i := range w.waits {
		w.waits[i].begin()
	}
	w.finish()
}

// appendMarker appends a marker as the leader of the given epoch, or of the present
// one, and says where it ends.
func (p *Partition) appendMarker(epoch kafka.LeaderEpoch, m kafka.Marker) (kafka.Offset, kafka.LeaderEpoch, kafka.ErrorCode) {
	var e effects
	p.mu.Lock()
	r := p.role.Load()
	code := r.forClient(epoch)
	if code == kafka.ErrNone && p.belowMin.Load() {
		code = kafka.ErrNotEnoughReplicas
	}
	if code != kafka.ErrNone {
		p.mu.Unlock()
		return 0, 0, code
	}
	sealed, before := r.log.SealedEnd(), r.log.LogEnd()
	out, err := r.log.AppendMarker(r.leaderEpoch, p.env.now().UnixMilli(), r.settings.rules.TimestampType, m)
	if r.log.LogEnd() > before {
		p.appendedLocked(r, sealed, markerBytes, &e)
	}
	full := vfs.IsFull(err) && r.log.Usable()
	p.mu.Unlock()
	p.appendFailed(r, err, full)
	var woken purgatory.Woken
	p.settle(e, &woken)
	p.env.wake(&woken)
	return out.Last + 1, r.leaderEpoch, out.Err
}

// markerBytes is the size of a marker's batch, for readers who wait for bytes.
const markerBytes = 78

// markerWrites are markers that were appended, and wait for the high watermark.
type markerWrites struct {
	env   *env
	waits []markerWait
	left  atomic.Int32 // waits, and one while they are being queued
	late  atomic.Bool
	timer wheel.Timer
	done  func()
}

type markerWait struct {
	owner     *markerWrites
	out       *MarkerWrite
	partition *Partition
	epoch     kafka.LeaderEpoch
	end       kafka.Offset
	wait      purgatory.OffsetWait
}

// begin queues the wait, and then looks whether what it waits for has come, or what
// ends all waiting (P3 of package purgatory).
func (a *markerWait) begin() {
	q := &a.partition.highWaits
	q.Add(&a.wait, a, a.end)
	r := a.partition.role.Load()
	code, over := r.forClient(kafka.NoLeaderEpoch), true
	switch {
	case code != kafka.ErrNone:
	case r.leaderEpoch != a.epoch:
		code = kafka.ErrNotLeaderOrFollower
	case a.partition.highWatermark() >= a.end:
	case a.owner.late.Load():
		code = kafka.ErrRequestTimedOut
	default:
		over = false
	}
	if over && q.Remove(&a.wait) {
		a.Waited(&a.wait, code)
	}
}

// Waited implements purgatory.Waiter.
func (a *markerWait) Waited(_ *purgatory.OffsetWait, code kafka.ErrorCode) {
	a.out.Code = code
	a.owner.finish()
}

func (w *markerWrites) finish() {
	if w.left.Add(-1) == 0 {
		w.env.wheel.Cancel(&w.timer)
		w.done()
	}
}

// run ends what still waits when the time is over.
func (w *markerWrites) run() {
	w.late.Store(true)
	for i := range w.waits {
		if a := &w.waits[i]; a.partition.highWaits.Remove(&a.wait) {
			a.Waited(&a.wait, kafka.ErrRequestTimedOut)
		}
	}
}
