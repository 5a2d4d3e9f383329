package wheel

import (
	"math"
	"time"
)

// Run drives the wheel by the clock now until stop is closed. It sleeps until
// the next timer is due.
func (w *Wheel) Run(now func() time.Time, stop <-chan struct{}) {
	sleep := time.NewTimer(0)
	defer sleep.Stop()
	for {
		var alarm <-chan time.Time
		if wait, ok := w.prepareSleep(now()); ok {
			sleep.Reset(wait)
			alarm = sleep.C
		}
		select {
		case <-stop:
			return
		case <-w.wake:
		case <-alarm:
		}
		w.Advance(now())
	}
}

// prepareSleep says how long Run may sleep, and leaves a note for Schedule; ok
// is false when no timer is pending.
func (w *Wheel) prepareSleep(now time.Time) (wait time.Duration, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, tick, ok := w.nextLocked()
	if !ok {
		w.sleep = math.MaxUint64
		return 0, false
	}
	w.sleep = tick
	return w.timeOf(tick).Sub(now), true
}
