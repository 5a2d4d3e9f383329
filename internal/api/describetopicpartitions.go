package api

import (
	"slices"

	"barnabas/internal/kafka"
	"barnabas/internal/metadata/image"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// describeTopicPartitions serves DescribeTopicPartitions v0 (KIP-966): metadata of
// topics in pages of a limited number of partitions, sorted by name.
func (b *Broker) describeTopicPartitions(c *call) {
	req := c.Msg.(*kmsg.DescribeTopicPartitionsRequest)
	resp := kmsg.NewPtrDescribeTopicPartitionsResponse()
	if badCursor(req) {
		for _, t := range req.Topics {
			out := kmsg.NewDescribeTopicPartitionsResponseTopic()
			out.Topic, out.ErrorCode, out.AuthorizedOperations = &t.Topic, int16(kafka.ErrInvalidRequest), noOperations
			resp.Topics = append(resp.Topics, out)
		}
		c.ReplyMessage(resp)
		return
	}
	p := partitionPager{b: b, c: c, img: b.Image(), resp: resp,
		left: max(1, min(b.Config.Topics.MaxRequestPartitionSize, int(req.ResponsePartitionLimit)))}
	from, first := "", int32(0)
	if req.Cursor != nil {
		from, first = req.Cursor.Topic, req.Cursor.Partition
	}
	for name := range p.names(req, from) {
		if name != from {
			first = 0
		}
		if !p.add(name, first, len(req.Topics) > 0) {
			break
		}
	}
	c.ReplyMessage(resp)
}

// badCursor says whether the cursor points at something that was not asked for.
func badCursor(req *kmsg.DescribeTopicPartitionsRequest) bool {
	if req.Cursor == nil {
		return false
	}
	asked := len(req.Topics) == 0 || slices.ContainsFunc(req.Topics, func(t kmsg.DescribeTopicPartitionsRequestTopic) bool { return t.Topic == req.Cursor.Topic })
	return req.Cursor.Partition < 0 || !asked
}

// partitionPager fills an answer until it is full.
type partitionPager struct {
	b    *Broker
	c    *call
	img  *image.Image
	resp *kmsg.DescribeTopicPartitionsResponse
	left int // partitions that still fit
}

// names are the topics of the request from that name on, or all of them, sorted.
func (p *partitionPager) names(req *kmsg.DescribeTopicPartitionsRequest, from string) func(func(string) bool) {
	return func(yield func(string) bool) {
		if len(req.Topics) == 0 {
			for t := range p.img.Topics.From(from) {
				if !yield(t.Name) {
					return
				}
			}
			return
		}
		var names []string
		for _, t := range req.Topics {
			if t.Topic >= from {
				names = append(names, t.Topic)
			}
		}
		slices.Sort(names)
		for _, n := range slices.Compact(names) {
			if !yield(n) {
				return
			}
		}
	}
}

// add adds a topic from a partition on. It is false when the answer is full; the
// cursor says then where to go on.
func (p *partitionPager) add(name string, first int32, named bool) bool {
	out := kmsg.NewDescribeTopicPartitionsResponseTopic()
	out.Topic, out.IsInternal, out.AuthorizedOperations = &name, kafka.IsInternalTopic(name), noOperations
	if !p.c.mayTopic(kmsg.ACLOperationDescribe, name) {
		if named {
			out.ErrorCode = int16(kafka.ErrTopicAuthorizationFailed)
			p.resp.Topics = append(p.resp.Topics, out)
		}
		return true
	}
	if p.left == 0 {
		p.cut(name, first)
		return false
	}
	out.AuthorizedOperations = p.c.topicOperations(name)
	t := p.img.Topics.ByName(name)
	if t == nil {
		out.ErrorCode = int16(notThere(name))
		p.resp.Topics = append(p.resp.Topics, out)
		return true
	}
	out.TopicID = t.ID
	full := false
	for id, part := range t.All() {
		if id < first {
			continue
		}
		if p.left == 0 {
			p.cut(name, id)
			full = true
			break
		}
		p.left--
		out.Partitions = append(out.Partitions, p.partition(id, part))
	}
	p.resp.Topics = append(p.resp.Topics, out)
	return !full
}

func (p *partitionPager) cut(topic string, partition int32) {
	c := kmsg.NewDescribeTopicPartitionsResponseNextCursor()
	c.Topic, c.Partition = topic, partition
	p.resp.NextCursor = &c
}

func (p *partitionPager) partition(id int32, part *image.Partition) kmsg.DescribeTopicPartitionsResponseTopicPartition {
	out := kmsg.NewDescribeTopicPartitionsResponseTopicPartition()
	out.Partition, out.LeaderID, out.LeaderEpoch = id, int32(part.Leader), int32(part.LeaderEpoch)
	out.Replicas, out.ISR = ids(part.Replicas), ids(part.ISR)
	out.EligibleLeaderReplicas, out.LastKnownELR = ids(part.ELR()), ids(part.LastKnownELR())
	out.OfflineReplicas = p.b.offlineReplicas(p.img, part, p.c)
	if part.Leader == kafka.NoBroker {
		out.ErrorCode = int16(kafka.ErrLeaderNotAvailable)
	} else if _, _, ok := p.b.leaderEndpoint(p.img, part.Leader, p.c.conn); !ok {
		out.LeaderID = int32(kafka.NoBroker)
		out.ErrorCode = int16(kafka.ErrListenerNotFound)
	}
	return out
}
