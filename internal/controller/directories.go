package controller

import (
	"slices"

	"barnabas/internal/kafka"
	"barnabas/internal/metadata/image"
	"barnabas/internal/metadata/metarec"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// AssignReplicasToDirs serves AssignReplicasToDirs v0 (KIP-858): a broker tells in
// which log directory its replicas lie.
func (c *Controller) AssignReplicasToDirs(ctx Context, req *kmsg.AssignReplicasToDirsRequest, done func(*kmsg.AssignReplicasToDirsResponse)) {
	answer := req.ResponseKind().(*kmsg.AssignReplicasToDirsResponse)
	c.submit(operation{
		name: "assign replicas to directories",
		decide: func(a *active) (decision, *refusal) {
			if a.version < kafka.MetadataVersionDirectories {
				return decision{}, refuse(kafka.ErrUnsupportedVersion, "Directory assignment is not supported yet.")
			}
			id := kafka.BrokerID(req.BrokerID)
			if refused := a.checkEpoch(id, kafka.BrokerEpoch(req.BrokerEpoch)); refused != nil {
				return decision{}, refused
			}
			return decision{
				records:   a.assignDirectories(a.image.Cluster.Broker(id), req, answer),
				divisible: true,
				answer:    func() { done(answer) },
			}, nil
		},
		refuse: func(r refusal) {
			answer.ErrorCode, answer.Directories = int16(r.code), nil
			done(answer)
		},
	})
}

// assignDirectories fills the answer and returns the records. A replica that is
// told to lie in a directory that is offline leaves ISR and leadership.
func (a *active) assignDirectories(b *image.Broker, req *kmsg.AssignReplicasToDirsRequest, answer *kmsg.AssignReplicasToDirsResponse) (records []metarec.Message) {
	var away []metarec.Message
	for _, d := range req.Directories {
		dr := kmsg.NewAssignReplicasToDirsResponseDirectory()
		dr.ID = d.ID
		for _, t := range d.Topics {
			tr := kmsg.NewAssignReplicasToDirsResponseDirectoryTopic()
			tr.TopicID = t.TopicID
			topic := a.image.Topics.ByID(t.TopicID)
			for _, p := range t.Partitions {
				pr := kmsg.NewAssignReplicasToDirsResponseDirectoryTopicPartition()
				pr.Partition = p.Partition
				code, moved, left := a.assignDirectory(b, d.ID, topic, p.Partition)
				pr.ErrorCode = int16(code)
				if moved != nil {
					records = append(records, moved)
				}
				if left != nil {
					away = append(away, left)
				}
				tr.Partitions = append(tr.Partitions, pr)
			}
			dr.Topics = append(dr.Topics, tr)
		}
		answer.Directories = append(answer.Directories, dr)
	}
	return append(records, away...)
}

func (a *active) assignDirectory(b *image.Broker, directory kafka.UUID, topic *image.Topic, number int32) (code kafka.ErrorCode, moved, left metarec.Message) {
	if topic == nil {
		return kafka.ErrUnknownTopicID, nil, nil
	}
	p := topic.Partition(number)
	switch {
	case p == nil:
		return kafka.ErrUnknownTopicOrPartition, nil, nil
	case !slices.Contains(p.Replicas, b.ID):
		return kafka.ErrNotLeaderOrFollower, nil, nil
	}
	rules := a.rulesOf(topic)
	change := a.change(topic, number, p, rules)
	change.MovedBroker, change.MovedTo = b.ID, directory
	if r := change.Record(); r != nil {
		moved = r
	}
	if !b.HasDirectory(directory) {
		if r := a.passingRecord(gone(b.ID), topic, number, p, rules); r != nil {
			left = r
		}
	}
	return kafka.ErrNone, moved, left
}
