package group

import (
	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// replaceStatic serves a static member that has been restarted and has forgotten
// its id: it takes the place of its old self, which is fenced. In a stable group
// whose protocol stays, nobody else learns of it; the new id is in the log before
// the member is told.
func (c *Core) replaceStatic(r *joinRequest, g *classicGroup, old *member, id string) machine.Decision {
	oldLeader := g.leader
	m := c.swapStatic(g, old, id)
	c.heardOf(r.now, m)
	before := *m
	c.update(r, g, m)
	switch g.state {
	case stateCompleting:
		// The leader may be assigning partitions to the old id.
		return c.prepareRebalance(r.now, g, r.cause(CauseStaticReplaced, m))
	case statePreparing:
		return c.completeIfJoined(r.now, g)
	}
	if g.protocol == nil || g.choose() != *g.protocol {
		return c.rebalanceOrComplete(r.now, g, r.cause(CauseStaticReplaced, m))
	}
	return machine.Decision{
		Records: []machine.Record{groupRecord(g, (*member).assigned)},
		Done: func(code kafka.ErrorCode) {
			if g.state != stateStable || g.members[id] != m || m.join == nil {
				return // a rebalance has begun, which answers it
			}
			if code == kafka.ErrNone {
				c.answerReplaced(r, g, m, oldLeader)
				return
			}
			resp := g.joined(m, false)
			resp.ErrorCode, resp.MemberID, resp.LeaderID = int16(answerCode(code)), "", oldLeader
			g.answerJoin(m, resp)
			c.restore(g, m, &before)
			back := c.swapStatic(g, m, old.id)
			c.heardOf(c.latest, back)
		},
	}
}

// answerReplaced tells the member the generation. A leader that came back must not
// assign anew: from version 9 on it is told so, before that it is told that its old
// self leads.
func (c *Core) answerReplaced(r *joinRequest, g *classicGroup, m *member, oldLeader string) {
	leads := g.leader == m.id
	var resp *kmsg.JoinGroupResponse
	if r.Version >= 9 {
		resp = g.joined(m, leads)
		resp.SkipAssignment = leads
	} else {
		resp = g.joined(m, false)
		resp.LeaderID = oldLeader
	}
	g.answerJoin(m, resp)
}

// swapStatic puts a member with another id in the place of old, whose requests that
// wait are fenced.
func (c *Core) swapStatic(g *classicGroup, old *member, id string) *member {
	fenced := refusedJoin(old.id, kafka.ErrFencedInstanceID)
	g.answerJoin(old, fenced)
	old.answerSync(refusedSync(kafka.ErrFencedInstanceID))
	c.timers.stop(&old.session)

	m := *old
	m.id, m.isNew = id, false
	m.session = timer{kind: timerSession, group: g, member: &m}
	delete(g.members, old.id)
	g.members[id], g.order[m.place], g.static[*m.instance] = &m, &m, &m
	if g.leader == old.id {
		g.leader = id
	}
	return &m
}

// restore gives a member what it had before an update.
func (c *Core) restore(g *classicGroup, m, before *member) {
	c.heldBytes += int64(before.bytes() - m.bytes())
	g.count(m, -1)
	m.protocols, m.sessionTimeout, m.rebalanceTimeout = before.protocols, before.sessionTimeout, before.rebalanceTimeout
	g.count(m, 1)
}
