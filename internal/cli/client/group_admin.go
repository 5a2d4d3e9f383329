package client

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/internal/kafka"
)

// groupDescription is a group as a broker describes it, of the classic protocol
// or that of KIP-848.
type groupDescription struct {
	id          string
	state       string
	assignor    string
	coordinator kgo.BrokerMetadata
	members     []groupMember
	// epoch and assignmentEpoch are of KIP-848; nil for classic groups.
	epoch, assignmentEpoch *int32
}

// groupMember is a member of a group.
type groupMember struct {
	id, instance, client, host string
	assigned                   []kafka.TopicPartition
	// target and epoch are of KIP-848; epoch is nil for members of classic groups.
	target []kafka.TopicPartition
	epoch  *int32
	// upgraded says, in groups of KIP-848, whether the member speaks its protocol;
	// nil if the broker does not say.
	upgraded *bool
}

// serves says whether the cluster answers an API.
func serves(ctx context.Context, cl *kgo.Client, key int16) (bool, error) {
	resp, err := apiVersionsRequest().RequestWith(ctx, cl)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(resp.ApiKeys, func(k kmsg.ApiVersionsResponseApiKey) bool { return k.ApiKey == key }), codeError(resp.ErrorCode, nil)
}

// describeGroups describes groups: first as groups of KIP-848, and those that are
// none as classic groups. What is wrong with a single group stands in the second
// map.
func describeGroups(ctx context.Context, cl *kgo.Client, ids []string) (map[string]*groupDescription, map[string]error, error) {
	found, failed := map[string]*groupDescription{}, map[string]error{}
	texts := map[string]*string{} // of KIP-848's answer that there is no such group
	modern, err := serves(ctx, cl, (*kmsg.ConsumerGroupDescribeRequest)(nil).Key())
	if err != nil {
		return nil, nil, err
	}
	rest := ids
	if modern && len(ids) > 0 {
		if rest, err = describeConsumerGroups(ctx, cl, ids, found, failed, texts); err != nil {
			return nil, nil, err
		}
	}
	if len(rest) > 0 {
		err = describeClassicGroups(ctx, cl, rest, found, failed, texts)
	}
	return found, failed, err
}

// describeConsumerGroups returns the ids of groups that are not of KIP-848.
func describeConsumerGroups(ctx context.Context, cl *kgo.Client, ids []string, found map[string]*groupDescription, failed map[string]error, texts map[string]*string) (rest []string, err error) {
	req := kmsg.NewPtrConsumerGroupDescribeRequest()
	req.Groups = ids
	for _, shard := range cl.RequestSharded(ctx, req) {
		if shard.Err != nil {
			return nil, shard.Err
		}
		for _, g := range shard.Resp.(*kmsg.ConsumerGroupDescribeResponse).Groups {
			switch kafka.ErrorCode(g.ErrorCode) {
			case kafka.ErrNone:
				found[g.Group] = consumerGroup(shard.Meta, g)
			case kafka.ErrGroupIDNotFound, kafka.ErrUnsupportedVersion:
				texts[g.Group] = g.ErrorMessage
				rest = append(rest, g.Group)
			default:
				failed[g.Group] = codeError(g.ErrorCode, g.ErrorMessage)
			}
		}
	}
	return rest, nil
}

func consumerGroup(coordinator kgo.BrokerMetadata, g kmsg.ConsumerGroupDescribeResponseGroup) *groupDescription {
	d := &groupDescription{id: g.Group, state: g.State, assignor: g.AssignorName, coordinator: coordinator, epoch: &g.Epoch, assignmentEpoch: &g.AssignmentEpoch}
	for _, m := range g.Members {
		member := groupMember{id: m.MemberID, client: m.ClientID, host: m.ClientHost, epoch: &m.MemberEpoch,
			assigned: assignmentPartitions(m.Assignment), target: assignmentPartitions(m.TargetAssignment)}
		if m.InstanceID != nil {
			member.instance = *m.InstanceID
		}
		if m.MemberType >= 0 {
			upgraded := m.MemberType == 1
			member.upgraded = &upgraded
		}
		d.members = append(d.members, member)
	}
	return d
}

func assignmentPartitions(a kmsg.Assignment) []kafka.TopicPartition {
	var out []kafka.TopicPartition
	for _, t := range a.TopicPartitions {
		for _, p := range t.Partitions {
			out = append(out, kafka.TopicPartition{Topic: t.Topic, Partition: p})
		}
	}
	return out
}

func describeClassicGroups(ctx context.Context, cl *kgo.Client, ids []string, found map[string]*groupDescription, failed map[string]error, texts map[string]*string) error {
	req := kmsg.NewPtrDescribeGroupsRequest()
	req.Groups = ids
	for _, shard := range cl.RequestSharded(ctx, req) {
		if shard.Err != nil {
			return shard.Err
		}
		for _, g := range shard.Resp.(*kmsg.DescribeGroupsResponse).Groups {
			if err := classicGroupError(g, texts[g.Group]); err != nil {
				failed[g.Group] = err
				continue
			}
			d, err := classicGroup(shard.Meta, g)
			if err != nil {
				return err
			}
			found[g.Group] = d
		}
	}
	return nil
}

func classicGroupError(g kmsg.DescribeGroupsResponseGroup, text *string) error {
	if kafka.ErrorCode(g.ErrorCode) == kafka.ErrGroupIDNotFound && text != nil {
		return codeError(g.ErrorCode, text)
	}
	if err := codeError(g.ErrorCode, g.ErrorMessage); err != nil {
		return err
	}
	if g.ProtocolType != "" && g.ProtocolType != "consumer" {
		return illegalArgument("GroupId %s is not a consumer group (%s).", g.Group, g.ProtocolType)
	}
	return nil
}

func classicGroup(coordinator kgo.BrokerMetadata, g kmsg.DescribeGroupsResponseGroup) (*groupDescription, error) {
	d := &groupDescription{id: g.Group, state: g.State, assignor: g.Protocol, coordinator: coordinator}
	for _, m := range g.Members {
		member := groupMember{id: m.MemberID, client: m.ClientID, host: m.ClientHost}
		if m.InstanceID != nil {
			member.instance = *m.InstanceID
		}
		if len(m.MemberAssignment) > 0 {
			var a kmsg.ConsumerMemberAssignment
			if err := a.ReadFrom(m.MemberAssignment); err != nil {
				return nil, fmt.Errorf("assignment of member %s: %w", m.MemberID, err)
			}
			for _, t := range a.Topics {
				for _, p := range t.Partitions {
					member.assigned = append(member.assigned, kafka.TopicPartition{Topic: t.Topic, Partition: p})
				}
			}
		}
		d.members = append(d.members, member)
	}
	return d, nil
}

// committed is a committed offset; epoch is nil if none was committed with it.
type committed struct {
	offset int64
	epoch  *int32
}

// committedOffsets fetches all offsets of a group; order lists the partitions as
// Apache's admin client keeps them.
func committedOffsets(ctx context.Context, cl *kgo.Client, group string) (offsets map[kafka.TopicPartition]committed, order []kafka.TopicPartition, err error) {
	fetched, err := kadm.NewClient(cl).FetchOffsets(ctx, group)
	if err != nil {
		return nil, nil, named(err)
	}
	offsets = map[kafka.TopicPartition]committed{}
	for _, o := range fetched.Sorted() {
		if o.Err != nil {
			return nil, nil, named(o.Err)
		}
		if o.At < 0 {
			continue
		}
		c := committed{offset: o.At}
		if o.LeaderEpoch >= 0 {
			epoch := o.LeaderEpoch
			c.epoch = &epoch
		}
		p := kafka.TopicPartition{Topic: o.Topic, Partition: o.Partition}
		offsets[p] = c
		order = append(order, p)
	}
	return offsets, asInHashMap(order, partitionHash, smallestTable), nil
}

// listOffsets asks the leaders for the offsets of a timestamp; partitions without
// such an offset have -1.
func listOffsets(ctx context.Context, cl *kgo.Client, partitions []kafka.TopicPartition, timestamp int64) (map[kafka.TopicPartition]int64, error) {
	offsets := map[kafka.TopicPartition]int64{}
	if len(partitions) == 0 {
		return offsets, nil
	}
	for _, shard := range cl.RequestSharded(ctx, listOffsetsRequest(partitions, timestamp)) {
		if shard.Err != nil {
			return nil, named(shard.Err)
		}
		for _, t := range shard.Resp.(*kmsg.ListOffsetsResponse).Topics {
			for _, p := range t.Partitions {
				if err := codeError(p.ErrorCode, nil); err != nil {
					return nil, err
				}
				offsets[kafka.TopicPartition{Topic: t.Topic, Partition: p.Partition}] = p.Offset
			}
		}
	}
	return offsets, nil
}

func listOffsetsRequest(partitions []kafka.TopicPartition, timestamp int64) *kmsg.ListOffsetsRequest {
	req := kmsg.NewPtrListOffsetsRequest()
	req.ReplicaID, req.TimeoutMillis = -1, int32(adminTimeout.Milliseconds())
	at := map[string]int{}
	for _, p := range partitions {
		i, ok := at[p.Topic]
		if !ok {
			i = len(req.Topics)
			at[p.Topic] = i
			t := kmsg.NewListOffsetsRequestTopic()
			t.Topic = p.Topic
			req.Topics = append(req.Topics, t)
		}
		rp := kmsg.NewListOffsetsRequestTopicPartition()
		rp.Partition, rp.CurrentLeaderEpoch, rp.Timestamp = p.Partition, -1, timestamp
		req.Topics[i].Partitions = append(req.Topics[i].Partitions, rp)
	}
	return req
}

// partitionsOf lists all partitions of topics, and those without a leader.
func partitionsOf(ctx context.Context, cl *kgo.Client, topics []string) (all []kafka.TopicPartition, leaderless map[kafka.TopicPartition]bool, err error) {
	leaderless = map[kafka.TopicPartition]bool{}
	if len(topics) == 0 {
		return nil, leaderless, nil
	}
	listed, err := kadm.NewClient(cl).ListTopicsWithInternal(ctx, topics...)
	if err != nil {
		return nil, nil, named(err)
	}
	for _, topic := range topics {
		d := listed[topic]
		if d.Err != nil {
			return nil, nil, named(d.Err)
		}
		for _, p := range d.Partitions.Sorted() {
			at := kafka.TopicPartition{Topic: topic, Partition: p.Partition}
			all = append(all, at)
			if p.Leader < 0 {
				leaderless[at] = true
			}
		}
	}
	return all, leaderless, nil
}

// named gives an error of the client library the text that Apache's has.
func named(err error) error {
	var k *kerr.Error
	if errors.As(err, &k) {
		return codeError(k.Code, nil)
	}
	return err
}
