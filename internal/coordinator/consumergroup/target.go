package consumergroup

import (
	"cmp"
	"slices"
	"time"

	"barnabas/internal/coordinator/assign"
	"barnabas/internal/kafka"
)

// Assign computes what all members are to have in the group's epoch. An error is the
// assignor's, and nothing is decided then.
func (d *Draft) Assign(now time.Time, assignor string, topics Topics) error {
	ids := d.assignOrder()
	g := &assign.Group{
		Members:     make([]assign.Member, len(ids)),
		Homogeneous: d.counts.homogeneous(d.Size()),
		Count: func(id kafka.UUID) int32 {
			if t, ok := topics.ByID(id); ok {
				return t.Partitions
			}
			return -1
		},
	}
	byName := map[string]kafka.UUID{}
	for i, id := range ids {
		m := d.Member(id)
		names := d.namesOf(m)
		am := assign.Member{ID: id, Instance: m.Instance, Named: len(names), Topics: make([]kafka.UUID, 0, len(names)), Owned: d.Target(id)}
		for _, name := range names {
			topic, known := byName[name]
			if !known {
				if t, ok := topics.ByName(name); ok {
					topic = t.ID
				}
				byName[name] = topic
			}
			if !topic.IsZero() {
				am.Topics = append(am.Topics, topic)
			}
		}
		g.Members[i] = am
	}
	next, err := assign.ByName(assignor)(g)
	if err != nil {
		return err
	}
	for i, id := range ids {
		if old, has := d.target.Get(id); !has || !old.Equal(next[i]) {
			d.SetTarget(id, next[i])
		}
	}
	d.SetTargetEpoch(d.Epoch, now.UnixMilli())
	return nil
}

// assignOrder are the members in the order in which Apache's assignors see them: those
// that were there when the decision began, then those that have come.
func (d *Draft) assignOrder() []string {
	var ids []string
	for _, id := range d.base.inOrder() {
		if d.Member(id) != nil {
			ids = append(ids, id)
		}
	}
	var added []*Member
	for m := range d.Members() {
		if d.base.Member(m.ID) == nil {
			added = append(added, m)
		}
	}
	slices.SortFunc(added, func(a, b *Member) int { return cmp.Compare(a.number, b.number) })
	for _, m := range added {
		ids = append(ids, m.ID)
	}
	return assign.MapOfNames(ids)
}

// namesOf are the names of the topics that a member is subscribed to, in the order of
// Apache's set of them. A regular expression that is not resolved matches nothing.
func (g *Group) namesOf(m *Member) []string {
	names := assign.SetOfNames(m.Topics)
	r := g.Regex(m.Regex)
	if m.Regex == "" || r == nil || len(r.Topics) == 0 {
		return names
	}
	matched := assign.SetOfNames(r.Topics)
	if len(names) == 0 {
		return matched
	}
	large, small := names, matched
	if len(small) > len(large) {
		large, small = small, large
	}
	has := make(map[string]struct{}, len(large))
	for _, name := range large {
		has[name] = struct{}{}
	}
	for _, name := range small {
		if _, is := has[name]; !is {
			large = append(large, name)
		}
	}
	return large
}
