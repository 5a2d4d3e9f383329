package placement

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"barnabas/internal/kafka"

	"pgregory.net/rapid"
)

// unturned is a source that begins everything at the first and shuffles nothing.
type unturned struct{}

func (unturned) IntN(int) int                { return 0 }
func (unturned) Shuffle(int, func(i, j int)) {}

func TestStripesOverRacks(t *testing.T) {
	brokers := []Broker{
		{ID: 1, Rack: "a"}, {ID: 2, Rack: "a"}, {ID: 3, Rack: "b"}, {ID: 4, Rack: "b"}, {ID: 5, Rack: "c", Fenced: true},
	}
	got, err := Place(brokers, Spec{Partitions: 4, Replicas: 3}, unturned{})
	if err != nil {
		t.Fatal(err)
	}
	want := "[[1 3 5] [4 5 2] [1 5 3] [2 4 5]]"
	if fmt.Sprint(got) != want {
		t.Fatalf("placed %v, want %s", got, want)
	}
}

func TestRefusals(t *testing.T) {
	one := []Broker{{ID: 1}}
	for _, c := range []struct {
		brokers  []Broker
		replicas int
		want     string
	}{
		{one, 0, "Invalid replication factor 0: the replication factor must be positive."},
		{one, 3, "The target replication factor of 3 cannot be reached because only 1 broker(s) are registered or some brokers have all their log directories cordoned."},
		{[]Broker{{ID: 1, Fenced: true}}, 1, "All brokers are currently fenced, or have all their log directories cordoned."},
		{nil, 1, "All brokers are currently fenced, or have all their log directories cordoned."},
	} {
		_, err := Place(c.brokers, Spec{Partitions: 1, Replicas: c.replicas}, unturned{})
		if err == nil || err.Error() != c.want {
			t.Errorf("%d replicas on %d brokers: %v, want %q", c.replicas, len(c.brokers), err, c.want)
		}
	}
}

func TestPlacementKeepsItsInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var brokers []Broker
		unfenced := 0
		racks := map[string]bool{}
		for id := range rapid.IntRange(1, 12).Draw(t, "brokers") {
			b := Broker{
				ID:     kafka.BrokerID(id),
				Rack:   rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "rack"),
				Fenced: id > 0 && rapid.Bool().Draw(t, "fenced"),
			}
			racks[b.Rack] = true
			if !b.Fenced {
				unfenced++
			}
			brokers = append(brokers, b)
		}
		spec := Spec{Partitions: rapid.IntRange(1, 30).Draw(t, "partitions"), Replicas: rapid.IntRange(1, len(brokers)).Draw(t, "replicas")}
		seed := rapid.Uint64().Draw(t, "seed")
		got, err := Place(brokers, spec, rand.New(rand.NewPCG(seed, 0)))
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != spec.Partitions {
			t.Fatalf("%d partitions, want %d", len(got), spec.Partitions)
		}
		leaders := map[kafka.BrokerID]int{}
		for p, replicas := range got {
			checkPartition(t, brokers, racks, spec.Replicas, replicas)
			leaders[replicas[0]]++
			if (p+1)%unfenced == 0 && len(racks) == 1 && len(leaders) != unfenced {
				t.Fatalf("after %d partitions %d of %d unfenced brokers lead (invariant 4)", p+1, len(leaders), unfenced)
			}
		}
	})
}

func checkPartition(t *rapid.T, brokers []Broker, racks map[string]bool, want int, replicas []kafka.BrokerID) {
	if len(replicas) != want {
		t.Fatalf("%d replicas, want %d", len(replicas), want)
	}
	perRack, rackSize := map[string]int{}, map[string]int{}
	for _, b := range brokers {
		rackSize[b.Rack]++
	}
	for i, id := range replicas {
		if slices.Index(replicas, id) != i {
			t.Fatalf("%v has broker %d twice (invariant 1)", replicas, id)
		}
		perRack[brokers[id].Rack]++
	}
	if brokers[replicas[0]].Fenced {
		t.Fatalf("%v is led by a fenced broker (invariant 2)", replicas)
	}
	for name := range racks {
		for other := range racks {
			if perRack[name] > perRack[other]+1 && perRack[other] < rackSize[other] {
				t.Fatalf("%v: rack %q holds %d, rack %q only %d of %d (invariant 3)", replicas, name, perRack[name], other, perRack[other], rackSize[other])
			}
		}
	}
}
