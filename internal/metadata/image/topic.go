package image

import (
	"iter"
	"slices"

	"barnabas/internal/base/immut"
	"barnabas/internal/kafka"
)

// Topics are the topics of the cluster.
type Topics struct {
	byName     immut.Map[string, *Topic]
	byID       immut.Map[kafka.UUID, *Topic]
	partitions int
}

// Len is the number of topics.
func (t *Topics) Len() int { return t.byID.Len() }

// Partitions is the number of partitions of all topics.
func (t *Topics) Partitions() int { return t.partitions }

// ByName returns the topic with that name, or nil.
func (t *Topics) ByName(name string) *Topic {
	topic, _ := t.byName.Get(name)
	return topic
}

// ByID returns the topic with that id, or nil.
func (t *Topics) ByID(id kafka.UUID) *Topic {
	topic, _ := t.byID.Get(id)
	return topic
}

// Partition returns the partition, or nil.
func (t *Topics) Partition(id kafka.UUID, partition int32) *Partition {
	if topic := t.ByID(id); topic != nil {
		return topic.Partition(partition)
	}
	return nil
}

// All goes over the topics in order of name.
func (t *Topics) All() iter.Seq[*Topic] { return t.byName.Values() }

// From goes over the topics from that name on, in order.
func (t *Topics) From(name string) iter.Seq[*Topic] {
	return func(yield func(*Topic) bool) {
		for _, topic := range t.byName.From(name) {
			if !yield(topic) {
				return
			}
		}
	}
}

const (
	chunkSize = 64
	// maxPartitions bounds what a record can make an image allocate; no cluster has
	// so many partitions of one topic.
	maxPartitions = 1 << 24
)

// Topic is a topic and its partitions. These are numbered from 0; a log that was cut
// in a strange place could leave holes.
type Topic struct {
	Name   string
	ID     kafka.UUID
	chunks []*chunk // chunk i begins with partition 64 i
	count  int      // partitions that exist
	owner  *immut.Owner
}

// chunk is a run of up to 64 partitions, what a change of one of them copies. It is no
// longer than its last partition needs.
type chunk struct {
	owner *immut.Owner
	parts []Partition
}

// Len is the number of partitions.
func (t *Topic) Len() int { return t.count }

// Partition returns the partition, or nil.
func (t *Topic) Partition(id int32) *Partition {
	if i := int(id) / chunkSize; id >= 0 && i < len(t.chunks) {
		if j := int(id) % chunkSize; j < len(t.chunks[i].parts) && t.chunks[i].parts[j].exists {
			return &t.chunks[i].parts[j]
		}
	}
	return nil
}

// All goes over the partitions in order of number.
func (t *Topic) All() iter.Seq2[int32, *Partition] {
	return func(yield func(int32, *Partition) bool) {
		for i, c := range t.chunks {
			for j := range c.parts {
				if c.parts[j].exists && !yield(int32(i*chunkSize+j), &c.parts[j]) {
					return
				}
			}
		}
	}
}

// own returns t if o owns it, else a copy that o owns and that shares the chunks.
func (t *Topic) own(o *immut.Owner) *Topic {
	if t.owner == o {
		return t
	}
	c := *t
	c.owner = o
	c.chunks = slices.Clone(t.chunks)
	return &c
}

// place returns where the partition with that number is kept; o owns t, and then
// owns the chunk. It makes room where there is none.
func (t *Topic) place(o *immut.Owner, id int32) *Partition {
	i, j := int(id)/chunkSize, int(id)%chunkSize
	for len(t.chunks) <= i {
		t.chunks = append(t.chunks, &chunk{owner: o})
	}
	t.chunks[i] = t.chunks[i].grow(o, j+1)
	return &t.chunks[i].parts[j]
}

// grow returns c if o owns it, else a copy that o owns, with at least n places.
func (c *chunk) grow(o *immut.Owner, n int) *chunk {
	if c.owner != o {
		c = &chunk{owner: o, parts: slices.Clone(c.parts)}
	}
	if more := n - len(c.parts); more > 0 {
		c.parts = append(c.parts, make([]Partition, more)...)
	}
	return c
}
