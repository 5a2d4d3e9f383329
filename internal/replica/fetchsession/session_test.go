package fetchsession

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"

	"barnabas/internal/base/script"
	"barnabas/internal/kafka"
)

func counter() func() uint32 {
	n := uint32(0)
	return func() uint32 { n++; return n }
}

// parts reads "a-0@5,b-1@0": topic, partition and fetch offset.
func parts(list string) (topics []kmsg.FetchRequestTopic, forgotten []kmsg.FetchRequestForgottenTopic) {
	for word := range strings.SplitSeq(list, ",") {
		if word == "" {
			continue
		}
		name, offset, _ := strings.Cut(word, "@")
		topic, index, _ := strings.Cut(name, "-")
		n, err := strconv.Atoi(index)
		if err != nil {
			panic(err)
		}
		at, _ := strconv.ParseInt(offset, 10, 64)
		id := [16]byte{topic[0]}
		topics = append(topics, kmsg.FetchRequestTopic{Topic: topic, TopicID: id, Partitions: []kmsg.FetchRequestTopicPartition{{Partition: int32(n), FetchOffset: at}}})
		forgotten = append(forgotten, kmsg.FetchRequestForgottenTopic{Topic: topic, TopicID: id, Partitions: []int32{int32(n)}})
	}
	return topics, forgotten
}

// TestScripts plays requests against a cache with one slot in each shard; each
// new session goes to the shard that "shard" names last. Session ids count from
// the shard's first.
func TestScripts(t *testing.T) {
	script.RunDir(t, "testdata", func(t *testing.T) func(script.Command) string {
		c := NewCache[struct{}, int](shards, counter())
		c.next.Store(math.MaxUint32)
		released := map[*Session[struct{}, int]]int{}
		held := map[string]*Session[struct{}, int]{}
		zero := time.Unix(1_000_000, 0)
		return func(cmd script.Command) string {
			now := zero.Add(time.Duration(cmd.Int("t", 0)) * time.Second)
			var out strings.Builder
			release := func(s *Session[struct{}, int]) {
				if s != nil {
					if released[s]++; released[s] > 1 {
						t.Error("S3: a session was released twice")
					}
					fmt.Fprintf(&out, "release %d: %s\n", s.id, show(s))
				}
			}
			switch cmd.Name {
			case "begin":
				s, ended, code := c.Begin(int32(cmd.Int("id", 0)), int32(cmd.Int("epoch", 0)), cmd.Int("ids", 0) == 1, cmd.Int("follower", 0) == 1, now)
				release(ended)
				if code != kafka.ErrNone {
					return out.String() + code.String()
				}
				topics, _ := parts(cmd.Args["parts"])
				_, forgotten := parts(cmd.Args["forget"])
				s.Update(topics, forgotten, func(slot *Slot[int]) { slot.Value++ }, func(slot *Slot[int]) {
					fmt.Fprintf(&out, "forget %s\n", name(slot))
				})
				if s.Incremental() && s.Len() == 0 {
					c.Drop(s)
				}
				held[cmd.Word(0)] = s
				fmt.Fprintf(&out, "incremental=%v epoch=%d %s", s.Incremental(), s.epoch, show(s))
			case "end":
				s := held[cmd.Word(0)]
				for slot := range s.All {
					if strings.Contains(cmd.Args["data"], name(slot)) {
						s.MoveToEnd(slot)
					}
				}
				id, r := c.Finish(s, now)
				release(r)
				fmt.Fprintf(&out, "id=%d", id)
			case "shard":
				c.next.Store(uint32(cmd.Int("n", 0)) - 1)
			case "clear":
				c.Clear(release)
			default:
				t.Fatalf("unknown command %q", cmd.Name)
			}
			return out.String()
		}
	})
}

func name(s *Slot[int]) string {
	if s.Topic == "" {
		return fmt.Sprintf("%c-%d", s.ID[0], s.Index)
	}
	return fmt.Sprintf("%s-%d", s.Topic, s.Index)
}

func show(s *Session[struct{}, int]) string {
	var slots []*Slot[int]
	for slot := range s.All {
		slots = append(slots, slot)
	}
	s.Sort(slots)
	var words []string
	for _, slot := range slots {
		words = append(words, fmt.Sprintf("%s@%d", name(slot), slot.FetchOffset))
	}
	return "[" + strings.Join(words, " ") + "]"
}

func TestIncrementalAnswersTellOnlyWhatIsNew(t *testing.T) {
	var slot Slot[int]
	slot.highWatermark, slot.logStart = kafka.NoOffset, kafka.NoOffset
	for i, step := range []struct {
		told Told
		must bool
	}{
		{Told{HighWatermark: 5}, true},
		{Told{HighWatermark: 5}, false},
		{Told{HighWatermark: 5, Records: true}, true},
		{Told{HighWatermark: 6}, true},
		{Told{HighWatermark: 6, LogStart: 2}, true},
		{Told{HighWatermark: 6, LogStart: 2}, false},
		{Told{HighWatermark: 6, LogStart: 2, Diverging: true}, true},
		{Told{Code: kafka.ErrOffsetOutOfRange, HighWatermark: -1, LogStart: -1}, true},
		{Told{Code: kafka.ErrOffsetOutOfRange, HighWatermark: -1, LogStart: -1}, true},
		{Told{HighWatermark: 6, LogStart: 2}, true},
		{Told{HighWatermark: 6, LogStart: 2}, false},
	} {
		if got := slot.IsNews(step.told); got != step.must {
			t.Errorf("step %d: %+v is told: %v, want %v", i, step.told, got, step.must)
		}
		slot.Tell(step.told)
	}
}

func TestEpochWrapsToOne(t *testing.T) {
	if nextEpoch(math.MaxInt32) != 1 || nextEpoch(1) != 2 {
		t.Fatal("epoch after 2147483647 must be 1")
	}
}

func TestFindsEachPartitionOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &Session[struct{}, int]{usesIDs: rapid.Bool().Draw(t, "ids")}
		model := map[string]int64{}
		t.Repeat(map[string]func(*rapid.T){
			"update": func(t *rapid.T) {
				var named, gone []string
				for range rapid.IntRange(0, 6).Draw(t, "n") {
					p := fmt.Sprintf("%c-%d", 'a'+rune(rapid.IntRange(0, 3).Draw(t, "topic")), rapid.IntRange(0, 6).Draw(t, "index"))
					if rapid.IntRange(0, 3).Draw(t, "forget") == 0 {
						gone = append(gone, p)
						continue
					}
					at := rapid.Int64Range(0, 100).Draw(t, "offset")
					named = append(named, fmt.Sprintf("%s@%d", p, at))
					model[p] = at
				}
				for _, p := range gone {
					delete(model, p)
				}
				topics, _ := parts(strings.Join(named, ","))
				_, forgotten := parts(strings.Join(gone, ","))
				s.Update(topics, forgotten, func(*Slot[int]) {}, func(*Slot[int]) {})
			},
			"": func(t *rapid.T) {
				if s.Len() != len(model) {
					t.Fatalf("%d partitions, want %d", s.Len(), len(model))
				}
				for slot := range s.All {
					if at, ok := model[name(slot)]; !ok || kafka.Offset(at) != slot.FetchOffset || s.Slot(slot.Number()) != slot {
						t.Fatalf("slot %d: %s@%d, want offset %d (%v)", slot.Number(), name(slot), slot.FetchOffset, at, ok)
					}
				}
				if s.Slots() > 28 {
					t.Fatalf("S1: %d slots for 28 partitions", s.Slots())
				}
			},
		})
	})
}

// TestPartitionsOfAllSessionsAreBounded: a client that asks for too many fetches
// without a session, one whose session grows too large loses it, and what has ended
// makes room.
func TestPartitionsOfAllSessionsAreBounded(t *testing.T) {
	c := NewCache[struct{}, int](1000, counter())
	now := time.Unix(1_000_000, 0)
	many := func(n int) []kmsg.FetchRequestTopic {
		return []kmsg.FetchRequestTopic{{Topic: "a", Partitions: manyPartitions(n)}}
	}
	fetch := func(id, epoch int32, n int) (got int32, released *Session[struct{}, int]) {
		t.Helper()
		s, _, code := c.Begin(id, epoch, false, false, now)
		if code != kafka.ErrNone {
			t.Fatal(code)
		}
		s.Update(many(n), nil, func(*Slot[int]) {}, func(*Slot[int]) {})
		return c.Finish(s, now)
	}
	first, _ := fetch(0, initialEpoch, maxPartitions/2)
	second, released := fetch(0, initialEpoch, maxPartitions/2)
	if first == 0 || second == 0 || released != nil {
		t.Fatalf("sessions %d, %d, released %v", first, second, released)
	}
	if id, released := fetch(0, initialEpoch, 1); id != 0 || released == nil {
		t.Errorf("session %d is one too many", id)
	}
	if id, released := fetch(second, 1, maxPartitions/2+1); id != second || released == nil {
		t.Errorf("session %d has grown too large, released %v", id, released)
	}
	if _, _, code := c.Begin(second, 2, false, false, now); code != kafka.ErrFetchSessionIDNotFound {
		t.Errorf("it is still there: %v", code)
	}
	if id, _ := fetch(0, initialEpoch, maxPartitions/2); id == 0 {
		t.Error("there is room, but no session")
	}
	c.Clear(func(*Session[struct{}, int]) {})
	if n := c.partitions.Load(); n != 0 {
		t.Errorf("%d partitions of no session", n)
	}
}

func manyPartitions(n int) []kmsg.FetchRequestTopicPartition {
	list := make([]kmsg.FetchRequestTopicPartition, n)
	for i := range list {
		list[i].Partition = int32(i)
	}
	return list
}
