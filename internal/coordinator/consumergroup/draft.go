package consumergroup

import (
	"slices"

	"barnabas/internal/coordinator/assign"
	"barnabas/internal/coordinator/grouprec"
	"barnabas/internal/coordinator/machine"
)

// Draft is a group that is being decided on.
type Draft struct {
	*Group // with all records so far
	// Records are what has been decided, in the order of the log.
	Records []machine.Record

	base *Group // as it was when the decision began
}

// Begin begins to decide on a group.
func Begin(g *Group) *Draft { return &Draft{Group: g, base: g} }

// put decides a record.
func (d *Draft) put(r record) {
	d.Records = append(d.Records, encode(r))
	d.Group = d.Apply(r.key, r.value)
}

// encode makes a record for the log; there is nothing in it that cannot be encoded,
// for strings come from requests or records with lengths of 16 bits.
func encode(r record) machine.Record {
	key, err := grouprec.AppendKey(nil, r.key)
	if err != nil {
		panic("BUG: consumergroup: key of a record: " + err.Error())
	}
	if r.value == nil {
		return machine.Record{Key: key}
	}
	value, err := grouprec.AppendValue(nil, r.value, 0)
	if err != nil {
		panic("BUG: consumergroup: value of a record: " + err.Error())
	}
	return machine.Record{Key: key, Value: value}
}

// SetEpoch begins an epoch of the group.
func (d *Draft) SetEpoch(epoch int32, hash int64) { d.put(epochRecord(d.ID, epoch, hash)) }

// ForgetOldMetadata deletes what releases before 4.1 kept of topics.
func (d *Draft) ForgetOldMetadata() { d.put(oldMetadataTombstone(d.ID)) }

// SetMember decides what is said of a member beside its assignment.
func (d *Draft) SetMember(m *Member) { d.put(memberRecord(d.ID, m)) }

// SetCurrent decides what a member has.
func (d *Draft) SetCurrent(m *Member) { d.put(currentRecord(d.ID, m)) }

// SetTarget decides what a member is to have.
func (d *Draft) SetTarget(member string, a assign.Assignment) {
	d.put(targetRecord(d.ID, member, a))
}

// SetTargetEpoch says which epoch the target was made for, and when (milliseconds
// since 1970; 0: not at any time that a later one has to keep away from).
func (d *Draft) SetTargetEpoch(epoch int32, timestamp int64) {
	d.put(targetMetadataRecord(d.ID, epoch, timestamp))
}

// SetRegex decides what a regular expression matches.
func (d *Draft) SetRegex(regex string, r *Resolved) { d.put(regexRecord(d.ID, regex, r)) }

// ForgetRegex forgets what a regular expression matches.
func (d *Draft) ForgetRegex(regex string) { d.put(regexTombstone(d.ID, regex)) }

// Remove takes a member out.
func (d *Draft) Remove(member string) {
	d.put(currentTombstone(d.ID, member))
	d.put(targetTombstone(d.ID, member))
	d.put(memberTombstone(d.ID, member))
}

// Close says that the group is no more, which other records say.
func (d *Draft) Close() { d.Group = New(d.ID) }

// Replace gives the place of a static member to another one.
func (d *Draft) Replace(old, next *Member) {
	target := d.Target(old.ID)
	d.Remove(old.ID)
	d.SetMember(next)
	d.SetTarget(next.ID, target)
	d.SetCurrent(next)
}

// Found makes records of a group that was made of a classic one: its members with
// what they have, which is what they are to have.
func (d *Draft) Found(members []*Member, epoch int32, hash func(*Group) int64) {
	for _, m := range members {
		d.SetMember(m)
	}
	d.SetEpoch(epoch, hash(d.Group))
	for _, m := range members {
		d.SetTarget(m.ID, m.Assigned.numbers())
	}
	d.SetTargetEpoch(epoch, 0)
	for _, m := range members {
		d.SetCurrent(m)
	}
	d.base = d.Group
}

// numbers are the partitions alone.
func (h Holding) numbers() assign.Assignment {
	a := make(assign.Assignment, len(h))
	for i, t := range h {
		a[i] = assign.Partitions{Topic: t.Topic, Numbers: t.Numbers}
	}
	return a
}

// Tombstones delete the group: members first, the group last.
func (g *Group) Tombstones() []machine.Record {
	members := g.inOrder()
	var list []record
	for _, id := range members {
		list = append(list, currentTombstone(g.ID, id))
	}
	for _, id := range members {
		list = append(list, targetTombstone(g.ID, id))
	}
	for id := range g.target.Keys() {
		if g.Member(id) == nil {
			list = append(list, targetTombstone(g.ID, id))
		}
	}
	list = append(list, targetMetadataTombstone(g.ID))
	for _, id := range members {
		list = append(list, memberTombstone(g.ID, id))
	}
	for regex := range g.regexes.Keys() {
		list = append(list, regexTombstone(g.ID, regex))
	}
	list = append(list, oldMetadataTombstone(g.ID), record{&grouprec.ConsumerGroupMetadataKey{GroupID: g.ID}, nil})
	records := make([]machine.Record, len(list))
	for i, r := range list {
		records[i] = encode(r)
	}
	return slices.Clip(records)
}
