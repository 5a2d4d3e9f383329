package assign

import (
	"slices"

	"barnabas/internal/kafka"
)

// Partitions are partitions of one topic, in ascending order.
type Partitions struct {
	Topic   kafka.UUID
	Numbers []int32
}

// Assignment is what a member has: each topic once, none without partitions.
type Assignment []Partitions

// Of are the partitions of a topic.
func (a Assignment) Of(topic kafka.UUID) []int32 {
	for i := range a {
		if a[i].Topic == topic {
			return a[i].Numbers
		}
	}
	return nil
}

// Has says whether a partition is in the assignment.
func (a Assignment) Has(topic kafka.UUID, partition int32) bool {
	_, is := slices.BinarySearch(a.Of(topic), partition)
	return is
}

// Len is the number of partitions.
func (a Assignment) Len() int {
	n := 0
	for i := range a {
		n += len(a[i].Numbers)
	}
	return n
}

// Equal says whether two assignments have the same partitions; the order of their
// topics is no difference.
func (a Assignment) Equal(b Assignment) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !slices.Equal(a[i].Numbers, b.Of(a[i].Topic)) {
			return false
		}
	}
	return true
}

// Member is a member as an assignor sees it.
type Member struct {
	ID       string
	Instance *string      // group.instance.id of a static member
	Topics   []kafka.UUID // the topics that it is subscribed to and that are there, each once
	Named    int          // how many topics it is subscribed to, also such that are not there; 0: those
	Owned    Assignment   // what it was to have until now
}

// Group is a group as an assignor sees it.
type Group struct {
	// Members in the order of Apache's map of them (order.go).
	Members []Member
	// Homogeneous says that all members are subscribed to the same topics.
	Homogeneous bool
	// Count is the number of partitions of a topic.
	Count func(topic kafka.UUID) int32
}

// Assignor computes what the members are to have: one assignment for each, in the
// order of the members. An error is Apache's PartitionAssignorException; it means
// that the assignor's own rules do not come out.
type Assignor func(g *Group) ([]Assignment, error)

// Names of the assignors that are built in, the default first
// (group.consumer.assignors).
const (
	NameUniform = "uniform"
	NameRange   = "range"
)

// ByName is a built-in assignor, nil if there is none of that name.
func ByName(name string) Assignor {
	switch name {
	case NameUniform:
		return Uniform
	case NameRange:
		return Range
	}
	return nil
}

// draft is an assignment that is being made.
type draft struct {
	list  Assignment
	owned bool // list shares nothing with what was passed in
}

// own copies the list before it is changed.
func (d *draft) own() {
	if d.owned {
		return
	}
	list := make(Assignment, len(d.list))
	for i := range d.list {
		list[i] = Partitions{d.list[i].Topic, slices.Clone(d.list[i].Numbers)}
	}
	d.list, d.owned = list, true
}

func (d *draft) add(topic kafka.UUID, partition int32) {
	d.own()
	for i := range d.list {
		if t := &d.list[i]; t.Topic == topic {
			if at, is := slices.BinarySearch(t.Numbers, partition); !is {
				t.Numbers = slices.Insert(t.Numbers, at, partition)
			}
			return
		}
	}
	d.list = append(d.list, Partitions{topic, []int32{partition}})
}

func (d *draft) remove(topic kafka.UUID, partition int32) {
	d.own()
	for i := range d.list {
		t := &d.list[i]
		if t.Topic != topic {
			continue
		}
		if at, is := slices.BinarySearch(t.Numbers, partition); is {
			t.Numbers = slices.Delete(t.Numbers, at, at+1)
		}
		if len(t.Numbers) == 0 {
			d.list = slices.Delete(d.list, i, i+1)
		}
		return
	}
}

func (d *draft) removeTopic(topic kafka.UUID) {
	d.own()
	d.list = slices.DeleteFunc(d.list, func(t Partitions) bool { return t.Topic == topic })
}

// lists are the assignments that were made; their topics are in the order of a Java
// map of them.
func lists(drafts []draft) []Assignment {
	out := make([]Assignment, len(drafts))
	for i := range drafts {
		out[i] = drafts[i].list
	}
	return out
}
