package placement

import (
	"slices"

	"barnabas/internal/kafka"
)

// rack holds the brokers of one rack; the unfenced ones go first.
type rack struct {
	name             string
	fenced, unfenced rotation
}

func (r *rack) add(b Broker) {
	if b.Fenced {
		r.fenced.ids = append(r.fenced.ids, b.ID)
	} else {
		r.unfenced.ids = append(r.unfenced.ids, b.ID)
	}
}

func (r *rack) next(round int) (kafka.BrokerID, bool) {
	if id, ok := r.unfenced.next(round); ok {
		return id, true
	}
	return r.fenced.next(round)
}

// rotation gives out each broker at most once a round and begins each round one
// broker further than the round before.
type rotation struct {
	ids    []kafka.BrokerID
	offset int // where this round began
	given  int // in this round
	round  int
}

func (r *rotation) begin(random Random) {
	if len(r.ids) > 0 {
		slices.Sort(r.ids)
		r.offset = random.IntN(len(r.ids))
	}
}

func (r *rotation) shuffle(random Random) {
	random.Shuffle(len(r.ids), func(i, j int) { r.ids[i], r.ids[j] = r.ids[j], r.ids[i] })
}

func (r *rotation) next(round int) (kafka.BrokerID, bool) {
	if len(r.ids) == 0 {
		return kafka.NoBroker, false
	}
	if r.round != round {
		r.round, r.given = round, 0
		r.offset = (r.offset + 1) % len(r.ids)
	}
	if r.given == len(r.ids) {
		return kafka.NoBroker, false
	}
	id := r.ids[(r.offset+r.given)%len(r.ids)]
	r.given++
	return id, true
}
