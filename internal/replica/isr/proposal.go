package isr

import (
	"slices"

	"barnabas/internal/kafka"
)

// Member is one replica of a proposed ISR, with the broker epoch that the leader
// knows of it, or NoBrokerEpoch.
type Member struct {
	ID    kafka.BrokerID
	Epoch kafka.BrokerEpoch
}

// Proposal is what the leader asks of the controller by AlterPartition. It
// always says Recovered: a leader that serves is whole.
type Proposal struct {
	LeaderEpoch    kafka.LeaderEpoch
	PartitionEpoch kafka.PartitionEpoch
	ISR            []Member
	Recovery       kafka.LeaderRecoveryState
}

func (p *Proposal) has(id kafka.BrokerID) bool {
	return slices.ContainsFunc(p.ISR, func(m Member) bool { return m.ID == id })
}

// propose makes isr the pending proposal. The leader's own broker epoch is
// filled in by whoever sends it.
func (l *Leader) propose(isr []kafka.BrokerID) {
	p := &Proposal{LeaderEpoch: l.leaderEpoch, PartitionEpoch: l.partitionEpoch, Recovery: kafka.Recovered}
	for _, id := range isr {
		m := Member{ID: id, Epoch: kafka.NoBrokerEpoch}
		if f := l.follower(id); f != nil {
			m.Epoch = f.epoch
		}
		p.ISR = append(p.ISR, m)
	}
	l.pending, l.unsent = p, true
}

// Proposal gives the pending proposal once, for sending.
func (l *Leader) Proposal() (Proposal, bool) {
	if !l.unsent {
		return Proposal{}, false
	}
	l.unsent = false
	return *l.pending, true
}

// Accepted takes in the controller's answer to a proposal: the registration as
// it now is. An answer for another leader epoch, or an older one, is ignored.
func (l *Leader) Accepted(r Registration) {
	if r.LeaderEpoch != l.leaderEpoch || r.PartitionEpoch < l.partitionEpoch || l.pending == nil {
		return
	}
	l.partitionEpoch, l.recovery = r.PartitionEpoch, r.Recovery
	l.isr = r.ISR
	l.pending, l.unsent = nil, false
	l.advance()
}

// Refused takes in a refusal of the proposal that was made at the given
// partition epoch.
//
// Only with the first two codes does the controller say that nothing was
// applied and that our partition epoch is the right one. After the next four
// the registration that we miss is under way, and until it comes the larger ISR
// counts. With any other code the same proposal is sent again.
func (l *Leader) Refused(at kafka.PartitionEpoch, code kafka.ErrorCode) {
	if l.pending == nil || l.pending.PartitionEpoch != at {
		return
	}
	switch code {
	case kafka.ErrIneligibleReplica, kafka.ErrOperationNotAttempted:
		l.pending, l.unsent = nil, false
		l.advance()
	case kafka.ErrUnknownTopicOrPartition, kafka.ErrUnknownTopicID, kafka.ErrInvalidUpdateVersion,
		kafka.ErrInvalidRequest, kafka.ErrNewLeaderElected, kafka.ErrFencedLeaderEpoch:
	default:
		l.unsent = true
	}
}
