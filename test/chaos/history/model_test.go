package history

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// model is a broker that keeps every promise, and clients that use it at random.
type model struct {
	rng   *rand.Rand
	clock int64
	h     History
	logs  map[Partition][]entry
	// what groups have committed
	committed map[groupPartition]int64
	ids       int
}

// entry is a record in a log with the transaction it belongs to.
type entry struct {
	Record
	gone bool // of an aborted transaction
}

func newModel(seed uint64) *model {
	m := &model{rng: rand.New(rand.NewPCG(seed, 1)), logs: map[Partition][]entry{}, committed: map[groupPartition]int64{}}
	for _, topic := range []string{"in", "out"} {
		for i := range int32(2) {
			m.logs[Partition{topic, i}] = nil
		}
	}
	return m
}

func (m *model) now() int64 { m.clock++; return m.clock }

func (m *model) chance(percent int) bool { return m.rng.IntN(100) < percent }

func (m *model) partition(topic string) Partition { return Partition{topic, int32(m.rng.IntN(2))} }

// event adds what a client did, which takes the time of the call.
func (m *model) event(e Event) {
	e.Begun, e.Ended = m.now(), m.now()
	m.h.Add(e)
}

// append puts a record into a log, and says with which outcome its producer hears
// of it.
func (m *model) append(r Record) (Record, Outcome) {
	l := m.logs[r.Partition]
	r.Offset = int64(len(l))
	m.logs[r.Partition] = append(l, entry{Record: r})
	return r, OK
}

func (m *model) newID() string { m.ids++; return fmt.Sprint("r", m.ids) }

// send is one record of a plain producer: acknowledged, lost on the way there, lost
// on the way back, or refused.
func (m *model) send(client string) {
	r := Record{Position: Position{Partition: m.partition("in")}, ID: m.newID()}
	e := Event{Kind: Send, Client: client}
	switch n := m.rng.IntN(10); {
	case n == 0:
		e.Outcome, e.Records = Unknown, []Record{r}
	case n == 1:
		m.append(r)
		e.Outcome, e.Records = Unknown, []Record{r}
	case n == 2:
		e.Outcome, e.Records = Failed, []Record{r}
	default:
		r, e.Outcome = m.append(r)
		e.Records = []Record{r}
	}
	m.event(e)
}

// transform is one transaction of a client that consumes, processes and produces.
func (m *model) transform(client, group string) {
	txn := fmt.Sprint("t", m.now())
	var offsets []Position
	var made []Position // where its outputs are
	for i := range int32(2) {
		in := Partition{"in", i}
		k := groupPartition{group, in}
		from := m.committed[k]
		m.event(Event{Kind: Seek, Client: client, Outcome: OK, Offsets: []Position{{in, from}}})
		upTo := min(from+int64(m.rng.IntN(4)), int64(len(m.logs[in])))
		if upTo == from {
			continue
		}
		var polled []Record
		for _, x := range m.logs[in][from:upTo] {
			if !x.gone {
				polled = append(polled, x.Record)
			}
		}
		m.event(Event{Kind: Poll, Client: client, Outcome: OK, ReadCommitted: true, Group: group, Records: polled})
		for _, r := range polled {
			origin := r.Position
			out, outcome := m.append(Record{Position: Position{Partition: m.partition("out")}, ID: m.newID(), Origin: &origin})
			made = append(made, out.Position)
			m.event(Event{Kind: Send, Client: client, Txn: txn, Outcome: outcome, Records: []Record{out}})
		}
		offsets = append(offsets, Position{in, upTo})
	}
	if len(offsets) == 0 {
		return
	}
	m.event(Event{Kind: Commit, Client: client, Txn: txn, Group: group, Outcome: OK, Offsets: offsets})
	m.end(client, group, txn, offsets, made)
}

func (m *model) end(client, group, txn string, offsets, made []Position) {
	e := Event{Kind: End, Client: client, Txn: txn, Commit: !m.chance(20), Outcome: OK}
	took := e.Commit
	switch n := m.rng.IntN(10); {
	case n == 0:
		e.Outcome, took = Unknown, false
	case n == 1:
		e.Outcome = Unknown
	case n == 2:
		e.Outcome, took = Failed, false
	}
	if took {
		for _, p := range offsets {
			m.committed[groupPartition{group, p.Partition}] = p.Offset
		}
	} else {
		for _, p := range made {
			m.logs[p.Partition][p.Offset].gone = true
		}
	}
	if !m.chance(5) { // else the client died before it ended anything
		m.event(e)
	} else if took {
		e.Outcome = Unknown
		m.event(e)
	}
}

// follow is a plain consumer that goes on where it stands, or begins at some place.
func (m *model) follow(client, group string, at map[Partition]int64) {
	p := m.partition("in")
	k := groupPartition{group, p}
	from, known := at[p]
	if !known || m.chance(10) {
		from = m.committed[k]
		m.event(Event{Kind: Committed, Client: client, Group: group, Outcome: OK, Offsets: []Position{{p, m.answer(k)}}})
		said := from
		if m.chance(30) {
			said = -1
		}
		m.event(Event{Kind: Seek, Client: client, Outcome: OK, Offsets: []Position{{p, said}}})
	}
	upTo := min(from+int64(m.rng.IntN(5)), int64(len(m.logs[p])))
	var polled []Record
	for _, x := range m.logs[p][from:upTo] {
		polled = append(polled, x.Record)
	}
	m.event(Event{Kind: Poll, Client: client, Outcome: OK, Group: group, Records: polled})
	at[p] = upTo
	if m.chance(50) {
		m.commit(client, k, upTo)
	}
}

func (m *model) commit(client string, k groupPartition, offset int64) {
	if offset < m.committed[k] {
		return // groups only go forward
	}
	e := Event{Kind: Commit, Client: client, Group: k.group, Outcome: OK, Offsets: []Position{{k.Partition, offset}}}
	switch n := m.rng.IntN(10); {
	case n == 0:
		e.Outcome = Unknown
	case n == 1:
		e.Outcome = Failed
	default:
		m.committed[k] = offset
	}
	m.event(e)
}

// answer is what a group that was asked for its offset says.
func (m *model) answer(k groupPartition) int64 {
	if at, known := m.committed[k]; known {
		return at
	}
	return -1
}

// finish reads everything once more.
func (m *model) finish() []Event {
	for k := range m.committed {
		m.event(Event{Kind: Committed, Client: "audit", Group: k.group, Outcome: OK, Offsets: []Position{{k.Partition, m.answer(k)}}})
	}
	for p, l := range m.logs {
		e := Event{Kind: Scan, Client: "audit", Outcome: OK, ReadCommitted: true, Offsets: []Position{{p, 0}}}
		for _, x := range l {
			if !x.gone {
				e.Records = append(e.Records, x.Record)
			}
		}
		m.event(e)
	}
	return m.h.Events()
}

// cleanHistory is one without an anomaly.
func cleanHistory(seed uint64) []Event {
	m := newModel(seed)
	at := map[Partition]int64{}
	for range 200 {
		switch m.rng.IntN(4) {
		case 0, 1:
			m.send(fmt.Sprint("producer-", m.rng.IntN(3)))
		case 2:
			m.transform("transformer", "g")
		case 3:
			m.follow("follower", "f", at)
		}
	}
	events := m.finish()
	slices.SortStableFunc(events, func(a, b Event) int { return int(a.Begun - b.Begun) })
	return events
}
