package raft

import "barnabas/internal/kafka"

// Effect is one thing that the machine wants done. Effects are carried out in
// the order in which they are returned.
type Effect interface{ effect() }

// Persist: the election state must be on disk before the effects after it are
// carried out (R1).
type Persist struct{ State ElectionState }

// AppendEpochStart: the first batch of a leader's epoch, a control batch of
// LeaderChange and, if WithVoters, KRaftVersion and Voters, must be appended at
// the end of the log.
type AppendEpochStart struct {
	Epoch        kafka.LeaderEpoch
	LeaderID     kafka.BrokerID
	Voters       []kafka.BrokerID
	Granting     []kafka.BrokerID
	WithVoters   bool
	KRaftVersion int16    // meant if WithVoters
	VoterSet     VoterSet // meant if WithVoters
}

// LeaderChanged: the leader of the epoch is known, or with kafka.NoBroker is no
// longer known.
type LeaderChanged struct {
	Epoch    kafka.LeaderEpoch
	LeaderID kafka.BrokerID
}

// HighWatermark: everything below Offset is committed.
type HighWatermark struct{ Offset kafka.Offset }

func (Persist) effect()          {}
func (AppendEpochStart) effect() {}
func (LeaderChanged) effect()    {}
func (HighWatermark) effect()    {}
