package consumergroup

import (
	"slices"

	"barnabas/internal/base/immut"
	"barnabas/internal/coordinator/assign"
	"barnabas/internal/coordinator/grouprec"
)

// Is says whether records of a type are those of consumer groups.
func Is(t grouprec.RecordType) bool {
	return t >= grouprec.TypeConsumerGroupMetadata && t <= grouprec.TypeConsumerGroupCurrentMemberAssignment || t == grouprec.TypeConsumerGroupRegularExpression
}

// GroupOf is the group that the key of a record of a consumer group names.
func GroupOf(key grouprec.Message) string {
	switch k := key.(type) {
	case *grouprec.ConsumerGroupMetadataKey:
		return k.GroupID
	case *grouprec.ConsumerGroupPartitionMetadataKey:
		return k.GroupID
	case *grouprec.ConsumerGroupMemberMetadataKey:
		return k.GroupID
	case *grouprec.ConsumerGroupTargetAssignmentMetadataKey:
		return k.GroupID
	case *grouprec.ConsumerGroupTargetAssignmentMemberKey:
		return k.GroupID
	case *grouprec.ConsumerGroupCurrentMemberAssignmentKey:
		return k.GroupID
	case *grouprec.ConsumerGroupRegularExpressionKey:
		return k.GroupID
	}
	panic("BUG: consumergroup: a record of another kind of group")
}

// Apply is the group with a record, nil if it is the record that deletes the group. A
// nil value is a tombstone. What value holds belongs to the group from then on.
//
// In a log that was compacted tombstones may come without what they delete, and in
// any order: they delete what there is.
func (g *Group) Apply(key, value grouprec.Message) *Group {
	next := *g
	o := immut.NewOwner()
	switch k := key.(type) {
	case *grouprec.ConsumerGroupMetadataKey:
		v, ok := value.(*grouprec.ConsumerGroupMetadataValue)
		if !ok {
			return nil
		}
		next.Epoch, next.MetadataHash = v.Epoch, v.MetadataHash
	case *grouprec.ConsumerGroupPartitionMetadataKey:
		next.HasOldMetadata = value != nil
	case *grouprec.ConsumerGroupMemberMetadataKey:
		v, _ := value.(*grouprec.ConsumerGroupMemberMetadataValue)
		next.applyMember(o, k.MemberID, v)
	case *grouprec.ConsumerGroupTargetAssignmentMetadataKey:
		next.TargetEpoch, next.TargetTime = -1, 0
		if v, ok := value.(*grouprec.ConsumerGroupTargetAssignmentMetadataValue); ok {
			next.TargetEpoch, next.TargetTime = v.AssignmentEpoch, v.AssignmentTimestamp
		}
	case *grouprec.ConsumerGroupTargetAssignmentMemberKey:
		if v, ok := value.(*grouprec.ConsumerGroupTargetAssignmentMemberValue); ok {
			next.target.Set(o, k.MemberID, targetOf(v))
		} else {
			next.target.Delete(o, k.MemberID)
		}
	case *grouprec.ConsumerGroupCurrentMemberAssignmentKey:
		v, _ := value.(*grouprec.ConsumerGroupCurrentMemberAssignmentValue)
		next.applyCurrent(o, k.MemberID, v)
	case *grouprec.ConsumerGroupRegularExpressionKey:
		v, _ := value.(*grouprec.ConsumerGroupRegularExpressionValue)
		next.applyRegex(o, k.RegularExpression, v)
	default:
		panic("BUG: consumergroup: a record of another kind of group")
	}
	return &next
}

func (g *Group) applyMember(o *immut.Owner, id string, v *grouprec.ConsumerGroupMemberMetadataValue) {
	old := g.Member(id)
	if v == nil {
		if old != nil {
			g.members.Delete(o, id)
			g.counts.replace(o, old, nil)
		}
		return
	}
	if old == nil {
		old = newMember(id)
	}
	g.put(o, old.With(func(m *Member) {
		m.Instance, m.Rack, m.ClientID, m.ClientHost = v.InstanceID, v.RackID, v.ClientID, v.ClientHost
		m.RebalanceTimeout, m.Assignor, m.Regex = v.RebalanceTimeoutMs, v.ServerAssignor, ""
		m.Topics = slices.Clone(v.SubscribedTopicNames)
		slices.Sort(m.Topics)
		m.Topics = slices.Compact(m.Topics)
		if v.SubscribedTopicRegex != nil {
			m.Regex = *v.SubscribedTopicRegex
		}
		m.Classic = nil
		if c := v.ClassicMemberMetadata; c != nil {
			m.Classic = &Classic{SessionTimeout: c.SessionTimeoutMs, Protocols: c.SupportedProtocols}
		}
	}))
}

func (g *Group) applyCurrent(o *immut.Owner, id string, v *grouprec.ConsumerGroupCurrentMemberAssignmentValue) {
	old := g.Member(id)
	switch {
	case v == nil && old == nil:
		return
	case v == nil:
		g.put(o, old.With(func(m *Member) {
			m.Epoch, m.PreviousEpoch, m.Assigned, m.Revoking = EpochLeaving, EpochLeaving, nil, nil
		}))
		return
	case old == nil:
		old = newMember(id)
	}
	g.put(o, old.With(func(m *Member) {
		m.Epoch, m.PreviousEpoch, m.State = v.MemberEpoch, v.PreviousMemberEpoch, State(v.State)
		m.Assigned = holdingOf(v.AssignedPartitions, v.MemberEpoch)
		m.Revoking = holdingOf(v.PartitionsPendingRevocation, v.MemberEpoch)
	}))
}

// put sets a member.
func (g *Group) put(o *immut.Owner, m *Member) {
	old := g.Member(m.ID)
	if old == nil {
		g.next++
		m.number = g.next
		g.table = assign.TimelineTable(g.table, g.Size()+1)
	}
	g.members.Set(o, m.ID, m)
	g.counts.replace(o, old, m)
}

func (g *Group) applyRegex(o *immut.Owner, regex string, v *grouprec.ConsumerGroupRegularExpressionValue) {
	old := g.Regex(regex)
	if v == nil {
		g.regexes.Delete(o, regex)
		g.counts.resolve(o, old, nil)
		return
	}
	next := &Resolved{Topics: slices.Clone(v.Topics), Version: v.Version, Time: v.Timestamp}
	slices.Sort(next.Topics)
	next.Topics = slices.Compact(next.Topics)
	g.regexes.Set(o, regex, next)
	g.counts.resolve(o, old, next)
}

// targetOf is the assignment of a record; its topics are in the order of the map that
// Apache makes of it.
func targetOf(v *grouprec.ConsumerGroupTargetAssignmentMemberValue) assign.Assignment {
	ids := make([]uuid, 0, len(v.TopicPartitions))
	byID := make(map[uuid]*grouprec.AssignedTopic, len(v.TopicPartitions))
	for i := range v.TopicPartitions {
		t := &v.TopicPartitions[i]
		if byID[t.TopicID] == nil && len(t.Partitions) > 0 {
			ids = append(ids, t.TopicID)
			byID[t.TopicID] = t
		}
	}
	a := make(assign.Assignment, 0, len(ids))
	for _, id := range assign.MapOfTopics(ids) {
		numbers := slices.Clone(byID[id].Partitions)
		slices.Sort(numbers)
		a = append(a, assign.Partitions{Topic: id, Numbers: slices.Compact(numbers)})
	}
	return a
}
