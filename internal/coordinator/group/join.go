package group

import (
	"encoding/hex"
	"io"
	"time"

	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// joinRequest is a JoinGroup on its way through the core.
type joinRequest struct {
	*kmsg.JoinGroupRequest
	now    time.Time
	client Client
	reply  func(*kmsg.JoinGroupResponse)
}

func (r *joinRequest) refuse(memberID string, code kafka.ErrorCode) machine.Decision {
	r.reply(refusedJoin(memberID, code))
	return machine.Decision{}
}

// CheckJoin is what is wrong with a JoinGroup for whichever coordinator.
func (s *Settings) CheckJoin(req *kmsg.JoinGroupRequest) kafka.ErrorCode {
	session := milliseconds(req.SessionTimeoutMillis)
	switch {
	case req.Group == "":
		return kafka.ErrInvalidGroupID
	case session < s.MinSessionTimeout || session > s.MaxSessionTimeout:
		return kafka.ErrInvalidSessionTimeout
	}
	return kafka.ErrNone
}

// Join serves JoinGroup. Versions: 0 the rebalance timeout is the session timeout;
// 4 a dynamic member is given an id first (KIP-394); 5 static members (KIP-345);
// 9 the leader may be told to skip the assignment (KIP-814).
//
// The answer comes when the rebalance has ended, which may be minutes later.
func (c *Core) Join(now time.Time, client Client, req *kmsg.JoinGroupRequest, reply func(*kmsg.JoinGroupResponse)) machine.Decision {
	c.tell(now)
	r := &joinRequest{JoinGroupRequest: req, now: now, client: client, reply: reply}
	if code := c.settings.CheckJoin(req); code != kafka.ErrNone {
		return r.refuse(req.MemberID, code)
	}
	e, ok := c.groups.Get(req.Group)
	switch {
	case ok && e.classic != nil:
		return c.joinGroup(r, e.classic)
	case ok && e.consumer != nil && e.consumer.Size() > 0:
		return c.joinConsumer(r, e.consumer)
	case ok && e.foreign != nil && !e.foreign.replaceable():
		return r.refuse("", kafka.ErrInconsistentGroupProtocol)
	case req.MemberID != "":
		return r.refuse(req.MemberID, kafka.ErrUnknownMemberID)
	case c.groups.Len() >= maxGroups:
		return r.refuse("", kafka.ErrCoordinatorNotAvailable)
	}
	g := newClassicGroup(req.Group, now.UnixMilli())
	var d machine.Decision
	if ok {
		d.Records = e.emptied()
	}
	d = after(d, c.create(g))
	return after(d, c.joinGroup(r, g))
}

// create puts a group into the log. Until it is committed, an error dissolves it.
func (c *Core) create(g *classicGroup) machine.Decision {
	c.fresh[g.id] = g
	return machine.Decision{
		Records: []machine.Record{emptyGroupRecord(g)},
		Done:    func(code kafka.ErrorCode) { c.settleFresh(g, code) },
	}
}

// joinGroup lets a member in, new or known.
func (c *Core) joinGroup(r *joinRequest, g *classicGroup) machine.Decision {
	m := g.members[r.MemberID]
	if !g.accepts(m, c.settings.MaxSize) {
		if m != nil {
			c.drop(g, m)
		}
		if p := g.pending[r.MemberID]; p != nil {
			c.dropPending(g, r.MemberID, p)
		}
		return r.refuse("", kafka.ErrGroupMaxSizeReached)
	}
	if !g.supports(r.ProtocolType, r.Protocols) {
		return r.refuse(r.MemberID, kafka.ErrInconsistentGroupProtocol)
	}
	size := protocolBytes(r.Protocols)
	switch {
	case size > maxMemberBytes:
		return r.refuse(r.MemberID, kafka.ErrMessageTooLarge)
	case c.heldBytes+int64(size) > maxHeldBytes:
		return r.refuse(r.MemberID, kafka.ErrGroupMaxSizeReached)
	}
	if r.MemberID != "" {
		return c.joinKnown(r, g)
	}
	if r.InstanceID != nil {
		id := c.newMemberID(*r.InstanceID)
		if old := g.static[*r.InstanceID]; old != nil {
			return c.replaceStatic(r, g, old, id)
		}
		return c.addMember(r, g, id)
	}
	id := c.newMemberID(r.client.ID)
	if r.Version < 4 {
		return c.addMember(r, g, id)
	}
	if len(g.pending) >= maxPending || c.pendingMembers >= maxPendingInAll {
		return r.refuse("", kafka.ErrCoordinatorNotAvailable)
	}
	c.addPending(r, g, id)
	return r.refuse(id, kafka.ErrMemberIDRequired)
}

// accepts says whether there is room for a member, which is nil if it is new. In a
// rebalance those who have joined count: who comes last to a group that has become
// too large has to go.
func (g *classicGroup) accepts(m *member, most int) bool {
	switch g.state {
	case stateEmpty:
		return true
	case statePreparing:
		return m != nil && m.join != nil || g.joining < most
	}
	return m != nil || g.size() < most
}

// addPending remembers an id that was given away, for the session timeout.
func (c *Core) addPending(r *joinRequest, g *classicGroup, id string) {
	if g.pending == nil {
		g.pending = map[string]*pendingMember{}
	}
	p := &pendingMember{session: timer{kind: timerPending, group: g, pending: id}}
	g.pending[id] = p
	c.pendingMembers++
	c.timers.set(&p.session, r.now.Add(milliseconds(r.SessionTimeoutMillis)))
}

func (c *Core) dropPending(g *classicGroup, id string, p *pendingMember) {
	delete(g.pending, id)
	c.pendingMembers--
	c.timers.stop(&p.session)
}

// drop takes a member out and stops its time.
func (c *Core) drop(g *classicGroup, m *member) {
	g.remove(m)
	c.timers.stop(&m.session)
	c.heldBytes -= int64(m.bytes())
}

// maxMemberName is how much of a name stands in a member id, in bytes: an id has to
// be a string of at most 32,767 bytes in answers and records.
const maxMemberName = 1<<15 - 1 - len("-00000000-0000-0000-0000-000000000000")

// newMemberID is the client's or the instance's name and a random UUID.
func (c *Core) newMemberID(name string) string {
	name = name[:min(len(name), maxMemberName)]
	u := c.newUUID()
	text := hex.EncodeToString(u[:])
	return name + "-" + text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
}

// newUUID is a random id.
func (c *Core) newUUID() (u kafka.UUID) {
	if _, err := io.ReadFull(c.random, u[:]); err != nil {
		panic("BUG: group: no random bytes: " + err.Error())
	}
	u[6] = u[6]&0x0f | 0x40
	u[8] = u[8]&0x3f | 0x80
	return u
}

// joinKnown serves who comes with a member id.
func (c *Core) joinKnown(r *joinRequest, g *classicGroup) machine.Decision {
	if p := g.pending[r.MemberID]; p != nil {
		if r.InstanceID != nil {
			return r.refuse(r.MemberID, kafka.ErrUnknownMemberID) // ids of static members are never pending
		}
		c.dropPending(g, r.MemberID, p)
		return c.addMember(r, g, r.MemberID)
	}
	m, code := g.validate(r.MemberID, r.InstanceID)
	if code != kafka.ErrNone {
		return r.refuse(r.MemberID, code)
	}
	same := m.matches(eachOnce(r.Protocols))
	switch {
	case g.state == statePreparing:
		return c.rejoin(r, g, m, CauseMemberJoined)
	case g.state == stateCompleting && same:
		// The answer to its first JoinGroup may have been lost.
		r.reply(g.joined(m, g.leader == m.id))
		return machine.Decision{}
	case !same:
		return c.rejoin(r, g, m, CauseSubscription)
	case g.leader == m.id:
		// It may know of something that no metadata shows: new partitions of a topic.
		return c.rejoin(r, g, m, CauseLeaderRejoined)
	}
	r.reply(g.joined(m, false))
	return machine.Decision{}
}

// joined is the answer with the current generation.
func (g *classicGroup) joined(m *member, withMembers bool) *kmsg.JoinGroupResponse {
	resp := kmsg.NewPtrJoinGroupResponse()
	resp.Generation, resp.MemberID, resp.LeaderID, resp.Protocol = g.generation, m.id, g.leader, g.protocol
	if g.protocolType != "" {
		protocolType := g.protocolType
		resp.ProtocolType = &protocolType
	}
	if withMembers {
		resp.Members = make([]kmsg.JoinGroupResponseMember, 0, g.size())
		for other := range g.all() {
			rm := kmsg.NewJoinGroupResponseMember()
			rm.MemberID, rm.InstanceID, rm.ProtocolMetadata = other.id, other.instance, other.metadata(*g.protocol)
			resp.Members = append(resp.Members, rm)
		}
	}
	return resp
}

// addMember makes a member of who asks, and rebalances.
func (c *Core) addMember(r *joinRequest, g *classicGroup, id string) machine.Decision {
	m := newMember(g, id, r.client, r.JoinGroupRequest)
	m.isNew, m.join = true, r.reply
	if g.state == statePreparing && g.previous == stateEmpty {
		g.newMemberAdded = true
	}
	c.heldBytes += int64(m.bytes())
	g.add(m)
	c.timers.set(&m.session, r.now.Add(newMemberJoinTimeout))
	return c.rebalanceOrComplete(r.now, g, r.cause(CauseMemberJoined, m))
}

// rejoin takes what a known member brings, and rebalances.
func (c *Core) rejoin(r *joinRequest, g *classicGroup, m *member, kind Cause) machine.Decision {
	c.update(r, g, m)
	return c.rebalanceOrComplete(r.now, g, r.cause(kind, m))
}

// update takes what a member brings; it waits for the rebalance from now on. A
// request of the same member that still waits is answered.
func (c *Core) update(r *joinRequest, g *classicGroup, m *member) {
	g.answerJoin(m, refusedJoin(m.id, kafka.ErrRebalanceInProgress))
	c.heldBytes -= int64(m.bytes())
	g.count(m, -1)
	m.take(r.JoinGroupRequest)
	g.count(m, 1)
	c.heldBytes += int64(m.bytes())
	m.join = r.reply
	g.joining++
}

func (r *joinRequest) cause(kind Cause, m *member) cause {
	why := cause{kind: kind, member: m.id, client: m.client.ID}
	if m.instance != nil {
		why.instance = *m.instance
	}
	if r.Reason != nil {
		why.reason = *r.Reason
	}
	return why
}
