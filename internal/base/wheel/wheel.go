package wheel

import (
	"math/bits"
	"sync"
	"time"
)

const (
	slotBits = 6
	slots    = 1 << slotBits
	levels   = 6 // 2^36 ticks: two years of milliseconds
	maxTicks = 1<<(slotBits*levels) - 1
)

// Timer is one timer, meant to be a field of what it is for. The zero value is
// idle.
type Timer struct {
	fire       func()
	when       uint64 // tick
	next, prev *Timer // in its slot
	level      uint8
	slot       uint8
	pending    bool // all fields are guarded by the wheel's mu
}

type level struct {
	occupied uint64 // a bit per slot
	slots    [slots]*Timer
}

// Wheel holds timers. Its methods may be called from any goroutine, but only one
// may call Advance or Run.
type Wheel struct {
	tick  time.Duration
	start time.Time
	wake  chan struct{} // to Run: a timer is due earlier than its sleep ends

	mu      sync.Mutex
	elapsed uint64        // ticks, guarded by mu
	levels  [levels]level // guarded by mu
	sleep   uint64        // tick at which Run wakes up, guarded by mu
}

// New returns a wheel whose time starts at now.
func New(tick time.Duration, now time.Time) *Wheel {
	return &Wheel{tick: tick, start: now, wake: make(chan struct{}, 1)}
}

// Schedule lets fire be called at the given time or soon after. A pending timer
// is moved.
func (w *Wheel) Schedule(t *Timer, at time.Time, fire func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if t.pending {
		w.removeLocked(t)
	}
	t.fire = fire
	t.when = w.tickOf(at)
	w.insertLocked(t)
	if t.when < w.sleep {
		w.sleep = 0
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}
}

// tickOf is the first tick that is not before at.
func (w *Wheel) tickOf(at time.Time) uint64 {
	d := at.Sub(w.start)
	if d <= 0 {
		return 0
	}
	return uint64((d + w.tick - 1) / w.tick)
}

func (w *Wheel) timeOf(tick uint64) time.Time {
	return w.start.Add(time.Duration(tick) * w.tick)
}

// Cancel takes a timer out and says whether it was pending: then fire will not
// be called.
func (w *Wheel) Cancel(t *Timer) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !t.pending {
		return false
	}
	w.removeLocked(t)
	return true
}

// Next is the time at which Advance has something to do; ok is false when no
// timer is pending.
func (w *Wheel) Next() (at time.Time, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, tick, ok := w.nextLocked()
	return w.timeOf(tick), ok
}

// Advance sets the wheel's time and calls the timers that are due, in the order
// of their ticks. It returns how many were called.
func (w *Wheel) Advance(now time.Time) int {
	var due []func()
	w.mu.Lock()
	target := uint64(max(0, now.Sub(w.start)) / w.tick)
	for {
		l, tick, ok := w.nextLocked()
		if !ok || tick > target {
			break
		}
		w.elapsed = max(w.elapsed, tick)
		slot := tick >> (slotBits * l) % slots
		for t := w.levels[l].slots[slot]; t != nil; t = w.levels[l].slots[slot] {
			w.removeLocked(t)
			if t.when > w.elapsed {
				w.insertLocked(t)
				continue
			}
			due = append(due, t.fire)
			t.fire = nil
		}
	}
	w.elapsed = max(w.elapsed, target)
	w.mu.Unlock()
	for _, fire := range due {
		fire()
	}
	return len(due)
}

// nextLocked finds the first slot that is not empty (invariant 2) and the tick
// at which the wheel reaches it.
func (w *Wheel) nextLocked() (lvl int, tick uint64, ok bool) {
	for l := range levels {
		occupied := w.levels[l].occupied
		if occupied == 0 {
			continue
		}
		shift := slotBits * l
		own := w.elapsed >> shift % slots
		ahead := uint64(bits.TrailingZeros64(bits.RotateLeft64(occupied, -int(own))))
		return l, (w.elapsed>>shift + ahead) << shift, true
	}
	return 0, 0, false
}

func (w *Wheel) insertLocked(t *Timer) {
	when := min(max(t.when, w.elapsed), w.elapsed|maxTicks)
	l := 0
	if differ := when ^ w.elapsed; differ != 0 {
		l = (bits.Len64(differ) - 1) / slotBits
	}
	t.level, t.slot, t.pending = uint8(l), uint8(when>>(slotBits*l)%slots), true
	lvl := &w.levels[l]
	t.prev, t.next = nil, lvl.slots[t.slot]
	if t.next != nil {
		t.next.prev = t
	}
	lvl.slots[t.slot] = t
	lvl.occupied |= 1 << t.slot
}

func (w *Wheel) removeLocked(t *Timer) {
	lvl := &w.levels[t.level]
	if t.next != nil {
		t.next.prev = t.prev
	}
	if t.prev != nil {
		t.prev.next = t.next
	} else {
		lvl.slots[t.slot] = t.next
		if t.next == nil {
			lvl.occupied &^= 1 << t.slot
		}
	}
	t.next, t.prev, t.pending = nil, nil, false
}
