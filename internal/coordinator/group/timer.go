package group

import (
	"container/heap"
	"time"
)

// timerKind says what a timer is about.
type timerKind uint8

const (
	timerSession  timerKind = iota // a member has to be heard of
	timerPending                   // a member has to join with the id it was given
	timerInitial                   // the delay before the first rebalance
	timerJoin                      // the members have to join
	timerSync                      // the members have to fetch their assignments
	timerCleanup                   // offsets expire
	timerDeletion                  // offsets of deleted topics have to go

	// Of members of consumer groups.
	timerConsumerSession // a member has to be heard of
	timerRevoke          // a member has to let go of partitions
	timerConsumerJoin    // a classic member has to join again
	timerConsumerSync    // a classic member has to fetch its assignment
)

// timer is a deadline that can be moved. Putting it off, which every heartbeat
// does, changes one field: the heap learns of it when the old deadline comes.
type timer struct {
	due    time.Time
	queued time.Time // where it stands in the heap: not later than due
	place  int       // in the heap, counted from 1; 0: it is not set
	order  uint64    // among those of one time
	armed  bool      // it is set, or due and not yet worked off

	kind     timerKind
	group    *classicGroup
	member   *member
	pending  string
	consumer *memberTimers
}

// timers is a heap of timers.
type timers struct {
	heap  []*timer
	order uint64
}

// set makes t due at that time, whatever it was before.
func (s *timers) set(t *timer, due time.Time) {
	t.due, t.armed = due, true
	switch {
	case t.place == 0:
		s.order++
		t.queued, t.order = due, s.order
		heap.Push(s, t)
	case due.Before(t.queued):
		t.queued = due
		heap.Fix(s, t.place-1)
	}
}

// stop takes t out.
func (s *timers) stop(t *timer) {
	t.armed = false
	if t.place > 0 {
		heap.Remove(s, t.place-1)
	}
}

// ring says whether a timer that expired is to be worked off.
func (t *timer) ring() bool {
	if !t.armed || t.place > 0 {
		return false
	}
	t.armed = false
	return true
}

// next is not later than the earliest deadline; the zero time if there is none.
func (s *timers) next() time.Time {
	if len(s.heap) == 0 {
		return time.Time{}
	}
	return s.heap[0].queued
}

// expired takes out those that are due. What is set while they are worked off waits
// for the next call.
func (s *timers) expired(now time.Time) []*timer {
	var due []*timer
	for len(s.heap) > 0 && !s.heap[0].queued.After(now) {
		t := s.heap[0]
		if t.due.After(now) {
			t.queued = t.due
			heap.Fix(s, 0)
			continue
		}
		heap.Pop(s)
		due = append(due, t)
	}
	return due
}

// The methods of heap.Interface.

func (s *timers) Len() int { return len(s.heap) }

func (s *timers) Less(i, j int) bool {
	a, b := s.heap[i], s.heap[j]
	if !a.queued.Equal(b.queued) {
		return a.queued.Before(b.queued)
	}
	return a.order < b.order
}

func (s *timers) Swap(i, j int) {
	s.heap[i], s.heap[j] = s.heap[j], s.heap[i]
	s.heap[i].place, s.heap[j].place = i+1, j+1
}

func (s *timers) Push(x any) {
	t := x.(*timer)
	s.heap = append(s.heap, t)
	t.place = len(s.heap)
}

func (s *timers) Pop() any {
	last := len(s.heap) - 1
	t := s.heap[last]
	s.heap[last] = nil
	s.heap = s.heap[:last]
	t.place = 0
	return t
}
