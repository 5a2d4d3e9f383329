package runtime

import "sync"

// pool runs functions, later and not on the goroutine that submits them.
type pool interface {
	submit(f func())
	close()
}

// workers run functions on goroutines of their own, as many as there are functions
// but no more than the limit. What queues is bounded by those who submit: each
// shard has at most a few things under way.
type workers struct {
	limit int

	mu      sync.Mutex
	queue   []func() // guarded by mu
	running int      // guarded by mu
	closed  bool     // guarded by mu
	wait    sync.WaitGroup
}

func newWorkers(limit int) *workers { return &workers{limit: limit} }

// submit lets f run soon. After close it does nothing.
func (w *workers) submit(f func()) {
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

func (w *workers) work(f func()) {
	for f != nil {
		f()
		f = w.take()
	}
}

// take gives the next function, or nil and this worker's place.
func (w *workers) take() func() {
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

// close waits until everything that was submitted has run.
func (w *workers) close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.wait.Wait()
}
