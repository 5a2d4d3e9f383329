package group

import (
	"time"

	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Leave serves LeaveGroup from version 3 on, where a request names several members;
// who has an older one makes a list of one. Version 3 removes static members by
// their instance id (KIP-345), 5 has a reason (KIP-800).
//
// The answer comes when what follows is in the log.
func (c *Core) Leave(now time.Time, req *kmsg.LeaveGroupRequest, reply func(*kmsg.LeaveGroupResponse)) machine.Decision {
	c.tell(now)
	resp := kmsg.NewPtrLeaveGroupResponse()
	if req.Group == "" {
		resp.ErrorCode = int16(kafka.ErrInvalidGroupID)
		reply(resp)
		return machine.Decision{}
	}
	if g := c.consumer(req.Group); g != nil {
		return c.leaveConsumer(now, g, req, reply)
	}
	g := c.classic(req.Group)
	why := cause{kind: CauseMemberLeft}
	for i := range req.Members {
		l := &req.Members[i]
		rm := kmsg.NewLeaveGroupResponseMember()
		rm.MemberID, rm.InstanceID = l.MemberID, l.InstanceID
		code := kafka.ErrUnknownMemberID
		if g != nil {
			code = c.leave(g, l, &why)
		}
		rm.ErrorCode = int16(code)
		resp.Members = append(resp.Members, rm)
	}
	var d machine.Decision
	if why.member != "" {
		d = c.afterLeaving(now, g, why)
	}
	if len(d.Records) == 0 {
		reply(resp)
		return d
	}
	return after(d, machine.Decision{Done: func(code kafka.ErrorCode) {
		if code != kafka.ErrNone {
			resp = kmsg.NewPtrLeaveGroupResponse()
			resp.ErrorCode = int16(answerCode(code))
		}
		reply(resp)
	}})
}

// leave takes one member out, which why names from then on.
func (c *Core) leave(g *classicGroup, l *kmsg.LeaveGroupRequestMember, why *cause) kafka.ErrorCode {
	var m *member
	if l.MemberID == "" {
		if l.InstanceID != nil {
			m = g.static[*l.InstanceID]
		}
		if m == nil {
			return kafka.ErrUnknownMemberID
		}
	} else if p := g.pending[l.MemberID]; p != nil {
		c.dropPending(g, l.MemberID, p)
		why.name(l.MemberID, "", l.Reason)
		return kafka.ErrNone
	} else {
		var code kafka.ErrorCode
		if m, code = g.validate(l.MemberID, l.InstanceID); code != kafka.ErrNone {
			return code
		}
	}
	g.answerJoin(m, refusedJoin("", kafka.ErrUnknownMemberID))
	m.answerSync(refusedSync(kafka.ErrUnknownMemberID))
	c.drop(g, m)
	why.name(m.id, m.client.ID, l.Reason)
	return kafka.ErrNone
}

func (c *Core) afterLeaving(now time.Time, g *classicGroup, why cause) machine.Decision {
	switch g.state {
	case stateStable, stateCompleting:
		return c.prepareRebalance(now, g, why)
	case statePreparing:
		return c.completeIfJoined(now, g)
	}
	return machine.Decision{}
}
