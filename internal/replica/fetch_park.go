package replica

import (
	"sync/atomic"

	"barnabas/internal/base/wheel"
	"barnabas/internal/replica/purgatory"
	"barnabas/internal/storage/commitlog"
)

// sessionState is what a fetch session keeps here besides its partitions.
type sessionState struct {
	watcher purgatory.Watcher
	// pending are the slots that have to be looked at: changed since the last
	// look, or not exhausted by it. A slot leaves it only if it is watched since
	// before it was looked at, so that whatever comes marks it.
	pending purgatory.Slots
	// current is the fetch that waits now, if one does.
	current atomic.Pointer[parking]
}

// slotState is what a partition of a session keeps here.
type slotState struct {
	partition *Partition // nil: not found yet
	watch     purgatory.Watch
	tail      commitlog.Position // where the last answer ended, if at the end of the log
}

// releaseSession stops all watching for a session that is not used any more.
func releaseSession(s *session) {
	for slot := range s.All {
		slot.Value.watch.Stop()
	}
}

// watch watches the slot's partition and says whether it was not watched before.
func (f *Fetch) watch(slot *slot) bool {
	v := &slot.Value
	if v.partition == nil || v.watch.Watching(&v.partition.watchers) {
		return false
	}
	v.watch.Stop()
	v.partition.watchers.Add(&v.watch, &f.session.Value.watcher, slot.Number())
	return true
}

// watchAll watches every partition of the session and says whether some were not
// watched before: they have to be looked at once more.
func (f *Fetch) watchAll() (more bool) {
	s := f.session
	s.Value.watcher.Grow(s.Slots())
	for slot := range s.All {
		more = f.watch(slot) || more // what was not watched is pending
	}
	return more
}

// parking is a fetch that waits or has waited. It outlives the fetch by as long
// as a late timer or wake-up may come, so it is never used for another.
type parking struct {
	m       *Manager
	fetch   *Fetch // touched only by whoever claims the parking
	watcher *purgatory.Watcher
	state   atomic.Int32
	expired atomic.Bool
	timer   wheel.Timer
}

// The states of a parking.
const (
	parkingBusy int32 = iota // someone works on the fetch
	parkingIdle              // the fetch waits: whoever makes it busy goes on with it
)

// park lets the fetch wait; it is false when there is something to look at
// first. After true the fetch belongs to whoever wakes it.
func (m *Manager) park(f *Fetch) bool {
	if f.watchAll() {
		return false
	}
	s := f.session
	p := f.parked
	if p == nil {
		p = &parking{m: m, fetch: f, watcher: &s.Value.watcher}
		f.parked = p
		m.env.count.fetchesWaiting.Add(1)
		if s.Value.current.Swap(p) == nil {
			s.Value.watcher.Init(sessionWaker{s}) // once in a session's life
		}
		m.env.wheel.Schedule(&p.timer, f.deadline, p.expire)
	}
	need := int64(f.minBytes) - f.read.available
	p.state.Store(parkingIdle)
	if !s.Value.watcher.Park(need) {
		// There are marks. Unless a late wake-up has taken the fetch over, look.
		return !p.claim()
	}
	if p.expired.Load() && p.claim() {
		p.watcher.Unpark()
		return false
	}
	return true
}

// claim makes the caller the one who goes on with the fetch.
func (p *parking) claim() bool { return p.state.CompareAndSwap(parkingIdle, parkingBusy) }

// expire ends the wait when its time is over. The answer is written elsewhere:
// the timing wheel must not wait for a disk.
func (p *parking) expire() {
	p.expired.Store(true)
	p.m.env.answers.submit((*parkingExpiry)(p))
}

type parkingExpiry parking

func (t *parkingExpiry) run() {
	if p := (*parking)(t); p.claim() {
		p.watcher.Unpark()
		p.m.env.count.fetchExpired.Add(1)
		p.m.tryFetch(p.fetch)
	}
}

// run goes on with a fetch that was woken.
func (p *parking) run() {
	if p.claim() {
		p.m.tryFetch(p.fetch)
	}
}

// sessionWaker wakes the fetch that waits on a session.
type sessionWaker struct{ s *session }

// Wake implements purgatory.Waker. It may come late and meet the next fetch of
// the session, which then looks once for nothing.
func (w sessionWaker) Wake() {
	if p := w.s.Value.current.Load(); p != nil {
		p.run()
	}
}
