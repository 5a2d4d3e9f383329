package purgatory

import (
	"math"
	"math/bits"
	"sync/atomic"
)

// Event is the size of a change that ends a parked fetch however many bytes it
// waits for: a change of leader, an error, the end of a transaction.
const Event = math.MaxInt64

// Waker is what a watcher belongs to.
type Waker interface {
	// Wake is called once after a successful Park when the watcher has what it
	// needs, by whoever changed the last partition, with no lock held.
	Wake()
}

// Watcher gathers the changes of many partitions, each known by a slot number,
// for one fetch or fetch session. Grow, Take, Mark and Park belong to the owner;
// marks come from anywhere.
type Watcher struct {
	waker Waker
	need  atomic.Int64 // bytes that a parked fetch still needs; not parked: 0
	first atomic.Uint64
	rest  []*atomic.Uint64 // marks of slots from 64 on; grows, words never move
}

// Init sets who is woken.
func (w *Watcher) Init(waker Waker) { w.waker = waker }

// Grow makes room for slots 0 to n-1.
func (w *Watcher) Grow(n int) {
	for 64+64*len(w.rest) < n {
		w.rest = append(w.rest, new(atomic.Uint64))
	}
}

func (w *Watcher) word(slot int) *atomic.Uint64 {
	if slot < 64 {
		return &w.first
	}
	return w.rest[slot/64-1]
}

// Mark marks a slot for the owner's next look.
func (w *Watcher) Mark(slot int) { w.word(slot).Or(1 << (slot % 64)) }

// Take moves all marks into set.
func (w *Watcher) Take(set *Slots) {
	set.grow(1 + len(w.rest))
	take := func(i int, word *atomic.Uint64) {
		if word.Load() != 0 {
			set.words[i] |= word.Swap(0)
		}
	}
	take(0, &w.first)
	for i, word := range w.rest {
		take(1+i, word)
	}
}

func (w *Watcher) marked() bool {
	if w.first.Load() != 0 {
		return true
	}
	for _, word := range w.rest {
		if word.Load() != 0 {
			return true
		}
	}
	return false
}

// Park leaves the watcher to be woken when need bytes have come. It is false
// when there are marks to look at first, and nobody will wake it then (P3).
func (w *Watcher) Park(need int64) bool {
	w.need.Store(max(need, 1))
	if w.marked() && w.Unpark() {
		return false
	}
	return true
}

// Unpark says whether the watcher was parked: then it is the caller's to
// complete (P2).
func (w *Watcher) Unpark() bool { return w.need.Swap(0) > 0 }

// deliver takes bytes off what a parked watcher needs and says whether that was
// the last of it.
func (w *Watcher) deliver(bytes int64) bool {
	for {
		need := w.need.Load()
		if need <= 0 {
			return false
		}
		left := max(need-bytes, 0)
		if w.need.CompareAndSwap(need, left) {
			return left == 0
		}
	}
}

// Slots is a set of slot numbers, owned by one goroutine.
type Slots struct{ words []uint64 }

func (s *Slots) grow(n int) {
	for len(s.words) < n {
		s.words = append(s.words, 0)
	}
}

// Add puts a slot in.
func (s *Slots) Add(slot int) {
	s.grow(slot/64 + 1)
	s.words[slot/64] |= 1 << (slot % 64)
}

// Remove takes a slot out.
func (s *Slots) Remove(slot int) {
	if slot/64 < len(s.words) {
		s.words[slot/64] &^= 1 << (slot % 64)
	}
}

// All calls yield for each slot in rising order.
func (s *Slots) All(yield func(slot int) bool) {
	for i, word := range s.words {
		for ; word != 0; word &= word - 1 {
			if !yield(64*i + bits.TrailingZeros64(word)) {
				return
			}
		}
	}
}
