package history

import "slices"

// fate is what must hold of a record or an offset at the end.
type fate int

const (
	may     fate = iota // be there
	must                // be there
	mustNot             // be there
)

// sent is a record that a client sent.
type sent struct {
	Record
	client  string
	order   int // among the sends of all clients; a client's are in its order
	txn     string
	outcome Outcome
}

// transaction is what is known of one.
type transaction struct {
	sends   []*sent
	commits []Event
	fate    fate // of all that is in it
}

// log is the complete read of a partition, as read_committed shows it.
type log struct {
	records []Record // by offset
}

// index is the events by what they say.
type index struct {
	sends  map[string]*sent // by ID
	order  []*sent
	txns   map[string]*transaction
	logs   map[Partition]*log
	places map[string][]Position // where the scans have an ID
}

func newIndex(events []Event) *index {
	x := &index{sends: map[string]*sent{}, txns: map[string]*transaction{}, logs: map[Partition]*log{}, places: map[string][]Position{}}
	for _, e := range events {
		switch e.Kind {
		case Send:
			x.addSend(e)
		case Commit:
			if e.Txn != "" {
				t := x.txn(e.Txn)
				t.commits = append(t.commits, e)
			}
		case End:
			x.txn(e.Txn).fate = fateOfEnd(e)
		case Scan:
			x.addScan(e)
		}
	}
	return x
}

func (x *index) addSend(e Event) {
	for _, r := range e.Records {
		if s := x.sends[r.ID]; s != nil {
			s.Record, s.outcome = r, e.Outcome
			continue
		}
		s := &sent{Record: r, client: e.Client, order: len(x.order), txn: e.Txn, outcome: e.Outcome}
		x.sends[r.ID] = s
		x.order = append(x.order, s)
		if e.Txn != "" {
			t := x.txn(e.Txn)
			t.sends = append(t.sends, s)
		}
	}
}

func (x *index) addScan(e Event) {
	l := &log{records: slices.Clone(e.Records)}
	slices.SortStableFunc(l.records, func(a, b Record) int { return int(a.Offset - b.Offset) })
	x.logs[e.Offsets[0].Partition] = l
	for _, r := range l.records {
		x.places[r.ID] = append(x.places[r.ID], r.Position)
	}
}

// txn gives a transaction. One that nobody ended counts for nothing.
func (x *index) txn(id string) *transaction {
	t := x.txns[id]
	if t == nil {
		t = &transaction{fate: mustNot}
		x.txns[id] = t
	}
	return t
}

func fateOfEnd(e Event) fate {
	switch {
	case e.Outcome == OK && e.Commit:
		return must
	case e.Outcome == Unknown && e.Commit:
		return may
	}
	return mustNot // an abort, or a commit that was refused
}

// fate says whether a record has to be there.
func (x *index) fate(s *sent) fate {
	f := must
	if s.txn != "" {
		f = x.txns[s.txn].fate
	}
	switch {
	case s.outcome == Failed:
		return mustNot
	case s.outcome == Unknown && f == must:
		return may
	}
	return f
}

func (x *index) visible(id string) bool { return len(x.places[id]) > 0 }
