package group

import (
	"barnabas/internal/coordinator/consumergroup"
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// open finds the group, or makes it if create says so. An empty classic group gives
// its id away, one with members is converted (KIP-848, online migration).
func (h *consumerOp) open(id string, create bool) *refusal {
	c := h.c
	e, ok := c.groups.Get(id)
	switch {
	case ok && e.consumer != nil:
		h.draft = consumergroup.Begin(e.consumer)
	case !ok && !create:
		return refusef(kafka.ErrGroupIDNotFound, "Consumer group %s not found.", short(id))
	case !ok && c.groups.Len() >= maxGroups:
		return &refusal{code: kafka.ErrCoordinatorNotAvailable}
	case !ok:
		h.draft = consumergroup.Begin(consumergroup.New(id))
	case create && e.classic != nil && e.classic.state == stateEmpty:
		h.draft = consumergroup.Begin(consumergroup.New(id))
		h.draft.Records = append(h.draft.Records, groupTombstone(id))
		h.after = append(h.after, func(code kafka.ErrorCode) {
			if code == kafka.ErrNone {
				c.dissolve(e.classic, kafka.ErrUnknownMemberID) // ids that were given away
			}
		})
	case create && e.classic != nil:
		return h.upgrade(e.classic)
	default:
		return notConsumer(id)
	}
	return nil
}

func notConsumer(id string) *refusal {
	return refusef(kafka.ErrGroupIDNotFound, "Group %s is not a consumer group.", short(id))
}

// roomFor says whether there is room for a member, which may be one already.
func (h *consumerOp) roomFor(id string, instance *string) *refusal {
	most := h.c.settings.Consumer.MaxSize
	switch {
	case instance != nil && h.draft.Static(*instance) != nil:
	case h.draft.Size() < most, id != "" && h.draft.Member(id) != nil:
	default:
		return refusef(kafka.ErrGroupMaxSizeReached, "The consumer group has reached its maximum capacity of %d members.", most)
	}
	return nil
}

// member finds the member of a request, or makes it.
func (h *consumerOp) member(id string, req *kmsg.ConsumerGroupHeartbeatRequest) (*consumergroup.Member, *refusal) {
	joins := req.MemberEpoch == consumergroup.EpochJoining
	if req.InstanceID != nil {
		return h.staticMember(id, *req.InstanceID, joins, false, func(m *consumergroup.Member) *refusal { return checkEpoch(m, req) })
	}
	m := h.draft.Member(id)
	switch {
	case m == nil && joins:
		return consumergroup.NewMember(id), nil
	case m == nil:
		return nil, unknownMember(h.draft.ID, id)
	}
	return m, checkEpoch(m, req)
}

func unknownMember(group, member string) *refusal {
	return refusef(kafka.ErrUnknownMemberID, "Member %s is not a member of group %s.", short(member), short(group))
}

// checkEpoch says whether the epoch of a request is the member's. The one before is
// taken too, of a member that has nothing that it has not now: the answer with the
// new one may have been lost.
func checkEpoch(m *consumergroup.Member, req *kmsg.ConsumerGroupHeartbeatRequest) *refusal {
	epoch, than := req.MemberEpoch, ""
	switch {
	case epoch == consumergroup.EpochJoining, epoch == m.Epoch:
		return nil
	case epoch > m.Epoch:
		than = "greater"
	case epoch == m.PreviousEpoch && reportedBy(req).Within(m.Assigned):
		return nil
	default:
		than = "smaller"
	}
	return refusef(kafka.ErrFencedMemberEpoch, "The consumer group member has a %s member epoch (%d) than the one known by the group coordinator (%d). "+
		"The member must abandon all its partitions and rejoin.", than, epoch, m.Epoch)
}

// staticMember finds the member with an instance id. Who joins takes the place of the
// one that is there: with the consumer protocol if that one has left for a while,
// and always if one of the two uses the classic protocol. check looks at the epoch of
// who stays.
func (h *consumerOp) staticMember(id, instance string, joins, classic bool, check func(*consumergroup.Member) *refusal) (*consumergroup.Member, *refusal) {
	old := h.draft.Static(instance)
	switch {
	case !joins && old == nil:
		return nil, refusef(kafka.ErrUnknownMemberID, "Instance id %s is unknown.", short(instance))
	case !joins && old.ID != id:
		return nil, fenced(id, instance, old)
	case !joins:
		return old, check(old)
	case old == nil:
		if m := h.draft.Member(id); m != nil {
			return m, nil
		}
		return consumergroup.NewMember(id), nil
	case !classic && old.Classic == nil && old.Epoch != consumergroup.EpochStaticLeave:
		return nil, refusef(kafka.ErrUnreleasedInstanceID, "Static member %s with instance id %s cannot join the group because the instance id is owned by %s member.",
			short(id), short(instance), short(old.ID))
	}
	next := old.With(func(m *consumergroup.Member) {
		m.ID, m.Epoch, m.PreviousEpoch = id, consumergroup.EpochJoining, 0
	})
	h.draft.Replace(old, next)
	h.cause = CauseStaticReplaced
	return next, nil
}

func fenced(id, instance string, by *consumergroup.Member) *refusal {
	return refusef(kafka.ErrFencedInstanceID, "Static member %s with instance id %s was fenced by member %s.", short(id), short(instance), short(by.ID))
}
