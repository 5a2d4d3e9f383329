// Package serial runs operations one at a time without a goroutine of its own.
// An owner whose state must not be touched by two at once (the controller, a
// coordinator shard) gives each operation to an Executor. When the executor is
// free the operation runs at once on the goroutine that brought it, so that an
// idle owner costs no wake-up; when it is busy the operation waits in a queue
// and the goroutine that keeps it busy takes it along.
//
// It knows nothing of what the operations do, has no clock and never blocks a
// caller: what finds its queue full is refused with ErrFull.
//
// Who owns what: the queues and the running flag belong to the executor's lock,
// which is never held while an operation runs. The state that the operations
// touch belongs to whoever is running, so it needs no lock; the executor's lock
// makes what one operation wrote visible to the next.
//
// Invariants:
//
//  1. At most one operation runs at any moment.
//  2. An accepted operation runs exactly once, also after Close; a refused one
//     never runs.
//  3. Inputs run in the order in which they were accepted, and so do callbacks
//     and timers among themselves.
//  4. Callbacks go before inputs. Inputs go before timers, so that what a pause
//     has piled up is seen before a timer draws conclusions from silence; but a
//     timer is passed by at most as many inputs as the input queue holds.
//  5. Each class has its own bound: inputs cannot keep out a callback or timer.
//  6. A caller is kept for at most its own operation and captureLimit others;
//     then a goroutine takes over, for which Close waits.
//
// Files:
//
//	executor.go  Executor
//	queue.go     the ring that holds waiting operations
package serial
