package history

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
)

func TestCleanHistoriesHaveNoAnomaly(t *testing.T) {
	for seed := range uint64(500) {
		for _, a := range Check(cleanHistory(seed)) {
			t.Fatalf("seed %d: %s", seed, a)
		}
	}
}

func TestHistoriesCanBeWrittenDown(t *testing.T) {
	var h, back History
	for _, e := range cleanHistory(1) {
		h.Add(e)
	}
	var text bytes.Buffer
	if err := h.WriteJSON(&text); err != nil {
		t.Fatal(err)
	}
	whole := bytes.Clone(text.Bytes())
	text.WriteString(`{"kind":"se`) // a program that was killed
	if err := back.ReadJSON(&text); err != nil {
		t.Fatal(err)
	}
	var again bytes.Buffer
	if err := back.WriteJSON(&again); err != nil || !bytes.Equal(whole, again.Bytes()) {
		t.Errorf("%v\n%s\n%s", err, whole, again.Bytes())
	}
	if err := back.ReadJSON(bytes.NewBufferString("nonsense\n")); err == nil {
		t.Error("nonsense was read")
	}
}

// plant changes a clean history so that it has an anomaly, and says whether it could.
type plant struct {
	name    string
	want    Name
	change  func(h *planted) bool
	another []Name // what it brings with it
}

// planted is a copy of a history that may be changed.
type planted struct {
	events []Event
	x      *index
}

func newPlanted(t *testing.T, events []Event) *planted {
	t.Helper()
	b, err := json.Marshal(events)
	if err != nil {
		t.Fatal(err)
	}
	p := &planted{}
	if err := json.Unmarshal(b, &p.events); err != nil {
		t.Fatal(err)
	}
	p.x = newIndex(p.events)
	return p
}

// first gives the first event that is so.
func (h *planted) first(is func(*Event) bool) *Event {
	for i := range h.events {
		if is(&h.events[i]) {
			return &h.events[i]
		}
	}
	return nil
}

func (h *planted) scan(p Partition) *Event {
	return h.first(func(e *Event) bool { return e.Kind == Scan && e.Offsets[0].Partition == p })
}

// drop takes a record out of the log.
func (h *planted) drop(id string) {
	for i := range h.events {
		e := &h.events[i]
		for j, r := range e.Records {
			if e.Kind == Scan && r.ID == id {
				e.Records = append(e.Records[:j:j], e.Records[j+1:]...)
				break
			}
		}
	}
}

func (h *planted) sent(is func(*sent) bool) *sent {
	for _, s := range h.x.order {
		if is(s) {
			return s
		}
	}
	return nil
}

func (h *planted) inTxn(s *sent, f fate) bool { return s.txn != "" && h.x.txns[s.txn].fate == f }

// end is the offset behind the last one of a partition.
func (h *planted) end(p Partition) int64 {
	end := int64(0)
	for _, s := range h.x.order {
		for _, at := range append(h.x.places[s.ID], s.Position) {
			if at.Partition == p {
				end = max(end, at.Offset+1)
			}
		}
	}
	return end + 100
}

func (h *planted) addToLog(r Record) {
	e := h.scan(r.Partition)
	e.Records = append(e.Records, r)
}

var plants = []plant{
	{"an acknowledged record is gone", Lost, func(h *planted) bool {
		s := h.sent(func(s *sent) bool { return s.Topic == "in" && h.x.fate(s) == must })
		if s == nil {
			return false
		}
		h.drop(s.ID)
		return true
	}, []Name{Torn, Skipped}},
	{"an acknowledged record is at another offset", Lost, func(h *planted) bool {
		s := h.sent(func(s *sent) bool { return s.Topic == "in" && h.x.fate(s) == must })
		if s == nil {
			return false
		}
		h.drop(s.ID)
		s.Offset = h.end(s.Partition)
		h.addToLog(s.Record)
		return true
	}, []Name{OutOfOrder, Torn, Skipped}},
	{"all of a committed transaction is gone", Lost, func(h *planted) bool {
		s := h.sent(func(s *sent) bool { return h.inTxn(s, must) })
		if s == nil {
			return false
		}
		for _, other := range h.x.txns[s.txn].sends {
			h.drop(other.ID)
		}
		return true
	}, nil},
	{"a record that a committed reader was given is gone", Lost, func(h *planted) bool {
		s := h.sent(func(s *sent) bool {
			return s.outcome == Unknown && s.txn == "" && h.x.visible(s.ID) && h.polled(s.ID, true)
		})
		if s == nil {
			return false
		}
		h.drop(s.ID)
		return true
	}, []Name{Torn}},
	{"a record is there twice", Duplicate, func(h *planted) bool {
		s := h.sent(func(s *sent) bool { return s.txn == "" && h.x.fate(s) == must })
		if s == nil {
			return false
		}
		again := s.Record
		again.Offset = h.end(s.Partition)
		h.addToLog(again)
		return true
	}, nil},
	{"two outputs of one input", Duplicate, func(h *planted) bool {
		s := h.sent(func(s *sent) bool { return h.inTxn(s, must) })
		if s == nil {
			return false
		}
		again := s.Record
		again.ID, again.Offset = "another", h.end(s.Partition)
		h.events = append(h.events, Event{Kind: Send, Client: s.client, Txn: s.txn, Outcome: OK, Records: []Record{again}})
		h.addToLog(again)
		return true
	}, nil},
	{"a record that nobody sent", Phantom, func(h *planted) bool {
		p := Partition{"in", 0}
		h.addToLog(Record{Position: Position{p, h.end(p)}, ID: "nobody's"})
		return true
	}, nil},
	{"a record of another partition", Phantom, func(h *planted) bool {
		s := h.sent(func(s *sent) bool { return s.txn == "" && s.outcome == Unknown && !h.x.visible(s.ID) })
		if s == nil {
			return false
		}
		p := Partition{"in", 1 - s.Index}
		h.addToLog(Record{Position: Position{p, h.end(p)}, ID: s.ID})
		return true
	}, []Name{OutOfOrder}},
	{"a refused record is there", Phantom, func(h *planted) bool {
		s := h.sent(func(s *sent) bool { return s.outcome == Failed })
		if s == nil {
			return false
		}
		s.Offset = h.end(s.Partition)
		h.addToLog(s.Record)
		return true
	}, []Name{OutOfOrder}},
	{"a consumer was given what nobody sent", Phantom, func(h *planted) bool {
		h.events = append(h.events, Event{Kind: Poll, Client: "somebody", Records: []Record{{ID: "nobody's"}}})
		return true
	}, nil},
	{"a record of an aborted transaction is in the log", AbortedRead, func(h *planted) bool {
		s := h.sent(func(s *sent) bool { return h.inTxn(s, mustNot) })
		if s == nil {
			return false
		}
		h.addToLog(s.Record)
		return true
	}, []Name{Torn, Duplicate, OutOfOrder}},
	{"a committed reader was given a record of an aborted transaction", AbortedRead, func(h *planted) bool {
		s := h.sent(func(s *sent) bool { return h.inTxn(s, mustNot) })
		if s == nil {
			return false
		}
		h.events = append(h.events, Event{Kind: Poll, Client: "reader", ReadCommitted: true, Records: []Record{s.Record}})
		return true
	}, nil},
	{"a part of a transaction whose end is unknown", Torn, func(h *planted) bool {
		s := h.sent(func(s *sent) bool {
			return h.inTxn(s, may) && h.x.visible(s.ID) && len(h.x.txns[s.txn].sends) > 1
		})
		if s == nil {
			return false
		}
		h.drop(s.ID)
		return true
	}, []Name{Lost}},
	{"outputs without the offsets of their inputs", Torn, func(h *planted) bool {
		done := false
		for i := range h.events {
			e := &h.events[i]
			if e.Kind == Committed && e.Client == "audit" && e.Group == "g" && e.Offsets[0].Offset > 0 {
				e.Offsets[0].Offset, done = 0, true
			}
		}
		return done
	}, []Name{InconsistentOffsets}},
	{"offsets without the outputs of their inputs", Lost, func(h *planted) bool {
		s := h.sent(func(s *sent) bool { return h.inTxn(s, may) && h.x.visible(s.ID) })
		if s == nil {
			return false
		}
		for _, other := range h.x.txns[s.txn].sends {
			h.drop(other.ID)
		}
		return true
	}, nil},
	{"a consumer was not given a record", Skipped, func(h *planted) bool {
		e := h.first(func(e *Event) bool {
			return e.Kind == Poll && e.Client == "follower" && len(e.Records) > 2 && h.x.visible(e.Records[1].ID)
		})
		if e == nil {
			return false
		}
		e.Records = append(e.Records[:1:1], e.Records[2:]...)
		return true
	}, nil},
	{"a consumer missed the first record after its start", Skipped, func(h *planted) bool {
		for i := range len(h.events) - 1 {
			seek, poll := h.events[i], &h.events[i+1]
			if seek.Kind == Seek && seek.Offsets[0].Offset >= 0 && poll.Kind == Poll && len(poll.Records) > 1 && h.x.visible(poll.Records[0].ID) {
				poll.Records = poll.Records[1:]
				return true
			}
		}
		return false
	}, nil},
	{"a consumer was given a record twice", OutOfOrder, func(h *planted) bool {
		e := h.first(func(e *Event) bool { return e.Kind == Poll && e.Client == "follower" && len(e.Records) > 0 })
		if e == nil {
			return false
		}
		e.Records = append(e.Records, e.Records[len(e.Records)-1])
		return true
	}, nil},
	{"a consumer was given two records the wrong way round", OutOfOrder, func(h *planted) bool {
		e := h.first(func(e *Event) bool { return e.Kind == Poll && e.Client == "follower" && len(e.Records) > 1 })
		if e == nil {
			return false
		}
		e.Records[0], e.Records[1] = e.Records[1], e.Records[0]
		return true
	}, []Name{Skipped}},
	{"two records of a producer the wrong way round", OutOfOrder, func(h *planted) bool {
		before := map[string]*sent{}
		for _, s := range h.x.order {
			if s.txn != "" || !h.x.visible(s.ID) || s.outcome != Unknown && s.outcome != OK {
				continue
			}
			k := s.client + s.Partition.String()
			if b := before[k]; b != nil {
				h.swap(b.ID, s.ID)
				return true
			}
			before[k] = s
		}
		return false
	}, []Name{Lost}},
	{"a group went back", InconsistentOffsets, func(h *planted) bool {
		e := h.first(func(e *Event) bool {
			return e.Kind == Committed && e.Client == "follower" && e.Offsets[0].Offset > 0
		})
		if e == nil {
			return false
		}
		e.Offsets[0].Offset = -1
		return true
	}, nil},
	{"an acknowledged commit is gone at the end", InconsistentOffsets, func(h *planted) bool {
		e := h.first(func(e *Event) bool {
			return e.Kind == Committed && e.Client == "audit" && e.Group == "f" && e.Offsets[0].Offset > 0
		})
		if e == nil {
			return false
		}
		e.Offsets[0].Offset--
		return true
	}, nil},
	{"a group is where nobody committed", InconsistentOffsets, func(h *planted) bool {
		e := h.first(func(e *Event) bool { return e.Kind == Committed && e.Group == "f" })
		if e == nil {
			return false
		}
		e.Offsets[0].Offset += 1000
		return true
	}, nil},
	{"the offset of an aborted transaction counts", InconsistentOffsets, func(h *planted) bool {
		c := h.first(func(e *Event) bool { return e.Kind == Commit && e.Txn != "" && h.x.txns[e.Txn].fate == mustNot })
		if c == nil {
			return false
		}
		for i := range h.events {
			e := &h.events[i]
			if e.Kind == Committed && e.Client == "audit" && e.Group == c.Group && e.Offsets[0].Partition == c.Offsets[0].Partition {
				e.Offsets[0].Offset = c.Offsets[0].Offset + 1000
				return true
			}
		}
		return false
	}, []Name{Lost, Torn}},
}

// polled says whether somebody was given a record.
func (h *planted) polled(id string, committed bool) bool {
	return h.first(func(e *Event) bool {
		if e.Kind != Poll || e.ReadCommitted != committed {
			return false
		}
		for _, r := range e.Records {
			if r.ID == id {
				return true
			}
		}
		return false
	}) != nil
}

// swap exchanges two records in the log.
func (h *planted) swap(a, b string) {
	var at [2]*Record
	for i := range h.events {
		e := &h.events[i]
		for j := range e.Records {
			if e.Kind == Scan && e.Records[j].ID == a {
				at[0] = &e.Records[j]
			} else if e.Kind == Scan && e.Records[j].ID == b {
				at[1] = &e.Records[j]
			}
		}
	}
	at[0].ID, at[1].ID = at[1].ID, at[0].ID
}

// TestPlantedAnomaliesAreNamed plants each anomaly into many histories: the checker
// names it, and nothing that does not come with it.
func TestPlantedAnomaliesAreNamed(t *testing.T) {
	for _, p := range plants {
		t.Run(p.name, func(t *testing.T) {
			times := 0
			for seed := range uint64(100) {
				h := newPlanted(t, cleanHistory(seed))
				if !p.change(h) {
					continue
				}
				times++
				found := map[Name]bool{}
				for _, a := range Check(h.events) {
					found[a.Name] = true
				}
				if !found[p.want] {
					t.Fatalf("seed %d: found %v, not %q", seed, found, p.want)
				}
				delete(found, p.want)
				for _, n := range p.another {
					delete(found, n)
				}
				if len(found) > 0 {
					t.Fatalf("seed %d: also found %v", seed, fmt.Sprint(found))
				}
			}
			if times < 7 {
				t.Errorf("planted in %d of 100 histories only", times)
			}
		})
	}
}
