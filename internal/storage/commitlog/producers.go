package commitlog

import (
	"slices"

	"barnabas/internal/kafka"
	"barnabas/internal/record"
)

// openTxn is a transaction that has begun and not ended.
type openTxn struct {
	start    kafka.Offset
	producer kafka.ProducerID
}

// endedTxn is a transaction whose marker is not below the high watermark yet.
type endedTxn struct{ start, marker kafka.Offset }

// indexFrom is the number of producers from which they are found by a map.
const indexFrom = 16

// maxProducers is how many producers without an open transaction a log remembers; one
// takes some 200 bytes. Apache Kafka has no bound but producer.id.expiration.ms, a day,
// in which a client that asks for id after id can fill any memory.
const maxProducers = 20_000

// maxOpenTxns is how many transactions may be open in a log. Those that have begun
// cannot be forgotten, so one more is refused until another ends.
const maxOpenTxns = 20_000

// producers is the state of all producers of a log, and of their transactions.
// Nothing in it holds a pointer but the maps.
type producers struct {
	list  []producer
	index map[kafka.ProducerID]int32 // nil while there are few
	most  int                        // the largest number there has been; orders snapshots

	open  []openTxn  // by start
	ended []endedTxn // by start

	verifying map[kafka.ProducerID]verifying // nil while there are none
	lastGuard Guard

	// mapEnd is the offset up to which the state speaks, snapEnd that of the
	// newest snapshot file.
	mapEnd, snapEnd kafka.Offset
}

// find returns the place of a producer, or -1.
func (ps *producers) find(id kafka.ProducerID) int {
	if ps.index != nil {
		if i, ok := ps.index[id]; ok {
			return int(i)
		}
		return -1
	}
	for i := range ps.list {
		if ps.list[i].id == id {
			return i
		}
	}
	return -1
}

// get returns a copy of a producer's state, an empty one if there is none.
func (ps *producers) get(id kafka.ProducerID) producer {
	if i := ps.find(id); i >= 0 {
		return ps.list[i]
	}
	return newProducer(id)
}

// put sets the state of a producer.
func (ps *producers) put(p *producer) {
	if i := ps.find(p.id); i >= 0 {
		ps.list[i] = *p
		return
	}
	if len(ps.list)-len(ps.open) >= maxProducers {
		ps.forgetOldest()
	}
	ps.list = append(ps.list, *p)
	ps.most = max(ps.most, len(ps.list))
	if ps.index != nil {
		ps.index[p.id] = int32(len(ps.list) - 1)
		return
	}
	if len(ps.list) >= indexFrom {
		ps.reindex()
	}
}

func (ps *producers) reindex() {
	ps.index = nil
	if len(ps.list) < indexFrom {
		return
	}
	ps.index = make(map[kafka.ProducerID]int32, 2*len(ps.list))
	for i := range ps.list {
		ps.index[ps.list[i].id] = int32(i)
	}
}

// clear forgets everything but how many producers there have been: Java's table
// does not shrink either.
func (ps *producers) clear() {
	*ps = producers{most: ps.most, mapEnd: ps.mapEnd, snapEnd: ps.snapEnd, lastGuard: ps.lastGuard}
}

// expire forgets producers that have been silent too long.
func (ps *producers) expire(now kafka.TimestampMs, c *Config) {
	before := len(ps.list)
	ps.list = slices.DeleteFunc(ps.list, func(p producer) bool { return p.expired(now, c) })
	if len(ps.list) != before {
		ps.reindex()
	}
	ps.expireVerifying(now, c)
}

// forgetOldest leaves three quarters of maxProducers, but forgets none with an open
// transaction: of the others those that wrote longest ago. One that is forgotten may go
// on, as after its expiry: only a batch that it had sent twice would not be recognised.
func (ps *producers) forgetOldest() {
	ends := make([]kafka.Offset, 0, len(ps.list))
	for i := range ps.list {
		if ps.list[i].txnStart < 0 {
			ends = append(ends, ps.list[i].lastOffset())
		}
	}
	surplus := len(ends) - maxProducers*3/4
	if surplus <= 0 {
		return
	}
	slices.Sort(ends)
	oldest := ends[surplus-1]
	ps.list = slices.DeleteFunc(ps.list, func(p producer) bool { return p.txnStart < 0 && p.lastOffset() <= oldest })
	ps.reindex()
}

// begin notes that a transaction has begun.
func (ps *producers) begin(id kafka.ProducerID, start kafka.Offset) {
	i, found := slices.BinarySearchFunc(ps.open, start, func(t openTxn, o kafka.Offset) int { return int(t.start - o) })
	if !found {
		ps.open = slices.Insert(ps.open, i, openTxn{start, id})
	}
}

// end notes that the transaction that began at start has ended with the marker.
// stable is the last stable offset after it, as if everything were committed:
// where the first transaction of another producer that is open begins, else
// behind the marker.
func (ps *producers) end(id kafka.ProducerID, start, marker kafka.Offset) (stable kafka.Offset) {
	stable = marker + 1
	for _, t := range ps.open {
		if t.producer != id {
			stable = t.start
			break
		}
	}
	ps.open = slices.DeleteFunc(ps.open, func(t openTxn) bool { return t.start == start })
	i, found := slices.BinarySearchFunc(ps.ended, start, func(t endedTxn, o kafka.Offset) int { return int(t.start - o) })
	if !found {
		ps.ended = slices.Insert(ps.ended, i, endedTxn{start, marker})
	}
	return stable
}

// forgetEnded drops the transactions whose marker is below o.
func (ps *producers) forgetEnded(o kafka.Offset) {
	if len(ps.ended) > 0 {
		ps.ended = slices.DeleteFunc(ps.ended, func(t endedTxn) bool { return t.marker < o })
	}
}

// firstUnstable is the first offset that belongs to a transaction which is open,
// or ended above the high watermark; -1 if there is none.
func (ps *producers) firstUnstable() kafka.Offset {
	switch {
	case len(ps.open) == 0 && len(ps.ended) == 0:
		return kafka.NoOffset
	case len(ps.open) == 0:
		return ps.ended[0].start
	case len(ps.ended) == 0:
		return ps.open[0].start
	}
	return min(ps.open[0].start, ps.ended[0].start)
}

// replicate takes over a batch that is in the log already, whatever it says:
// checks belong to the leader. aborted is set if it is a marker that aborts a
// transaction.
func (ps *producers) replicate(h *record.Header, marker *record.EndTxnMarker) (aborted *AbortedTxn) {
	ps.mapEnd = h.NextOffset()
	if !h.HasProducer() {
		return nil
	}
	p := ps.get(h.ProducerID)
	if !h.Attributes.IsControl() {
		if p.addData(h, h.BaseOffset) {
			ps.begin(p.id, h.BaseOffset)
		}
		ps.put(&p)
		return nil
	}
	if marker == nil {
		return nil // compaction has removed the transaction and its marker's record
	}
	began := p.addMarker(h.ProducerEpoch, marker.CoordinatorEpoch, h.MaxTimestamp)
	ps.put(&p)
	if began < 0 {
		return nil
	}
	stable := ps.end(p.id, began, h.BaseOffset)
	if marker.Commit {
		return nil
	}
	return &AbortedTxn{ProducerID: p.id, FirstOffset: began, LastOffset: h.BaseOffset, LastStableOffset: stable}
}
