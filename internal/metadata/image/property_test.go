package image

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"barnabas/internal/kafka"
	"barnabas/internal/metadata/metarec"
)

// rebuilt replays the snapshot records of img on an empty image.
func rebuilt(t interface{ Fatalf(string, ...any) }, img *Image) *Image {
	b := NewBuilder(Empty())
	err := img.Records(kafka.LatestMetadataVersion, func(group []metarec.Versioned) error {
		for _, r := range group {
			frame, err := metarec.Encode(nil, r.Message, r.Version)
			if err != nil {
				return err
			}
			m, _, err := metarec.Decode(frame)
			if err != nil {
				return err
			}
			if err := b.Replay(m); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatalf("%v", err)
	}
	out, _ := b.Build(img.Position)
	return out
}

// randomRecord draws a record that fits img.
func randomRecord(t *rapid.T, img *Image, serial int) metarec.Message {
	number := func(name string, max int) int { return rapid.IntRange(0, max).Draw(t, name) }
	lists := [][]kafka.BrokerID{nil, {1}, {1, 2}, {2, 1, 3}, {3, 4}}
	list := func(name string) []kafka.BrokerID { return slices.Clone(lists[number(name, len(lists)-1)]) }
	name := func() string { return fmt.Sprint("t", number("name", 12)) }
	topic := img.Topics.ByName(name())
	switch kind := number("kind", 13); {
	case kind < 5 && topic != nil && topic.Len() > 0:
		r := metarec.NewPartitionChangeRecord()
		r.TopicID, r.PartitionID = topic.ID, int32(number("partition", topic.Len()-1))
		r.Isr, r.EligibleLeaderReplicas, r.AddingReplicas = list("isr"), list("elr"), list("adding")
		r.Leader = kafka.BrokerID(number("leader", 4) - 2)
		if number("move", 3) == 0 {
			r.Replicas, r.Directories = []kafka.BrokerID{7}, []kafka.UUID{{15: byte(number("dir", 3))}}
		}
		return r
	case kind < 8 && topic != nil:
		r := metarec.NewPartitionRecord()
		r.TopicID, r.PartitionID = topic.ID, int32(topic.Len())
		r.Replicas, r.Isr, r.LastKnownElr = list("replicas"), list("isr"), list("known")
		r.Directories = make([]kafka.UUID, len(r.Replicas))
		for i := range r.Directories {
			r.Directories[i][15] = byte(number("dir", 3))
		}
		return r
	case kind < 8:
		r := metarec.NewTopicRecord()
		for i := 0; ; i++ {
			if r.Name = fmt.Sprint("t", i); img.Topics.ByName(r.Name) == nil {
				break
			}
		}
		r.TopicID = kafka.UUID{1, byte(serial >> 8), byte(serial)}
		return r
	case kind == 8 && topic != nil:
		r := metarec.NewRemoveTopicRecord()
		r.TopicID = topic.ID
		return r
	case kind == 9:
		r := metarec.NewRegisterBrokerRecord()
		r.BrokerID, r.BrokerEpoch, r.Fenced = kafka.BrokerID(number("broker", 3)), kafka.BrokerEpoch(serial), number("fenced", 1) == 0
		return r
	case kind == 10 && img.Cluster.Broker(2) != nil:
		r := metarec.NewBrokerRegistrationChangeRecord()
		r.BrokerID, r.BrokerEpoch, r.Fenced = 2, img.Cluster.Broker(2).Epoch, int8(number("fence", 2)-1)
		return r
	case kind == 10:
		r := metarec.NewUnregisterBrokerRecord()
		r.BrokerID = kafka.BrokerID(number("broker", 3))
		return r
	case kind == 11:
		r := metarec.NewClientQuotaRecord()
		r.Entity = []metarec.QuotaEntity{{EntityType: name()}}
		r.Key, r.Value, r.Remove = name(), float64(number("value", 2)), number("remove", 2) == 0
		return r
	case kind == 12:
		r := metarec.NewFeatureLevelRecord()
		r.Name, r.FeatureLevel = name(), int16(number("level", 2))
		return r
	default:
		r := metarec.NewConfigRecord()
		r.ResourceType, r.ResourceName, r.Name = 2, name(), name()
		if number("set", 2) > 0 {
			value := name()
			r.Value = &value
		}
		return r
	}
}

// TestDeltasNameEveryDifference replays random records in random portions. Each delta
// must name what Diff finds, images that were given out must stay as they were, and
// each must come back from its own snapshot.
func TestDeltasNameEveryDifference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		level := func(name string, level int16) metarec.Message {
			r := metarec.NewFeatureLevelRecord()
			r.Name, r.FeatureLevel = name, level
			return r
		}
		img := Empty()
		serial := 0
		type kept struct{ img, copy *Image }
		var images []kept
		var merged *Delta // all deltas so far as one
		for range rapid.IntRange(1, 8).Draw(t, "images") {
			b := NewBuilder(img)
			// Without the feature, snapshots leave the eligible replicas out.
			for _, m := range []metarec.Message{level(kafka.FeatureMetadataVersion, int16(kafka.LatestMetadataVersion)), level(kafka.FeatureELR, 1)} {
				if err := b.Replay(m); err != nil {
					t.Fatalf("%v", err)
				}
			}
			for range rapid.IntRange(0, 25).Draw(t, "records") {
				serial++
				m := randomRecord(t, b.Current(), serial)
				if err := b.Replay(m); err != nil {
					t.Fatalf("%s: %v", m.Type(), err)
				}
			}
			next, d := b.Build(Position{Offset: kafka.Offset(serial), Aligned: true})
			checkDelta(t, d, Diff(img, next))
			if merged == nil || rapid.IntRange(0, 3).Draw(t, "begin again") == 0 {
				merged = d
			} else {
				merged = Merge(merged, d)
			}
			if merged.New != next {
				t.Fatalf("a merged delta ends elsewhere")
			}
			checkDelta(t, merged, Diff(merged.Old, next))
			copied := rebuilt(t, next)
			if x := Diff(next, copied); !x.Empty() || copied.Topics.Partitions() != next.Topics.Partitions() {
				t.Fatalf("the snapshot gives another image: %+v", x)
			}
			images = append(images, kept{next, copied})
			img = next
		}
		for i, k := range images {
			if x := Diff(k.copy, k.img); !x.Empty() {
				t.Fatalf("image %d has changed: %+v", i, x)
			}
		}
	})
}

// checkDelta says whether d names all of want. It may name more.
func checkDelta(t *rapid.T, d, want *Delta) {
	for i := range reflect.TypeFor[Delta]().NumField() {
		name := reflect.TypeFor[Delta]().Field(i).Name
		got, need := reflect.ValueOf(*d).Field(i), reflect.ValueOf(*want).Field(i)
		if name == "Topics" || got.Kind() != reflect.Slice {
			continue
		}
		for j := range need.Len() {
			found := false
			for k := range got.Len() {
				found = found || reflect.DeepEqual(got.Index(k).Interface(), need.Index(j).Interface())
			}
			if !found {
				t.Fatalf("%s: %v is not named in %v", name, need.Index(j), got)
			}
		}
	}
	type place struct {
		id kafka.UUID
		n  int32
	}
	named := map[place]bool{}
	for p := range d.Partitions() {
		named[place{p.Topic.ID, p.Number}] = true
	}
	for p := range want.Partitions() {
		if !named[place{p.Topic.ID, p.Number}] {
			t.Fatalf("partition %d of %s is not named", p.Number, p.Topic.Name)
		}
	}
	topics := map[kafka.UUID]bool{}
	for _, c := range d.Topics {
		topics[c.Topic().ID] = true
	}
	for _, c := range want.Topics {
		if !topics[c.Topic().ID] {
			t.Fatalf("topic %s is not named", c.Topic().Name)
		}
	}
}

// partitionsOf builds topics with as many partitions each, three replicas of nine
// brokers.
func partitionsOf(t testing.TB, topics, each int) *Image {
	t.Helper()
	b := NewBuilder(Empty())
	for i := range topics {
		topic := metarec.NewTopicRecord()
		topic.Name, topic.TopicID = fmt.Sprint("topic-", i), kafka.UUID{byte(i * 31 >> 16), byte(i * 31 >> 8), byte(i * 31), byte(i >> 16), byte(i >> 8), byte(i), 1}
		if err := b.Replay(topic); err != nil {
			t.Fatal(err)
		}
		for j := range each {
			p := metarec.NewPartitionRecord()
			p.TopicID, p.PartitionID = topic.TopicID, int32(j)
			first := kafka.BrokerID((i + j) % 9)
			p.Replicas = []kafka.BrokerID{first, (first + 1) % 9, (first + 2) % 9}
			p.Isr = slices.Clone(p.Replicas)
			p.Directories = []kafka.UUID{{byte(first), 9}, {byte(first+1) % 9, 9}, {byte(first+2) % 9, 9}}
			p.Leader, p.LeaderEpoch, p.PartitionEpoch = first, 0, 0
			if err := b.Replay(p); err != nil {
				t.Fatal(err)
			}
		}
	}
	img, _ := b.Build(Position{})
	return img
}

func TestOneChangeIn200000PartitionsCopiesLittle(t *testing.T) {
	for _, shape := range []struct{ topics, each int }{{1, 200_000}, {200_000, 1}} {
		var before, built, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		img := partitionsOf(t, shape.topics, shape.each)
		runtime.GC()
		runtime.ReadMemStats(&built)
		const rounds = 200
		for i := range rounds {
			b := NewBuilder(img)
			r := metarec.NewPartitionChangeRecord()
			r.TopicID = img.Topics.ByName(fmt.Sprint("topic-", i*7%shape.topics)).ID
			r.PartitionID, r.Isr = int32(i*613%shape.each), []kafka.BrokerID{1}
			if err := b.Replay(r); err != nil {
				t.Fatal(err)
			}
			img, _ = b.Build(Position{})
		}
		runtime.ReadMemStats(&after)
		copied := (after.TotalAlloc - built.TotalAlloc) / rounds
		t.Logf("%d topics of %d partitions: %d bytes a change, image of %d bytes a partition", shape.topics, shape.each, copied,
			(built.HeapAlloc-before.HeapAlloc)/200_000)
		if copied > 40<<10 {
			t.Errorf("%d topics of %d partitions: one change copies %d bytes", shape.topics, shape.each, copied)
		}
		runtime.KeepAlive(img)
	}
}

func TestBuilderGoesOnAfterBuild(t *testing.T) {
	base := partitionsOf(t, 2, 130)
	id := base.Topics.ByName("topic-1").ID
	b := NewBuilder(base)
	change := func(number int32, leader kafka.BrokerID) (*Image, *Delta) {
		r := metarec.NewPartitionChangeRecord()
		r.TopicID, r.PartitionID, r.Leader = id, number, leader
		if err := b.Replay(r); err != nil {
			t.Fatal(err)
		}
		return b.Build(Position{})
	}
	numbers := func(d *Delta) (out []int32) {
		for p := range d.Partitions() {
			out = append(out, p.Number)
		}
		return out
	}
	first, d1 := change(129, 77)
	second, d2 := change(129, 78)
	third, d3 := change(64, 79)
	for i, want := range []struct {
		img  *Image
		last kafka.BrokerID
		mid  kafka.BrokerID
	}{{base, 4, 2}, {first, 77, 2}, {second, 78, 2}, {third, 78, 79}} {
		if last, mid := want.img.Topics.Partition(id, 129).Leader, want.img.Topics.Partition(id, 64).Leader; last != want.last || mid != want.mid {
			t.Errorf("image %d: leaders %d and %d, want %d and %d", i, last, mid, want.last, want.mid)
		}
	}
	if !slices.Equal(numbers(d1), []int32{129}) || !slices.Equal(numbers(d2), []int32{129}) || !slices.Equal(numbers(d3), []int32{64, 129}) {
		t.Errorf("partitions %v, %v, %v", numbers(d1), numbers(d2), numbers(d3))
	}
	if d1.Old != base || d3.Old != base || d3.New != third {
		t.Error("a delta is not from the base to its image")
	}
}

func TestRecordsComeInGroupsAndOldLevelsCanHoldThem(t *testing.T) {
	img := partitionsOf(t, 1, 2500)
	sizes := []int{}
	err := img.Records(kafka.LatestMetadataVersion, func(group []metarec.Versioned) error {
		sizes = append(sizes, len(group))
		return nil
	})
	if err != nil || !slices.Equal(sizes, []int{GroupSize, GroupSize, 2502 - 2*GroupSize}) {
		t.Errorf("groups of %v, %v", sizes, err)
	}
	stop := errors.New("stop")
	if err := img.Records(kafka.LatestMetadataVersion, func([]metarec.Versioned) error { return stop }); err != stop {
		t.Errorf("error %v", err)
	}
	b := NewBuilder(Empty())
	topic, p := metarec.NewTopicRecord(), metarec.NewPartitionRecord()
	topic.Name, topic.TopicID = "t", kafka.UUID{1}
	p.TopicID, p.PartitionID, p.Replicas, p.Isr = topic.TopicID, 0, []kafka.BrokerID{1, 2}, []kafka.BrokerID{1}
	for _, m := range []metarec.Message{topic, p} {
		if err := b.Replay(m); err != nil {
			t.Fatal(err)
		}
	}
	for _, mv := range kafka.MetadataVersions() {
		err := b.Current().Records(mv, func(group []metarec.Versioned) error {
			for _, r := range group {
				if _, err := metarec.Encode(nil, r.Message, r.Version); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", mv, err)
		}
	}
}

func BenchmarkOneChangeIn200000Partitions(b *testing.B) {
	img := partitionsOf(b, 200, 1000)
	id := img.Topics.ByName("topic-7").ID
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		builder := NewBuilder(img)
		r := metarec.NewPartitionChangeRecord()
		r.TopicID, r.PartitionID, r.Isr = id, int32(i%1000), []kafka.BrokerID{1}
		if err := builder.Replay(r); err != nil {
			b.Fatal(err)
		}
		img, _ = builder.Build(Position{})
	}
}

func BenchmarkLoad200000Partitions(b *testing.B) {
	img := partitionsOf(b, 200, 1000)
	var frames [][]byte
	err := img.Records(kafka.LatestMetadataVersion, func(group []metarec.Versioned) error {
		for _, r := range group {
			frame, err := metarec.Encode(nil, r.Message, r.Version)
			if err != nil {
				return err
			}
			frames = append(frames, frame)
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		builder := NewBuilder(Empty())
		for _, f := range frames {
			m, _, err := metarec.Decode(f)
			if err != nil {
				b.Fatal(err)
			}
			if err := builder.Replay(m); err != nil {
				b.Fatal(err)
			}
		}
		builder.Build(Position{})
	}
}
