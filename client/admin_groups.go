package client

import (
	"context"
	"errors"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
)

// GroupListing is a group in a list.
type GroupListing struct {
	GroupID  string
	Type     string // "Classic", "Consumer", and others to come
	Protocol string // "consumer", "connect" and so on
	State    string // such as "Stable", "Empty"
}

// ListGroups lists the groups of all coordinators (listGroups).
func (a *Admin) ListGroups(ctx context.Context) (groups []GroupListing, err error) {
	err = a.call(ctx, "listGroups", func(ctx context.Context) error {
		listed, err := a.kadm.ListGroups(ctx)
		for _, g := range listed.Sorted() {
			groups = append(groups, GroupListing{g.Group, g.GroupType, g.ProtocolType, g.State})
		}
		return err
	})
	return groups, err
}

// GroupDescription is a group of consumers.
type GroupDescription struct {
	GroupID     string
	Type        string // "Classic" or "Consumer"
	State       string
	Assignor    string
	Epoch       int32 // of a group of type Consumer
	Coordinator int32
	Members     []MemberDescription
}

// MemberDescription is a member of a group.
type MemberDescription struct {
	MemberID   string
	InstanceID string
	ClientID   string
	Host       string
	Epoch      int32 // of a member of a group of type Consumer
	Assignment []TopicPartition
}

// DescribeConsumerGroups describes groups of either protocol (describeConsumerGroups).
// A group that doesn't exist is ErrUnknownGroup; before Kafka 4 it is in state Dead.
func (a *Admin) DescribeConsumerGroups(ctx context.Context, groups ...string) (described map[string]GroupDescription, err error) {
	described = make(map[string]GroupDescription)
	err = a.call(ctx, "describeConsumerGroups", func(ctx context.Context) error {
		var all refusals
		for _, group := range groups {
			d, err := a.describe(ctx, group)
			if err == nil {
				described[group] = d
			}
			all.add("group "+group, err, "")
		}
		return all.join()
	})
	return described, err
}

// describe asks as for a group of type Consumer, and as for a classic one where it
// isn't one, or where brokers know no other.
func (a *Admin) describe(ctx context.Context, group string) (GroupDescription, error) {
	next, err := a.kadm.DescribeConsumerGroups(ctx, group)
	if d, ok := next[group]; err == nil && ok && d.Err == nil {
		return describedNext(d), nil
	} else if err == nil && ok && !errors.Is(d.Err, kerr.GroupIDNotFound) && !errors.Is(d.Err, kerr.UnsupportedVersion) {
		return GroupDescription{}, d.Err
	}
	classic, err := a.kadm.DescribeGroups(ctx, group)
	if err != nil {
		return GroupDescription{}, err
	}
	d, ok := classic[group]
	if !ok {
		return GroupDescription{}, kerr.GroupIDNotFound
	}
	return describedClassic(d), d.Err
}

func describedNext(d kadm.DescribedConsumerGroup) GroupDescription {
	g := GroupDescription{GroupID: d.Group, Type: "Consumer", State: d.State, Assignor: d.AssignorName, Epoch: d.Epoch, Coordinator: d.Coordinator.NodeID}
	for _, m := range d.Members {
		g.Members = append(g.Members, MemberDescription{m.MemberID, textOf(m.InstanceID), m.ClientID, m.ClientHost, m.MemberEpoch, ofSet(m.Assignment)})
	}
	return g
}

func describedClassic(d kadm.DescribedGroup) GroupDescription {
	g := GroupDescription{GroupID: d.Group, Type: "Classic", State: d.State, Assignor: d.Protocol, Coordinator: d.Coordinator.NodeID}
	for _, m := range d.Members {
		one := MemberDescription{MemberID: m.MemberID, InstanceID: textOf(m.InstanceID), ClientID: m.ClientID, Host: m.ClientHost}
		if assigned, ok := m.Assigned.AsConsumer(); ok {
			partitions := map[string][]int32{}
			for _, t := range assigned.Topics {
				partitions[t.Topic] = t.Partitions
			}
			one.Assignment = flat(partitions)
		}
		g.Members = append(g.Members, one)
	}
	return g
}

func ofSet(s kadm.TopicsSet) []TopicPartition {
	partitions := map[string][]int32{}
	for topic, numbers := range s {
		for n := range numbers {
			partitions[topic] = append(partitions[topic], n)
		}
	}
	return flat(partitions)
}

// DeleteConsumerGroups deletes groups without members, with their offsets
// (deleteConsumerGroups). ErrGroupNotEmpty, ErrUnknownGroup.
func (a *Admin) DeleteConsumerGroups(ctx context.Context, groups ...string) error {
	return a.call(ctx, "deleteConsumerGroups", func(ctx context.Context) error {
		r, err := a.kadm.DeleteGroups(ctx, groups...)
		if err != nil {
			return err
		}
		var all refusals
		for _, g := range r.Sorted() {
			all.add("group "+g.Group, g.Err, g.ErrMessage)
		}
		return all.join()
	})
}

// ListConsumerGroupOffsets is all that a group has committed (listConsumerGroupOffsets).
func (a *Admin) ListConsumerGroupOffsets(ctx context.Context, group string) (offsets Offsets, err error) {
	err = a.call(ctx, "listConsumerGroupOffsets", func(ctx context.Context) error {
		offsets, err = committed(ctx, a.engine, group, nil)
		return err
	})
	return offsets, err
}

// AlterConsumerGroupOffsets sets offsets of a group that has no members
// (alterConsumerGroupOffsets). With members: ErrUnknownMember.
func (a *Admin) AlterConsumerGroupOffsets(ctx context.Context, group string, offsets Offsets) error {
	return a.call(ctx, "alterConsumerGroupOffsets", func(ctx context.Context) error {
		return commitTo(ctx, a.kadm, group, offsets)
	})
}

// DeleteConsumerGroupOffsets forgets offsets of a group (deleteConsumerGroupOffsets).
// While a member reads the topic: ErrSubscribedToTopic.
func (a *Admin) DeleteConsumerGroupOffsets(ctx context.Context, group string, partitions ...TopicPartition) error {
	return a.call(ctx, "deleteConsumerGroupOffsets", func(ctx context.Context) error {
		set := kadm.TopicsSet{}
		for _, tp := range partitions {
			set.Add(tp.Topic, tp.Partition)
		}
		r, err := a.kadm.DeleteOffsets(ctx, group, set)
		if err != nil {
			return refusal("group "+group, err, "")
		}
		var all refusals
		for topic, of := range r {
			for partition, err := range of {
				all.add("partition "+TopicPartition{topic, partition}.String(), err, "")
			}
		}
		return all.join()
	})
}

// OffsetSpec is which offset of a partition is asked for.
type OffsetSpec struct {
	kind  listKind
	milli int64
}

// The specifications of offsets (OffsetSpec); TimestampOffset makes the others.
var (
	EarliestOffset = OffsetSpec{kind: beginning}
	LatestOffset   = OffsetSpec{kind: end}
)

// TimestampOffset is the first record not older than a time in milliseconds since 1970.
func TimestampOffset(milli int64) OffsetSpec { return OffsetSpec{atTime, milli} }

// ListOffsets lists offsets of partitions (listOffsets). Where a time has no record the
// partition is not in the answer.
func (a *Admin) ListOffsets(ctx context.Context, spec OffsetSpec, partitions ...TopicPartition) (offsets map[TopicPartition]int64, err error) {
	offsets = make(map[TopicPartition]int64)
	err = a.call(ctx, "listOffsets", func(ctx context.Context) error {
		listed, err := listOffsets(ctx, a.kadm, spec.kind, spec.milli, false, partitions)
		for tp, l := range listed {
			if spec.kind != atTime || l.Timestamp >= 0 {
				offsets[tp] = l.Offset
			}
		}
		return err
	})
	return offsets, err
}
