package consumergroup

import (
	"barnabas/internal/coordinator/assign"
	"barnabas/internal/coordinator/grouprec"
	"barnabas/internal/kafka"
)

type uuid = kafka.UUID

// record is a key with its value, nil for a tombstone.
type record struct{ key, value grouprec.Message }

func epochRecord(group string, epoch int32, hash int64) record {
	return record{&grouprec.ConsumerGroupMetadataKey{GroupID: group}, &grouprec.ConsumerGroupMetadataValue{Epoch: epoch, MetadataHash: hash}}
}

func oldMetadataTombstone(group string) record {
	return record{&grouprec.ConsumerGroupPartitionMetadataKey{GroupID: group}, nil}
}

func memberRecord(group string, m *Member) record {
	v := grouprec.NewConsumerGroupMemberMetadataValue()
	v.InstanceID, v.RackID, v.ClientID, v.ClientHost = m.Instance, m.Rack, m.ClientID, m.ClientHost
	v.SubscribedTopicNames, v.SubscribedTopicRegex = m.Topics, &m.Regex
	v.RebalanceTimeoutMs, v.ServerAssignor, v.ClassicMemberMetadata = m.RebalanceTimeout, m.Assignor, nil
	if m.Classic != nil {
		v.ClassicMemberMetadata = &grouprec.ClassicMemberMetadata{SessionTimeoutMs: m.Classic.SessionTimeout, SupportedProtocols: m.Classic.Protocols}
	}
	return record{&grouprec.ConsumerGroupMemberMetadataKey{GroupID: group, MemberID: m.ID}, v}
}

func memberTombstone(group, member string) record {
	return record{&grouprec.ConsumerGroupMemberMetadataKey{GroupID: group, MemberID: member}, nil}
}

func targetMetadataRecord(group string, epoch int32, timestamp int64) record {
	return record{
		&grouprec.ConsumerGroupTargetAssignmentMetadataKey{GroupID: group},
		&grouprec.ConsumerGroupTargetAssignmentMetadataValue{AssignmentEpoch: epoch, AssignmentTimestamp: timestamp},
	}
}

func targetMetadataTombstone(group string) record {
	return record{&grouprec.ConsumerGroupTargetAssignmentMetadataKey{GroupID: group}, nil}
}

func targetRecord(group, member string, a assign.Assignment) record {
	v := &grouprec.ConsumerGroupTargetAssignmentMemberValue{TopicPartitions: make([]grouprec.AssignedTopic, len(a))}
	for i := range a {
		v.TopicPartitions[i].TopicID, v.TopicPartitions[i].Partitions = a[i].Topic, a[i].Numbers
	}
	return record{&grouprec.ConsumerGroupTargetAssignmentMemberKey{GroupID: group, MemberID: member}, v}
}

func targetTombstone(group, member string) record {
	return record{&grouprec.ConsumerGroupTargetAssignmentMemberKey{GroupID: group, MemberID: member}, nil}
}

func currentRecord(group string, m *Member) record {
	return record{&grouprec.ConsumerGroupCurrentMemberAssignmentKey{GroupID: group, MemberID: m.ID}, &grouprec.ConsumerGroupCurrentMemberAssignmentValue{
		MemberEpoch: m.Epoch, PreviousMemberEpoch: m.PreviousEpoch, State: int8(m.State),
		AssignedPartitions: m.Assigned.record(), PartitionsPendingRevocation: m.Revoking.record(),
	}}
}

func currentTombstone(group, member string) record {
	return record{&grouprec.ConsumerGroupCurrentMemberAssignmentKey{GroupID: group, MemberID: member}, nil}
}

func regexRecord(group, regex string, r *Resolved) record {
	return record{
		&grouprec.ConsumerGroupRegularExpressionKey{GroupID: group, RegularExpression: regex},
		&grouprec.ConsumerGroupRegularExpressionValue{Topics: r.Topics, Version: r.Version, Timestamp: r.Time},
	}
}

func regexTombstone(group, regex string) record {
	return record{&grouprec.ConsumerGroupRegularExpressionKey{GroupID: group, RegularExpression: regex}, nil}
}
