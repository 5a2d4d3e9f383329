package group

import (
	"encoding/binary"
	"time"

	"barnabas/internal/coordinator/assign"
	"barnabas/internal/coordinator/consumergroup"
	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Members that use the classic protocol in a consumer group: their epoch is the
// generation, the assignors of the coordinator assign for them too, and what
// REBALANCE_IN_PROGRESS tells them is that there is something to give back or to get.

// joinConsumer serves JoinGroup to a consumer group that has members.
func (c *Core) joinConsumer(r *joinRequest, g *consumergroup.Group) machine.Decision {
	h := &consumerOp{c: c, now: r.now, client: r.client, topics: c.topics(), draft: consumergroup.Begin(g)}
	resp, refused := h.join(r)
	if refused != nil {
		h.end(kafka.ErrInvalidRequest)
		return r.refuse("", refused.code)
	}
	if resp == nil {
		return machine.Decision{} // it has been given an id
	}
	id, session, rebalance := resp.MemberID, milliseconds(r.SessionTimeoutMillis), milliseconds(r.RebalanceTimeoutMillis)
	return machine.Decision{Records: h.draft.Records, Done: func(code kafka.ErrorCode) {
		h.end(code)
		if code != kafka.ErrNone {
			r.reply(refusedJoin("", answerCode(code)))
			return
		}
		if g := c.consumer(r.Group); g != nil && g.Member(id) != nil {
			t := c.timersOf(r.Group, id)
			c.timers.stop(&t.join)
			c.timers.set(&t.session, c.latest.Add(session))
			c.restart(&t.sync, c.latest.Add(rebalance))
		}
		r.reply(resp)
	}}
}

func (h *consumerOp) join(r *joinRequest) (*kmsg.JoinGroupResponse, *refusal) {
	if !h.c.settings.Consumer.Mixed {
		return nil, &refusal{code: kafka.ErrInconsistentGroupProtocol}
	}
	id, isNew := r.MemberID, r.MemberID == ""
	if isNew {
		id = h.c.newUUID().String()
	}
	if refused := h.roomFor(id, r.InstanceID); refused != nil {
		return nil, refused
	}
	protocols := eachOnce(r.Protocols)
	names := make([]string, len(protocols))
	for i := range protocols {
		names[i] = protocols[i].Name
	}
	if !h.draft.SupportsClassic(r.ProtocolType, names) || len(protocols) == 0 {
		return nil, &refusal{code: kafka.ErrInconsistentGroupProtocol}
	}
	if isNew && r.InstanceID == nil && r.Version >= 4 {
		r.reply(refusedJoin(id, kafka.ErrMemberIDRequired))
		return nil, nil
	}
	sub, ok := parseSubscription(protocols[0].Metadata)
	if !ok {
		// Apache Kafka answers UNKNOWN_SERVER_ERROR.
		return nil, &refusal{code: kafka.ErrInconsistentGroupProtocol}
	}
	return h.joinAs(r, id, isNew, protocols, &sub)
}

// joinAs takes the member in, or on.
func (h *consumerOp) joinAs(r *joinRequest, id string, isNew bool, protocols []kmsg.JoinGroupRequestProtocol, sub *memberSubscription) (*kmsg.JoinGroupResponse, *refusal) {
	var replaced *consumergroup.Member // the static member that was there
	old := h.draft.Member(id)
	if old == nil {
		old = consumergroup.NewMember(id)
	}
	if r.InstanceID != nil {
		replaced = h.draft.Static(*r.InstanceID)
		var refused *refusal
		old, refused = h.staticMember(id, *r.InstanceID, isNew, true, func(*consumergroup.Member) *refusal { return nil })
		if refused != nil {
			return nil, refused
		}
	}
	next := old.With(func(m *consumergroup.Member) {
		m.ClientID, m.ClientHost, m.Topics, m.Regex = h.client.ID, h.client.Host, sortedSet(sub.Topics), ""
		if r.InstanceID != nil {
			m.Instance = r.InstanceID
		}
		if sub.Rack != nil {
			m.Rack = sub.Rack
		}
		if r.RebalanceTimeoutMillis != -1 {
			m.RebalanceTimeout = r.RebalanceTimeoutMillis
		}
		m.Classic = &consumergroup.Classic{SessionTimeout: r.SessionTimeoutMillis, Protocols: classicProtocols(protocols)}
	})
	next, refused := h.settle(old, next, replaced, h.reportedBy(sub))
	if refused != nil {
		return nil, refused
	}
	resp := kmsg.NewPtrJoinGroupResponse()
	protocolType := consumerProtocol
	resp.MemberID, resp.Generation, resp.ProtocolType, resp.Protocol = next.ID, next.Epoch, &protocolType, &protocols[0].Name
	return resp, nil
}

// settle takes a classic member as far as can be; where it has replaced the last
// member of the consumer protocol, the group is converted.
func (h *consumerOp) settle(old, next, replaced *consumergroup.Member, reported consumergroup.Reported) (*consumergroup.Member, *refusal) {
	if replaced == nil || replaced.Classic != nil || h.draft.ClassicSize() != h.draft.Size()-1 || !h.downgradable(h.draft.Size()) {
		return h.update(old, next, reported)
	}
	changed, refused := h.subscribe(old, next)
	if refused != nil {
		return nil, refused
	}
	stale := h.draft.TargetEpoch < h.draft.Epoch
	if !stale {
		if next, refused = h.reconcile(next, reported, changed); refused != nil {
			return nil, refused
		}
	}
	h.downgrade(nil, stale)
	return next, nil
}

// reportedBy is what a consumer of the classic protocol says it has.
func (h *consumerOp) reportedBy(sub *memberSubscription) consumergroup.Reported {
	reported := consumergroup.Reported{}
	for i := range sub.OwnedPartitions {
		if t, ok := h.topics.ByName(sub.OwnedPartitions[i].Topic); ok {
			reported = append(reported, assign.Partitions{Topic: t.ID, Numbers: sub.OwnedPartitions[i].Partitions})
		}
	}
	return reported
}

// classicOf finds the member of a request of the classic protocol.
func classicOf(g *consumergroup.Group, id string, instance *string, generation int32) (*consumergroup.Member, kafka.ErrorCode) {
	m := g.Member(id)
	if instance != nil {
		m = g.Static(*instance)
		if m != nil && m.ID != id {
			return nil, kafka.ErrFencedInstanceID
		}
	}
	switch {
	case m == nil || m.Classic == nil:
		return nil, kafka.ErrUnknownMemberID
	case m.Epoch != generation:
		return nil, kafka.ErrIllegalGeneration
	}
	return m, kafka.ErrNone
}

// expectJoin gives a classic member time to join again, if it has none yet.
func (c *Core) expectJoin(now time.Time, group string, m *consumergroup.Member) {
	if t := c.timersOf(group, m.ID); !t.join.armed {
		c.timers.set(&t.join, now.Add(milliseconds(m.RebalanceTimeout)))
	}
}

// syncConsumer serves SyncGroup to a consumer group.
func (c *Core) syncConsumer(now time.Time, g *consumergroup.Group, req *kmsg.SyncGroupRequest, reply func(*kmsg.SyncGroupResponse)) machine.Decision {
	refuse := func(code kafka.ErrorCode) machine.Decision {
		reply(refusedSync(code))
		return machine.Decision{}
	}
	m, code := classicOf(g, req.MemberID, req.InstanceID, req.Generation)
	switch {
	case code != kafka.ErrNone:
		return refuse(code)
	case differs(req.ProtocolType, consumerProtocol) || differs(req.Protocol, m.Classic.Protocols[0].Name):
		return refuse(kafka.ErrInconsistentGroupProtocol)
	case g.TargetEpoch > m.Epoch && m.State != consumergroup.Unrevoked:
		c.expectJoin(now, g.ID, m)
		return refuse(kafka.ErrRebalanceInProgress)
	}
	h := &consumerOp{c: c, now: now, topics: c.topics()}
	var held assign.Assignment
	for _, t := range m.Assigned {
		held = append(held, assign.Partitions{Topic: t.Topic, Numbers: t.Numbers})
	}
	resp := kmsg.NewPtrSyncGroupResponse()
	resp.ProtocolType, resp.Protocol = req.ProtocolType, req.Protocol
	resp.MemberAssignment = h.classicAssignment(held, m.Classic.Protocols[0].Metadata)
	return machine.Decision{Done: func(code kafka.ErrorCode) {
		if code != kafka.ErrNone {
			reply(refusedSync(answerCode(code)))
			return
		}
		if g := c.consumer(req.Group); g != nil && g.Member(m.ID) != nil {
			t := c.timersOf(req.Group, m.ID)
			c.timers.stop(&t.sync)
			c.timers.set(&t.session, c.latest.Add(milliseconds(m.Classic.SessionTimeout)))
		}
		reply(resp)
	}}
}

// heartbeatConsumer serves Heartbeat to a consumer group: a member has to join again
// if there is a target that it has not reached, if it has to let go of something, or
// if what it waits for is free.
func (c *Core) heartbeatConsumer(now time.Time, g *consumergroup.Group, req *kmsg.HeartbeatRequest) kafka.ErrorCode {
	m, code := classicOf(g, req.MemberID, req.InstanceID, req.Generation)
	if code != kafka.ErrNone {
		return code
	}
	c.hearOf(now, g.ID, m.ID, milliseconds(m.Classic.SessionTimeout))
	if m.Epoch < g.TargetEpoch || m.State == consumergroup.Unrevoked || m.State == consumergroup.Unreleased && !g.Waits(m) {
		c.expectJoin(now, g.ID, m)
		return kafka.ErrRebalanceInProgress
	}
	return kafka.ErrNone
}

// leaveConsumer serves LeaveGroup to a consumer group, whose members of both protocols
// it takes out.
func (c *Core) leaveConsumer(now time.Time, g *consumergroup.Group, req *kmsg.LeaveGroupRequest, reply func(*kmsg.LeaveGroupResponse)) machine.Decision {
	h := &consumerOp{c: c, now: now, topics: c.topics(), draft: consumergroup.Begin(g), cause: CauseMemberLeft}
	resp := kmsg.NewPtrLeaveGroupResponse()
	var leaving []*consumergroup.Member
	seen := map[string]struct{}{}
	for i := range req.Members {
		l := &req.Members[i]
		m := g.Member(l.MemberID)
		if l.InstanceID != nil {
			m = g.Static(*l.InstanceID)
		}
		rm := kmsg.NewLeaveGroupResponseMember()
		rm.MemberID, rm.InstanceID = l.MemberID, l.InstanceID
		switch {
		case m == nil:
			rm.ErrorCode = int16(kafka.ErrUnknownMemberID)
		case l.InstanceID != nil && l.MemberID != "" && l.MemberID != m.ID:
			rm.ErrorCode = int16(kafka.ErrFencedInstanceID)
		default:
			if _, twice := seen[m.ID]; !twice {
				seen[m.ID] = struct{}{}
				leaving = append(leaving, m)
			}
		}
		resp.Members = append(resp.Members, rm)
	}
	h.fence(leaving)
	return machine.Decision{Records: h.draft.Records, Done: func(code kafka.ErrorCode) {
		h.end(code)
		if code != kafka.ErrNone {
			resp = kmsg.NewPtrLeaveGroupResponse()
			resp.ErrorCode = int16(answerCode(code))
		}
		reply(resp)
	}}
}

// classicAssignment is an assignment as consumers of the classic protocol get it, in
// the version of their subscription. Topics that are no more are left out.
func (h *consumerOp) classicAssignment(a assign.Assignment, subscription []byte) []byte {
	out := kmsg.NewConsumerMemberAssignment()
	if len(subscription) >= 2 {
		out.Version = min(int16(binary.BigEndian.Uint16(subscription)), highestAssignment)
	}
	for i := range a {
		t, ok := h.topics.ByID(a[i].Topic)
		if !ok {
			continue
		}
		rt := kmsg.NewConsumerMemberAssignmentTopic()
		rt.Topic, rt.Partitions = t.Name, a[i].Numbers
		out.Topics = append(out.Topics, rt)
	}
	return out.AppendTo(nil)
}

// highestAssignment is the highest version of the assignment that consumers get.
const highestAssignment = 3
