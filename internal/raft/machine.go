package raft

import (
	"fmt"

	"barnabas/internal/kafka"
)

// Role is the part that a node plays in the current epoch.
type Role int8

// The roles that a voter can be found in. Prospective and Candidate are passed
// within one step, since the node's own vote is a majority.
const (
	Unattached Role = iota // no leader known
	Leader
	Resigned // led this epoch, and does no longer
)

// String is the role's name in lower case.
func (r Role) String() string {
	switch r {
	case Unattached:
		return "unattached"
	case Leader:
		return "leader"
	case Resigned:
		return "resigned"
	}
	return fmt.Sprintf("role %d", int8(r))
}

// Config is what a machine starts from: this node, and what its disk says.
type Config struct {
	// Self is this node as it would enter the voter set now.
	Self Voter
	// KRaftVersion is the finalized level of kraft.version.
	KRaftVersion int16
	// Voters is the voter set in force; VotersOffset is the offset of the record
	// that holds it, or kafka.NoOffset where no record of the log does: the set
	// comes from the configuration or from the bootstrap checkpoint.
	Voters       VoterSet
	VotersOffset kafka.Offset
	// Election is the persisted election state.
	Election ElectionState
	// LogEnd is the end of the log; all below it is flushed. LastEpoch is the
	// epoch of the last record, 0 in an empty log.
	LogEnd    kafka.Offset
	LastEpoch kafka.LeaderEpoch
}

// Machine is one node's part in the quorum.
type Machine struct {
	cfg  Config
	role Role

	election   ElectionState
	epochStart kafka.Offset // of the epoch this node leads
	flushed    kafka.Offset // end of what is flushed
	hw         kafka.Offset // kafka.NoOffset: unknown
}

// New makes a machine that waits for Start. It refuses a quorum that this node
// cannot lead alone.
func New(cfg Config) (*Machine, error) {
	if err := soleVoter(cfg); err != nil {
		return nil, err
	}
	return &Machine{cfg: cfg, election: cfg.Election, flushed: cfg.LogEnd, hw: kafka.NoOffset}, nil
}

// soleVoter checks that this node, in this directory, is the only voter.
func soleVoter(cfg Config) error {
	self := cfg.Self.ReplicaKey
	if len(cfg.Voters) == 0 {
		return fmt.Errorf("the metadata quorum has no voters: format the folder with --standalone, or set controller.quorum.voters")
	}
	voter, ok := cfg.Voters.ByID(self.ID)
	if !ok {
		return fmt.Errorf("node %d is not among the voters %s of the metadata quorum; a node that only observes the quorum is not supported by this release", self.ID, cfg.Voters)
	}
	if len(cfg.Voters) > 1 {
		return fmt.Errorf("the metadata quorum has the voters %s; a quorum of more than one voter is not supported by this release", cfg.Voters)
	}
	if cfg.KRaftVersion >= KRaftVersion1 && voter.Directory != self.Directory {
		return fmt.Errorf("voter %d of the metadata quorum has directory.id %s, but this folder has %s", self.ID, voter.Directory, self.Directory)
	}
	return nil
}

// Role is the current role.
func (m *Machine) Role() Role { return m.role }

// Epoch is the current epoch.
func (m *Machine) Epoch() kafka.LeaderEpoch { return m.election.Epoch }

// LeaderID is the leader of the current epoch, or kafka.NoBroker.
func (m *Machine) LeaderID() kafka.BrokerID {
	if m.role != Leader {
		return kafka.NoBroker
	}
	return m.cfg.Self.ID
}

// HighWatermark is the end of what is committed, or kafka.NoOffset.
func (m *Machine) HighWatermark() kafka.Offset { return m.hw }

// Start takes up the persisted state and stands for election.
func (m *Machine) Start() []Effect {
	var out []Effect
	self := m.cfg.Self.ReplicaKey
	switch e := m.election; {
	case e.Epoch < m.cfg.LastEpoch:
		// The log knows a later epoch than quorum-state, which was lost or is
		// older: whatever it says of leader and vote is void (R2).
		m.election = ElectionState{Epoch: m.cfg.LastEpoch, LeaderID: kafka.NoBroker, Voted: NoReplica()}
		out = append(out, Persist{m.election})
	case e.LeaderID == self.ID:
		m.role = Resigned
	case e.votedFor(self) && e.Epoch > m.cfg.LastEpoch:
		// The vote for itself is on disk, the leadership is not, and nothing was
		// written in this epoch (R3).
		return m.lead(out)
	}
	return m.campaign(out)
}

// campaign goes from any role without a leader to a new epoch. The node's own
// pre-vote and vote are the majority of a set of one.
func (m *Machine) campaign(out []Effect) []Effect {
	m.election = ElectionState{Epoch: m.election.Epoch + 1, LeaderID: kafka.NoBroker, Voted: m.cfg.Self.ReplicaKey}
	return m.lead(append(out, Persist{m.election}))
}

// lead makes the candidate the leader of the current epoch.
func (m *Machine) lead(out []Effect) []Effect {
	self := m.cfg.Self
	m.role = Leader
	m.election = ElectionState{Epoch: m.election.Epoch, LeaderID: self.ID, Voted: NoReplica()}
	m.epochStart = m.cfg.LogEnd
	start := AppendEpochStart{Epoch: m.election.Epoch, LeaderID: self.ID, Voters: m.cfg.Voters.IDs(), Granting: []kafka.BrokerID{self.ID}}
	if m.votersBelongInLog() {
		m.cfg.Voters = m.cfg.Voters.With(self)
		start.WithVoters, start.KRaftVersion, start.VoterSet = true, m.cfg.KRaftVersion, m.cfg.Voters
	}
	return append(out, Persist{m.election}, start, LeaderChanged{Epoch: m.election.Epoch, LeaderID: self.ID})
}

// votersBelongInLog says whether a new leader writes the voter set: no record of
// the log holds it yet, or what it says of this node is out of date.
func (m *Machine) votersBelongInLog() bool {
	if m.cfg.KRaftVersion < KRaftVersion1 {
		return false
	}
	listed, _ := m.cfg.Voters.ByID(m.cfg.Self.ID)
	return m.cfg.VotersOffset == kafka.NoOffset || !listed.Equal(m.cfg.Self)
}

// Flushed says that all below end is durable in this node's log.
func (m *Machine) Flushed(end kafka.Offset) []Effect {
	if end < m.flushed {
		panic(fmt.Sprintf("BUG: raft: flushed end went back from %d to %d", m.flushed, end))
	}
	m.flushed = end
	// The leader is the whole quorum: what it flushed a majority has. Records of
	// earlier epochs are committed with the first of its own (R4).
	if m.role != Leader || end <= m.epochStart || end <= m.hw {
		return nil
	}
	m.hw = end
	return []Effect{HighWatermark{end}}
}

// Resign gives the leadership up: the node is going to stop.
func (m *Machine) Resign() []Effect {
	if m.role != Leader {
		return nil
	}
	m.role = Resigned
	return []Effect{LeaderChanged{Epoch: m.election.Epoch, LeaderID: kafka.NoBroker}}
}
