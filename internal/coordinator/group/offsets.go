package group

import (
	"cmp"
	"slices"

	"barnabas/internal/base/immut"
	"barnabas/internal/base/timeline"
	"barnabas/internal/kafka"
)

// committed is an offset that a group has committed. It is never changed.
type committed struct {
	offset      kafka.Offset
	leaderEpoch kafka.LeaderEpoch
	metadata    string
	commitMs    int64
	expireMs    int64 // -1: by offsets.retention.minutes
	topicID     kafka.UUID
	record      kafka.Offset // of its record in the log
}

// offsetKey names an offset.
type offsetKey struct {
	group string
	kafka.TopicPartition
}

func compareKeys(a, b offsetKey) int {
	return cmp.Or(cmp.Compare(a.group, b.group), a.TopicPartition.Compare(b.TopicPartition))
}

// Persistent sets, small and seldom changed: values of timeline maps.
type (
	partitionSet = immut.Map[kafka.TopicPartition, struct{}]
	producerSet  = immut.Map[kafka.ProducerID, struct{}]
	pendingSet   = immut.Map[offsetKey, *committed]
)

// offsetStore has the offsets of all groups.
type offsetStore struct {
	values *timeline.Map[offsetKey, *committed]
	// partitions says which offsets a group has. It changes when the first offset of
	// a partition is committed; later ones only replace a value.
	partitions *timeline.Map[string, partitionSet]
	// pending are offsets of transactions that have not ended, by producer; open
	// are the producers with such offsets, by group.
	pending *timeline.Map[kafka.ProducerID, pendingSet]
	open    *timeline.Map[string, producerSet]
}

func newOffsetStore(r *timeline.Registry) *offsetStore {
	return &offsetStore{
		values:     timeline.NewMap[offsetKey, *committed](r),
		partitions: timeline.NewMap[string, partitionSet](r),
		pending:    timeline.NewMap[kafka.ProducerID, pendingSet](r),
		open:       timeline.NewMap[string, producerSet](r),
	}
}

func (s *offsetStore) get(key offsetKey) *committed {
	v, _ := s.values.Get(key)
	return v
}

func (s *offsetStore) set(key offsetKey, v *committed) {
	if _, known := s.values.Get(key); !known {
		set, ok := s.partitions.Get(key.group)
		if !ok {
			set = immut.New[kafka.TopicPartition, struct{}](kafka.TopicPartition.Compare)
		}
		set.Set(immut.NewOwner(), key.TopicPartition, struct{}{})
		s.partitions.Set(key.group, set)
	}
	s.values.Set(key, v)
}

// remove takes an offset out, and what transactions that have not ended have of it.
func (s *offsetStore) remove(key offsetKey) {
	if _, known := s.values.Get(key); known {
		s.values.Delete(key)
		set, _ := s.partitions.Get(key.group)
		set.Delete(immut.NewOwner(), key.TopicPartition)
		if set.Len() == 0 {
			s.partitions.Delete(key.group)
		} else {
			s.partitions.Set(key.group, set)
		}
	}
	open, _ := s.open.Get(key.group)
	for id := range open.Keys() {
		if set, ok := s.pending.Get(id); ok && set.Delete(immut.NewOwner(), key) {
			s.pending.Set(id, set)
			if !hasGroup(set, key.group) {
				s.closeFor(key.group, id)
			}
		}
	}
}

// hasGroup says whether one of the offsets is of the group.
func hasGroup(set pendingSet, group string) bool {
	for key := range set.From(offsetKey{group: group}) {
		return key.group == group
	}
	return false
}

// setPending keeps an offset until the transaction ends.
func (s *offsetStore) setPending(id kafka.ProducerID, key offsetKey, v *committed) {
	set, ok := s.pending.Get(id)
	if !ok {
		set = immut.New[offsetKey, *committed](compareKeys)
	}
	set.Set(immut.NewOwner(), key, v)
	s.pending.Set(id, set)
	open, ok := s.open.Get(key.group)
	if !ok {
		open = immut.New[kafka.ProducerID, struct{}](cmp.Compare[kafka.ProducerID])
	}
	if _, known := open.Get(id); !known {
		open.Set(immut.NewOwner(), id, struct{}{})
		s.open.Set(key.group, open)
	}
}

// end ends a transaction. Of an offset that was also committed without it, the
// later record counts.
func (s *offsetStore) end(id kafka.ProducerID, commit bool) {
	set, ok := s.pending.Get(id)
	if !ok {
		return
	}
	s.pending.Delete(id)
	for key, v := range set.All() {
		s.closeFor(key.group, id)
		if old := s.get(key); commit && (old == nil || v.record > old.record) {
			s.set(key, v)
		}
	}
}

func (s *offsetStore) closeFor(group string, id kafka.ProducerID) {
	open, ok := s.open.Get(group)
	if !ok || !open.Delete(immut.NewOwner(), id) {
		return
	}
	if open.Len() == 0 {
		s.open.Delete(group)
	} else {
		s.open.Set(group, open)
	}
}

// isPending says whether a transaction that has not ended has an offset of key.
func (s *offsetStore) isPending(key offsetKey) bool {
	open, ok := s.open.Get(key.group)
	if !ok {
		return false
	}
	for id := range open.Keys() {
		if set, ok := s.pending.Get(id); ok {
			if _, is := set.Get(key); is {
				return true
			}
		}
	}
	return false
}

// ofGroup are all offsets of a group, with those that are only pending, in order.
func (s *offsetStore) ofGroup(group string) []offsetKey {
	var keys []offsetKey
	set, _ := s.partitions.Get(group)
	for tp := range set.Keys() {
		keys = append(keys, offsetKey{group, tp})
	}
	open, _ := s.open.Get(group)
	for id := range open.Keys() {
		pending, _ := s.pending.Get(id)
		for key := range pending.Keys() {
			if key.group == group && s.get(key) == nil {
				keys = append(keys, key)
			}
		}
	}
	slices.SortFunc(keys, compareKeys)
	return slices.Compact(keys)
}
