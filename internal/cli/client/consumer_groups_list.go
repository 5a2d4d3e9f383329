package client

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// consumerGroupTypes and consumerProtocols choose what consumer-groups is about.
var (
	consumerGroupTypes = []string{"Classic", "Consumer"}
	consumerProtocols  = []string{"", "consumer"}
)

// consumerGroupStates are the states of consumer groups, as the tool lists them.
var consumerGroupStates = []string{"Stable", "Assigning", "Reconciling", "PreparingRebalance", "CompletingRebalance", "Dead", "Empty"}

// groupFilter chooses groups; an empty list allows all.
type groupFilter struct{ types, states, protocols []string }

func (f groupFilter) allows(g kmsg.ListGroupsResponseGroup) bool {
	in := func(list []string, value string) bool {
		return len(list) == 0 || value == "" || slices.ContainsFunc(list, func(s string) bool { return strings.EqualFold(s, value) })
	}
	return in(f.types, g.GroupType) && in(f.states, g.GroupState) && (len(f.protocols) == 0 || slices.Contains(f.protocols, g.ProtocolType))
}

// listGroups asks all brokers, in the order in which Apache's admin client keeps
// groups. Brokers that are too old to filter by state or type are filtered here.
func listGroups(ctx context.Context, cl *kgo.Client, filter groupFilter) ([]kmsg.ListGroupsResponseGroup, error) {
	req := kmsg.NewPtrListGroupsRequest()
	req.StatesFilter, req.TypesFilter = filter.states, filter.types
	byID := map[string]kmsg.ListGroupsResponseGroup{}
	var ids []string
	for _, shard := range cl.RequestSharded(ctx, req) {
		if shard.Err != nil {
			return nil, shard.Err
		}
		resp := shard.Resp.(*kmsg.ListGroupsResponse)
		if err := codeError(resp.ErrorCode, nil); err != nil {
			return nil, err
		}
		for _, g := range resp.Groups {
			if _, known := byID[g.Group]; !known && filter.allows(g) {
				ids = append(ids, g.Group)
				byID[g.Group] = g
			}
		}
	}
	var groups []kmsg.ListGroupsResponseGroup
	for _, id := range asInHashMap(ids, stringHash, smallestTable) {
		groups = append(groups, byID[id])
	}
	return groups, nil
}

// groupIDs are the names of listGroups.
func groupIDs(ctx context.Context, cl *kgo.Client, filter groupFilter) ([]string, error) {
	listed, err := listGroups(ctx, cl, filter)
	var ids []string
	for _, g := range listed {
		ids = append(ids, g.Group)
	}
	return ids, err
}

// list prints groups, with their types and states if asked for.
func (t *groupsTool) list() error {
	filter := groupFilter{types: consumerGroupTypes, protocols: consumerProtocols}
	withType, withState := t.set.Has("type"), t.set.Has("state")
	if withType || withState {
		filter.types = nil
		var err error
		if filter.types, err = groupTypes(t.set.Get("type")); err != nil {
			return err
		}
		if filter.states, err = groupStates(t.set.Get("state")); err != nil {
			return err
		}
	}
	groups, err := listGroups(t.ctx, t.cl, filter)
	if err != nil {
		return &executionError{err}
	}
	if t.asJSON {
		return printJSON(t.o, listedGroups(groups))
	}
	if !withType && !withState {
		for _, g := range groups {
			fmt.Fprintln(t.o.Stdout, g.Group)
		}
		return nil
	}
	width := 25
	for _, g := range groups {
		width = max(width, len(g.Group)+10)
	}
	row := func(group, kind, state string) {
		fmt.Fprintf(t.o.Stdout, "%-*s", width, group)
		if withType {
			fmt.Fprintf(t.o.Stdout, " %-20s", kind)
		}
		if withState {
			fmt.Fprintf(t.o.Stdout, " %-20s", state)
		}
		fmt.Fprintln(t.o.Stdout)
	}
	row("GROUP", "TYPE", "STATE")
	for _, g := range groups {
		row(g.Group, typeName(g.GroupType, "Unknown"), cmp.Or(g.GroupState, "Unknown"))
	}
	return nil
}

func listedGroups(groups []kmsg.ListGroupsResponseGroup) []listedGroup {
	out := []listedGroup{}
	for _, g := range groups {
		out = append(out, listedGroup{g.Group, typeName(g.GroupType, "Unknown"), g.ProtocolType, cmp.Or(g.GroupState, "Unknown")})
	}
	return out
}

// typeName is the type as Apache's tools print it, whatever case a broker sent.
func typeName(sent, otherwise string) string {
	for _, name := range []string{"Classic", "Consumer", "Share", "Streams"} {
		if strings.EqualFold(sent, name) {
			return name
		}
	}
	return otherwise
}

// groupStates reads a list of states; "" is none.
func groupStates(text string) ([]string, error) {
	states, ok := namesIn(text, consumerGroupStates)
	if !ok {
		return nil, &usageError{fmt.Sprintf("Invalid state list '%s'. Valid states are: %s", text, strings.Join(consumerGroupStates, ", "))}
	}
	return states, nil
}

// groupTypes reads a list of types; "" is none.
func groupTypes(text string) ([]string, error) {
	types, ok := namesIn(text, consumerGroupTypes)
	if !ok {
		return nil, &usageError{fmt.Sprintf("Invalid types list '%s'. Valid types are: Consumer, Classic", text)}
	}
	return types, nil
}

// namesIn reads a list of names; ok is false if one is not known.
func namesIn(text string, known []string) (names []string, ok bool) {
	if text == "" {
		return nil, true
	}
	for word := range strings.SplitSeq(text, ",") {
		i := slices.IndexFunc(known, func(k string) bool { return strings.EqualFold(k, strings.TrimSpace(word)) })
		if i < 0 {
			return nil, false
		}
		names = append(names, known[i])
	}
	return names, true
}
