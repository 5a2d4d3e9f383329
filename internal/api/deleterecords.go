package api

import (
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/image"
	"barnabas/internal/replica"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// deleteRecords serves DeleteRecords v0-v2 (KIP-107). Offset -1 is the high
// watermark. A partition that the request names more than once is asked for the
// last of its offsets and answered once, as in Apache.
func (b *Broker) deleteRecords(c *call) {
	req := c.Msg.(*kmsg.DeleteRecordsRequest)
	a := recordsAnswer{resp: kmsg.NewPtrDeleteRecordsResponse(), topics: map[string]int{}, at: map[kafka.TopicPartition][2]int{}}
	var list []replica.RecordDeletion
	position := map[kafka.TopicPartition]int{} // in list
	for i := range req.Topics {
		t := &req.Topics[i]
		may := c.mayTopic(kmsg.ACLOperationDelete, t.Topic)
		for _, p := range t.Partitions {
			tp := kafka.TopicPartition{Topic: t.Topic, Partition: p.Partition}
			a.add(tp)
			if code := refuseDeletion(b.Image(), may, tp); code != kafka.ErrNone {
				a.set(tp, kafka.NoOffset, code)
				continue
			}
			at, again := position[tp]
			if !again {
				at = len(list)
				position[tp] = at
				list = append(list, replica.RecordDeletion{Topic: t.Topic, Partition: p.Partition})
			}
			list[at].Offset = kafka.Offset(p.Offset)
		}
	}
	b.Replicas.DeleteRecords(list, func() {
		for i := range list {
			x := &list[i]
			a.set(kafka.TopicPartition{Topic: x.Topic, Partition: x.Partition}, x.LogStart, x.Code)
		}
		c.ReplyMessage(a.resp)
	})
}

// refuseDeletion says why records of a partition are not deleted, whatever is in it.
func refuseDeletion(img *image.Image, may bool, tp kafka.TopicPartition) kafka.ErrorCode {
	if !may {
		return kafka.ErrTopicAuthorizationFailed
	}
	if t := img.Topics.ByName(tp.Topic); t == nil || t.Partition(tp.Partition) == nil {
		return kafka.ErrUnknownTopicOrPartition
	}
	if kafka.IsInternalTopic(tp.Topic) {
		return kafka.ErrInvalidTopicException
	}
	return kafka.ErrNone
}

// recordsAnswer is an answer in the making, in the order of the request; each topic
// and partition is there once.
type recordsAnswer struct {
	resp   *kmsg.DeleteRecordsResponse
	topics map[string]int
	at     map[kafka.TopicPartition][2]int
}

func (a *recordsAnswer) add(tp kafka.TopicPartition) {
	if _, ok := a.at[tp]; ok {
		return
	}
	topic, ok := a.topics[tp.Topic]
	if !ok {
		topic = len(a.resp.Topics)
		a.topics[tp.Topic] = topic
		t := kmsg.NewDeleteRecordsResponseTopic()
		t.Topic = tp.Topic
		a.resp.Topics = append(a.resp.Topics, t)
	}
	t := &a.resp.Topics[topic]
	p := kmsg.NewDeleteRecordsResponseTopicPartition()
	p.Partition = tp.Partition
	a.at[tp] = [2]int{topic, len(t.Partitions)}
	t.Partitions = append(t.Partitions, p)
}

func (a *recordsAnswer) set(tp kafka.TopicPartition, logStart kafka.Offset, code kafka.ErrorCode) {
	at := a.at[tp]
	p := &a.resp.Topics[at[0]].Partitions[at[1]]
	p.LowWatermark, p.ErrorCode = int64(logStart), int16(code)
}
