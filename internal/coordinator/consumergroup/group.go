package consumergroup

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"barnabas/internal/base/immut"
	"barnabas/internal/coordinator/assign"
	"barnabas/internal/kafka"
)

// Group is a consumer group. It is never changed.
type Group struct {
	ID             string
	Epoch          int32
	MetadataHash   int64 // of the topics that the epoch was made for
	TargetEpoch    int32 // of the group that the target was made for; -1: there is no target
	TargetTime     int64 // when the target was made, milliseconds since 1970; 0: unknown
	HasOldMetadata bool  // there is a record of type 4, which releases before 4.1 wrote

	members immut.Map[string, *Member]
	target  immut.Map[string, assign.Assignment]
	regexes immut.Map[string, *Resolved]
	counts  counts

	next  uint64 // the number of the next member that comes
	table uint32 // buckets of Apache's map of the members (assign.TimelineTable)
}

// Resolved is what a regular expression matches.
type Resolved struct {
	Topics  []string // sorted
	Version int64    // of the metadata that it was resolved with
	Time    int64    // milliseconds since 1970
}

// New is a group that nothing is known of but its id.
func New(id string) *Group {
	return &Group{
		ID: id, Epoch: 1, TargetEpoch: 1,
		members: immut.New[string, *Member](strings.Compare),
		target:  immut.New[string, assign.Assignment](strings.Compare),
		regexes: immut.New[string, *Resolved](strings.Compare),
		counts:  newCounts(),
	}
}

// Size is the number of members.
func (g *Group) Size() int { return g.members.Len() }

// Member is the member with that id, nil if there is none.
func (g *Group) Member(id string) *Member {
	m, _ := g.members.Get(id)
	return m
}

// Static is the member with that instance id, nil if there is none.
func (g *Group) Static(instance string) *Member {
	id, ok := g.counts.static.Get(instance)
	if !ok {
		return nil
	}
	return g.Member(id)
}

// Members are all members by their ids.
func (g *Group) Members() iter.Seq[*Member] { return g.members.Values() }

// InOrder are the ids of the members in the order in which Apache's map of them walks.
func (g *Group) InOrder() []string { return g.inOrder() }

// inOrder are the members in the order in which Apache's map of them walks.
func (g *Group) inOrder() []string {
	members := slices.Collect(g.members.Values())
	slices.SortFunc(members, func(a, b *Member) int { return cmp.Compare(a.number, b.number) })
	ids := make([]string, len(members))
	for i, m := range members {
		ids[i] = m.ID
	}
	return assign.TimelineOrder(ids, g.table)
}

// Target is what a member is to have.
func (g *Group) Target(member string) assign.Assignment {
	a, _ := g.target.Get(member)
	return a
}

// Subscribed says whether a member is subscribed to the topic, by its name or by a
// regular expression.
func (g *Group) Subscribed(topic string) bool {
	_, is := g.counts.topics.Get(topic)
	return is
}

// Topics are the names of the topics that members are subscribed to.
func (g *Group) Topics() iter.Seq[string] { return g.counts.topics.Keys() }

// Regex is what a regular expression matches, nil if it is not resolved.
func (g *Group) Regex(regex string) *Resolved {
	r, _ := g.regexes.Get(regex)
	return r
}

// ResolvedCount is the number of regular expressions that are resolved.
func (g *Group) ResolvedCount() int { return g.regexes.Len() }

// Resolved are all regular expressions that are resolved.
func (g *Group) Resolved() iter.Seq2[string, *Resolved] { return g.regexes.All() }

// Subscribers is the number of members that are subscribed to a regular expression.
func (g *Group) Subscribers(regex string) int {
	n, _ := g.counts.regexes.Get(regex)
	return n
}

// SubscribedRegexes are the regular expressions of the members.
func (g *Group) SubscribedRegexes() []string { return slices.Collect(g.counts.regexes.Keys()) }

// Bytes is about what the members take of memory, without what they hold.
func (g *Group) Bytes() int64 { return g.counts.bytes }

// ClassicSize is the number of members that use the classic protocol.
func (g *Group) ClassicSize() int { return g.counts.classic }

// Holder is the member epoch with which somebody holds a partition; ok is false if
// nobody does.
func (g *Group) Holder(topic kafka.UUID, partition int32) (epoch int32, ok bool) {
	return g.counts.holders.Get(place{topic, partition})
}

// Assignor is the assignor that most members ask for; with as many votes the one that
// stands first among those that there are. "" if no member asks for one.
func (g *Group) Assignor() string {
	best, most := "", 0
	for _, name := range []string{assign.NameUniform, assign.NameRange} {
		if n, _ := g.counts.assignors.Get(name); n > most {
			best, most = name, n
		}
	}
	return best
}

// Names of states (ConsumerGroupState).
const (
	StateEmpty       = "Empty"
	StateAssigning   = "Assigning"
	StateReconciling = "Reconciling"
	StateStable      = "Stable"
)

// State is the group's as DescribeGroups names it.
func (g *Group) State() string {
	switch {
	case g.Size() == 0:
		return StateEmpty
	case g.Epoch > g.TargetEpoch:
		return StateAssigning
	}
	if n, _ := g.counts.stable.Get(g.TargetEpoch); n < g.Size() {
		return StateReconciling
	}
	return StateStable
}

// SupportsClassic says whether a member that uses the classic protocol with those
// protocols can join: one of them has to be known to all members that use the
// classic protocol.
func (g *Group) SupportsClassic(protocolType string, protocols []string) bool {
	if protocolType != "consumer" || g.Size() == 0 && len(protocols) == 0 {
		return false
	}
	if g.Size() == 0 {
		return true
	}
	return slices.ContainsFunc(protocols, func(name string) bool {
		n, _ := g.counts.protocols.Get(name)
		return n == g.counts.classic
	})
}

// Waits says whether a member waits for partitions that others have not let go yet.
func (g *Group) Waits(m *Member) bool {
	if m.State != Unreleased {
		return false
	}
	for _, t := range g.Target(m.ID) {
		for _, n := range t.Numbers {
			if _, has := m.Assigned.Epoch(t.Topic, n); has {
				continue
			}
			if _, held := g.Holder(t.Topic, n); held {
				return true
			}
		}
	}
	return false
}
