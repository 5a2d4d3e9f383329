package placement

import (
	"fmt"
	"slices"
	"strings"

	"barnabas/internal/kafka"
)

// Broker is one broker that may be given replicas: registered, not shutting
// down, with a log directory that is not cordoned.
type Broker struct {
	ID     kafka.BrokerID
	Rack   string // "" is no rack; brokers without one count as one rack
	Fenced bool   // takes replicas only where a rack has no unfenced broker left
}

// Random is the source of rotation and shuffling; *math/rand/v2.Rand is one.
type Random interface {
	IntN(n int) int
	Shuffle(n int, swap func(i, j int))
}

// Spec says what to place. All partitions of a call share one rotation.
type Spec struct {
	Partitions int
	Replicas   int
}

// Place returns the replicas of each partition, the leader first. Its errors are
// refusals with Apache's text (INVALID_REPLICATION_FACTOR).
func Place(brokers []Broker, spec Spec, random Random) ([][]kafka.BrokerID, error) {
	unfenced := 0
	for _, b := range brokers {
		if !b.Fenced {
			unfenced++
		}
	}
	switch {
	case spec.Replicas <= 0:
		return nil, fmt.Errorf("Invalid replication factor %d: the replication factor must be positive.", spec.Replicas)
	case unfenced == 0:
		return nil, fmt.Errorf("All brokers are currently fenced, or have all their log directories cordoned.")
	case spec.Replicas > len(brokers):
		return nil, fmt.Errorf("The target replication factor of %d cannot be reached because only %d broker(s) are registered or some brokers have all their log directories cordoned.", spec.Replicas, len(brokers))
	}
	s := newStripes(brokers, unfenced, random)
	out := make([][]kafka.BrokerID, spec.Partitions)
	for i := range out {
		out[i] = s.place(spec.Replicas)
	}
	return out, nil
}

// stripes is the state of one call: racks in order, and where the next partition
// begins.
type stripes struct {
	racks    []*rack
	unfenced int // brokers, in all racks
	random   Random
	round    int // partitions placed since the last shuffle
	first    int // rack at which the next partition begins
}

func newStripes(brokers []Broker, unfenced int, random Random) *stripes {
	s := &stripes{unfenced: unfenced, random: random}
	byName := map[string]*rack{}
	for _, b := range brokers {
		r := byName[b.Rack]
		if r == nil {
			r = &rack{name: b.Rack}
			byName[b.Rack] = r
			s.racks = append(s.racks, r)
		}
		r.add(b)
	}
	slices.SortFunc(s.racks, func(a, b *rack) int { return strings.Compare(a.name, b.name) })
	for _, r := range s.racks {
		r.fenced.begin(random)
		r.unfenced.begin(random)
	}
	s.first = random.IntN(len(s.racks))
	return s
}

// place chooses the replicas of one partition. There are at least as many
// brokers as replicas and at least one is unfenced, so both walks end.
func (s *stripes) place(replicas int) []kafka.BrokerID {
	if s.round == s.unfenced && s.unfenced > 1 {
		s.shuffle()
		s.round = 0
	}
	out := make([]kafka.BrokerID, 0, replicas)
	leaderRack := s.first
	for {
		if id, ok := s.racks[leaderRack].unfenced.next(s.round); ok {
			out = append(out, id)
			break
		}
		leaderRack = (leaderRack + 1) % len(s.racks)
	}
	skipLeaderRack := true // once: it has its replica already
	for at := s.first; len(out) < replicas; at = (at + 1) % len(s.racks) {
		if skipLeaderRack && at == leaderRack {
			skipLeaderRack = false
			continue
		}
		if id, ok := s.racks[at].next(s.round); ok {
			out = append(out, id)
		}
	}
	s.round++
	s.first = (s.first + 1) % len(s.racks)
	return out
}

func (s *stripes) shuffle() {
	s.random.Shuffle(len(s.racks), func(i, j int) { s.racks[i], s.racks[j] = s.racks[j], s.racks[i] })
	for _, r := range s.racks {
		r.fenced.shuffle(s.random)
		r.unfenced.shuffle(s.random)
	}
}
