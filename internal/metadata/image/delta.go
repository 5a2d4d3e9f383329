package image

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"barnabas/internal/kafka"
)

// Delta names what differs between two images, so that a publisher need not look at
// the rest. How a thing differs is seen by looking it up in both. All lists are in
// order of their keys.
type Delta struct {
	Old, New *Image

	Features    []string
	Brokers     []kafka.BrokerID
	Controllers []kafka.BrokerID
	Topics      []TopicChange // in order of name, deleted before created
	Configs     []ConfigResource
	Quotas      []QuotaKey
	ACLs        []kafka.UUID
	SCRAM       []SCRAMKey
	Tokens      []string
	ProducerIDs bool
}

// Empty says whether nothing differs but the position.
func (d *Delta) Empty() bool {
	return len(d.Features)+len(d.Brokers)+len(d.Controllers)+len(d.Topics)+len(d.Configs)+
		len(d.Quotas)+len(d.ACLs)+len(d.SCRAM)+len(d.Tokens) == 0 && !d.ProducerIDs
}

// TopicChange is a topic that was created (Old is nil), deleted (New is nil) or
// changed. A topic that was deleted and created again is two changes: the ids differ.
type TopicChange struct {
	Old, New *Topic
	numbers  []int32 // of the partitions that changed, when neither is nil
}

// Topic is the new topic, or the deleted one.
func (c *TopicChange) Topic() *Topic {
	if c.New != nil {
		return c.New
	}
	return c.Old
}

// PartitionChange is a partition that was created (Old is nil), deleted (New is nil)
// or changed.
type PartitionChange struct {
	Topic    *Topic // to read its name and id
	Number   int32
	Old, New *Partition
}

// Partitions goes over the partitions of the topic that changed.
func (c *TopicChange) Partitions() iter.Seq[PartitionChange] {
	return func(yield func(PartitionChange) bool) {
		switch {
		case c.New == nil:
			for n, p := range c.Old.All() {
				if !yield(PartitionChange{c.Old, n, p, nil}) {
					return
				}
			}
		case c.Old == nil:
			for n, p := range c.New.All() {
				if !yield(PartitionChange{c.New, n, nil, p}) {
					return
				}
			}
		default:
			for _, n := range c.numbers {
				if !yield(PartitionChange{c.New, n, c.Old.Partition(n), c.New.Partition(n)}) {
					return
				}
			}
		}
	}
}

// Partitions goes over all partitions that changed, those of created and deleted
// topics included.
func (d *Delta) Partitions() iter.Seq[PartitionChange] {
	return func(yield func(PartitionChange) bool) {
		for i := range d.Topics {
			for p := range d.Topics[i].Partitions() {
				if !yield(p) {
					return
				}
			}
		}
	}
}

// set is a set of keys; the zero set is empty.
type set[K comparable] map[K]struct{}

func (s *set[K]) add(k K) {
	if *s == nil {
		*s = set[K]{}
	}
	(*s)[k] = struct{}{}
}

// changes collects the keys of what a builder touched.
type changes struct {
	features    set[string]
	brokers     set[kafka.BrokerID]
	controllers set[kafka.BrokerID]
	topics      map[kafka.UUID][]int32 // numbers of partitions, more than once perhaps
	configs     set[ConfigResource]
	quotas      set[QuotaKey]
	acls        set[kafka.UUID]
	scram       set[SCRAMKey]
	tokens      set[string]
	producerIDs bool
}

func (c *changes) any() bool {
	return len(c.features)+len(c.brokers)+len(c.controllers)+len(c.topics)+len(c.configs)+
		len(c.quotas)+len(c.acls)+len(c.scram)+len(c.tokens) > 0 || c.producerIDs
}

// touch notes that partitions of the topic changed, or the topic as a whole.
func (c *changes) touch(topic kafka.UUID, partitions ...int32) {
	if c.topics == nil {
		c.topics = map[kafka.UUID][]int32{}
	}
	c.topics[topic] = append(c.topics[topic], partitions...)
}

// delta turns the keys into a Delta between the two images.
func (c *changes) delta(old, next *Image) *Delta {
	d := &Delta{
		Old: old, New: next, ProducerIDs: c.producerIDs,
		Features:    slices.Sorted(maps.Keys(c.features)),
		Brokers:     slices.Sorted(maps.Keys(c.brokers)),
		Controllers: slices.Sorted(maps.Keys(c.controllers)),
		Configs:     slices.SortedFunc(maps.Keys(c.configs), compareResource),
		Quotas:      slices.Sorted(maps.Keys(c.quotas)),
		ACLs:        slices.SortedFunc(maps.Keys(c.acls), compareUUID),
		SCRAM:       slices.SortedFunc(maps.Keys(c.scram), compareSCRAMKey),
		Tokens:      slices.Sorted(maps.Keys(c.tokens)),
	}
	for id, numbers := range c.topics {
		change := TopicChange{Old: old.Topics.ByID(id), New: next.Topics.ByID(id)}
		switch {
		case change.Old == nil && change.New == nil:
			continue // created and deleted in between
		case change.Old != nil && change.New != nil:
			numbers = slices.Clone(numbers)
			slices.Sort(numbers)
			change.numbers = slices.Compact(numbers)
		}
		d.Topics = append(d.Topics, change)
	}
	slices.SortFunc(d.Topics, compareChanges)
	return d
}

func compareChanges(a, b TopicChange) int {
	deletedFirst := func(c TopicChange) int {
		if c.New == nil {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(a.Topic().Name, b.Topic().Name), cmp.Compare(deletedFirst(a), deletedFirst(b)),
		compareUUID(a.Topic().ID, b.Topic().ID))
}

// Merge is one delta for several that follow each other: from the old image of the
// first to the new one of the last.
func Merge(deltas ...*Delta) *Delta {
	if len(deltas) == 1 {
		return deltas[0]
	}
	var c changes
	for _, d := range deltas {
		addAll(&c.features, d.Features)
		addAll(&c.brokers, d.Brokers)
		addAll(&c.controllers, d.Controllers)
		addAll(&c.configs, d.Configs)
		addAll(&c.quotas, d.Quotas)
		addAll(&c.acls, d.ACLs)
		addAll(&c.scram, d.SCRAM)
		addAll(&c.tokens, d.Tokens)
		c.producerIDs = c.producerIDs || d.ProducerIDs
		for i := range d.Topics {
			c.touch(d.Topics[i].Topic().ID, d.Topics[i].numbers...)
		}
	}
	return c.delta(deltas[0].Old, deltas[len(deltas)-1].New)
}

func addAll[K comparable](s *set[K], keys []K) {
	for _, k := range keys {
		s.add(k)
	}
}
