package client

import (
	"context"
	"slices"
	"sync"
	"time"
)

// room is buffer.memory: bytes of records that wait for their delivery. Whoever finds
// it full waits in line, as at Kafka's BufferPool.
type room struct {
	limit int64

	mu      sync.Mutex
	free    int64     // guarded by mu
	told    time.Time // when full was called last; guarded by mu
	waiting []*waiter // in the order of arrival; guarded by mu
}

type waiter struct {
	size    int64
	granted chan struct{}
}

func newRoom(limit int64) *room { return &room{limit: limit, free: limit} }

// take takes size bytes, at most limit. When they are not free it calls full, which
// has the records in the buffer sent, and waits for them until the context ends or the
// limit has passed.
func (r *room) take(ctx context.Context, size int64, limit time.Duration, closed <-chan struct{}, full func()) error {
	r.mu.Lock()
	if len(r.waiting) == 0 && r.free >= size {
		r.free -= size
		r.mu.Unlock()
		return nil
	}
	w := &waiter{size, make(chan struct{})}
	r.waiting = append(r.waiting, w)
	r.mu.Unlock()
	timer, again := time.NewTimer(limit), time.NewTicker(fullAgain)
	defer timer.Stop()
	defer again.Stop()
	var err error
	for err == nil {
		if r.tell(time.Now()) {
			full()
		}
		select {
		case <-w.granted:
			return nil
		case <-ctx.Done():
			err = context.Cause(ctx)
		case <-timer.C:
			err = context.DeadlineExceeded
		case <-closed:
			err = ErrClosed
		case <-again.C:
		}
	}
	r.leave(w)
	return err
}

// fullAgain is how often the buffer is told that it is full, for records that came
// into it meanwhile.
const fullAgain = 100 * time.Millisecond

// tell says whether full is to be called: not for each of many that find no room, who
// would have batches of one record sent.
func (r *room) tell(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Sub(r.told) < fullAgain/10 {
		return false
	}
	r.told = now
	return true
}

// leave takes a waiter out of the line; what it was given meanwhile goes back.
func (r *room) leave(w *waiter) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.Index(r.waiting, w); i >= 0 {
		r.waiting = slices.Delete(r.waiting, i, i+1)
	} else {
		r.free += w.size
	}
	r.grantLocked()
}

// give gives bytes back.
func (r *room) give(size int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.free += size
	r.grantLocked()
}

func (r *room) grantLocked() {
	for len(r.waiting) > 0 && r.free >= r.waiting[0].size {
		r.free -= r.waiting[0].size
		close(r.waiting[0].granted)
		r.waiting[0] = nil
		r.waiting = r.waiting[1:]
	}
}
