// Package clock is time as an argument: the system's, and one that a test moves.
// Who needs time declares the methods that it uses as an interface; both types here
// satisfy it.
package clock

import (
	"sync"
	"time"
)

// System is the time of this machine. Its readings have a monotonic part.
type System struct{}

// Now is time.Now.
func (System) Now() time.Time { return time.Now() }

// AfterFunc calls f on a goroutine of its own after d; stop prevents it and says
// whether it was in time.
func (System) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	return time.AfterFunc(d, f).Stop
}

// Manual is time that stands still until it is moved. It may be used by many at
// once.
type Manual struct {
	mu     sync.Mutex
	now    time.Time
	timers []*timer // by time, then in the order in which they were set
}

type timer struct {
	at time.Time
	f  func()
}

// NewManual returns a clock that shows now.
func NewManual(now time.Time) *Manual { return &Manual{now: now} }

// Now is the time that the clock shows.
func (m *Manual) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

// AfterFunc has f called by the Advance that reaches d from now.
func (m *Manual) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := &timer{m.now.Add(d), f}
	i := len(m.timers)
	for i > 0 && m.timers[i-1].at.After(t.at) {
		i--
	}
	m.timers = append(m.timers, nil)
	copy(m.timers[i+1:], m.timers[i:])
	m.timers[i] = t
	return func() bool { return m.remove(t) }
}

func (m *Manual) remove(t *timer) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, other := range m.timers {
		if other == t {
			m.timers = append(m.timers[:i], m.timers[i+1:]...)
			return true
		}
	}
	return false
}

// Advance moves the time by d, timer by timer: each is called at its own time, on
// this goroutine, those that they set included.
func (m *Manual) Advance(d time.Duration) {
	end := m.Now().Add(d)
	for {
		f := m.due(end)
		if f == nil {
			return
		}
		f()
	}
}

// Jump moves the time by d at once, as a process sees it that was stopped: timers
// are called late, at the new time.
func (m *Manual) Jump(d time.Duration) {
	m.mu.Lock()
	m.now = m.now.Add(d)
	m.mu.Unlock()
	m.Advance(0)
}

// due takes the next timer up to end and shows its time, or end when there is none.
func (m *Manual) due(end time.Time) func() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.timers) == 0 || m.timers[0].at.After(end) {
		m.now = end
		return nil
	}
	t := m.timers[0]
	m.timers = m.timers[1:]
	if t.at.After(m.now) {
		m.now = t.at
	}
	return t.f
}
