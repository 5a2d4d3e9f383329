package group

import (
	"time"

	"barnabas/internal/coordinator/grouprec"
	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Versions of values that Apache Kafka 4.4 writes.
const (
	offsetVersion         = 4
	offsetExpiringVersion = 1 // the only one with a time of expiry
	groupVersion          = 3
)

// keyOf encodes a key; there is nothing in one that cannot be encoded, for strings
// come from requests or records with lengths of 16 bits.
func keyOf(m grouprec.Message) []byte {
	b, err := grouprec.AppendKey(nil, m)
	if err != nil {
		panic("BUG: group: key of a record: " + err.Error())
	}
	return b
}

func valueOf(m grouprec.Message, version int16) []byte {
	b, err := grouprec.AppendValue(nil, m, version)
	if err != nil {
		panic("BUG: group: value of a record: " + err.Error())
	}
	return b
}

// offsetRecord is the record of a committed offset.
func offsetRecord(now time.Time, req *kmsg.OffsetCommitRequest, t *kmsg.OffsetCommitRequestTopic, p *kmsg.OffsetCommitRequestTopicPartition) machine.Record {
	v := grouprec.NewOffsetCommitValue()
	v.Offset, v.LeaderEpoch = kafka.Offset(p.Offset), kafka.LeaderEpoch(p.LeaderEpoch)
	v.CommitTimestamp, v.TopicID = now.UnixMilli(), t.TopicID
	if p.Metadata != nil {
		v.Metadata = *p.Metadata
	}
	version := int16(offsetVersion)
	if retention := req.RetentionTimeMillis; req.Version <= 4 && retention != -1 {
		version, v.ExpireTimestamp = offsetExpiringVersion, now.UnixMilli()+retention
	}
	return machine.Record{
		Key:   keyOf(&grouprec.OffsetCommitKey{Group: req.Group, Topic: t.Topic, Partition: p.Partition}),
		Value: valueOf(v, version),
	}
}

func offsetTombstone(key offsetKey) machine.Record {
	return machine.Record{Key: keyOf(&grouprec.OffsetCommitKey{Group: key.group, Topic: key.Topic, Partition: key.Partition})}
}

func groupTombstone(id string) machine.Record {
	return machine.Record{Key: keyOf(&grouprec.GroupMetadataKey{Group: id})}
}

// emptyGroupRecord makes a group known that has had no generation yet.
func emptyGroupRecord(g *classicGroup) machine.Record {
	v := grouprec.NewGroupMetadataValue()
	v.CurrentStateTimestamp = g.stateSince
	return machine.Record{Key: keyOf(&grouprec.GroupMetadataKey{Group: g.id}), Value: valueOf(v, groupVersion)}
}

// groupRecord is the generation of a group with the assignments of its members.
func groupRecord(g *classicGroup, assignment func(*member) []byte) machine.Record {
	v := grouprec.NewGroupMetadataValue()
	v.ProtocolType, v.Generation, v.Protocol, v.CurrentStateTimestamp = g.protocolType, g.generation, g.protocol, g.stateSince
	if g.leader != "" {
		v.Leader = &g.leader
	}
	// A group without members may have no protocol.
	for m := range g.all() {
		v.Members = append(v.Members, grouprec.MemberMetadata{
			MemberID: m.id, GroupInstanceID: m.instance, ClientID: m.client.ID, ClientHost: m.client.Host,
			RebalanceTimeout: int32(m.rebalanceTimeout.Milliseconds()), SessionTimeout: int32(m.sessionTimeout.Milliseconds()),
			Subscription: m.metadata(*g.protocol), Assignment: assignment(m),
		})
	}
	return machine.Record{Key: keyOf(&grouprec.GroupMetadataKey{Group: g.id}), Value: valueOf(v, groupVersion)}
}

// assigned is the assignment that the member has.
func (m *member) assigned() []byte { return m.assignment }
