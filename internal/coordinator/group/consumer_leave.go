package group

import (
	"slices"
	"time"

	"barnabas/internal/coordinator/consumergroup"
	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// leave takes out a member that leaves: a static one may say that it will be back.
func (h *consumerOp) leave(req *kmsg.ConsumerGroupHeartbeatRequest) (*kmsg.ConsumerGroupHeartbeatResponse, *refusal) {
	e, ok := h.c.groups.Get(req.Group)
	switch {
	case !ok:
		return nil, refusef(kafka.ErrGroupIDNotFound, "Group %s not found.", short(req.Group))
	case e.consumer == nil:
		return nil, notConsumer(req.Group)
	}
	h.draft = consumergroup.Begin(e.consumer)
	resp := kmsg.NewPtrConsumerGroupHeartbeatResponse()
	resp.MemberID, resp.MemberEpoch = &req.MemberID, req.MemberEpoch
	m := h.draft.Member(req.MemberID)
	switch {
	case req.InstanceID == nil && m == nil:
		return nil, unknownMember(req.Group, req.MemberID)
	case req.InstanceID != nil:
		m = h.draft.Static(*req.InstanceID)
		switch {
		case m == nil:
			return nil, refusef(kafka.ErrUnknownMemberID, "Instance id %s is unknown.", short(*req.InstanceID))
		case m.ID != req.MemberID:
			return nil, fenced(req.MemberID, *req.InstanceID, m)
		case req.MemberEpoch == consumergroup.EpochStaticLeave:
			h.draft.SetCurrent(m.Depart())
			return resp, nil
		}
	}
	h.cause = CauseMemberLeft
	h.fence([]*consumergroup.Member{m})
	return resp, nil
}

// fence takes members out. If only members are left that use the classic protocol,
// the group is converted to it.
func (h *consumerOp) fence(members []*consumergroup.Member) {
	if len(members) == 0 {
		return
	}
	c, g := h.c, h.draft
	all := len(members) == g.Size()
	if h.mayDowngrade(members) {
		h.downgrade(members, true)
	} else {
		h.remove(members)
		h.draft.SetEpoch(g.Epoch+1, c.hashes.Hash(g.Group, h.topics))
		if all {
			g.SetTargetEpoch(g.Epoch, 0)
		}
		c.soft(g.ID).history.begin(h.now, g.Epoch, g.Size(), cause{kind: h.cause, member: members[0].ID, client: members[0].ClientID})
	}
	id := g.ID
	h.after = append(h.after, func(code kafka.ErrorCode) {
		if code == kafka.ErrNone {
			for _, m := range members {
				c.forgetMember(id, m.ID)
			}
		}
	})
}

// remove takes members out, and the regular expressions that only they had.
func (h *consumerOp) remove(members []*consumergroup.Member) {
	for _, m := range members {
		h.draft.Remove(m.ID)
	}
	var forgotten []string
	for _, m := range members {
		if m.Regex != "" && h.draft.Subscribers(m.Regex) == 0 && !slices.Contains(forgotten, m.Regex) {
			h.draft.ForgetRegex(m.Regex)
			forgotten = append(forgotten, m.Regex)
		}
	}
}

// fenceLate takes out members of a group whose time is over.
func (c *Core) fenceLate(now time.Time, late *lateGroup) machine.Decision {
	g := c.consumer(late.id)
	h := &consumerOp{c: c, now: now, topics: c.topics(), draft: consumergroup.Begin(g), cause: late.why}
	var members []*consumergroup.Member
	for _, t := range late.timers {
		if _, left := late.members[t.consumer.member]; left {
			delete(late.members, t.consumer.member)
			members = append(members, g.Member(t.consumer.member))
		}
	}
	h.fence(members)
	return machine.Decision{Records: h.draft.Records, Done: func(code kafka.ErrorCode) {
		h.end(code)
		for _, t := range late.timers {
			if code != kafka.ErrNone && !t.armed {
				c.timers.set(t, c.latest.Add(retryFence))
			}
		}
	}}
}

// retryFence is how long the core waits before it tries again to take out a member
// whose time is over, when the log has refused it.
const retryFence = 5 * time.Second
