package api

import (
	"time"

	"barnabas/internal/coordinator/group"
	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// offsetDelete serves OffsetDelete v0 (KIP-496). Partitions that are refused here come
// first in the answer; an error of the group is the whole answer.
func (b *Broker) offsetDelete(c *call) {
	req := c.Msg.(*kmsg.OffsetDeleteRequest)
	refuse := func(code kafka.ErrorCode) {
		resp := kmsg.NewPtrOffsetDeleteResponse()
		resp.ErrorCode = int16(code)
		c.ReplyMessage(resp)
	}
	if !c.mayGroup(kmsg.ACLOperationDelete, req.Group) {
		refuse(kafka.ErrGroupAuthorizationFailed)
		return
	}
	if req.Group == "" {
		refuse(kafka.ErrInvalidGroupID)
		return
	}
	resp, taken := kmsg.NewPtrOffsetDeleteResponse(), *req
	taken.Topics = nil
	for i := range req.Topics {
		good, bad := b.sortDeletions(c, &req.Topics[i])
		if len(bad.Partitions) > 0 {
			resp.Topics = append(resp.Topics, bad)
		}
		if len(good.Partitions) > 0 {
			taken.Topics = append(taken.Topics, good)
		}
	}
	b.withGroup(req.Group, func(core *group.Core, _ time.Time) machine.Decision {
		return core.DeleteOffsets(&taken, func(done *kmsg.OffsetDeleteResponse) {
			if done.ErrorCode == 0 {
				done.Topics = mergeDeletions(resp.Topics, done.Topics)
			}
			c.ReplyMessage(done)
		})
	}, refuse)
}

// sortDeletions takes the partitions of a topic apart into those to ask the
// coordinator for, and answers for the others.
func (b *Broker) sortDeletions(c *call, t *kmsg.OffsetDeleteRequestTopic) (good kmsg.OffsetDeleteRequestTopic, bad kmsg.OffsetDeleteResponseTopic) {
	good.Topic, bad.Topic = t.Topic, t.Topic
	may, is := c.mayTopic(kmsg.ACLOperationRead, t.Topic), b.Image().Topics.ByName(t.Topic)
	for _, p := range t.Partitions {
		code := kafka.ErrNone
		switch {
		case !may:
			code = kafka.ErrTopicAuthorizationFailed
		case is == nil || is.Partition(p.Partition) == nil:
			code = kafka.ErrUnknownTopicOrPartition
		}
		if code == kafka.ErrNone {
			good.Partitions = append(good.Partitions, p)
			continue
		}
		rp := kmsg.NewOffsetDeleteResponseTopicPartition()
		rp.Partition, rp.ErrorCode = p.Partition, int16(code)
		bad.Partitions = append(bad.Partitions, rp)
	}
	return good, bad
}

// mergeDeletions adds the partitions of more to topics; each topic stands there once.
func mergeDeletions(topics, more []kmsg.OffsetDeleteResponseTopic) []kmsg.OffsetDeleteResponseTopic {
	at := map[string]int{}
	for i := range topics {
		at[topics[i].Topic] = i
	}
	for _, t := range more {
		if i, ok := at[t.Topic]; ok {
			topics[i].Partitions = append(topics[i].Partitions, t.Partitions...)
		} else {
			topics = append(topics, t)
		}
	}
	return topics
}
