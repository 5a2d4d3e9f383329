package isr

import (
	"slices"
	"time"

	"barnabas/internal/kafka"
)

// follower is what the leader knows about one other replica.
type follower struct {
	id     kafka.BrokerID
	logEnd kafka.Offset // NoOffset until it fetches from this leader
	// epoch is the broker epoch that the follower's last fetch named.
	epoch kafka.BrokerEpoch

	// registered is the follower's broker epoch in the metadata, active says
	// that the broker is neither fenced nor shutting down.
	registered kafka.BrokerEpoch
	active     bool

	lastFetch            time.Time
	leaderEndAtLastFetch kafka.Offset
	lastCaughtUp         time.Time
}

// eligible says whether the controller would take the follower into the ISR: it
// must be active, and be the same incarnation that fetched.
func (f *follower) eligible() bool {
	return f.active && (f.epoch == kafka.NoBrokerEpoch || f.epoch == f.registered)
}

// caughtUp says whether the follower has everything, or had it not long ago.
func (f *follower) caughtUp(leaderEnd kafka.Offset, now time.Time, maxLag time.Duration) bool {
	return f.logEnd == leaderEnd || now.Sub(f.lastCaughtUp) <= maxLag
}

// fetched notes a fetch from offset. A follower that reaches what the leader
// had at its fetch before was caught up at that time, even if the leader has
// gone on since.
func (f *follower) fetched(offset kafka.Offset, epoch kafka.BrokerEpoch, leaderEnd kafka.Offset, now time.Time) {
	switch {
	case offset >= leaderEnd:
		f.lastCaughtUp = later(f.lastCaughtUp, now)
	case offset >= f.leaderEndAtLastFetch:
		f.lastCaughtUp = later(f.lastCaughtUp, f.lastFetch)
	}
	f.logEnd, f.epoch = offset, epoch
	f.lastFetch, f.leaderEndAtLastFetch = now, leaderEnd
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Fetched takes in the fetch of a follower from offset, which is its log end.
// It is false when the broker is no replica of this partition.
func (l *Leader) Fetched(id kafka.BrokerID, epoch kafka.BrokerEpoch, offset kafka.Offset, now time.Time) bool {
	f := l.follower(id)
	if f == nil {
		return false
	}
	f.fetched(offset, epoch, l.localEnd, now)
	l.now = later(l.now, now)
	l.advance()
	if l.pending == nil && !slices.Contains(l.isr, id) && f.eligible() &&
		offset >= l.highWatermark && offset >= l.epochStart {
		// The set is sorted by assignment only at the controller; appending
		// keeps what it had.
		l.propose(append(slices.Clone(l.isr), id))
	}
	return true
}

// Tick takes followers out of the ISR that have been behind for longer than the
// maximal lag. The owner calls it every half of that time.
func (l *Leader) Tick(now time.Time) {
	l.now = later(l.now, now)
	if l.pending != nil {
		return
	}
	rest := make([]kafka.BrokerID, 0, len(l.isr))
	for _, id := range l.isr {
		f := l.follower(id)
		if f == nil || f.caughtUp(l.localEnd, l.now, l.maxLag) {
			rest = append(rest, id)
		}
	}
	if len(rest) < len(l.isr) {
		l.propose(rest)
	}
}

// SetBroker tells the broker epoch of a replica's node in the metadata, and
// whether the node is active: not fenced and not shutting down.
func (l *Leader) SetBroker(id kafka.BrokerID, epoch kafka.BrokerEpoch, active bool) {
	if f := l.follower(id); f != nil {
		f.registered, f.active = epoch, active
	}
}

func (l *Leader) follower(id kafka.BrokerID) *follower {
	for i := range l.followers {
		if l.followers[i].id == id {
			return &l.followers[i]
		}
	}
	return nil
}
