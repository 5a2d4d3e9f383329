package group

import (
	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// DeleteOffsets serves OffsetDelete (KIP-496): offsets of topics that no member is
// subscribed to. The topics have been looked up.
func (c *Core) DeleteOffsets(req *kmsg.OffsetDeleteRequest, reply func(*kmsg.OffsetDeleteResponse)) machine.Decision {
	resp := kmsg.NewPtrOffsetDeleteResponse()
	e, ok := c.groups.Get(req.Group)
	code := kafka.ErrNone
	switch {
	case req.Group == "":
		code = kafka.ErrInvalidGroupID
	case !ok:
		code = kafka.ErrGroupIDNotFound
	case e.foreign != nil:
		code = e.foreign.mayDeleteOffsets()
	case e.classic != nil && e.classic.state != stateEmpty && !e.classic.isConsumer():
		code = kafka.ErrNonEmptyGroup
	}
	if code != kafka.ErrNone {
		resp.ErrorCode = int16(code)
		reply(resp)
		return machine.Decision{}
	}
	var records []machine.Record
	for i := range req.Topics {
		t := &req.Topics[i]
		rt := kmsg.NewOffsetDeleteResponseTopic()
		rt.Topic = t.Topic
		subscribed := e.subscribed(t.Topic)
		for j := range t.Partitions {
			rp := kmsg.NewOffsetDeleteResponseTopicPartition()
			rp.Partition = t.Partitions[j].Partition
			key := offsetKey{req.Group, kafka.TopicPartition{Topic: t.Topic, Partition: rp.Partition}}
			switch {
			case subscribed:
				rp.ErrorCode = int16(kafka.ErrGroupSubscribedToTopic)
			case c.offsets.get(key) != nil || c.offsets.isPending(key):
				records = append(records, offsetTombstone(key))
			}
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
	return machine.Decision{Records: records, Done: func(code kafka.ErrorCode) {
		if code != kafka.ErrNone {
			resp = kmsg.NewPtrOffsetDeleteResponse()
			resp.ErrorCode = int16(answerCode(code))
		}
		reply(resp)
	}}
}

func (e *entry) subscribed(topic string) bool {
	switch {
	case e.foreign != nil:
		return e.foreign.isSubscribed(topic)
	case e.consumer != nil:
		return e.consumer.Subscribed(topic)
	}
	return e.classic.isSubscribed(topic)
}
