package quorum

import (
	"slices"

	"barnabas/internal/config"
	"barnabas/internal/raft"
)

// ControllerEndpoints are the endpoints under which other nodes reach this one's
// controller listeners: what advertised.listeners says of each, else what listeners
// does. host takes the place of a host that is empty or stands for every address.
func ControllerEndpoints(n config.Network, host string) []raft.Endpoint {
	var out []raft.Endpoint
	for _, l := range n.Listeners {
		if !l.Controller {
			continue
		}
		if at := slices.IndexFunc(n.Advertised, func(a config.Listener) bool { return a.Name == l.Name }); at >= 0 {
			l = n.Advertised[at]
		}
		e := raft.Endpoint{Listener: l.Name, Host: l.Host, Port: uint16(l.Port)}
		if l.Host == "" || l.Host == "0.0.0.0" || l.Host == "::" {
			e.Host = host
		}
		out = append(out, e)
	}
	return out
}

// StaticVoters is controller.quorum.voters as a voter set. listener is the name of
// the first controller listener.
func StaticVoters(q config.Quorum, listener string) raft.VoterSet {
	var set raft.VoterSet
	for _, v := range q.Voters {
		set = append(set, raft.Voter{
			ReplicaKey:      raft.ReplicaKey{ID: v.ID},
			Endpoints:       []raft.Endpoint{{Listener: listener, Host: v.Host, Port: uint16(v.Port)}},
			MaxKRaftVersion: raft.KRaftVersion0,
		})
	}
	slices.SortFunc(set, func(a, b raft.Voter) int { return int(a.ID) - int(b.ID) })
	return set
}
