package election

import (
	"slices"

	"barnabas/internal/kafka"
)

// populateELR works out the eligible leader replicas that go with the wanted ISR:
// who was in the ISR or eligible and is not wanted in the ISR stays eligible,
// unless it may have lost data. They are needed only below min.insync.replicas:
// above it every committed record is on an ISR member.
func (t *target) populateELR() {
	if !t.Rules.ELR {
		return
	}
	if len(t.isr) >= t.Rules.MinISR {
		t.elr = nil
		return
	}
	candidates := slices.Concat(t.Current.ELR, t.Current.ISR)
	slices.Sort(candidates)
	candidates = slices.Compact(candidates)
	candidates = Without(Without(candidates, t.isr...), t.UncleanShutdown)
	// A replica that a reassignment removes now can never lead (invariant 1).
	// Apache Kafka keeps it in the ELR.
	t.elr = slices.DeleteFunc(candidates, func(id kafka.BrokerID) bool { return !slices.Contains(t.replicas, id) })
}

// setELR writes the eligible leader replicas. After an unclean election nobody
// is eligible: the new leader's log is the truth.
func (t *target) setELR() {
	if t.record.Isr != nil || !t.Rules.ELR {
		t.elr = nil
	}
	if !slices.Equal(t.elr, t.Current.ELR) {
		t.record.EligibleLeaderReplicas = notNil(t.elr)
	}
}

// lastKnownLeaderMayLead says whether nobody is known to hold all data and the
// one that led last is back.
func (t *target) lastKnownLeaderMayLead() bool {
	return t.Rules.ELR && len(t.isr) == 0 && len(t.elr) == 0 &&
		len(t.Current.LastKnownELR) == 1 && t.Acceptable(t.Current.LastKnownELR[0])
}

// setLastKnownLeader remembers who led when the partition becomes leaderless, in
// the field that once was meant for the last known ELR, and forgets it with the
// next leader. (Apache Kafka also "remembers" -1 when a reassignment ends while
// there is no leader.)
func (t *target) setLastKnownLeader() {
	if !t.Rules.ELR {
		return
	}
	switch r := t.record; {
	case r.Leader == kafka.NoBroker && t.Current.Leader >= 0 && len(t.Current.LastKnownELR) == 0:
		r.LastKnownElr = []kafka.BrokerID{t.Current.Leader}
	case r.Leader >= 0 && len(t.Current.LastKnownELR) > 0:
		r.LastKnownElr = []kafka.BrokerID{}
	}
}
