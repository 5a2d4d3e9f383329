package assign

import (
	"errors"
	"slices"

	"barnabas/internal/kafka"
)

// Uniform gives members numbers of partitions that differ by one at most where their
// subscriptions allow it, and leaves each as much of what it had as that allows.
func Uniform(g *Group) ([]Assignment, error) {
	if len(g.Members) == 0 {
		return nil, nil
	}
	if !g.Homogeneous {
		return uniformOfMany(g)
	}
	u := uniform{g: g, topics: g.Members[0].Topics}
	u.topics = hashOrder(u.topics, javaUUID, copiedTable(max(g.Members[0].Named, len(u.topics)), len(u.topics)))
	if len(u.topics) == 0 {
		return make([]Assignment, len(g.Members)), nil
	}
	if err := u.count(); err != nil {
		return nil, err
	}
	u.revoke()
	return u.assign()
}

// partition names a partition.
type partition struct {
	topic  kafka.UUID
	number int32
}

// uniform assigns the same topics to all members.
type uniform struct {
	g      *Group
	topics []kafka.UUID

	least  int // partitions that each member gets
	extras int // members that get one more

	free     []partition // nobody has them, in the order in which they are given away
	drafts   []draft
	unfilled []unfilled
}

// unfilled is a member that has room.
type unfilled struct{ member, room int }

// count takes stock of the partitions and finds those that nobody has.
func (u *uniform) count() error {
	has := map[partition]struct{}{}
	for i := range u.g.Members {
		for _, t := range u.g.Members[i].Owned {
			for _, n := range t.Numbers {
				has[partition{t.Topic, n}] = struct{}{}
			}
		}
	}
	total := 0
	for _, topic := range u.topics {
		count := u.g.Count(topic)
		if count < 0 {
			return errors.New("Members are subscribed to topic " + topic.String() + " which doesn't exist in the topic metadata.")
		}
		for n := range count {
			if _, is := has[partition{topic, n}]; !is {
				u.free = append(u.free, partition{topic, n})
			}
		}
		total += int(count)
	}
	u.least, u.extras = total/len(u.g.Members), total%len(u.g.Members)
	return nil
}

// revoke takes from each member what is beyond its quota, and topics that it is not
// subscribed to any more. A member that does not need the extra partition leaves it
// to later ones while there are enough of them.
func (u *uniform) revoke() {
	u.drafts = make([]draft, len(u.g.Members))
	for i := range u.g.Members {
		d := &u.drafts[i]
		d.list = u.g.Members[i].Owned
		room, extra := u.least, u.extras > 0
		if extra {
			room++
		}
		for _, t := range u.g.Members[i].Owned {
			switch {
			case !slices.Contains(u.topics, t.Topic):
				d.removeTopic(t.Topic)
			case len(t.Numbers) <= room:
				room -= len(t.Numbers)
			default:
				for _, n := range hashOrder(t.Numbers, javaInt, copiedTable(len(t.Numbers), len(t.Numbers)))[room:] {
					d.remove(t.Topic, n)
					u.free = append(u.free, partition{t.Topic, n})
				}
				room = 0
			}
		}
		if room > 0 && extra && len(u.g.Members)-i > u.extras {
			room, extra = room-1, false
		}
		if room > 0 {
			u.unfilled = append(u.unfilled, unfilled{i, room})
		}
		if extra {
			u.extras--
		}
	}
}

// assign gives the free partitions away.
func (u *uniform) assign() ([]Assignment, error) {
	for _, m := range u.unfilled {
		n := min(m.room, len(u.free))
		for _, p := range u.free[:n] {
			u.drafts[m.member].add(p.topic, p.number)
		}
		u.free = u.free[n:]
	}
	if len(u.free) > 0 {
		return nil, errors.New("Partitions were left unassigned")
	}
	return lists(u.drafts), nil
}
