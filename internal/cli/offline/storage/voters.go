package storage

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"barnabas/internal/config"
	"barnabas/internal/kafka"
	"barnabas/internal/quorum"
	"barnabas/internal/raft"
)

// parseVoters reads the argument of --initial-controllers,
// id@host:port:directory,…; listener is the name under which the endpoints are
// kept.
func parseVoters(text, listener string) (raft.VoterSet, error) {
	var set raft.VoterSet
	for item := range strings.SplitSeq(text, ",") {
		item = strings.TrimSpace(item)
		if item == "" {
			continue
		}
		v, err := parseVoter(item, listener)
		if err != nil {
			return nil, err
		}
		if _, twice := set.ByID(v.ID); twice {
			return nil, fmt.Errorf("Node id %d was specified more than once.", v.ID)
		}
		set = append(set, v)
	}
	if len(set) == 0 {
		return nil, fmt.Errorf("No voters given.")
	}
	slices.SortFunc(set, func(a, b raft.Voter) int { return int(a.ID) - int(b.ID) })
	return set, nil
}

func parseVoter(s, listener string) (raft.Voter, error) {
	fail := func(why string) (raft.Voter, error) { return raft.Voter{}, fmt.Errorf("%s", why) }
	idText, rest, ok := strings.Cut(s, "@")
	switch {
	case !ok:
		return fail("No @ found in dynamic voter string.")
	case idText == "":
		return fail("Invalid @ at beginning of dynamic voter string.")
	}
	id, err := strconv.ParseInt(idText, 10, 32)
	if err != nil {
		return fail("Failed to parse node id in dynamic voter string.")
	}
	if id < 0 {
		return fail(fmt.Sprintf("Invalid negative node id %d in dynamic voter string.", id))
	}
	if rest == "" {
		return fail("No hostname found after node id.")
	}
	host := ""
	if bracketed, ok := strings.CutPrefix(rest, "["); ok {
		if host, rest, ok = strings.Cut(bracketed, "]"); !ok {
			return fail("Hostname began with left bracket, but no right bracket was found.")
		}
	} else {
		at := strings.IndexByte(rest, ':')
		if at < 0 {
			return fail("No colon following hostname could be found.")
		}
		host, rest = rest[:at], rest[at:]
	}
	if !strings.HasPrefix(rest, ":") {
		return fail("Port section must start with a colon.")
	}
	portText, directoryText, ok := strings.Cut(rest[1:], ":")
	if !ok {
		return fail("No colon following port could be found.")
	}
	port, err := strconv.ParseInt(portText, 10, 32)
	if err != nil {
		return fail("Failed to parse port in dynamic voter string.")
	}
	if port < 0 || port > 65535 {
		return fail(fmt.Sprintf("Invalid port %d in dynamic voter string.", port))
	}
	directory, err := kafka.ParseUUID(directoryText)
	if err != nil {
		return fail("Failed to parse directory ID in dynamic voter string.")
	}
	return newVoter(kafka.BrokerID(id), directory, raft.Endpoint{Listener: listener, Host: host, Port: uint16(port)}), nil
}

func newVoter(id kafka.BrokerID, directory kafka.UUID, at raft.Endpoint) raft.Voter {
	return raft.Voter{
		ReplicaKey:      raft.ReplicaKey{ID: id, Directory: directory},
		Endpoints:       []raft.Endpoint{at},
		MinKRaftVersion: raft.KRaftVersion0,
		MaxKRaftVersion: raft.KRaftVersion1,
	}
}

// standaloneVoter is this node alone, in a directory whose id is chosen here.
func standaloneVoter(c *config.Broker, directory kafka.UUID) (raft.VoterSet, error) {
	if !c.Node.IsController {
		return nil, fmt.Errorf("You can only use --standalone on a controller.")
	}
	at := quorum.ControllerEndpoints(c.Network, "localhost")
	if len(at) == 0 {
		return nil, fmt.Errorf("No controller listeners found.")
	}
	return raft.VoterSet{newVoter(c.Node.ID, directory, at[0])}, nil
}

// controllerListener is the name of the first controller listener.
func controllerListener(c *config.Broker) string {
	if names := c.Network.ControllerListenerNames; len(names) > 0 {
		return names[0]
	}
	return ""
}
