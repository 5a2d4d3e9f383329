package replica

import "sync"

// task is a piece of work for an executor. Types of this package are tasks
// themselves, so that handing one over allocates nothing.
type task interface{ run() }

// executor runs tasks on goroutines of its own, as many as there are tasks but
// no more than its limit. It keeps work off goroutines that must not wait: the
// timing wheel's, and those of connections.
type executor struct {
	limit int

	mu      sync.Mutex
	queue   []task // guarded by mu
	running int    // guarded by mu
	closed  bool   // guarded by mu
	workers sync.WaitGroup
}

func newExecutor(limit int) *executor { return &executor{limit: limit} }

// submit lets t run soon. After close it runs at once, on the caller.
func (e *executor) submit(t task) {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		t.run()
		return
	}
	if e.running == e.limit {
		e.queue = append(e.queue, t)
		e.mu.Unlock()
		return
	}
	e.running++
	e.workers.Add(1)
	e.mu.Unlock()
	go e.work(t)
}

func (e *executor) work(t task) {
	defer e.workers.Done()
	for t != nil {
		t.run()
		t = e.take()
	}
}

// take gives the next task, or nil and this worker's place.
func (e *executor) take() task {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.queue) == 0 {
		e.queue = nil
		e.running--
		return nil
	}
	t := e.queue[0]
	e.queue[0] = nil
	e.queue = e.queue[1:]
	return t
}

// close waits for everything that was submitted.
func (e *executor) close() {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.workers.Wait()
}
