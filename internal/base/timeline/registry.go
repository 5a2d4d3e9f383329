package timeline

import "fmt"

// Registry undoes and commits the changes of its maps together.
type Registry struct {
	changes []change // in flight, oldest first (invariant 1)
	marks   []mark
	first   int64 // sequence number of changes[0]
	direct  bool
}

// change is a key of one map with changes in flight.
type change interface {
	commitOldest()
	revertNewest()
}

// mark says that the changes before the sequence number next belong to batches that
// end at or before end.
type mark struct {
	end  int64
	next int64
}

// NewRegistry returns a registry without maps.
func NewRegistry() *Registry { return &Registry{} }

// Mark says that all changes since the last mark belong to the batch whose next
// offset is end. A batch may be empty. An end at or before the last mark, while
// something is in flight, is a bug of the caller.
func (r *Registry) Mark(end int64) {
	if len(r.marks) > 0 && end <= r.marks[len(r.marks)-1].end {
		panic(fmt.Sprintf("BUG: timeline: mark of %d after that of %d", end, r.marks[len(r.marks)-1].end))
	}
	r.marks = append(r.marks, mark{end: end, next: r.first + int64(len(r.changes))})
}

// Commit makes the changes of all batches that end at or before upTo final.
// Changes after the last mark stay in flight.
func (r *Registry) Commit(upTo int64) {
	done, next := 0, r.first
	for ; done < len(r.marks) && r.marks[done].end <= upTo; done++ {
		next = r.marks[done].next
	}
	if done == 0 {
		return
	}
	count := int(next - r.first)
	for _, c := range r.changes[:count] {
		c.commitOldest()
	}
	r.first = next
	r.changes = dropFront(r.changes, count)
	r.marks = dropFront(r.marks, done)
}

// Revert undoes, newest first, all changes of batches that end later than to, and
// those that have no mark. What is committed stays: when no batch in flight ends
// at or before to, all that is in flight is undone.
func (r *Registry) Revert(to int64) {
	keep, next := len(r.marks), r.first
	for keep > 0 && r.marks[keep-1].end > to {
		keep--
	}
	if keep > 0 {
		next = r.marks[keep-1].next
	}
	count := int(next - r.first)
	for i := len(r.changes) - 1; i >= count; i-- {
		r.changes[i].revertNewest()
	}
	r.changes = dropBack(r.changes, count)
	r.marks = dropBack(r.marks, keep)
}

// Direct switches the registry to where each change is committed at once, and back.
// Nothing may be in flight.
func (r *Registry) Direct(on bool) {
	if len(r.changes) > 0 || len(r.marks) > 0 {
		panic("BUG: timeline: direct changes beside changes in flight")
	}
	r.direct = on
}

// InFlight is how many changes are neither committed nor undone.
func (r *Registry) InFlight() int { return len(r.changes) }

// keepLog is the capacity of an empty log that is kept for the next changes.
const keepLog = 64

// dropFront removes the n oldest entries and lets go of their memory.
func dropFront[E any](log []E, n int) []E {
	if n == len(log) {
		return dropBack(log, 0)
	}
	rest := len(log) - n
	if n < rest {
		copy(log, log[n:])
		clear(log[rest:])
		return log[:rest]
	}
	return append(make([]E, 0, rest), log[n:]...)
}

// dropBack keeps the n oldest entries.
func dropBack[E any](log []E, n int) []E {
	if n == 0 && cap(log) > keepLog {
		return nil
	}
	clear(log[n:])
	return log[:n]
}
