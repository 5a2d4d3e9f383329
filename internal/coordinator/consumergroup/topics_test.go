package consumergroup

import (
	"fmt"
	"iter"
	"maps"
	"testing"

	"barnabas/internal/coordinator/grouprec"
	"barnabas/internal/kafka"
)

// someTopics is a Topics.
type someTopics map[string]Topic

func (s someTopics) Version() int64 { return 1 }
func (s someTopics) Created() int64 { return 1 }
func (s someTopics) Changed() int64 { return 1 }

func (s someTopics) ByName(name string) (t Topic, ok bool) {
	t, ok = s[name]
	return t, ok
}

func (s someTopics) ByID(id kafka.UUID) (t Topic, ok bool) {
	for _, t := range s {
		if t.ID == id {
			return t, true
		}
	}
	return t, false
}

func (s someTopics) Names() iter.Seq[string] { return maps.Keys(s) }

// newTopic makes one with the racks of each partition.
func newTopic(t *testing.T, name, id string, racks ...[]string) Topic {
	t.Helper()
	parsed, err := kafka.ParseUUID(id)
	if err != nil {
		t.Fatal(err)
	}
	return Topic{Name: name, ID: parsed, Partitions: int32(len(racks)), Racks: func(p int32) []string { return racks[p] }, Same: fmt.Sprint(name, id, racks)}
}

// TestHashesAreApaches compares with what Apache Kafka 4.4.0 computes.
func TestHashesAreApaches(t *testing.T) {
	all := someTopics{}
	for _, want := range []struct {
		topic Topic
		hash  int64
	}{
		{newTopic(t, "gt", "tMsBhpLeT5alX0bcvbRWXQ", nil, nil, nil), 6308103721970973618},
		{newTopic(t, "foo", "AAAAAAAAAAEAAAAAAAAAAg", []string{"r1", "r0"}), -5132068986679262558},
		{newTopic(t, "bär", "ESIzRFVmd4j_________-w", []string{"rack-a"}, []string{"rack-b", "rack-a"}), 280994233636575518},
		{newTopic(t, "empty", "AAAAAAAAAAcAAAAAAAAABw"), -2636923454415018575},
	} {
		all[want.topic.Name] = want.topic
		if got := int64(hashTopic(want.topic)); got != want.hash {
			t.Errorf("%s: %d, not %d", want.topic.Name, got, want.hash)
		}
	}
	for _, want := range []struct {
		topics []string
		hash   int64
	}{
		{[]string{"gt"}, 32975429964583687},
		{[]string{"gt", "foo"}, 8778582868592826185},
		{[]string{"foo", "gt", "empty", "bär"}, -6033181433965183974},
		{[]string{"foo", "unknown-topic", "gt"}, 8778582868592826185},
		{[]string{"unknown-topic"}, 0},
	} {
		g := New("g").Apply(
			&grouprec.ConsumerGroupMemberMetadataKey{GroupID: "g", MemberID: "m"},
			&grouprec.ConsumerGroupMemberMetadataValue{SubscribedTopicNames: want.topics},
		)
		var h Hashes
		for range 2 { // the second time from memory
			if got := h.Hash(g, all); got != want.hash {
				t.Errorf("%v: %d, not %d", want.topics, got, want.hash)
			}
		}
	}
}
