package consumergroup

import (
	"bytes"
	"slices"

	"barnabas/internal/coordinator/grouprec"
	"barnabas/internal/kafka"
)

// Held are partitions of a topic that a member holds, in ascending order, each with
// the member epoch at which the member got it.
type Held struct {
	Topic   kafka.UUID
	Numbers []int32
	Epochs  []int32
}

// Holding are the partitions that a member holds, by topic, none without partitions.
type Holding []Held

// find is the place of a topic.
func (h Holding) find(topic kafka.UUID) (int, bool) {
	return slices.BinarySearchFunc(h, topic, func(t Held, id kafka.UUID) int { return bytes.Compare(t.Topic[:], id[:]) })
}

// Of are the partitions of a topic.
func (h Holding) Of(topic kafka.UUID) Held {
	if i, is := h.find(topic); is {
		return h[i]
	}
	return Held{Topic: topic}
}

// Epoch is the epoch at which the member got a partition; ok is false if it does not
// hold it.
func (h Holding) Epoch(topic kafka.UUID, partition int32) (epoch int32, ok bool) {
	t := h.Of(topic)
	i, is := slices.BinarySearch(t.Numbers, partition)
	if !is {
		return 0, false
	}
	return t.Epochs[i], true
}

// Len is the number of partitions.
func (h Holding) Len() int {
	n := 0
	for i := range h {
		n += len(h[i].Numbers)
	}
	return n
}

// Equal says whether the same is held since the same epochs.
func (h Holding) Equal(o Holding) bool {
	return slices.EqualFunc(h, o, func(a, b Held) bool {
		return a.Topic == b.Topic && slices.Equal(a.Numbers, b.Numbers) && slices.Equal(a.Epochs, b.Epochs)
	})
}

// put is a copy with partitions of a topic in addition.
func (h Holding) put(t Held) Holding {
	if len(t.Numbers) == 0 {
		return h
	}
	i, is := h.find(t.Topic)
	if !is {
		return slices.Insert(slices.Clone(h), i, t)
	}
	next := slices.Clone(h)
	merged := Held{Topic: t.Topic, Numbers: slices.Clone(h[i].Numbers), Epochs: slices.Clone(h[i].Epochs)}
	for k, n := range t.Numbers {
		merged.add(n, t.Epochs[k])
	}
	next[i] = merged
	return next
}

// add puts a partition in; t is not visible yet.
func (t *Held) add(number, epoch int32) {
	i, is := slices.BinarySearch(t.Numbers, number)
	if is {
		t.Epochs[i] = epoch
		return
	}
	t.Numbers, t.Epochs = slices.Insert(t.Numbers, i, number), slices.Insert(t.Epochs, i, epoch)
}

// split takes a topic's partitions apart into those that keep wants and the others.
func (t Held) split(keep func(int32) bool) (kept, rest Held) {
	kept.Topic, rest.Topic = t.Topic, t.Topic
	for i, n := range t.Numbers {
		part := &rest
		if keep(n) {
			part = &kept
		}
		part.Numbers, part.Epochs = append(part.Numbers, n), append(part.Epochs, t.Epochs[i])
	}
	return kept, rest
}

// sinceZero is a copy in which all is held since epoch 0: nothing that a member did
// before counts any more.
func (h Holding) sinceZero() Holding {
	next := make(Holding, len(h))
	for i, t := range h {
		next[i] = Held{Topic: t.Topic, Numbers: t.Numbers, Epochs: make([]int32, len(t.Numbers))}
	}
	return next
}

// gather makes a holding of partitions in any order, each topic perhaps in pieces.
func gather(pieces []Held) Holding {
	slices.SortStableFunc(pieces, func(a, b Held) int { return bytes.Compare(a.Topic[:], b.Topic[:]) })
	var h Holding
	for _, piece := range pieces {
		if len(piece.Numbers) == 0 {
			continue
		}
		if len(h) == 0 || h[len(h)-1].Topic != piece.Topic {
			h = append(h, Held{Topic: piece.Topic})
		}
		t := &h[len(h)-1]
		for k, n := range piece.Numbers {
			t.add(n, piece.Epochs[k])
		}
	}
	return h
}

// SinceEpoch is a holding of partitions that were all got at one epoch.
func SinceEpoch(numbers map[kafka.UUID][]int32, epoch int32) Holding {
	pieces := make([]Held, 0, len(numbers))
	for topic, list := range numbers {
		pieces = append(pieces, Held{Topic: topic, Numbers: list, Epochs: slices.Repeat([]int32{epoch}, len(list))})
	}
	return gather(pieces)
}

// holdingOf reads what a record says. Without epochs of its own, or with a wrong
// number of them, a partition has the member's.
func holdingOf(topics []grouprec.OwnedTopic, memberEpoch int32) Holding {
	pieces := make([]Held, len(topics))
	for i := range topics {
		epochs := topics[i].AssignmentEpochs
		if len(epochs) != len(topics[i].Partitions) {
			epochs = slices.Repeat([]int32{max(memberEpoch, 0)}, len(topics[i].Partitions))
		}
		pieces[i] = Held{Topic: topics[i].TopicID, Numbers: topics[i].Partitions, Epochs: epochs}
	}
	return gather(pieces)
}

// record is the holding as a record has it.
func (h Holding) record() []grouprec.OwnedTopic {
	topics := make([]grouprec.OwnedTopic, len(h))
	for i, t := range h {
		topics[i].TopicID, topics[i].Partitions, topics[i].AssignmentEpochs = t.Topic, t.Numbers, t.Epochs
	}
	return topics
}
