package group

import (
	"bytes"

	"barnabas/internal/coordinator/consumergroup"
	"barnabas/internal/coordinator/grouprec"
	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// upgrade makes a consumer group of a classic one: each member becomes one that uses
// the classic protocol, with what it had assigned. Who waits in the group is sent
// back to join again.
func (h *consumerOp) upgrade(g *classicGroup) *refusal {
	c := h.c
	cannot := func(why string) *refusal {
		return refusef(kafka.ErrGroupIDNotFound, "Cannot upgrade classic group %s to consumer group because %s.", short(g.id), why)
	}
	switch {
	case !c.settings.Consumer.Upgrade:
		return cannot("online upgrade is disabled")
	case !g.isConsumer():
		return cannot("the group does not use the consumer embedded protocol")
	case g.size() > c.settings.Consumer.MaxSize:
		return cannot("the group size exceeds the consumer group maximum size")
	}
	protocol := g.chosen()
	members := make([]*consumergroup.Member, 0, g.size())
	for m := range g.all() {
		next, why := h.upgradeMember(m, protocol, g.generation)
		if why != "" {
			return cannot(why)
		}
		members = append(members, next)
	}
	for m := range g.all() {
		g.answerJoin(m, refusedJoin(m.id, kafka.ErrRebalanceInProgress))
		m.answerSync(refusedSync(kafka.ErrRebalanceInProgress))
	}
	h.draft = consumergroup.Begin(consumergroup.New(g.id))
	h.draft.Records = append(h.draft.Records, groupTombstone(g.id))
	h.draft.Found(members, g.generation, func(of *consumergroup.Group) int64 { return c.hashes.Hash(of, h.topics) })
	for m := range g.all() {
		c.hearOf(h.now, g.id, m.id, m.sessionTimeout)
	}
	h.cause = CauseConverted
	h.after = append(h.after, func(code kafka.ErrorCode) {
		if code == kafka.ErrNone {
			c.dissolve(g, kafka.ErrUnknownMemberID)
			return
		}
		for m := range g.all() { // their timers may have rung in vain
			c.heardOf(c.latest, m)
		}
	})
	return nil
}

// chosen is the protocol of the generation, or the one of the next.
func (g *classicGroup) chosen() string {
	if g.protocol != nil {
		return *g.protocol
	}
	return g.choose()
}

// upgradeMember is a classic member as a member of a consumer group; why says why
// that cannot be.
func (h *consumerOp) upgradeMember(m *member, protocol string, generation int32) (next *consumergroup.Member, why string) {
	const malformed = "the embedded consumer protocol is malformed"
	metadata := m.metadata(protocol)
	if metadata == nil && len(m.protocols) > 0 {
		metadata = m.protocols[0].Metadata
	}
	sub, ok := parseSubscription(metadata)
	if !ok {
		return nil, malformed
	}
	numbers := map[kafka.UUID][]int32{}
	if len(m.assignment) > 0 {
		var a kmsg.ConsumerMemberAssignment
		if err := a.ReadFrom(m.assignment); err != nil {
			return nil, malformed
		}
		if len(a.UserData) > 0 {
			return nil, "an unsupported custom assignor is in use. Please refer to the documentation or switch to a default assignor before re-attempting the upgrade"
		}
		for i := range a.Topics {
			if t, ok := h.topics.ByName(a.Topics[i].Topic); ok {
				numbers[t.ID] = append(numbers[t.ID], a.Topics[i].Partitions...)
			}
		}
	}
	next = consumergroup.NewMember(m.id).With(func(n *consumergroup.Member) {
		n.Instance, n.Rack, n.ClientID, n.ClientHost = m.instance, sub.Rack, m.client.ID, m.client.Host
		n.RebalanceTimeout, n.Topics = int32(m.rebalanceTimeout.Milliseconds()), sortedSet(sub.Topics)
		n.Epoch, n.PreviousEpoch = generation, generation
		n.Assigned = consumergroup.SinceEpoch(numbers, generation)
		n.Classic = &consumergroup.Classic{SessionTimeout: int32(m.sessionTimeout.Milliseconds()), Protocols: classicProtocols(m.protocols)}
	})
	return next, ""
}

func classicProtocols(list []kmsg.JoinGroupRequestProtocol) []grouprec.ClassicProtocol {
	out := make([]grouprec.ClassicProtocol, len(list))
	for i := range list {
		out[i].Name, out[i].Metadata = list[i].Name, bytes.Clone(list[i].Metadata)
	}
	return out
}

// memberSubscription is what the coordinator reads of what a consumer of the classic
// protocol sends.
type memberSubscription struct {
	kmsg.ConsumerMemberMetadata
}

// parseSubscription reads it; versions that come later begin like the last known.
func parseSubscription(b []byte) (s memberSubscription, ok bool) {
	if !readTopics(b, map[string]struct{}{}) {
		return s, false
	}
	if err := s.ReadFrom(b); err != nil {
		return s, false
	}
	return s, true
}

// mayDowngrade says whether the group is to be converted when those leave: only
// members that use the classic protocol are left.
func (h *consumerOp) mayDowngrade(leaving []*consumergroup.Member) bool {
	g, size, classic := h.draft, h.draft.Size()-len(leaving), h.draft.ClassicSize()
	for _, m := range leaving {
		if m.Classic != nil {
			classic--
		}
	}
	return size > 0 && classic == size && g.ClassicSize() < g.Size() && h.downgradable(size)
}

// downgradable says whether the policy and the bounds allow it.
func (h *consumerOp) downgradable(size int) bool {
	s := &h.c.settings
	return s.Consumer.Downgrade && size <= s.MaxSize
}

// downgrade makes a classic group of the consumer group without those who leave, with
// what the members are to have as their assignments. If rebalance says so, all have
// to join again.
func (h *consumerOp) downgrade(leaving []*consumergroup.Member, rebalance bool) *classicGroup {
	c, from := h.c, h.draft.Group
	g := newClassicGroup(from.ID, h.now.UnixMilli())
	g.state, g.generation = stateStable, from.Epoch
	gone := map[string]struct{}{}
	for _, m := range leaving {
		gone[m.ID] = struct{}{}
	}
	for _, id := range from.InOrder() {
		if _, is := gone[id]; !is {
			g.add(classicMember(g, from.Member(id)))
		}
	}
	protocol := g.choose()
	g.protocol = &protocol
	for m := range g.all() {
		m.assignment = h.classicAssignment(from.Target(m.id), m.metadata(protocol))
	}
	g.learnTopics()
	h.draft.Records = append(h.draft.Records, from.Tombstones()...)
	h.draft.Records = append(h.draft.Records, groupRecord(g, (*member).assigned))
	h.draft.Close()

	c.heldBytes += g.bytes()
	c.fresh[g.id] = g
	for m := range g.all() {
		c.heardOf(h.now, m)
	}
	if rebalance {
		c.prepareRebalance(h.now, g, cause{kind: CauseConverted})
	}
	h.after = append(h.after, func(code kafka.ErrorCode) { c.settleFresh(g, code) })
	return g
}

// classicMember is a member of a consumer group that uses the classic protocol as a
// member of a classic one.
func classicMember(g *classicGroup, from *consumergroup.Member) *member {
	m := &member{
		id: from.ID, instance: from.Instance, client: Client{from.ClientID, from.ClientHost}, protocolType: consumerProtocol,
		rebalanceTimeout: milliseconds(from.RebalanceTimeout), sessionTimeout: milliseconds(from.Classic.SessionTimeout),
	}
	for i := range from.Classic.Protocols {
		p := &from.Classic.Protocols[i]
		m.protocols = append(m.protocols, kmsg.JoinGroupRequestProtocol{Name: p.Name, Metadata: p.Metadata})
	}
	m.session = timer{kind: timerSession, group: g, member: m}
	return m
}

// settleFresh does what has to follow the first record of a classic group. One whose
// record was refused is dissolved.
func (c *Core) settleFresh(g *classicGroup, code kafka.ErrorCode) {
	if c.fresh[g.id] == g {
		delete(c.fresh, g.id) // refused before it was replayed
	}
	if code != kafka.ErrNone && c.classic(g.id) != g {
		c.dissolve(g, answerCode(code))
	}
}

// empties makes room for a classic group where an empty one of another kind was.
func (e *entry) emptied() []machine.Record {
	if e.consumer != nil {
		return e.consumer.Tombstones()
	}
	return e.foreign.tombstones()
}
