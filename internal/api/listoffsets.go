package api

import (
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// listOffsets serves ListOffsets v1-v11: v2 isolation level, v4 leader epochs, v7
// the offset of the largest timestamp (KIP-734), v8 earliest local, v9 latest
// tiered, v10 a timeout for tiered storage, v11 earliest pending upload.
//
// A partition that the request names twice is answered once, with an error.
func (b *Broker) listOffsets(c *call) {
	req := c.Msg.(*kmsg.ListOffsetsRequest)
	a := offsetsAnswer{resp: kmsg.NewPtrListOffsetsResponse()}
	asked := countPartitions(req)
	for i := range req.Topics {
		t := &req.Topics[i]
		may := c.mayTopic(kmsg.ACLOperationDescribe, t.Topic)
		for j := range t.Partitions {
			q := &t.Partitions[j]
			tp := kafka.TopicPartition{Topic: t.Topic, Partition: q.Partition}
			switch n := asked[tp]; {
			case n == 0: // answered already
			case !may:
				a.add(t.Topic, noOffset(q.Partition, kafka.ErrTopicAuthorizationFailed))
			case n > 1:
				a.add(t.Topic, noOffset(q.Partition, kafka.ErrInvalidRequest))
			case !knowsTimestamp(req.Version, q.Timestamp):
				a.add(t.Topic, noOffset(q.Partition, kafka.ErrUnsupportedVersion))
			case !kafka.IsolationLevel(req.IsolationLevel).Valid():
				a.add(t.Topic, noOffset(q.Partition, kafka.ErrInvalidRequest))
			default:
				p := b.Replicas.ListOffsets(t.Topic, kafka.BrokerID(req.ReplicaID), kafka.IsolationLevel(req.IsolationLevel), q)
				if req.Version < 5 && kafka.ErrorCode(p.ErrorCode) == kafka.ErrOffsetNotAvailable {
					p.ErrorCode = int16(kafka.ErrLeaderNotAvailable)
				}
				a.add(t.Topic, p)
			}
			asked[tp] = 0
		}
	}
	c.ReplyMessage(a.resp)
}

// offsetsAnswer is an answer in the making. Topics appear when they have a
// partition, each once.
type offsetsAnswer struct {
	resp   *kmsg.ListOffsetsResponse
	topics map[string]int // where they stand in the answer
}

func (a *offsetsAnswer) add(topic string, p kmsg.ListOffsetsResponseTopicPartition) {
	at, ok := a.topics[topic]
	if !ok {
		if a.topics == nil {
			a.topics = map[string]int{}
		}
		at = len(a.resp.Topics)
		a.topics[topic] = at
		a.resp.Topics = append(a.resp.Topics, kmsg.ListOffsetsResponseTopic{Topic: topic})
	}
	t := &a.resp.Topics[at]
	t.Partitions = append(t.Partitions, p)
}

func noOffset(partition int32, code kafka.ErrorCode) kmsg.ListOffsetsResponseTopicPartition {
	p := kmsg.NewListOffsetsResponseTopicPartition()
	p.Partition, p.ErrorCode = partition, int16(code)
	p.Timestamp, p.Offset = kafka.NoTimestamp, int64(kafka.NoOffset)
	return p
}

// timestampVersions says from which version on a special timestamp is known.
var timestampVersions = map[kafka.TimestampMs]int16{
	kafka.TimestampMax: 7, kafka.TimestampEarliestLocal: 8, kafka.TimestampLatestTiered: 9, kafka.TimestampEarliestPendingUpload: 11,
}

func knowsTimestamp(version int16, timestamp kafka.TimestampMs) bool {
	if timestamp >= kafka.TimestampEarliest {
		return true
	}
	from, ok := timestampVersions[timestamp]
	return ok && version >= from
}

// countPartitions says how often the request names each partition.
func countPartitions(req *kmsg.ListOffsetsRequest) map[kafka.TopicPartition]int {
	n := map[kafka.TopicPartition]int{}
	for i := range req.Topics {
		for j := range req.Topics[i].Partitions {
			n[kafka.TopicPartition{Topic: req.Topics[i].Topic, Partition: req.Topics[i].Partitions[j].Partition}]++
		}
	}
	return n
}

// offsetForLeaderEpoch serves OffsetForLeaderEpoch v2-v4 (KIP-279, KIP-320).
func (b *Broker) offsetForLeaderEpoch(c *call) {
	req := c.Msg.(*kmsg.OffsetForLeaderEpochRequest)
	resp := kmsg.NewPtrOffsetForLeaderEpochResponse()
	for i := range req.Topics {
		t := &req.Topics[i]
		out := kmsg.NewOffsetForLeaderEpochResponseTopic()
		out.Topic = t.Topic
		may := c.mayTopic(kmsg.ACLOperationDescribe, t.Topic)
		for j := range t.Partitions {
			if may {
				out.Partitions = append(out.Partitions, b.Replicas.OffsetForLeaderEpoch(t.Topic, &t.Partitions[j]))
				continue
			}
			p := kmsg.NewOffsetForLeaderEpochResponseTopicPartition()
			p.Partition, p.ErrorCode = t.Partitions[j].Partition, int16(kafka.ErrTopicAuthorizationFailed)
			out.Partitions = append(out.Partitions, p)
		}
		resp.Topics = append(resp.Topics, out)
	}
	c.ReplyMessage(resp)
}

// describeProducers serves DescribeProducers v0 (KIP-664).
func (b *Broker) describeProducers(c *call) {
	req := c.Msg.(*kmsg.DescribeProducersRequest)
	resp := kmsg.NewPtrDescribeProducersResponse()
	all := 0
	for i := range req.Topics {
		all += len(req.Topics[i].Partitions)
	}
	named := newRepeats[kafka.TopicPartition](all)
	for _, t := range req.Topics {
		out := kmsg.NewDescribeProducersResponseTopic()
		out.Topic = t.Topic
		for _, partition := range t.Partitions {
			if !named.tooOften(kafka.TopicPartition{Topic: t.Topic, Partition: partition}) {
				out.Partitions = append(out.Partitions, b.describeProducersOf(c, t.Topic, partition))
			}
		}
		resp.Topics = append(resp.Topics, out)
	}
	c.ReplyMessage(resp)
}

func (b *Broker) describeProducersOf(c *call, topic string, partition int32) kmsg.DescribeProducersResponseTopicPartition {
	refused := kmsg.NewDescribeProducersResponseTopicPartition()
	refused.Partition = partition
	if err := kafka.CheckTopicName(topic); err != nil {
		text := err.Error()
		refused.ErrorCode, refused.ErrorMessage = int16(kafka.ErrInvalidTopicException), &text
		return refused
	}
	if !c.mayTopic(kmsg.ACLOperationRead, topic) {
		text := textTopicRefused
		refused.ErrorCode, refused.ErrorMessage = int16(kafka.ErrTopicAuthorizationFailed), &text
		return refused
	}
	if b.Image().Topics.ByName(topic) == nil {
		text := textUnknownTopic
		refused.ErrorCode, refused.ErrorMessage = int16(kafka.ErrUnknownTopicOrPartition), &text
		return refused
	}
	return b.Replicas.DescribeProducers(topic, partition)
}
