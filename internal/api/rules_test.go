package api

import (
	"fmt"
	"testing"
	"time"

	"barnabas/internal/kafka"
	"barnabas/internal/record"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestSpecialTimestampsByVersion(t *testing.T) {
	for _, c := range []struct {
		timestamp kafka.TimestampMs
		from      int16 // the first version that knows it
	}{{0, 1}, {1 << 62, 1}, {-1, 1}, {-2, 1}, {-3, 7}, {-4, 8}, {-5, 9}, {-6, 11}, {-7, 99}, {-1 << 63, 99}} {
		for version := int16(1); version <= 11; version++ {
			if got, want := knowsTimestamp(version, c.timestamp), version >= c.from; got != want {
				t.Errorf("version %d knows %d: %v, want %v", version, c.timestamp, got, want)
			}
		}
	}
}

// TestCrowdMakesOneTopic: who asks for a topic that is being created does not
// create it again, and there is a limit to what is being created.
func TestCrowdMakesOneTopic(t *testing.T) {
	a, now := newAutoCreate(), time.Unix(0, 0)
	if !a.begin("a", now) || a.begin("a", now) {
		t.Error("the first who asks creates the topic, and nobody else")
	}
	a.end([]string{"a"})
	if !a.begin("a", now) {
		t.Error("it may be tried again")
	}
	for i := 1; i < maxAutoCreate; i++ {
		if !a.begin(fmt.Sprint(i), now) {
			t.Fatalf("topic %d", i)
		}
	}
	if a.begin("one too many", now) {
		t.Errorf("more than %d at once", maxAutoCreate)
	}
}

func TestTransactionalBatchIsSeenWhereverItStands(t *testing.T) {
	batch := func(producer kafka.ProducerID) []byte {
		o := record.BatchOptions{Transactional: producer > 0}
		if producer > 0 {
			o.Producer = &record.Producer{ID: producer}
		}
		b := record.NewBuilder(o)
		b.Append(record.Record{Value: []byte("v")})
		bytes, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		return bytes
	}
	plain, transactional, other := batch(0), batch(1), batch(2)
	for _, c := range []struct {
		what    string
		sets    [][]byte
		want    bool
		several bool
	}{
		{"none", nil, false, false},
		{"null and empty", [][]byte{nil, {}}, false, false},
		{"plain", [][]byte{plain}, false, false},
		{"second", [][]byte{plain, transactional}, true, false},
		{"cut", [][]byte{transactional[:len(transactional)-1]}, false, false},
		{"one producer", [][]byte{transactional, transactional}, true, false},
		{"several producers", [][]byte{transactional, plain, other}, true, true},
	} {
		r := kmsg.NewPtrProduceRequest()
		for _, set := range c.sets {
			r.Topics = append(r.Topics, kmsg.ProduceRequestTopic{Partitions: []kmsg.ProduceRequestTopicPartition{{Records: set}}})
		}
		if found, several := transactionalProducers(r); found != c.want || several != c.several {
			t.Errorf("%s: found %v, several %v", c.what, found, several)
		}
	}
}

func TestPartitionsAreCountedOverTopics(t *testing.T) {
	r := kmsg.NewPtrListOffsetsRequest()
	for _, topic := range []string{"a", "b", "a"} {
		r.Topics = append(r.Topics, kmsg.ListOffsetsRequestTopic{Topic: topic, Partitions: []kmsg.ListOffsetsRequestTopicPartition{{Partition: 0}, {Partition: 1}}})
	}
	n := countPartitions(r)
	if n[kafka.TopicPartition{Topic: "a", Partition: 1}] != 2 || n[kafka.TopicPartition{Topic: "b", Partition: 0}] != 1 || len(n) != 4 {
		t.Errorf("%v", n)
	}
}
