package serial

import (
	"errors"
	"sync"
)

// ErrFull refuses an operation whose queue is full. The owner says what that
// means to its client; the operation did not run and never will.
var ErrFull = errors.New("serial: queue is full")

// ErrClosed refuses an operation after Close.
var ErrClosed = errors.New("serial: closed")

// captureLimit is how many operations of others a caller takes along before a
// goroutine of the executor relieves it.
const captureLimit = 32

// Options are the bounds of an Executor. A zero stands for the default.
type Options struct {
	// Inputs is how many inputs may wait; 4096 by default.
	Inputs int
	// Reserve is how many callbacks and, apart from them, how many timers may
	// wait; 256 by default.
	Reserve int
}

// Executor runs operations one at a time. See the package comment.
type Executor struct {
	inputLimit int
	relief     sync.WaitGroup // goroutines that relieved a caller

	// guarded by mu
	mu        sync.Mutex
	callbacks queue
	inputs    queue
	timers    queue
	passed    int // inputs that went before the oldest timer
	running   bool
	closed    bool
	drained   chan struct{} // closed when closed and nothing is left to run
}

// New returns an executor that is free.
func New(o Options) *Executor {
	inputs, reserve := o.Inputs, o.Reserve
	if inputs <= 0 {
		inputs = 4096
	}
	if reserve <= 0 {
		reserve = 256
	}
	return &Executor{
		inputLimit: inputs,
		inputs:     queue{limit: inputs},
		callbacks:  queue{limit: reserve},
		timers:     queue{limit: reserve},
		drained:    make(chan struct{}),
	}
}

// Submit runs op, at once on this goroutine when the executor is free, else
// later on another. It returns ErrFull or ErrClosed if op will not run. It may
// be called from inside an operation; op then waits its turn.
func (e *Executor) Submit(op func()) error { return e.submit(&e.inputs, op) }

// Callback is Submit for the continuation of something that the owner began
// itself (an append that is committed, an answer that came): it goes before the
// inputs and is kept out by none.
func (e *Executor) Callback(op func()) error { return e.submit(&e.callbacks, op) }

// Timer is Submit for an operation that draws conclusions from time that
// passed: it runs when no input waits any more (invariant 4).
func (e *Executor) Timer(op func()) error { return e.submit(&e.timers, op) }

func (e *Executor) submit(q *queue, op func()) error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return ErrClosed
	}
	if e.running {
		defer e.mu.Unlock()
		if q.full() {
			return ErrFull
		}
		q.push(op)
		return nil
	}
	e.running = true
	e.mu.Unlock()
	op()
	e.drain(captureLimit)
	return nil
}

// Waiting is how many inputs wait to run.
func (e *Executor) Waiting() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.inputs.count
}

// drain runs what waits until nothing does, or hands over after limit
// operations; 0 is no limit. The caller has set running.
func (e *Executor) drain(limit int) {
	for n := 0; ; n++ {
		e.mu.Lock()
		op := e.nextLocked()
		if op == nil {
			e.stopLocked()
			e.mu.Unlock()
			return
		}
		e.mu.Unlock()
		if limit > 0 && n == limit {
			e.relief.Add(1)
			go func() {
				defer e.relief.Done()
				op()
				e.drain(0)
			}()
			return
		}
		op()
	}
}

// nextLocked takes the next operation by invariant 4, or nil.
func (e *Executor) nextLocked() func() {
	switch {
	case e.callbacks.count > 0:
		return e.callbacks.pop()
	case e.inputs.count > 0 && (e.timers.count == 0 || e.passed < e.inputLimit):
		if e.timers.count > 0 {
			e.passed++
		}
		return e.inputs.pop()
	case e.timers.count > 0:
		e.passed = 0
		return e.timers.pop()
	}
	return nil
}

func (e *Executor) stopLocked() {
	e.running = false
	if e.closed {
		close(e.drained)
	}
}

// Close refuses further operations and returns when all accepted ones have run.
// It must not be called from inside an operation. It is idempotent.
func (e *Executor) Close() {
	e.mu.Lock()
	if !e.closed {
		e.closed = true
		if !e.running {
			close(e.drained)
		}
	}
	e.mu.Unlock()
	<-e.drained
	e.relief.Wait()
}
