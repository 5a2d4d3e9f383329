package group

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"barnabas/internal/coordinator/assign"
	"barnabas/internal/coordinator/consumergroup"
	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// refusal is why an operation on a consumer group is refused.
type refusal struct {
	code kafka.ErrorCode
	text string
}

func refusef(code kafka.ErrorCode, format string, args ...any) *refusal {
	return &refusal{code, fmt.Sprintf(format, args...)}
}

// heartbeat is the answer that refuses a ConsumerGroupHeartbeat.
func (r *refusal) heartbeat() *kmsg.ConsumerGroupHeartbeatResponse {
	resp := kmsg.NewPtrConsumerGroupHeartbeatResponse()
	resp.ErrorCode = int16(r.code)
	if r.text != "" {
		resp.ErrorMessage = &r.text
	}
	return resp
}

// CheckConsumerHeartbeat is the answer to a ConsumerGroupHeartbeat that is wrong for
// whichever coordinator, nil if nothing is.
func (s *Settings) CheckConsumerHeartbeat(req *kmsg.ConsumerGroupHeartbeatRequest) *kmsg.ConsumerGroupHeartbeatResponse {
	if r := s.checkConsumerHeartbeat(req); r != nil {
		return r.heartbeat()
	}
	return nil
}

func (s *Settings) checkConsumerHeartbeat(req *kmsg.ConsumerGroupHeartbeatRequest) *refusal {
	invalid := func(text string) *refusal { return &refusal{kafka.ErrInvalidRequest, text} }
	isEmpty := func(p *string) bool { return p != nil && strings.TrimSpace(*p) == "" }
	switch epoch := req.MemberEpoch; {
	case (req.Version >= 1 || epoch > 0 || epoch == consumergroup.EpochLeaving) && isEmpty(&req.MemberID):
		return invalid("MemberId can't be empty.")
	case isEmpty(&req.Group):
		return invalid("GroupId can't be empty.")
	case isEmpty(req.InstanceID):
		return invalid("InstanceId can't be empty.")
	case isEmpty(req.RackID):
		return invalid("RackId can't be empty.")
	case epoch == 0 && req.RebalanceTimeoutMillis == -1:
		return invalid("RebalanceTimeoutMs must be provided in first request.")
	case epoch == 0 && (req.Topics == nil || len(req.Topics) > 0):
		return invalid("TopicPartitions must be empty when (re-)joining.")
	case epoch == 0 && req.SubscribedTopicNames == nil && req.SubscribedTopicRegex == nil:
		return invalid("Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining.")
	case epoch == consumergroup.EpochStaticLeave && req.InstanceID == nil:
		return invalid("InstanceId can't be null.")
	case epoch < consumergroup.EpochStaticLeave:
		return invalid("MemberEpoch is invalid.")
	}
	if a := req.ServerAssignor; a != nil && !slices.Contains(s.Consumer.Assignors, *a) {
		return refusef(kafka.ErrUnsupportedAssignor, "ServerAssignor %s is not supported. Supported assignors: %s.", short(*a), strings.Join(s.Consumer.Assignors, ", "))
	}
	return nil
}

// defaultAssignor is the one that is used where no member asks for one.
func (s *Settings) defaultAssignor() string { return s.Consumer.Assignors[0] }

// consumerOp is a ConsumerGroupHeartbeat, or what else changes a consumer group, on its
// way through the core.
type consumerOp struct {
	c      *Core
	now    time.Time
	client Client
	topics consumergroup.Topics
	draft  *consumergroup.Draft
	// allowed says which topics the client may describe: a regular expression that
	// it brings matches no others.
	allowed func(topic string) bool
	after   []func(kafka.ErrorCode) // what is to be done when the records are committed, or not
	cause   Cause                   // of the group's new epoch
}

// ConsumerHeartbeat serves ConsumerGroupHeartbeat of members that join or stay
// (KIP-848), and of those that leave. Version 1 brings regular expressions, and
// members make their ids (KIP-1082). The request has passed CheckConsumerHeartbeat.
//
// The answer comes when what it says is committed.
func (c *Core) ConsumerHeartbeat(now time.Time, client Client, req *kmsg.ConsumerGroupHeartbeatRequest, allowed func(topic string) bool, reply func(*kmsg.ConsumerGroupHeartbeatResponse)) machine.Decision {
	c.tell(now)
	h := &consumerOp{c: c, now: now, client: client, topics: c.topics(), allowed: allowed}
	var resp *kmsg.ConsumerGroupHeartbeatResponse
	var r *refusal
	if req.MemberEpoch < 0 {
		resp, r = h.leave(req)
	} else {
		resp, r = h.beat(req)
	}
	if r != nil {
		h.end(kafka.ErrInvalidRequest) // nothing was decided
		reply(r.heartbeat())
		return machine.Decision{}
	}
	return machine.Decision{Records: h.draft.Records, Done: func(code kafka.ErrorCode) {
		h.end(code)
		if code != kafka.ErrNone {
			resp = (&refusal{code: answerCode(code)}).heartbeat()
		}
		reply(resp)
	}}
}

// end does what has to follow the end of a decision.
func (h *consumerOp) end(code kafka.ErrorCode) {
	for _, f := range h.after {
		f(code)
	}
	if h.draft != nil {
		h.c.settleConsumer(h.draft.ID)
	}
}

// beat takes the member in, or on, and gives the answer.
func (h *consumerOp) beat(req *kmsg.ConsumerGroupHeartbeatRequest) (*kmsg.ConsumerGroupHeartbeatResponse, *refusal) {
	if r := h.open(req.Group, req.MemberEpoch == consumergroup.EpochJoining); r != nil {
		return nil, r
	}
	if r := h.roomFor(req.MemberID, req.InstanceID); r != nil {
		return nil, r
	}
	id := req.MemberID
	if id == "" {
		id = h.c.newUUID().String()
	}
	old, r := h.member(id, req)
	if r != nil {
		return nil, r
	}
	reported := reportedBy(req)
	next := old.With(func(m *consumergroup.Member) { take(m, req, h.client) })
	next, r = h.update(old, next, reported)
	if r != nil {
		return nil, r
	}
	h.c.hearOf(h.now, req.Group, id, h.c.configOf(req.Group).SessionTimeout)

	resp := kmsg.NewPtrConsumerGroupHeartbeatResponse()
	resp.MemberID, resp.MemberEpoch = &next.ID, next.Epoch
	resp.HeartbeatIntervalMillis = int32(h.c.configOf(req.Group).HeartbeatInterval.Milliseconds())
	full := req.RebalanceTimeoutMillis != -1 && (req.SubscribedTopicNames != nil || req.SubscribedTopicRegex != nil) && reported != nil
	if req.MemberEpoch == consumergroup.EpochJoining || full || !old.Assigned.Equal(next.Assigned) {
		resp.Assignment = assigned(next)
	}
	return resp, nil
}

// take sets what a member may say each time.
func take(m *consumergroup.Member, req *kmsg.ConsumerGroupHeartbeatRequest, client Client) {
	m.ClientID, m.ClientHost, m.Classic = client.ID, client.Host, nil
	if req.InstanceID != nil {
		m.Instance = req.InstanceID
	}
	if req.RackID != nil {
		m.Rack = req.RackID
	}
	if req.RebalanceTimeoutMillis != -1 {
		m.RebalanceTimeout = req.RebalanceTimeoutMillis
	}
	if req.ServerAssignor != nil {
		m.Assignor = req.ServerAssignor
	}
	if req.SubscribedTopicNames != nil {
		m.Topics = sortedSet(req.SubscribedTopicNames)
	}
	if req.SubscribedTopicRegex != nil {
		m.Regex = *req.SubscribedTopicRegex
	}
}

func sortedSet(list []string) []string {
	set := slices.Clone(list)
	slices.Sort(set)
	return slices.Compact(set)
}

func reportedBy(req *kmsg.ConsumerGroupHeartbeatRequest) consumergroup.Reported {
	if req.Topics == nil {
		return nil
	}
	reported := consumergroup.Reported{}
	for i := range req.Topics {
		reported = append(reported, assign.Partitions{Topic: req.Topics[i].TopicID, Numbers: req.Topics[i].Partitions})
	}
	return reported
}

// assigned is what a member is told to have.
func assigned(m *consumergroup.Member) *kmsg.ConsumerGroupHeartbeatResponseAssignment {
	a := kmsg.NewConsumerGroupHeartbeatResponseAssignment()
	for _, t := range m.Assigned {
		rt := kmsg.NewConsumerGroupHeartbeatResponseAssignmentTopic()
		rt.TopicID, rt.Partitions = t.Topic, t.Numbers
		a.Topics = append(a.Topics, rt)
	}
	return &a
}

// update takes a member from old to next, and the group and the member as far
// towards a target as can be. It gives the member as it is then.
func (h *consumerOp) update(old, next *consumergroup.Member, reported consumergroup.Reported) (*consumergroup.Member, *refusal) {
	changed, r := h.subscribe(old, next)
	if r != nil {
		return nil, r
	}
	if r := h.retarget(); r != nil {
		return nil, r
	}
	return h.reconcile(next, reported, changed)
}

// subscribe decides what is new about the member, and begins an epoch of the group if
// that, or something about the topics, asks for another target. It says whether the
// member's subscription is another one.
func (h *consumerOp) subscribe(old, next *consumergroup.Member) (changed bool, r *refusal) {
	before := h.preferred()
	if held, _ := h.c.consumerBytes.Get(struct{}{}); next.Bytes() > old.Bytes() && held+next.Bytes() > maxHeldBytes {
		return false, refusef(kafka.ErrGroupMaxSizeReached, "The coordinator has no room for more subscriptions.")
	}
	known := h.draft.Member(next.ID)
	if known == nil || !next.Same(old) {
		h.draft.SetMember(next)
	}
	named := !slices.Equal(old.Topics, next.Topics)
	matched, r := h.changeRegex(old, next)
	if r != nil {
		return false, r
	}
	bump := named || matched == regexUsable || h.preferred() != before
	if next.Classic != nil {
		bump = named || matched != regexSame
	}
	if bump {
		h.note(known == nil, named || matched != regexSame)
	}
	if soft := h.c.soft(h.draft.ID); bump || soft.outdated(h.topics, h.draft.Group) {
		h.refresh(bump)
	}
	return named || matched != regexSame, nil
}

// note says what an epoch begins with.
func (h *consumerOp) note(joined, subscribed bool) {
	switch {
	case h.cause != "":
	case joined:
		h.cause = CauseMemberJoined
	case subscribed:
		h.cause = CauseSubscription
	default:
		h.cause = CauseAssignor
	}
}

// preferred is the assignor of the group.
func (h *consumerOp) preferred() string {
	if name := h.draft.Assignor(); name != "" && slices.Contains(h.c.settings.Consumer.Assignors, name) {
		return name
	}
	return h.c.settings.defaultAssignor()
}

// refresh looks whether the topics of the group are still those that its epoch was
// made for, and begins another one if not, or if bump says so.
func (h *consumerOp) refresh(bump bool) {
	hash := h.c.hashes.Hash(h.draft.Group, h.topics)
	if hash != h.draft.MetadataHash && !bump {
		bump, h.cause = true, CauseTopics
	}
	if bump {
		h.beginEpoch(hash)
	}
	h.c.soft(h.draft.ID).checked(h.topics, h.draft.Epoch)
	if h.draft.HasOldMetadata {
		h.draft.ForgetOldMetadata()
	}
}

// beginEpoch begins an epoch of the group.
func (h *consumerOp) beginEpoch(hash int64) {
	h.draft.SetEpoch(h.draft.Epoch+1, hash)
	soft, why := h.c.soft(h.draft.ID), cause{kind: h.cause, client: h.client.ID}
	soft.history.begin(h.now, h.draft.Epoch, h.draft.Size(), why)
}

// retarget computes what the members are to have, if that is out of date. A target
// stays for the assignment interval at least, so that many changes make one of it;
// the heartbeat that comes then computes the next.
func (h *consumerOp) retarget() *refusal {
	g := h.draft
	if g.TargetEpoch >= g.Epoch {
		return nil
	}
	interval := h.c.configOf(g.ID).AssignmentInterval
	if g.TargetTime != 0 && interval > 0 && h.now.UnixMilli() < g.TargetTime+interval.Milliseconds() {
		return nil
	}
	if err := g.Assign(h.now, h.preferred(), h.topics); err != nil {
		return refusef(kafka.ErrUnknownServerError, "Failed to compute a new target assignment for epoch %d: %v", g.Epoch, err)
	}
	return nil
}

// reconcile takes the member a step towards its target.
func (h *consumerOp) reconcile(m *consumergroup.Member, reported consumergroup.Reported, changed bool) (*consumergroup.Member, *refusal) {
	g := h.draft
	if !changed && m.Reached(g.TargetEpoch) {
		return m, nil
	}
	next, err := g.Reconcile(m, g.TargetEpoch, g.Target(m.ID), reported, changed, h.topics)
	if err != nil {
		return nil, &refusal{kafka.ErrFencedMemberEpoch, err.Error()}
	}
	if next.Same(m) {
		return m, nil
	}
	g.SetCurrent(next)
	if next.Classic == nil {
		h.c.expectRevocation(h.now, g.ID, next)
	}
	return next, nil
}
