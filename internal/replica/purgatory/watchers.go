package purgatory

import (
	"sync"
	"sync/atomic"
)

// Watch is one watcher's interest in one partition. It does not move in memory
// while it is in a partition's list.
type Watch struct {
	watcher *Watcher
	word    *atomic.Uint64 // where the mark of its slot is
	bit     uint64
	at      int       // guarded by list's mu
	list    *Watchers // owned by the watcher's owner
}

// Watchers is a partition's list of who watches it. The zero value is ready.
type Watchers struct {
	n    atomic.Int32 // len(list), to pass by without a lock
	mu   sync.Mutex
	list []*Watch
}

// Add begins watching on behalf of a slot of w. Changes from now on are marked.
func (l *Watchers) Add(watch *Watch, w *Watcher, slot int) {
	watch.watcher, watch.word, watch.bit, watch.list = w, w.word(slot), 1<<(slot%64), l
	l.mu.Lock()
	defer l.mu.Unlock()
	watch.at = len(l.list)
	l.list = append(l.list, watch)
	l.n.Store(int32(len(l.list)))
}

// Watching says whether the watch is in the list l.
func (w *Watch) Watching(l *Watchers) bool { return w.list == l }

// Stop ends watching; it may be called when nothing is watched.
func (w *Watch) Stop() {
	l := w.list
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	last := len(l.list) - 1
	l.list[last].at = w.at
	l.list[w.at] = l.list[last]
	l.list[last] = nil
	l.list = l.list[:last]
	if last == 0 {
		l.list = nil // an idle partition keeps nothing
	}
	l.n.Store(int32(last))
	w.list = nil
}

// Changed marks the partition at everyone who watches it, where bytes of records
// became readable (Event: something else that ends a wait), and adds whom this
// wakes to woken.
func (l *Watchers) Changed(bytes int64, woken *Woken) {
	if l.n.Load() == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range l.list {
		w.word.Or(w.bit)
		if w.watcher.deliver(bytes) {
			woken.list = append(woken.list, w.watcher)
		}
	}
}

// Woken are watchers that someone has to wake, when he holds no lock and has
// done what is more urgent.
type Woken struct{ list []*Watcher }

// Take gives the wakers and empties the list, which keeps its memory.
func (l *Woken) Take(yield func(Waker) bool) {
	for i, w := range l.list {
		l.list[i] = nil
		if !yield(w.waker) {
			return
		}
	}
	l.list = l.list[:0]
}

// Len says how many there are.
func (l *Woken) Len() int { return len(l.list) }

// Len is how many watch, for gauges.
func (l *Watchers) Len() int { return int(l.n.Load()) }
