package purgatory

import (
	"sync"

	"barnabas/internal/kafka"
)

// Waiter is told once how its wait ended: ErrNone when the offset was reached.
type Waiter interface {
	Waited(w *OffsetWait, code kafka.ErrorCode)
}

// OffsetWait is one wait for an offset. It is a part of its waiter's own object,
// so that waiting costs no allocation; it may be used again when it is over.
type OffsetWait struct {
	waiter     Waiter
	offset     kafka.Offset
	queue      *Offsets // guarded by queue's mu; nil: not waiting
	next, prev *OffsetWait
}

// Offsets is a queue of waits, ordered by offset. The zero value is ready.
type Offsets struct {
	mu         sync.Mutex
	head, tail *OffsetWait
}

// Add queues w until offset is reached. The caller looks at the offset once more
// afterwards, and completes w itself if Remove still gives it back (P3).
func (q *Offsets) Add(w *OffsetWait, waiter Waiter, offset kafka.Offset) {
	q.mu.Lock()
	defer q.mu.Unlock()
	w.waiter, w.offset, w.queue = waiter, offset, q
	// Appenders come nearly in order of their offsets, so the place is at or
	// close to the end.
	after := q.tail
	for after != nil && after.offset > offset {
		after = after.prev
	}
	w.prev = after
	if after == nil {
		w.next, q.head = q.head, w
	} else {
		w.next, after.next = after.next, w
	}
	if w.next == nil {
		q.tail = w
	} else {
		w.next.prev = w
	}
}

// Remove takes w out and says whether it still waited: then it is the caller's
// to complete (P1).
func (q *Offsets) Remove(w *OffsetWait) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if w.queue != q {
		return false
	}
	if w.prev == nil {
		q.head = w.next
	} else {
		w.prev.next = w.next
	}
	if w.next == nil {
		q.tail = w.prev
	} else {
		w.next.prev = w.prev
	}
	w.queue, w.next, w.prev = nil, nil, nil
	return true
}

// Reached takes out every wait for an offset up to and including the given one.
func (q *Offsets) Reached(offset kafka.Offset) Waits {
	q.mu.Lock()
	defer q.mu.Unlock()
	var out Waits
	for w := q.head; w != nil && w.offset <= offset; w = q.head {
		out.push(q.pop())
	}
	return out
}

// Drain takes out all waits.
func (q *Offsets) Drain() Waits {
	q.mu.Lock()
	defer q.mu.Unlock()
	var out Waits
	for q.head != nil {
		out.push(q.pop())
	}
	return out
}

// Empty says whether nothing waits, without a promise for the next moment.
func (q *Offsets) Empty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.head == nil
}

func (q *Offsets) pop() *OffsetWait {
	w := q.head
	q.head = w.next
	if q.head == nil {
		q.tail = nil
	} else {
		q.head.prev = nil
	}
	w.queue, w.next, w.prev = nil, nil, nil
	return w
}

// Waits are waits that were taken out together, in order.
type Waits struct{ first, last *OffsetWait }

func (l *Waits) push(w *OffsetWait) {
	if l.first == nil {
		l.first = w
	} else {
		l.last.next = w
	}
	l.last = w
}

// Complete tells each waiter. It is called with no lock held.
func (l Waits) Complete(code kafka.ErrorCode) {
	for w := l.first; w != nil; {
		next, waiter := w.next, w.waiter
		w.next, w.waiter = nil, nil // before the waiter may use w again
		waiter.Waited(w, code)
		w = next
	}
}
