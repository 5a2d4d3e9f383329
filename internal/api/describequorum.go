package api

import (
	"time"

	"barnabas/internal/kafka"
	"barnabas/internal/raft"

	"github.com/twmb/franz-go/pkg/kmsg"
)

const metadataTopic = "__cluster_metadata"

// describeQuorum serves DescribeQuorum v0-v2: v1 times of fetches (KIP-836), v2
// directories and endpoints of voters (KIP-853).
func (b *Broker) describeQuorum(c *call) { describeQuorum(b.Options, c) }

func (c *Controller) describeQuorum(call *call) { describeQuorum(c.Options, call) }

func describeQuorum(o Options, c *call) {
	req := c.Msg.(*kmsg.DescribeQuorumRequest)
	resp, noText := kmsg.NewPtrDescribeQuorumResponse(), ""
	resp.ErrorMessage = &noText
	if !c.mayCluster(kmsg.ACLOperationDescribe) {
		text := textClusterRefused
		resp.ErrorCode, resp.ErrorMessage = int16(kafka.ErrClusterAuthorizationFailed), &text
		c.ReplyMessage(resp)
		return
	}
	if len(req.Topics) != 1 || req.Topics[0].Topic != metadataTopic || len(req.Topics[0].Partitions) != 1 || req.Topics[0].Partitions[0].Partition != 0 {
		refuseQuorumPartitions(resp, req)
		c.ReplyMessage(resp)
		return
	}
	t, p := kmsg.NewDescribeQuorumResponseTopic(), kmsg.NewDescribeQuorumResponseTopicPartition()
	t.Topic, p.ErrorMessage = metadataTopic, &noText
	q := o.Quorum()
	if q.Role != raft.Leader {
		code := kafka.ErrNotLeaderOrFollower
		p.ErrorCode = int16(code)
	} else {
		p.LeaderID, p.LeaderEpoch, p.HighWatermark = int32(q.LeaderID), int32(q.Epoch), int64(q.HighWatermark)
		for _, v := range q.Voters {
			p.CurrentVoters = append(p.CurrentVoters, o.voterState(v, int64(q.LogEnd)))
			resp.Nodes = append(resp.Nodes, voterNode(v))
		}
	}
	t.Partitions = append(t.Partitions, p)
	resp.Topics = append(resp.Topics, t)
	c.ReplyMessage(resp)
}

// refuseQuorumPartitions answers for partitions that are not that of the metadata
// log.
func refuseQuorumPartitions(resp *kmsg.DescribeQuorumResponse, req *kmsg.DescribeQuorumRequest) {
	text := "This server does not host this topic-partition."
	for _, asked := range req.Topics {
		t := kmsg.NewDescribeQuorumResponseTopic()
		t.Topic = asked.Topic
		for _, partition := range asked.Partitions {
			p := kmsg.NewDescribeQuorumResponseTopicPartition()
			p.Partition, p.ErrorCode, p.ErrorMessage = partition.Partition, int16(kafka.ErrUnknownTopicOrPartition), &text
			t.Partitions = append(t.Partitions, p)
		}
		resp.Topics = append(resp.Topics, t)
	}
}

// voterState is how far a voter is. The leader is always up to date; another has
// not been heard of, since this release has quorums of one.
func (o *Options) voterState(v raft.Voter, logEnd int64) kmsg.DescribeQuorumResponseTopicPartitionReplicaState {
	s := kmsg.NewDescribeQuorumResponseTopicPartitionReplicaState()
	s.ReplicaID, s.ReplicaDirectoryID, s.LogEndOffset = int32(v.ID), v.Directory, -1
	if v.ID == o.NodeID {
		now := time.Now().UnixMilli()
		s.LogEndOffset, s.LastFetchTimestamp, s.LastCaughtUpTimestamp = logEnd, now, now
	}
	return s
}

func voterNode(v raft.Voter) kmsg.DescribeQuorumResponseNode {
	n := kmsg.NewDescribeQuorumResponseNode()
	n.NodeID = int32(v.ID)
	for _, e := range v.Endpoints {
		l := kmsg.NewDescribeQuorumResponseNodeListener()
		l.Name, l.Host, l.Port = e.Listener, e.Host, e.Port
		n.Listeners = append(n.Listeners, l)
	}
	return n
}
