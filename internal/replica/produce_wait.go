package replica

import (
	"sync/atomic"

	"barnabas/internal/base/wheel"
	"barnabas/internal/kafka"
	"barnabas/internal/replica/purgatory"
)

// waitingProduce is a Produce request whose answer waits. It is made only then,
// and never used again: a late timer finds nothing of another request in it.
type waitingProduce struct {
	env     *env
	request *Produce // not touched any more once the last append is over
	appends []waitingAppend
	left    atomic.Int32 // appends that still wait, and one while they are being queued
	expired atomic.Bool
	timer   wheel.Timer
}

// waitingAppend is an append that waits to be synced, or for the high watermark,
// or first for the one and then for the other.
type waitingAppend struct {
	*Append     // not touched any more once the owner was told that it is over
	owner       *waitingProduce
	partition   *Partition
	epoch       kafka.LeaderEpoch
	end         kafka.Offset
	flush, high purgatory.OffsetWait
}

// conclude has the request answered, now or when it has nothing to wait for any
// more.
func (e *env) conclude(p *Produce) {
	n := 0
	for i := range p.Appends {
		if p.Appends[i].waits() {
			n++
		}
	}
	if n == 0 {
		p.Caller.Answered(p)
		return
	}
	w := &waitingProduce{env: e, request: p, appends: make([]waitingAppend, 0, n)}
	w.left.Store(int32(n) + 1)
	e.count.producesWaiting.Add(1)
	for i := range p.Appends {
		if a := &p.Appends[i]; a.awaitHigh || a.awaitFlush {
			w.appends = append(w.appends, waitingAppend{Append: a, owner: w, partition: a.partition, epoch: a.epoch, end: a.end})
		}
	}
	p.Caller.Placed(p)
	e.wheel.Schedule(&w.timer, e.now().Add(p.Timeout), func() { e.answers.submit(w) })
	for i := range w.appends {
		w.appends[i].queue(w.appends[i].awaitFlush)
	}
	w.finish()
}

// waits says whether the append still has something to wait for.
func (a *Append) waits() bool {
	if a.Out.ErrorCode != 0 {
		return false
	}
	a.awaitFlush = a.awaitFlush && a.partition.flushedOffset() < a.end
	if a.awaitHigh && !a.awaitFlush && a.partition.highWatermark() >= a.end {
		a.awaitHigh = false
		a.checkMinISR()
	}
	return a.awaitHigh || a.awaitFlush
}

// checkMinISR refuses to acknowledge what too few replicas may have.
func (a *Append) checkMinISR() {
	if a.partition.belowMin.Load() {
		a.refuse(kafka.ErrNotEnoughReplicasAfterAppend)
	}
}

// queue puts the append into one of the queues that it has to pass. Then it looks
// once more whether what it waits for has come, or something that ends all
// waiting, so that nothing that happens in between is missed.
func (a *waitingAppend) queue(forFlush bool) {
	q, wait, reached := &a.partition.highWaits, &a.high, a.partition.highWatermark
	if forFlush {
		q, wait, reached = &a.partition.flushWaits, &a.flush, a.partition.flushedOffset
	}
	q.Add(wait, a, a.end)
	r := a.partition.role.Load()
	code, over := r.forClient(kafka.NoLeaderEpoch), true
	switch {
	case code != kafka.ErrNone:
	case r.leaderEpoch != a.epoch:
		code = kafka.ErrNotLeaderOrFollower
	case reached() >= a.end:
	case a.owner.expired.Load():
		code = kafka.ErrRequestTimedOut
	default:
		over = false
	}
	if over && q.Remove(wait) {
		a.Waited(wait, code)
	}
}

// Waited implements purgatory.Waiter.
func (a *waitingAppend) Waited(wait *purgatory.OffsetWait, code kafka.ErrorCode) {
	switch {
	case code != kafka.ErrNone:
		a.refuse(code)
	case wait == &a.flush && a.awaitHigh:
		a.queue(false)
		return
	case a.awaitHigh:
		a.checkMinISR()
	}
	a.owner.finish()
}

// finish answers the request when nothing of it waits any more.
func (w *waitingProduce) finish() {
	if w.left.Add(-1) == 0 {
		w.env.wheel.Cancel(&w.timer)
		w.env.count.producesWaiting.Add(-1)
		w.request.Caller.Answered(w.request)
	}
}

// run ends what still waits when the request's time is over. The batches stay in
// the log.
func (w *waitingProduce) run() {
	w.expired.Store(true)
	ended := 0
	for i := range w.appends {
		a := &w.appends[i]
		switch {
		case a.partition.flushWaits.Remove(&a.flush):
			a.Waited(&a.flush, kafka.ErrRequestTimedOut)
		case a.partition.highWaits.Remove(&a.high):
			a.Waited(&a.high, kafka.ErrRequestTimedOut)
		default:
			continue
		}
		ended++
	}
	if ended > 0 {
		w.env.count.produceExpired.Add(1)
	}
}
