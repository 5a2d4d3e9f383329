package quorum

import (
	"fmt"
	"slices"

	"barnabas/internal/kafka"
	"barnabas/internal/metadata/metarec"
	"barnabas/internal/raft"
)

// leaderChange is the first record of an epoch, at version 0 as Apache Kafka
// writes it: without directory ids.
func leaderChange(e raft.AppendEpochStart) *metarec.LeaderChangeMessage {
	m := metarec.NewLeaderChangeMessage()
	m.LeaderID = e.LeaderID
	m.Voters = electionVoters(e.Voters)
	m.GrantingVoters = electionVoters(e.Granting)
	return m
}

func electionVoters(ids []kafka.BrokerID) []metarec.ElectionVoter {
	out := make([]metarec.ElectionVoter, len(ids))
	for i, id := range ids {
		out[i].VoterID = id
	}
	return out
}

func kraftVersionRecord(version int16) *metarec.KRaftVersionRecord {
	m := metarec.NewKRaftVersionRecord()
	m.KRaftVersion = version
	return m
}

func votersRecord(set raft.VoterSet) *metarec.VotersRecord {
	m := metarec.NewVotersRecord()
	for _, v := range set {
		r := metarec.Voter{VoterID: v.ID, VoterDirectoryID: v.Directory}
		for _, e := range v.Endpoints {
			r.Endpoints = append(r.Endpoints, metarec.VoterEndpoint{Name: e.Listener, Host: e.Host, Port: e.Port})
		}
		r.KRaftVersionFeature = metarec.KRaftVersionRange{MinSupportedVersion: v.MinKRaftVersion, MaxSupportedVersion: v.MaxKRaftVersion}
		m.Voters = append(m.Voters, r)
	}
	return m
}

// voterSet reads the record back; the set is in order of id.
func voterSet(m *metarec.VotersRecord) (raft.VoterSet, error) {
	set := make(raft.VoterSet, 0, len(m.Voters))
	for _, r := range m.Voters {
		v := raft.Voter{
			ReplicaKey:      raft.ReplicaKey{ID: r.VoterID, Directory: r.VoterDirectoryID},
			MinKRaftVersion: r.KRaftVersionFeature.MinSupportedVersion,
			MaxKRaftVersion: r.KRaftVersionFeature.MaxSupportedVersion,
		}
		for _, e := range r.Endpoints {
			v.Endpoints = append(v.Endpoints, raft.Endpoint{Listener: e.Name, Host: e.Host, Port: e.Port})
		}
		if _, twice := set.ByID(v.ID); twice {
			return nil, fmt.Errorf("voter set names node %d twice", v.ID)
		}
		set = append(set, v)
	}
	slices.SortFunc(set, func(a, b raft.Voter) int { return int(a.ID) - int(b.ID) })
	return set, nil
}
