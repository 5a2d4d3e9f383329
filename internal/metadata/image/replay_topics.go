package image

import (
	"fmt"

	"barnabas/internal/kafka"
	"barnabas/internal/metadata/metarec"
)

func (b *Builder) replayTopics(m metarec.Message) error {
	switch r := m.(type) {
	case *metarec.TopicRecord:
		return b.createTopic(r)
	case *metarec.PartitionRecord:
		return b.setPartition(r)
	case *metarec.PartitionChangeRecord:
		return b.changePartition(r)
	case *metarec.RemoveTopicRecord:
		return b.removeTopic(r)
	case *metarec.ClearElrRecord:
		return b.clearELR(r)
	}
	return nil
}

func (b *Builder) createTopic(r *metarec.TopicRecord) error {
	if old := b.img.Topics.ByName(r.Name); old != nil {
		return fmt.Errorf("topic %s exists, with id %s", r.Name, old.ID)
	}
	if old := b.img.Topics.ByID(r.TopicID); old != nil {
		return fmt.Errorf("topic id %s exists, with name %s", r.TopicID, old.Name)
	}
	b.putTopic(&Topic{Name: r.Name, ID: r.TopicID, owner: b.owner})
	b.changes.touch(r.TopicID)
	return nil
}

func (b *Builder) putTopic(t *Topic) {
	b.img.Topics.byName.Set(b.owner, t.Name, t)
	b.img.Topics.byID.Set(b.owner, t.ID, t)
}

// editTopic returns the topic as one that the builder owns.
func (b *Builder) editTopic(id kafka.UUID) (*Topic, error) {
	t := b.img.Topics.ByID(id)
	if t == nil {
		return nil, fmt.Errorf("there is no topic with id %s", id)
	}
	if own := t.own(b.owner); own != t {
		t = own
		b.putTopic(t)
	}
	return t, nil
}

func (b *Builder) setPartition(r *metarec.PartitionRecord) error {
	if r.PartitionID < 0 || r.PartitionID >= maxPartitions {
		return fmt.Errorf("topic id %s: partition number %d", r.TopicID, r.PartitionID)
	}
	p, err := b.partitionFrom(r)
	if err != nil {
		return fmt.Errorf("topic id %s partition %d: %w", r.TopicID, r.PartitionID, err)
	}
	t, err := b.editTopic(r.TopicID)
	if err != nil {
		return err
	}
	place := t.place(b.owner, r.PartitionID)
	if !place.exists {
		t.count++
		b.img.Topics.partitions++
	}
	*place = p
	b.changes.touch(r.TopicID, r.PartitionID)
	return nil
}

func (b *Builder) changePartition(r *metarec.PartitionChangeRecord) error {
	old := b.img.Topics.Partition(r.TopicID, r.PartitionID)
	if old == nil {
		return fmt.Errorf("there is no partition %d of topic id %s", r.PartitionID, r.TopicID)
	}
	p, err := b.merge(*old, r)
	if err != nil {
		return fmt.Errorf("topic id %s partition %d: %w", r.TopicID, r.PartitionID, err)
	}
	t, err := b.editTopic(r.TopicID)
	if err != nil {
		return err
	}
	*t.place(b.owner, r.PartitionID) = p
	b.changes.touch(r.TopicID, r.PartitionID)
	return nil
}

// removeTopic takes the topic away, and what is configured for its name.
func (b *Builder) removeTopic(r *metarec.RemoveTopicRecord) error {
	t := b.img.Topics.ByID(r.TopicID)
	if t == nil {
		return fmt.Errorf("there is no topic with id %s to remove", r.TopicID)
	}
	b.img.Topics.byID.Delete(b.owner, t.ID)
	b.img.Topics.byName.Delete(b.owner, t.Name)
	b.img.Topics.partitions -= t.count
	b.changes.touch(t.ID)
	resource := ConfigResource{Type: TopicResource, Name: t.Name}
	if b.img.Configs.byResource.Delete(b.owner, resource) {
		b.changes.configs.add(resource)
	}
	return nil
}

func (b *Builder) clearELR(r *metarec.ClearElrRecord) error {
	if r.TopicName != "" {
		t := b.img.Topics.ByName(r.TopicName)
		if t == nil {
			return fmt.Errorf("there is no topic %s to clear eligible leader replicas of", r.TopicName)
		}
		return b.clearTopicELR(t)
	}
	var with []*Topic
	for t := range b.img.Topics.All() {
		if len(t.withELR()) > 0 {
			with = append(with, t)
		}
	}
	for _, t := range with {
		if err := b.clearTopicELR(t); err != nil {
			return err
		}
	}
	return nil
}

// withELR lists the partitions that have eligible leader replicas, now or formerly.
func (t *Topic) withELR() []int32 {
	var out []int32
	for id, p := range t.All() {
		if len(p.ELR())+len(p.LastKnownELR()) > 0 {
			out = append(out, id)
		}
	}
	return out
}

func (b *Builder) clearTopicELR(t *Topic) error {
	for _, id := range t.withELR() {
		change := metarec.NewPartitionChangeRecord()
		change.TopicID, change.PartitionID = t.ID, id
		change.EligibleLeaderReplicas, change.LastKnownElr = []kafka.BrokerID{}, []kafka.BrokerID{}
		if err := b.changePartition(change); err != nil {
			return err
		}
	}
	return nil
}
