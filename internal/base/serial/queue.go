package serial

// queue is a FIFO ring of operations that grows up to limit and shrinks to
// nothing when it has been empty after a burst.
type queue struct {
	ring  []func()
	head  int
	count int
	limit int
}

const (
	firstRing = 16
	// keepRing is the ring size that survives an empty queue: an idle owner
	// after a burst does not hold the burst's memory.
	keepRing = 256
)

func (q *queue) full() bool { return q.count >= q.limit }

func (q *queue) push(op func()) {
	if q.count == len(q.ring) {
		q.grow()
	}
	q.ring[(q.head+q.count)%len(q.ring)] = op
	q.count++
}

func (q *queue) pop() func() {
	op := q.ring[q.head]
	q.ring[q.head] = nil
	q.head = (q.head + 1) % len(q.ring)
	q.count--
	if q.count == 0 && len(q.ring) > keepRing {
		q.ring, q.head = nil, 0
	}
	return op
}

func (q *queue) grow() {
	size := max(firstRing, 2*len(q.ring))
	ring := make([]func(), size)
	for i := range q.count {
		ring[i] = q.ring[(q.head+i)%len(q.ring)]
	}
	q.ring, q.head = ring, 0
}
