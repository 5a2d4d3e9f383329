package group

import (
	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Fetch serves one group of OffsetFetch: version 8 asks for several, 9 names the
// member (KIP-848), 10 has topic ids. Topics that are nil ask for all offsets.
//
// Without stable, the answer is what is committed now. With stable it takes in all
// commits that came before, waits until they are committed, and refuses partitions
// with offsets of a transaction that has not ended (KIP-447).
func (c *Core) Fetch(version int16, req *kmsg.OffsetFetchRequestGroup, stable bool, reply func(*kmsg.OffsetFetchResponseGroup)) machine.Decision {
	resp := kmsg.NewOffsetFetchResponseGroup()
	resp.Group = req.Group
	e, ok := c.entryFor(req.Group, stable)
	code := kafka.ErrNone
	switch {
	case ok && e.foreign != nil:
		code = e.foreign.mayFetch(req)
	case ok && e.consumer != nil:
		code = mayFetchConsumer(e.consumer, req)
	}
	switch {
	case code != kafka.ErrNone:
		resp.ErrorCode = int16(code)
	case req.Topics == nil && ok:
		resp.Topics = c.fetchAll(req.Group, stable)
	default:
		resp.Topics = c.fetchSome(version, req, stable, ok)
	}
	if !stable {
		reply(&resp)
		return machine.Decision{}
	}
	return machine.Decision{Done: func(code kafka.ErrorCode) {
		if code != kafka.ErrNone {
			resp = RefusedFetch(req.Group, code)
		}
		reply(&resp)
	}}
}

// RefusedFetch is the answer that refuses a group. Consumers know few codes here:
// where others are told that the coordinator is not available, they are told that
// it is another (OffsetFetch, handleOffsetFetchException).
func RefusedFetch(group string, code kafka.ErrorCode) kmsg.OffsetFetchResponseGroup {
	resp := kmsg.NewOffsetFetchResponseGroup()
	if resp.Group, code = group, answerCode(code); code == kafka.ErrCoordinatorNotAvailable {
		code = kafka.ErrNotCoordinator
	}
	resp.ErrorCode = int16(code)
	return resp
}

func (c *Core) entryFor(group string, latest bool) (*entry, bool) {
	if latest {
		return c.groups.Get(group)
	}
	return c.groups.GetCommitted(group)
}

func (c *Core) fetchAll(group string, stable bool) []kmsg.OffsetFetchResponseGroupTopic {
	set, _ := c.offsets.partitions.GetCommitted(group)
	if stable {
		set, _ = c.offsets.partitions.Get(group)
	}
	topics := []kmsg.OffsetFetchResponseGroupTopic{}
	for tp := range set.Keys() {
		p, v := c.fetchOne(offsetKey{group, tp}, stable)
		last := len(topics) - 1
		if last < 0 || topics[last].Topic != tp.Topic {
			t := kmsg.NewOffsetFetchResponseGroupTopic()
			t.Topic = tp.Topic
			if v != nil {
				t.TopicID = v.topicID
			}
			topics = append(topics, t)
			last++
		}
		topics[last].Partitions = append(topics[last].Partitions, p)
	}
	return topics
}

func (c *Core) fetchSome(version int16, req *kmsg.OffsetFetchRequestGroup, stable, known bool) []kmsg.OffsetFetchResponseGroupTopic {
	topics := make([]kmsg.OffsetFetchResponseGroupTopic, 0, len(req.Topics))
	for i := range req.Topics {
		t := &req.Topics[i]
		rt := kmsg.NewOffsetFetchResponseGroupTopic()
		rt.Topic, rt.TopicID = t.Topic, t.TopicID
		for _, partition := range t.Partitions {
			key := offsetKey{req.Group, kafka.TopicPartition{Topic: t.Topic, Partition: partition}}
			p, v := noOffset(partition), (*committed)(nil)
			if known {
				p, v = c.fetchOne(key, stable)
			}
			if version >= 10 && v != nil && !v.topicID.IsZero() && v.topicID != kafka.UUID(t.TopicID) {
				p = noOffset(partition) // of a topic that had the name before
			}
			rt.Partitions = append(rt.Partitions, p)
		}
		topics = append(topics, rt)
	}
	return topics
}

// fetchOne is what there is of a partition; v is nil if that is nothing.
func (c *Core) fetchOne(key offsetKey, stable bool) (p kmsg.OffsetFetchResponseGroupTopicPartition, v *committed) {
	p = noOffset(key.Partition)
	if stable && c.offsets.isPending(key) {
		p.ErrorCode = int16(kafka.ErrUnstableOffsetCommit)
		return p, nil
	}
	if stable {
		v = c.offsets.get(key)
	} else {
		v, _ = c.offsets.values.GetCommitted(key)
	}
	if v != nil {
		p.Offset, p.LeaderEpoch, p.Metadata = int64(v.offset), int32(v.leaderEpoch), &v.metadata
	}
	return p, v
}

func noOffset(partition int32) kmsg.OffsetFetchResponseGroupTopicPartition {
	p, none := kmsg.NewOffsetFetchResponseGroupTopicPartition(), ""
	p.Partition, p.Offset, p.LeaderEpoch, p.Metadata = partition, int64(kafka.NoOffset), int32(kafka.NoLeaderEpoch), &none
	return p
}
