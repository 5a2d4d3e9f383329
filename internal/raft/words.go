package raft

import (
	"fmt"
	"slices"
	"strings"

	"barnabas/internal/kafka"
)

// Levels of the feature kraft.version.
const (
	KRaftVersion0 int16 = 0 // voters are configuration (controller.quorum.voters)
	KRaftVersion1 int16 = 1 // voters are records of the log (KIP-853)
)

// ReplicaKey names one replica of the metadata log: a node and the directory
// that holds the replica. A zero Directory is unknown.
type ReplicaKey struct {
	ID        kafka.BrokerID
	Directory kafka.UUID
}

// String is "1" or "1:<directory id>".
func (k ReplicaKey) String() string {
	if k.Directory.IsZero() {
		return fmt.Sprintf("%d", k.ID)
	}
	return fmt.Sprintf("%d:%s", k.ID, k.Directory)
}

// NoReplica is the key of nobody.
func NoReplica() ReplicaKey { return ReplicaKey{ID: kafka.NoBroker} }

// Endpoint is one controller listener of a voter.
type Endpoint struct {
	Listener string
	Host     string
	Port     uint16
}

// Voter is a member of the quorum: who it is, where it is reached, and the range
// of kraft.version that it understands.
type Voter struct {
	ReplicaKey
	Endpoints       []Endpoint
	MinKRaftVersion int16
	MaxKRaftVersion int16
}

// Equal compares every field; the order of the endpoints counts.
func (v Voter) Equal(o Voter) bool {
	return v.ReplicaKey == o.ReplicaKey && slices.Equal(v.Endpoints, o.Endpoints) &&
		v.MinKRaftVersion == o.MinKRaftVersion && v.MaxKRaftVersion == o.MaxKRaftVersion
}

// VoterSet is the members of the quorum in order of id. It is not changed in
// place.
type VoterSet []Voter

// ByID finds the voter with this node id.
func (s VoterSet) ByID(id kafka.BrokerID) (Voter, bool) {
	for _, v := range s {
		if v.ID == id {
			return v, true
		}
	}
	return Voter{}, false
}

// IDs lists the node ids.
func (s VoterSet) IDs() []kafka.BrokerID {
	ids := make([]kafka.BrokerID, len(s))
	for i, v := range s {
		ids[i] = v.ID
	}
	return ids
}

// With returns a set in which v has taken the place of the voter with its id.
func (s VoterSet) With(v Voter) VoterSet {
	out := slices.Clone(s)
	for i := range out {
		if out[i].ID == v.ID {
			out[i] = v
		}
	}
	return out
}

// String lists the keys.
func (s VoterSet) String() string {
	keys := make([]string, len(s))
	for i, v := range s {
		keys[i] = v.ReplicaKey.String()
	}
	return "[" + strings.Join(keys, " ") + "]"
}

// ElectionState is what a node must remember of elections: the file
// quorum-state. At most one of LeaderID and Voted is set in what this machine
// writes; both may be set in what it reads.
type ElectionState struct {
	Epoch    kafka.LeaderEpoch
	LeaderID kafka.BrokerID // kafka.NoBroker: unknown
	Voted    ReplicaKey     // NoReplica: no vote in this epoch
}

// InitialElection is the state of a node that has never taken part.
func InitialElection() ElectionState {
	return ElectionState{LeaderID: kafka.NoBroker, Voted: NoReplica()}
}

// votedFor says whether the node voted for key and knows no leader. A vote of
// kraft.version 0 holds no directory.
func (e ElectionState) votedFor(key ReplicaKey) bool {
	return e.LeaderID == kafka.NoBroker && e.Voted.ID == key.ID &&
		(e.Voted.Directory.IsZero() || e.Voted.Directory == key.Directory)
}
