package heartbeat

import (
	"time"

	"barnabas/internal/kafka"
)

// Session names one session of a broker.
type Session struct {
	ID    kafka.BrokerID
	Epoch kafka.BrokerEpoch
}

// Sessions knows when each broker was last heard of.
type Sessions struct {
	timeout time.Duration
	period  time.Duration // how often Expired is called
	looked  time.Time     // when Expired was last called; zero: never
	heard   map[Session]time.Time
}

// NewSessions returns sessions that end after timeout without a sign of life.
// period is how often the owner will call Expired.
func NewSessions(timeout, period time.Duration) *Sessions {
	return &Sessions{timeout: timeout, period: period, heard: map[Session]time.Time{}}
}

// Touch takes note of a sign of life.
func (s *Sessions) Touch(who Session, now time.Time) { s.heard[who] = now }

// Valid says whether the broker was heard of within the timeout.
func (s *Sessions) Valid(who Session, now time.Time) bool {
	heard, ok := s.heard[who]
	return ok && !s.over(heard, now)
}

// Remove forgets a session.
func (s *Sessions) Remove(who Session) { delete(s.heard, who) }

// Expired removes one session that is over and returns it. When it is called
// later than its period, the process or its executor stood still and could not
// hear anyone: the time beyond the period is given to each session (invariant 4).
func (s *Sessions) Expired(now time.Time) (who Session, ok bool) {
	s.forgive(now)
	for session, heard := range s.heard {
		if s.over(heard, now) && (!ok || session.ID < who.ID) {
			who, ok = session, true
		}
	}
	if ok {
		delete(s.heard, who)
	}
	return who, ok
}

func (s *Sessions) forgive(now time.Time) {
	late := now.Sub(s.looked) - s.period
	if !s.looked.IsZero() && late > s.period {
		for session, heard := range s.heard {
			if later := heard.Add(late); later.Before(now) {
				s.heard[session] = later
			} else {
				s.heard[session] = now
			}
		}
	}
	s.looked = now
}

func (s *Sessions) over(heard, now time.Time) bool { return now.Sub(heard) > s.timeout }
