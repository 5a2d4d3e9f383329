package group

import (
	"time"

	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"
)

// shortestWait is how long a rebalance goes on at least when nobody has joined, so
// that a group whose members name no timeout does not spin.
const shortestWait = 100 * time.Millisecond

// rebalanceOrComplete begins a rebalance, or ends the one that goes on if nobody is
// missing any more.
func (c *Core) rebalanceOrComplete(now time.Time, g *classicGroup, why cause) machine.Decision {
	if g.canRebalance() {
		return c.prepareRebalance(now, g, why)
	}
	return c.completeIfJoined(now, g)
}

// prepareRebalance has all members join again. The first rebalance of a group waits
// for more members to come.
func (c *Core) prepareRebalance(now time.Time, g *classicGroup, why cause) machine.Decision {
	if g.state == stateCompleting {
		c.refuseSyncs(now, g, kafka.ErrRebalanceInProgress)
	}
	for m := range g.all() {
		g.synced(m)
	}
	c.timers.stop(&g.syncTimer)
	first := g.state == stateEmpty
	g.history.begin(now, g.generation, g.size(), why)
	g.moveTo(statePreparing, now)
	if first {
		g.newMemberAdded = false
		g.initialDelay = c.settings.InitialRebalanceDelay
		g.initialRemaining = max(g.rebalanceTimeout()-g.initialDelay, 0)
		g.joinTimer.kind = timerInitial
		c.restart(&g.joinTimer, now.Add(g.initialDelay))
		return machine.Decision{}
	}
	if g.allJoined() {
		return c.completeJoin(now, g)
	}
	g.joinTimer.kind = timerJoin
	c.restart(&g.joinTimer, now.Add(g.rebalanceTimeout()))
	return machine.Decision{}
}

// restart sets a timer that may stand at a later time.
func (c *Core) restart(t *timer, due time.Time) {
	c.timers.stop(t)
	c.timers.set(t, due)
}

// completeIfJoined ends the rebalance if nobody is missing. The first one takes its
// time.
func (c *Core) completeIfJoined(now time.Time, g *classicGroup) machine.Decision {
	if g.state != statePreparing || g.previous == stateEmpty || !g.allJoined() {
		return machine.Decision{}
	}
	return c.completeJoin(now, g)
}

// initialDelayOver ends the first rebalance, or waits on if members have come in
// the meantime, up to the rebalance timeout.
func (c *Core) initialDelayOver(now time.Time, g *classicGroup) machine.Decision {
	if !g.newMemberAdded || g.initialRemaining == 0 {
		return c.completeJoin(now, g)
	}
	g.newMemberAdded = false
	delay := min(c.settings.InitialRebalanceDelay, g.initialRemaining)
	g.initialRemaining = max(g.initialRemaining-g.initialDelay, 0)
	g.initialDelay = delay
	c.timers.set(&g.joinTimer, now.Add(delay))
	return machine.Decision{}
}

// completeJoin begins the next generation with the members that have joined and the
// static ones, and tells all.
func (c *Core) completeJoin(now time.Time, g *classicGroup) machine.Decision {
	c.timers.stop(&g.joinTimer)
	if g.state != statePreparing {
		return machine.Decision{}
	}
	for m := range g.all() {
		if m.join == nil && m.instance == nil {
			g.history.lost(m.id)
			c.drop(g, m)
		}
	}
	if !g.electJoined() && g.size() > 0 {
		// Only static members are left, and none has come. Their sessions end it.
		g.joinTimer.kind = timerJoin
		c.restart(&g.joinTimer, now.Add(max(g.rebalanceTimeout(), shortestWait)))
		return machine.Decision{}
	}
	g.nextGeneration(now)
	if g.state == stateEmpty {
		g.history.end(now, g.generation, g.size(), OutcomeEmpty)
		return machine.Decision{Records: []machine.Record{groupRecord(g, (*member).assigned)}}
	}
	for m := range g.all() {
		m.unsynced, m.isNew = true, false
		g.unsynced++
		g.answerJoin(m, g.joined(m, g.leader == m.id))
		c.heardOf(now, m)
	}
	c.restart(&g.syncTimer, now.Add(g.rebalanceTimeout()))
	return machine.Decision{}
}

// heardOf begins the session of a member anew.
func (c *Core) heardOf(now time.Time, m *member) { c.timers.set(&m.session, now.Add(m.sessionTimeout)) }

// refuseSyncs answers who waits for an assignment of a generation that is over.
func (c *Core) refuseSyncs(now time.Time, g *classicGroup, code kafka.ErrorCode) {
	for m := range g.all() {
		m.assignment = nil
		if m.answerSync(refusedSync(code)) {
			c.heardOf(now, m)
		}
	}
}

// sessionExpired removes a member that has been silent for its session timeout.
func (c *Core) sessionExpired(now time.Time, g *classicGroup, m *member) machine.Decision {
	if g.members[m.id] != m || m.heard() {
		return machine.Decision{}
	}
	why := cause{kind: CauseSessionExpired, member: m.id, client: m.client.ID}
	if m.isNew {
		why.kind = CauseNewMemberGone
	}
	g.answerJoin(m, refusedJoin("", kafka.ErrUnknownMemberID))
	m.answerSync(refusedSync(kafka.ErrUnknownMemberID))
	c.drop(g, m)
	switch {
	case g.state == stateStable || g.state == stateCompleting:
		return c.rebalanceOrComplete(now, g, why)
	case g.state == statePreparing && g.allJoined():
		return c.completeJoin(now, g)
	}
	return machine.Decision{}
}

// pendingExpired forgets an id that nobody came back with.
func (c *Core) pendingExpired(now time.Time, g *classicGroup, id string) machine.Decision {
	p := g.pending[id]
	if p == nil {
		return machine.Decision{}
	}
	c.dropPending(g, id, p)
	if g.state == statePreparing && g.allJoined() {
		return c.completeJoin(now, g)
	}
	return machine.Decision{}
}

// syncExpired removes the members that have not fetched their assignments in the
// rebalance timeout.
func (c *Core) syncExpired(now time.Time, g *classicGroup) machine.Decision {
	if g.unsynced == 0 || g.state != stateCompleting && g.state != stateStable {
		return machine.Decision{}
	}
	why := cause{kind: CauseNotSynced}
	for m := range g.all() {
		if m.unsynced {
			if why.member == "" {
				why.member, why.client = m.id, m.client.ID
			}
			c.drop(g, m)
		}
	}
	return c.prepareRebalance(now, g, why)
}
