package group

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"barnabas/internal/coordinator/consumergroup"
)

// softGroup is what the core knows of a consumer group that is not in the log.
type softGroup struct {
	// topics is the version of the topics that were looked at for the epoch; -1: none.
	topics int64
	epoch  int32
	// resolving is until when the answer of a Resolution is waited for.
	resolving time.Time
	members   map[string]*memberTimers
	history   history
}

// memberTimers are the deadlines of a member of a consumer group.
type memberTimers struct {
	group, member string

	session timer
	revoke  timer // it has to let go of partitions
	epoch   int32 // in which it has to
	join    timer // of a classic member: it has to join again
	sync    timer // of a classic member: it has to fetch its assignment
}

// soft is what the core knows of a consumer group that is not in the log.
func (c *Core) soft(group string) *softGroup {
	s := c.softGroups[group]
	if s == nil {
		s = &softGroup{topics: -1, members: map[string]*memberTimers{}}
		c.softGroups[group] = s
	}
	return s
}

// forgetSoft forgets a group that is no more.
func (c *Core) forgetSoft(group string) {
	if s := c.softGroups[group]; s != nil {
		for _, t := range s.members {
			c.stopMember(t)
		}
		delete(c.softGroups, group)
	}
}

// outdated says whether topics have changed since they were looked at for the epoch
// that the group has. That may have been undone since.
func (s *softGroup) outdated(topics consumergroup.Topics, g *consumergroup.Group) bool {
	return s.topics != topics.Changed() || g.Epoch < s.epoch
}

func (s *softGroup) checked(topics consumergroup.Topics, epoch int32) {
	s.topics, s.epoch = topics.Changed(), epoch
}

// timersOf are the deadlines of a member.
func (c *Core) timersOf(group, member string) *memberTimers {
	s := c.soft(group)
	t := s.members[member]
	if t == nil {
		t = &memberTimers{group: group, member: member}
		t.session = timer{kind: timerConsumerSession, consumer: t}
		t.revoke = timer{kind: timerRevoke, consumer: t}
		t.join = timer{kind: timerConsumerJoin, consumer: t}
		t.sync = timer{kind: timerConsumerSync, consumer: t}
		s.members[member] = t
	}
	return t
}

func (c *Core) stopMember(t *memberTimers) {
	c.timers.stop(&t.session)
	c.timers.stop(&t.revoke)
	c.timers.stop(&t.join)
	c.timers.stop(&t.sync)
}

// forgetMember stops the time of a member that is no more.
func (c *Core) forgetMember(group, member string) {
	if s := c.softGroups[group]; s != nil {
		if t := s.members[member]; t != nil {
			c.stopMember(t)
			delete(s.members, member)
		}
	}
}

// hearOf begins the session of a member anew.
func (c *Core) hearOf(now time.Time, group, member string, session time.Duration) {
	c.timers.set(&c.timersOf(group, member).session, now.Add(session))
}

// expectRevocation gives a member time to let go of partitions, if it has to.
func (c *Core) expectRevocation(now time.Time, group string, m *consumergroup.Member) {
	t := c.timersOf(group, m.ID)
	if m.State != consumergroup.Unrevoked {
		c.timers.stop(&t.revoke)
		return
	}
	t.epoch = m.Epoch
	c.restart(&t.revoke, now.Add(milliseconds(m.RebalanceTimeout)))
}

// late says whether a timer that rings means that its member is to be taken out, and why.
func (c *Core) late(t *timer) (why Cause, is bool) {
	g := c.consumer(t.consumer.group)
	var m *consumergroup.Member
	if g != nil {
		m = g.Member(t.consumer.member)
	}
	if m == nil {
		// A member that somebody has taken the place of.
		c.forgetMember(t.consumer.group, t.consumer.member)
		return "", false
	}
	switch t.kind {
	case timerConsumerSession:
		return CauseSessionExpired, true
	case timerRevoke:
		// The decision by which it had to may not have come into the log.
		return CauseNotRevoked, m.Epoch == t.consumer.epoch && m.State == consumergroup.Unrevoked
	case timerConsumerJoin:
		return CauseNotJoined, true
	case timerConsumerSync:
		return CauseNotSynced, true
	}
	panic("BUG: group: a timer of a member that has no kind")
}

// maxLateBytes bounds the records by which one decision takes out members.
const maxLateBytes = 64 << 10

// lateMembers are members of consumer groups whose time is over, by group, in the order
// in which it was. Those of a group are taken out by one decision: what follows, say
// that the group is empty now, depends on who is left of it.
type lateMembers struct {
	groups []*lateGroup
	byID   map[string]*lateGroup
}

type lateGroup struct {
	id      string
	why     Cause // of the first member
	timers  []*timer
	members map[string]struct{}
	bytes   int
}

// add takes in a member, or says that its group has too many for one decision.
func (l *lateMembers) add(t *timer, why Cause) bool {
	id, member := t.consumer.group, t.consumer.member
	g := l.byID[id]
	if g == nil {
		g = &lateGroup{id: id, why: why, members: map[string]struct{}{}}
		if l.byID == nil {
			l.byID = map[string]*lateGroup{}
		}
		l.byID[id] = g
		l.groups = append(l.groups, g)
	}
	if g.bytes > maxLateBytes {
		return false
	}
	g.timers = append(g.timers, t)
	if _, twice := g.members[member]; !twice { // two of its timers may ring
		g.members[member] = struct{}{}
		g.bytes += 3 * (len(id) + len(member) + 64)
	}
	return true
}

// loadedConsumer starts the time of the members of a consumer group.
func (c *Core) loadedConsumer(now time.Time, g *consumergroup.Group) {
	session := c.configOf(g.ID).SessionTimeout
	for m := range g.Members() {
		c.hearOf(now, g.ID, m.ID, session)
		c.expectRevocation(now, g.ID, m)
	}
}

// settleConsumer notes that the rebalance of a group has ended, if it has, and forgets
// a group that is no more.
func (c *Core) settleConsumer(id string) {
	g := c.consumer(id)
	if g == nil {
		c.forgetSoft(id)
		return
	}
	h := &c.soft(id).history
	r := h.running()
	if r == nil {
		return
	}
	switch g.State() {
	case consumergroup.StateEmpty:
		h.end(c.latest, g.Epoch, 0, OutcomeEmpty)
	case consumergroup.StateStable:
		h.end(c.latest, g.Epoch, g.Size(), OutcomeStable)
	}
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
