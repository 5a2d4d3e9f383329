package assign

import (
	"bytes"
	"cmp"
	"errors"
	"slices"

	"barnabas/internal/kafka"
)

// nobody owns a partition that is free.
const nobody = -1

// uneven assigns where members are subscribed to different topics. Members go by
// their place in the group.
type uneven struct {
	g           *Group
	topics      []kafka.UUID         // in the order in which they are worked off
	subscribers map[kafka.UUID][]int // of each topic
	owners      map[kafka.UUID][]int // of each partition of a topic
	sizes       []int                // partitions that each member has
	drafts      []draft
}

func uniformOfMany(g *Group) ([]Assignment, error) {
	u := &uneven{
		g: g, subscribers: map[kafka.UUID][]int{}, owners: map[kafka.UUID][]int{},
		sizes: make([]int, len(g.Members)), drafts: make([]draft, len(g.Members)),
	}
	if err := u.count(); err != nil {
		return nil, err
	}
	if len(u.topics) == 0 {
		return make([]Assignment, len(g.Members)), nil
	}
	u.revoke()
	u.assign()
	u.balance()
	return lists(u.drafts), nil
}

// count finds the topics and their subscribers.
func (u *uneven) count() error {
	for i := range u.g.Members {
		for _, topic := range u.g.Members[i].Topics {
			if u.owners[topic] == nil {
				count := u.g.Count(topic)
				if count < 0 {
					return errors.New("Members are subscribed to topic " + topic.String() + " which doesn't exist in the topic metadata.")
				}
				u.owners[topic] = slices.Repeat([]int{nobody}, int(count))
				u.topics = append(u.topics, topic)
			}
			u.subscribers[topic] = append(u.subscribers[topic], i)
		}
	}
	slices.SortFunc(u.topics, u.compareTopics)
	return nil
}

// compareTopics puts those with the most partitions for each subscriber first, then
// those with fewer subscribers; ids are compared as two signed numbers.
func (u *uneven) compareTopics(a, b kafka.UUID) int {
	share := func(t kafka.UUID) float64 { return float64(len(u.owners[t])) / float64(len(u.subscribers[t])) }
	signed := func(t kafka.UUID) kafka.UUID {
		t[0] ^= 0x80
		t[8] ^= 0x80
		return t
	}
	x, y := signed(a), signed(b)
	return cmp.Or(
		cmp.Compare(share(b), share(a)),
		cmp.Compare(len(u.subscribers[a]), len(u.subscribers[b])),
		bytes.Compare(x[:], y[:]),
	)
}

// revoke leaves the members what they had of topics that they are subscribed to.
func (u *uneven) revoke() {
	for i := range u.g.Members {
		m := &u.g.Members[i]
		u.drafts[i].list = m.Owned
		for _, t := range m.Owned {
			if !slices.Contains(m.Topics, t.Topic) {
				u.drafts[i].removeTopic(t.Topic)
				continue
			}
			u.sizes[i] += len(t.Numbers)
			for _, n := range t.Numbers {
				u.owners[t.Topic][n] = i
			}
		}
	}
}

// assign gives away what nobody has, to those who have least.
func (u *uneven) assign() {
	b := balancer{sizes: u.sizes}
	for _, topic := range u.topics {
		ready := false
		for n, owner := range u.owners[topic] {
			if owner != nobody {
				continue
			}
			if !ready {
				b.begin(u.subscribers[topic])
				ready = true
			}
			u.move(topic, int32(n), b.least())
		}
	}
}

// rounds is how often balance goes through all topics at most.
const rounds = 16

// balance moves partitions until a round changes nothing.
func (u *uneven) balance() {
	shared := slices.DeleteFunc(slices.Clone(u.topics), func(t kafka.UUID) bool { return len(u.subscribers[t]) < 2 })
	b := balancer{sizes: u.sizes}
	last := -1 // the topic that changed last
	for range rounds {
		for i, topic := range shared {
			if i == last {
				return
			}
			if u.balanceTopic(topic, &b) > 0 || last == -1 {
				last = i
			}
		}
	}
}

// balanceTopic moves partitions of a topic from those who have most to those who
// have least, and says how many.
func (u *uneven) balanceTopic(topic kafka.UUID, b *balancer) (moves int) {
	if b.begin(u.subscribers[topic]) <= 1 {
		return 0
	}
	owners := u.owners[topic]
	byOwner := map[int][]int32{} // each owner's partitions that have not been moved
	for n, owner := range owners {
		byOwner[owner] = append(byOwner[owner], int32(n))
	}
	for !b.balanced() {
		from := b.most()
		for from != nobody && len(byOwner[from]) == 0 {
			b.exclude()
			from = b.most()
		}
		if from == nobody {
			break
		}
		last := len(byOwner[from]) - 1
		n := byOwner[from][last]
		byOwner[from] = byOwner[from][:last]
		to := b.least()
		if b.balanced() {
			break
		}
		u.move(topic, n, to)
		moves++
	}
	return moves
}

// move makes member the owner of a partition.
func (u *uneven) move(topic kafka.UUID, n int32, member int) {
	if old := u.owners[topic][n]; old != nobody {
		u.drafts[old].remove(topic, n)
		u.sizes[old]--
	}
	u.drafts[member].add(topic, n)
	u.owners[topic][n] = member
	u.sizes[member]++
}

// balancer walks over the subscribers of a topic from both ends: those who have
// least are raised step by step, those who have most are lowered, until the two
// meet. It looks at the sizes as they were at the beginning; a walk changes them as
// it is expected to.
type balancer struct {
	sizes  []int // of all members
	sorted []int // the subscribers, by size

	leastEnd, leastSize, leastNext         int
	mostStart, mostEnd, mostSize, mostNext int
}

// begin takes in the subscribers of a topic and says by how much the largest and the
// smallest differ.
func (b *balancer) begin(members []int) int {
	b.sorted = append(b.sorted[:0], members...)
	slices.SortFunc(b.sorted, func(x, y int) int { return cmp.Or(cmp.Compare(b.sizes[x], b.sizes[y]), cmp.Compare(x, y)) })
	n := len(b.sorted)
	least, most := b.sizes[b.sorted[0]], b.sizes[b.sorted[n-1]]
	b.leastEnd, b.leastSize, b.leastNext = 0, least-1, 0
	b.mostStart, b.mostEnd, b.mostSize, b.mostNext = n, n, most+1, n-1
	return most - least
}

// least is the next member to get a partition.
func (b *balancer) least() int {
	if b.leastNext >= b.leastEnd {
		b.leastSize++
		for b.leastEnd < len(b.sorted) && b.sizes[b.sorted[b.leastEnd]] == b.leastSize {
			b.leastEnd++
		}
		b.leastNext = 0
	}
	b.leastNext++
	return b.sorted[b.leastNext-1]
}

// most is the next member to lose a partition, nobody if there is none left.
func (b *balancer) most() int {
	if b.mostNext < b.mostStart {
		if b.mostEnd <= b.mostStart && b.mostStart > 0 {
			b.mostSize = b.sizes[b.sorted[b.mostStart-1]]
		} else {
			b.mostSize--
		}
		for b.mostStart > 0 && b.sizes[b.sorted[b.mostStart-1]] == b.mostSize {
			b.mostStart--
		}
		b.mostNext = b.mostEnd - 1
	}
	if b.mostNext < 0 {
		return nobody
	}
	b.mostNext--
	return b.sorted[b.mostNext+1]
}

// exclude leaves the member that most gave last out from now on.
func (b *balancer) exclude() {
	at, end := b.mostNext+1, b.mostEnd-1
	b.sorted[at], b.sorted[end] = b.sorted[end], b.sorted[at]
	b.mostEnd--
}

// balanced says whether the two ends have met.
func (b *balancer) balanced() bool { return b.mostSize-b.leastSize <= 1 }
