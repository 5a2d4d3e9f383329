// Package workers runs functions on goroutines of their own, as many as there are
// functions but no more than a limit. What queues is bounded by those who submit.
//
// Files:
//
//	workers.go  Pool
package workers

import "sync"

// Pool runs functions, later and not on the goroutine that submits them. All methods
// may be called from any goroutine.
type Pool struct {
	limit int

	mu      sync.Mutex
	queue   []func() // guarded by mu
	running int      // guarded by mu
	closed  bool     // guarded by mu
	wait    sync.WaitGroup
}

// New returns a pool of at most so many goroutines.
func New(limit int) *Pool { return &Pool{limit: limit} }

// Submit lets f run soon. After Close it does nothing.
func (w *Pool) Submit(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.closed:
	case w.running == w.limit:
		w.queue = append(w.queue, f)
	default:
		w.running++
		w.wait.Go(func() { w.work(f) })
	}
}

func (w *Pool) work(f func()) {
	for f != nil {
		f()
		f = w.take()
	}
}

// take gives the next function, or nil and this worker's place.
func (w *Pool) take() func() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.queue) == 0 {
		w.queue = nil
		w.running--
		return nil
	}
	f := w.queue[0]
	w.queue[0] = nil
	w.queue = w.queue[1:]
	return f
}

// Close waits until everything that was submitted has run.
func (w *Pool) Close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.wait.Wait()
}
