package api

import (
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// listOffsets serves ListOffsets v1-v11: v2 isolation level, v4 leader epochs, v7
// the offset of the largest timestamp (KIP-734), v8 earliest local, v9 latest
// tiered, v10 a timeout for tiered storage, v11 earliest pending upload.
func (b *Broker) listOffsets(c *call) {
	req := c.Msg.(*kmsg.ListOffsetsRequest)
	resp := kmsg.NewPtrListOffsetsResponse()
	twice := duplicatePartitions(req)
	for i := range req.Topics {
		t := &req.Topics[i]
		out := kmsg.NewListOffsetsResponseTopic()
		out.Topic = t.Topic
		may := c.mayTopic(kmsg.ACLOperationDescribe, t.Topic)
		for j := range t.Partitions {
			q := &t.Partitions[j]
			switch {
			case !may:
				out.Partitions = append(out.Partitions, noOffset(q.Partition, kafka.ErrTopicAuthorizationFailed))
			case twice[kafka.TopicPartition{Topic: t.Topic, Partition: q.Partition}]:
				out.Partitions = append(out.Partitions, noOffset(q.Partition, kafka.ErrInvalidRequest))
			case !knowsTimestamp(req.Version, q.Timestamp):
				out.Partitions = append(out.Partitions, noOffset(q.Partition, kafka.ErrUnsupportedVersion))
			default:
				p := b.Replicas.ListOffsets(t.Topic, kafka.BrokerID(req.ReplicaID), kafka.IsolationLevel(req.IsolationLevel), q)
				if req.Version < 5 && kafka.ErrorCode(p.ErrorCode) == kafka.ErrOffsetNotAvailable {
					p.ErrorCode = int16(kafka.ErrLeaderNotAvailable)
				}
				out.Partitions = append(out.Partitions, p)
			}
		}
		resp.Topics = append(resp.Topics, out)
	}
	c.ReplyMessage(resp)
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

// duplicatePartitions are those that the request names more than once.
func duplicatePartitions(req *kmsg.ListOffsetsRequest) map[kafka.TopicPartition]bool {
	seen := map[kafka.TopicPartition]bool{}
	var twice map[kafka.TopicPartition]bool
	for _, t := range req.Topics {
		for _, p := range t.Partitions {
			tp := kafka.TopicPartition{Topic: t.Topic, Partition: p.Partition}
			if seen[tp] {
				if twice == nil {
					twice = map[kafka.TopicPartition]bool{}
				}
				twice[tp] = true
			}
			seen[tp] = true
		}
	}
	return twice
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
	for _, t := range req.Topics {
		out := kmsg.NewDescribeProducersResponseTopic()
		out.Topic = t.Topic
		for _, partition := range t.Partitions {
			out.Partitions = append(out.Partitions, b.describeProducersOf(c, t.Topic, partition))
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
		refused.ErrorCode = int16(kafka.ErrTopicAuthorizationFailed)
		return refused
	}
	return b.Replicas.DescribeProducers(topic, partition)
}
