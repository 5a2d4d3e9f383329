package group

import (
	"barnabas/internal/coordinator/assign"
	"barnabas/internal/coordinator/consumergroup"
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// DescribeConsumer serves one group of ConsumerGroupDescribe, as it is committed:
// version 1 says which protocol a member uses (KIP-1099).
func (c *Core) DescribeConsumer(id string) kmsg.ConsumerGroupDescribeResponseGroup {
	resp := kmsg.NewConsumerGroupDescribeResponseGroup()
	resp.Group, resp.AuthorizedOperations = id, noOperations
	e, ok := c.groups.GetCommitted(id)
	if !ok || e.consumer == nil {
		text := "Group " + id + " not found."
		if ok {
			text = "Group " + id + " is not a consumer group."
		}
		resp.ErrorCode, resp.ErrorMessage = int16(kafka.ErrGroupIDNotFound), &text
		return resp
	}
	g, topics := e.consumer, c.topics()
	resp.State, resp.Epoch, resp.AssignmentEpoch, resp.AssignorName = g.State(), g.Epoch, g.TargetEpoch, g.Assignor()
	if resp.AssignorName == "" {
		resp.AssignorName = c.settings.defaultAssignor()
	}
	for m := range g.Members() {
		resp.Members = append(resp.Members, describeMember(g, m, topics))
	}
	return resp
}

func describeMember(g *consumergroup.Group, m *consumergroup.Member, topics consumergroup.Topics) kmsg.ConsumerGroupDescribeResponseGroupMember {
	rm := kmsg.NewConsumerGroupDescribeResponseGroupMember()
	rm.MemberID, rm.InstanceID, rm.RackID, rm.MemberEpoch = m.ID, m.Instance, m.Rack, m.Epoch
	rm.ClientID, rm.ClientHost, rm.SubscribedTopics, rm.SubscribedTopicRegex = m.ClientID, m.ClientHost, m.Topics, &m.Regex
	rm.MemberType = 1
	if m.Classic != nil {
		rm.MemberType = 0
	}
	rm.Assignment.TopicPartitions = described(m.Held(), topics)
	rm.TargetAssignment.TopicPartitions = described(g.Target(m.ID), topics)
	return rm
}

// described is an assignment with the names of its topics; those that are no more are
// left out.
func described(a assign.Assignment, topics consumergroup.Topics) []kmsg.AssignmentTopicPartition {
	var list []kmsg.AssignmentTopicPartition
	for i := range a {
		t, ok := topics.ByID(a[i].Topic)
		if !ok {
			continue
		}
		rt := kmsg.NewAssignmentTopicPartition()
		rt.TopicID, rt.Topic, rt.Partitions = t.ID, t.Name, a[i].Numbers
		list = append(list, rt)
	}
	return list
}
