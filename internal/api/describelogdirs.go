package api

import (
	"slices"

	"barnabas/internal/kafka"
	"barnabas/internal/replica"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// describeLogDirs serves DescribeLogDirs v1-v5: v3 an error code of its own, v4
// the size of the volume (KIP-827), v5 whether a directory is cordoned (KIP-1066).
// No topics at all (null) asks for everything. Topics and partitions come in order.
func (b *Broker) describeLogDirs(c *call) {
	req, resp := c.Msg.(*kmsg.DescribeLogDirsRequest), kmsg.NewPtrDescribeLogDirsResponse()
	if !c.mayCluster(kmsg.ACLOperationDescribe) {
		resp.ErrorCode = int16(kafka.ErrClusterAuthorizationFailed)
		c.ReplyMessage(resp)
		return
	}
	for _, d := range b.Replicas.LogDirs(wantedReplicas(req)) {
		resp.Dirs = append(resp.Dirs, logDir(d))
	}
	c.ReplyMessage(resp)
}

// wantedReplicas says which replicas the request asks for.
func wantedReplicas(req *kmsg.DescribeLogDirsRequest) func(kafka.TopicPartition) bool {
	if req.Topics == nil {
		return func(kafka.TopicPartition) bool { return true }
	}
	wanted := map[kafka.TopicPartition]bool{}
	for _, t := range req.Topics {
		for _, partition := range t.Partitions {
			wanted[kafka.TopicPartition{Topic: t.Topic, Partition: partition}] = true
		}
	}
	return func(tp kafka.TopicPartition) bool { return wanted[tp] }
}

func logDir(d replica.LogDir) kmsg.DescribeLogDirsResponseDir {
	out := kmsg.NewDescribeLogDirsResponseDir()
	out.Dir, out.ErrorCode, out.IsCordoned = d.Path, int16(d.Code), d.Cordoned
	out.TotalBytes, out.UsableBytes = d.Total, d.Usable
	slices.SortFunc(d.Replicas, func(a, b replica.LogDirReplica) int { return a.TopicPartition.Compare(b.TopicPartition) })
	for _, r := range d.Replicas {
		if n := len(out.Topics); n == 0 || out.Topics[n-1].Topic != r.Topic {
			t := kmsg.NewDescribeLogDirsResponseDirTopic()
			t.Topic = r.Topic
			out.Topics = append(out.Topics, t)
		}
		t := &out.Topics[len(out.Topics)-1]
		p := kmsg.NewDescribeLogDirsResponseDirTopicPartition()
		p.Partition, p.Size, p.OffsetLag = r.Partition, r.Size, int64(r.Lag)
		t.Partitions = append(t.Partitions, p)
	}
	return out
}
