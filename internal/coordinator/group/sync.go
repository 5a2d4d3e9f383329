package group

import (
	"bytes"
	"time"

	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Sync serves SyncGroup. Versions: 3 static members; 5 the member says which
// protocol it has in mind (KIP-559).
//
// The leader's brings the assignments; they are in the log before anybody gets one.
func (c *Core) Sync(now time.Time, req *kmsg.SyncGroupRequest, reply func(*kmsg.SyncGroupResponse)) machine.Decision {
	c.tell(now)
	refuse := func(code kafka.ErrorCode) machine.Decision {
		reply(refusedSync(code))
		return machine.Decision{}
	}
	if req.Group == "" {
		return refuse(kafka.ErrInvalidGroupID)
	}
	if g := c.consumer(req.Group); g != nil && g.Size() > 0 {
		return c.syncConsumer(now, g, req, reply)
	}
	g := c.classic(req.Group)
	if g == nil || g.state == stateEmpty {
		return refuse(kafka.ErrUnknownMemberID)
	}
	m, code := g.validate(req.MemberID, req.InstanceID)
	switch {
	case code != kafka.ErrNone:
		return refuse(code)
	case req.Generation != g.generation:
		return refuse(kafka.ErrIllegalGeneration)
	case differs(req.ProtocolType, g.protocolType) || g.protocol != nil && differs(req.Protocol, *g.protocol):
		return refuse(kafka.ErrInconsistentGroupProtocol)
	case g.state == statePreparing:
		return refuse(kafka.ErrRebalanceInProgress)
	}
	g.synced(m)
	if g.unsynced == 0 {
		c.timers.stop(&g.syncTimer)
	}
	if g.state == stateStable {
		reply(g.assigned(m))
		return machine.Decision{}
	}
	m.answerSync(refusedSync(kafka.ErrRebalanceInProgress))
	m.sync = reply
	if g.leader != m.id || g.storing == g.generation {
		return machine.Decision{} // what it brings is not needed, or on its way to the log
	}
	return c.assign(g, req)
}

func differs(asked *string, is string) bool { return asked != nil && is != "" && *asked != is }

// assigned is the answer with a member's assignment.
func (g *classicGroup) assigned(m *member) *kmsg.SyncGroupResponse {
	resp := kmsg.NewPtrSyncGroupResponse()
	resp.MemberAssignment, resp.Protocol = m.assignment, g.protocol
	if g.protocolType != "" {
		protocolType := g.protocolType
		resp.ProtocolType = &protocolType
	}
	return resp
}

// assign writes the leader's assignments. Members it has none for get an empty one,
// and those it made up are ignored.
func (c *Core) assign(g *classicGroup, req *kmsg.SyncGroupRequest) machine.Decision {
	assignments := make(map[string][]byte, len(req.GroupAssignment))
	for i := range req.GroupAssignment {
		a := &req.GroupAssignment[i]
		if g.members[a.MemberID] != nil {
			assignments[a.MemberID] = bytes.Clone(a.MemberAssignment)
		}
	}
	generation := g.generation
	g.storing = generation
	return machine.Decision{
		Records: []machine.Record{groupRecord(g, func(m *member) []byte { return assignments[m.id] })},
		Done: func(code kafka.ErrorCode) {
			if g.storing == generation {
				g.storing = 0
			}
			if g.state != stateCompleting || g.generation != generation {
				return // a rebalance has begun, which has answered them
			}
			if code != kafka.ErrNone {
				c.refuseSyncs(c.latest, g, answerCode(code))
				c.prepareRebalance(c.latest, g, cause{kind: CauseNotStored, reason: code.String()})
				return
			}
			g.moveTo(stateStable, c.latest)
			g.history.end(c.latest, g.generation, g.size(), OutcomeStable)
			for m := range g.all() {
				m.assignment = assignments[m.id]
				if m.answerSync(g.assigned(m)) {
					c.heardOf(c.latest, m)
				}
			}
		},
	}
}
