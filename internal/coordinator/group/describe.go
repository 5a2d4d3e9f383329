package group

import (
	"slices"
	"strings"

	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Describe serves one group of DescribeGroups. Version 6 has an error for a group
// that is not there; before that it is Dead.
func (c *Core) Describe(version int16, group string) kmsg.DescribeGroupsResponseGroup {
	resp := kmsg.NewDescribeGroupsResponseGroup()
	resp.Group, resp.AuthorizedOperations = group, noOperations
	e, ok := c.groups.GetCommitted(group)
	if !ok || e.classic == nil {
		resp.State = stateDead.String()
		if version >= 6 {
			text := "Group " + group + " not found."
			if ok {
				text = "Group " + group + " is not a classic group."
			}
			resp.ErrorCode, resp.ErrorMessage = int16(kafka.ErrGroupIDNotFound), &text
		}
		return resp
	}
	g := e.classic
	resp.State, resp.ProtocolType = g.state.String(), g.protocolType
	if g.state == stateStable {
		resp.Protocol = *g.protocol
	}
	for m := range g.all() {
		rm := kmsg.NewDescribeGroupsResponseGroupMember()
		rm.MemberID, rm.InstanceID, rm.ClientID, rm.ClientHost = m.id, m.instance, m.client.ID, m.client.Host
		rm.MemberAssignment = m.assignment
		if g.state == stateStable {
			rm.ProtocolMetadata = m.metadata(*g.protocol)
		}
		resp.Members = append(resp.Members, rm)
	}
	return resp
}

// noOperations in a bit field of authorized operations: they were not asked for.
const noOperations = -1 << 31

// List serves ListGroups: version 4 filters by state (KIP-518), 5 by type (KIP-848).
// Filters go by words of any case; a word that means nothing matches nothing. Space
// around a state does not count, around a type it does, as in Apache Kafka.
func (c *Core) List(states, types []string) []kmsg.ListGroupsResponseGroup {
	states, types = words(states, strings.TrimSpace), words(types, strings.Clone)
	var list []kmsg.ListGroupsResponseGroup
	for id, e := range c.groups.AllCommitted() {
		g := kmsg.NewListGroupsResponseGroup()
		g.Group = id
		g.ProtocolType, g.GroupState, g.GroupType = e.listed()
		if len(states) > 0 && !slices.Contains(states, filterName(g.GroupState)) ||
			len(types) > 0 && !slices.Contains(types, g.GroupType) {
			continue
		}
		list = append(list, g)
	}
	slices.SortFunc(list, func(a, b kmsg.ListGroupsResponseGroup) int { return strings.Compare(a.Group, b.Group) })
	return list
}

// filterName is by what a state is asked for.
func filterName(state string) string {
	if state == streamsNotReady {
		return "not_ready"
	}
	return strings.ToLower(state)
}

func words(filter []string, trim func(string) string) []string {
	out := make([]string, len(filter))
	for i, w := range filter {
		out[i] = strings.ToLower(trim(w))
	}
	return out
}

func (e *entry) listed() (protocolType, state, groupType string) {
	switch {
	case e.foreign != nil:
		return string(e.foreign.kind), e.foreign.state(), string(e.foreign.kind)
	case e.consumer != nil:
		return consumerProtocol, e.consumer.State(), "consumer"
	}
	return e.classic.protocolType, e.classic.state.String(), "classic"
}

// Census is how many groups of a kind are in a state.
type Census map[CensusKey]int

// CensusKey names a kind and a state as ListGroups does.
type CensusKey struct{ Type, State string }

// Census counts the groups, and the offsets that are committed.
func (c *Core) Census() (groups Census, offsets int) {
	groups = Census{}
	for _, e := range c.groups.AllCommitted() {
		_, state, groupType := e.listed()
		groups[CensusKey{groupType, state}]++
	}
	return groups, c.offsets.values.LenCommitted()
}
