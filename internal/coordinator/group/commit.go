package group

import (
	"time"
	"unicode/utf8"

	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Commit serves OffsetCommit. The topics have been looked up: names are there, and
// ids in version 10. Versions: 2-4 have a retention time of their own, 5 has not
// (KIP-211); 6 leader epochs (KIP-320); 7 static members; 9 GROUP_ID_NOT_FOUND and
// members of the consumer protocol (KIP-848); 10 topic ids.
//
// The answer comes when the offsets are committed.
func (c *Core) Commit(now time.Time, req *kmsg.OffsetCommitRequest, reply func(*kmsg.OffsetCommitResponse)) machine.Decision {
	c.tell(now)
	stale, code := c.mayCommit(now, req)
	if code == kafka.ErrNone && stale != nil {
		code = stale.check(req)
	}
	if code != kafka.ErrNone {
		reply(RefusedCommit(req, code))
		return machine.Decision{}
	}
	return c.commit(now, req, reply)
}

// commit decides the records of a commit that the group takes.
func (c *Core) commit(now time.Time, req *kmsg.OffsetCommitRequest, reply func(*kmsg.OffsetCommitResponse)) machine.Decision {
	resp := kmsg.NewPtrOffsetCommitResponse()
	var records []machine.Record
	for i := range req.Topics {
		t := &req.Topics[i]
		rt := kmsg.NewOffsetCommitResponseTopic()
		rt.Topic, rt.TopicID = t.Topic, t.TopicID
		for j := range t.Partitions {
			p := &t.Partitions[j]
			rp := kmsg.NewOffsetCommitResponseTopicPartition()
			rp.Partition = p.Partition
			if p.Metadata != nil && longerThan(*p.Metadata, c.settings.OffsetMetadataMax) {
				rp.ErrorCode = int16(kafka.ErrOffsetMetadataTooLarge)
			} else {
				records = append(records, offsetRecord(now, req, t, p))
			}
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
	return machine.Decision{Records: records, Done: func(code kafka.ErrorCode) {
		if code != kafka.ErrNone {
			resp = RefusedCommit(req, answerCode(code))
		}
		reply(resp)
	}}
}

// RefusedCommit is the answer that gives each partition the code.
func RefusedCommit(req *kmsg.OffsetCommitRequest, code kafka.ErrorCode) *kmsg.OffsetCommitResponse {
	resp := kmsg.NewPtrOffsetCommitResponse()
	for i := range req.Topics {
		t := &req.Topics[i]
		rt := kmsg.NewOffsetCommitResponseTopic()
		rt.Topic, rt.TopicID = t.Topic, t.TopicID
		for j := range t.Partitions {
			rp := kmsg.NewOffsetCommitResponseTopicPartition()
			rp.Partition, rp.ErrorCode = t.Partitions[j].Partition, int16(code)
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
	return resp
}

// mayCommit says whether the group takes the commit. A group that is not there is
// made by its first offset, if it comes without a member. Where each partition has to
// be looked at, stale says how.
func (c *Core) mayCommit(now time.Time, req *kmsg.OffsetCommitRequest) (stale *staleCommit, code kafka.ErrorCode) {
	e, ok := c.groups.Get(req.Group)
	switch {
	case !ok && req.Generation < 0 && c.groups.Len() < maxGroups:
		return nil, kafka.ErrNone
	case !ok && req.Generation < 0:
		return nil, kafka.ErrCoordinatorNotAvailable
	case !ok && req.Version >= 9:
		return nil, kafka.ErrGroupIDNotFound
	case !ok:
		return nil, kafka.ErrIllegalGeneration
	case e.foreign != nil:
		return nil, e.foreign.mayCommit(req)
	case e.consumer != nil:
		return c.mayCommitConsumer(e.consumer, req)
	}
	g := e.classic
	if req.Generation < 0 && g.state == stateEmpty {
		return nil, kafka.ErrNone
	}
	if req.Generation < 0 && req.MemberID == "" && req.InstanceID == nil {
		if g.state != stateEmpty {
			return nil, kafka.ErrUnknownMemberID
		}
		return nil, kafka.ErrNone
	}
	m, code := g.validate(req.MemberID, req.InstanceID)
	switch {
	case code != kafka.ErrNone:
		return nil, code
	case req.Generation != g.generation:
		return nil, kafka.ErrIllegalGeneration
	case g.state == stateCompleting:
		return nil, kafka.ErrRebalanceInProgress
	}
	c.heardOf(now, m)
	return nil, kafka.ErrNone
}

// longerThan counts as Java does, in UTF-16 units.
func longerThan(s string, most int) bool {
	if len(s) <= most {
		return false
	}
	units := 0
	for _, r := range s {
		units++
		if r > 0xffff && r != utf8.RuneError {
			units++
		}
	}
	return units > most
}
