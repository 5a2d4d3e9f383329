package group

import (
	"barnabas/internal/coordinator/consumergroup"
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// mayCommitConsumer says whether a consumer group takes the commit. A member that has
// moved on to another epoch may still commit partitions that it had already in the
// one of the request (KIP-1251): that is for staleCommit to say.
func (c *Core) mayCommitConsumer(g *consumergroup.Group, req *kmsg.OffsetCommitRequest) (stale *staleCommit, code kafka.ErrorCode) {
	if req.Generation < 0 && g.Size() == 0 {
		return nil, kafka.ErrNone
	}
	m := g.Member(req.MemberID)
	switch {
	case m == nil:
		return nil, kafka.ErrUnknownMemberID
	case m.Classic == nil && req.Version < 9:
		return nil, kafka.ErrUnsupportedVersion
	case req.Generation == m.Epoch:
		return nil, kafka.ErrNone
	case req.Generation > m.Epoch:
		return nil, staleCode(m)
	}
	return &staleCommit{member: m, topics: c.topics()}, kafka.ErrNone
}

// staleCode is what a member is told whose epoch is not that of its request.
func staleCode(m *consumergroup.Member) kafka.ErrorCode {
	if m.Classic != nil {
		return kafka.ErrIllegalGeneration
	}
	return kafka.ErrStaleMemberEpoch
}

// staleCommit checks a commit of an epoch that the member has left.
type staleCommit struct {
	member *consumergroup.Member
	topics consumergroup.Topics
}

// check says whether the member has had all partitions since the epoch of the request
// or before.
func (s *staleCommit) check(req *kmsg.OffsetCommitRequest) kafka.ErrorCode {
	for i := range req.Topics {
		t := &req.Topics[i]
		id := kafka.UUID(t.TopicID)
		if id.IsZero() {
			if topic, ok := s.topics.ByName(t.Topic); ok {
				id = topic.ID
			}
		}
		for j := range t.Partitions {
			epoch, has := s.member.Assigned.Epoch(id, t.Partitions[j].Partition)
			if !has {
				epoch, has = s.member.Revoking.Epoch(id, t.Partitions[j].Partition)
			}
			if !has || req.Generation < epoch {
				return staleCode(s.member)
			}
		}
	}
	return kafka.ErrNone
}

// mayFetchConsumer is why a consumer group does not tell its offsets.
func mayFetchConsumer(g *consumergroup.Group, req *kmsg.OffsetFetchRequestGroup) kafka.ErrorCode {
	if req.MemberID == nil && req.MemberEpoch < 0 {
		return kafka.ErrNone
	}
	var id string
	if req.MemberID != nil {
		id = *req.MemberID
	}
	switch m := g.Member(id); {
	case m == nil:
		return kafka.ErrUnknownMemberID
	case m.Epoch != req.MemberEpoch:
		return staleCode(m)
	}
	return kafka.ErrNone
}
