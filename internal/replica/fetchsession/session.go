package fetchsession

import (
	"cmp"
	"slices"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/internal/kafka"
)

// Partition is what a client asks of one partition. It is named by topic id from
// Fetch v13 on, and by name before.
type Partition struct {
	ID    kafka.UUID
	Topic string // by id: "" until the owner has found the name
	Index int32

	FetchOffset        kafka.Offset
	LogStartOffset     kafka.Offset // of a follower
	MaxBytes           int32
	CurrentLeaderEpoch kafka.LeaderEpoch
	LastFetchedEpoch   kafka.LeaderEpoch
}

// Slot is a partition of a session.
type Slot[T any] struct {
	Partition
	Value T

	number int
	order  uint64
	// What the client was told last; NoOffset: nothing, or an error.
	highWatermark, logStart kafka.Offset
}

// Number is the slot's number in its session.
func (s *Slot[T]) Number() int { return s.number }

// Told is what an answer would tell about a partition, as far as it decides
// whether there is something to tell.
type Told struct {
	Code          kafka.ErrorCode
	HighWatermark kafka.Offset
	LogStart      kafka.Offset
	Records       bool
	Diverging     bool
}

// IsNews says whether an incremental answer must name the partition. An error is
// told each time, and what comes after it too.
func (s *Slot[T]) IsNews(t Told) bool {
	return t.Records || t.Diverging || t.Code != kafka.ErrNone ||
		t.HighWatermark != s.highWatermark || t.LogStart != s.logStart
}

// Tell notes that the client is told.
func (s *Slot[T]) Tell(t Told) {
	s.highWatermark, s.logStart = t.HighWatermark, t.LogStart
	if t.Code != kafka.ErrNone {
		s.highWatermark = kafka.NoOffset
	}
}

type kind int8

const (
	sessionless kind = iota
	full             // to be put into the cache
	incremental
)

// Session is the partitions of one fetch or of many. See the package on who may
// touch it.
type Session[S, T any] struct {
	// Value belongs to the owner.
	Value S

	id      int32
	usesIDs bool
	kind    kind

	slots     []*Slot[T] // by number; nil: free
	free      []int
	byKey     map[key]*Slot[T] // nil while there are few
	nextOrder uint64
	live      atomic.Int32

	// guarded by the shard's mu
	epoch             int32
	privileged        bool
	busy              bool
	removed           bool
	counted           int // of its partitions, in the cache's sum
	created, lastUsed time.Time
	older, newer      *Session[S, T] // by last use
}

type key struct {
	id    kafka.UUID
	topic string
	index int32
}

// manySlots is the number of partitions from which on a map finds them.
const manySlots = 8

func keyOf(p Partition) key {
	if p.ID.IsZero() {
		return key{topic: p.Topic, index: p.Index}
	}
	return key{id: p.ID, index: p.Index}
}

// Incremental says that the request named only differences, and that the answer
// shall do so.
func (s *Session[S, T]) Incremental() bool { return s.kind == incremental }

// ID is the session's id, 0 if it has none.
func (s *Session[S, T]) ID() int32 { return s.id }

// Len is the number of partitions.
func (s *Session[S, T]) Len() int { return int(s.live.Load()) }

// Slots is one more than the largest slot number ever used.
func (s *Session[S, T]) Slots() int { return len(s.slots) }

// Slot gives the slot of a number, or nil.
func (s *Session[S, T]) Slot(number int) *Slot[T] { return s.slots[number] }

// All calls yield for each partition, in order of slot numbers.
func (s *Session[S, T]) All(yield func(*Slot[T]) bool) {
	for _, slot := range s.slots {
		if slot != nil && !yield(slot) {
			return
		}
	}
}

// Update takes in what a request names: first the partitions that are new or
// asked for otherwise than before, for each of which changed is called, then
// those to forget. A partition that is named twice counts as it was named last.
func (s *Session[S, T]) Update(topics []kmsg.FetchRequestTopic, forgotten []kmsg.FetchRequestForgottenTopic,
	changed, forget func(*Slot[T])) {
	s.makeRoom(topics)
	for i := range topics {
		t := &topics[i]
		for j := range t.Partitions {
			r := &t.Partitions[j]
			p := Partition{
				Index:       r.Partition,
				FetchOffset: kafka.Offset(r.FetchOffset), LogStartOffset: kafka.Offset(r.LogStartOffset),
				MaxBytes:           r.PartitionMaxBytes,
				CurrentLeaderEpoch: max(kafka.LeaderEpoch(r.CurrentLeaderEpoch), kafka.NoLeaderEpoch),
				LastFetchedEpoch:   max(kafka.LeaderEpoch(r.LastFetchedEpoch), kafka.NoLeaderEpoch),
			}
			s.name(&p, t.Topic, t.TopicID)
			slot := s.find(keyOf(p))
			if slot == nil {
				slot = s.add(p)
			} else {
				p.Topic = slot.Topic
				slot.Partition = p
			}
			changed(slot)
		}
	}
	for i := range forgotten {
		t := &forgotten[i]
		for _, index := range t.Partitions {
			p := Partition{Index: index}
			s.name(&p, t.Topic, t.TopicID)
			if slot := s.find(keyOf(p)); slot != nil {
				s.remove(slot)
				forget(slot)
			}
		}
	}
}

// name sets how the partition is named in this session.
func (s *Session[S, T]) name(p *Partition, topic string, id [16]byte) {
	if s.usesIDs {
		p.ID = id
	} else {
		p.Topic = topic
	}
}

// makeRoom lets a new session be built in few allocations.
func (s *Session[S, T]) makeRoom(topics []kmsg.FetchRequestTopic) {
	if len(s.slots) > 0 {
		return
	}
	n := 0
	for i := range topics {
		n += len(topics[i].Partitions)
	}
	s.slots = make([]*Slot[T], 0, n)
	if n > manySlots {
		s.byKey = make(map[key]*Slot[T], n)
	}
}

func (s *Session[S, T]) find(k key) *Slot[T] {
	if s.byKey != nil {
		return s.byKey[k]
	}
	for _, slot := range s.slots {
		if slot != nil && keyOf(slot.Partition) == k {
			return slot
		}
	}
	return nil
}

func (s *Session[S, T]) add(p Partition) *Slot[T] {
	slot := &Slot[T]{Partition: p, highWatermark: kafka.NoOffset, logStart: kafka.NoOffset}
	if n := len(s.free); n > 0 {
		slot.number = s.free[n-1]
		s.free = s.free[:n-1]
		s.slots[slot.number] = slot
	} else {
		slot.number = len(s.slots)
		s.slots = append(s.slots, slot)
	}
	s.live.Add(1)
	s.MoveToEnd(slot)
	if s.byKey != nil {
		s.byKey[keyOf(p)] = slot
	} else if len(s.slots) > manySlots {
		s.byKey = make(map[key]*Slot[T], 2*len(s.slots))
		for slot := range s.All {
			s.byKey[keyOf(slot.Partition)] = slot
		}
	}
	return slot
}

func (s *Session[S, T]) remove(slot *Slot[T]) {
	s.slots[slot.number] = nil
	s.free = append(s.free, slot.number)
	s.live.Add(-1)
	delete(s.byKey, keyOf(slot.Partition))
}

// MoveToEnd lets a partition that was served be the last one next time, so that
// the limits of an answer starve nobody.
func (s *Session[S, T]) MoveToEnd(slot *Slot[T]) {
	slot.order = s.nextOrder
	s.nextOrder++
}

// Sort puts slots into the order in which they are to be served.
func (s *Session[S, T]) Sort(slots []*Slot[T]) {
	slices.SortFunc(slots, func(a, b *Slot[T]) int { return cmp.Compare(a.order, b.order) })
}
