package commitlog

import (
	"slices"
	"testing"

	"barnabas/internal/kafka"
	"barnabas/internal/record"
)

// TestSnapshotsListProducersAsJavaDoes compares with what java.util.HashMap<Long, …>
// prints after the same insertions.
func TestSnapshotsListProducersAsJavaDoes(t *testing.T) {
	for _, c := range []struct{ put, remove, want []kafka.ProducerID }{
		{
			put:  []kafka.ProducerID{1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008, 1009, 1010, 1011},
			want: []kafka.ProducerID{1008, 1009, 1010, 1011, 1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007},
		},
		{
			put:  []kafka.ProducerID{1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008, 1009, 1010, 1011, 1012},
			want: []kafka.ProducerID{1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008, 1009, 1010, 1011, 1012},
		},
		{
			put:  []kafka.ProducerID{5, 17, 33, 65, 1, 2, 3, 4294967301, 8589934597, 1099511627776, 123456789, 987654321, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89},
			want: []kafka.ProducerID{1099511627776, 65, 1, 2, 3, 4294967301, 5, 8589934597, 77, 123456789, 78, 79, 80, 17, 81, 82, 83, 84, 85, 86, 87, 88, 89, 33, 987654321},
		},
		{
			put:  []kafka.ProducerID{70000, 140000, 65536, 131072, 196608, 262144, 16, 15, 14, 31, 32, 48, 47},
			want: []kafka.ProducerID{32, 65536, 140000, 131072, 196608, 262144, 14, 15, 47, 16, 48, 70000, 31},
		},
		{
			put:    []kafka.ProducerID{0, 16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192},
			remove: []kafka.ProducerID{0, 32},
			want:   []kafka.ProducerID{64, 96, 128, 160, 192, 16, 48, 80, 112, 144, 176},
		},
	} {
		var ps producers
		for _, id := range c.put {
			p := newProducer(id)
			if !slices.Contains(c.remove, id) {
				p.txnStart = 1 // does not expire
			}
			ps.put(&p)
		}
		ps.expire(1<<60, DefaultConfig())
		var got []kafka.ProducerID
		must(t, decodeSnapshot(ps.encodeSnapshot(), func(p *producer) { got = append(got, p.id) }))
		if !slices.Equal(got, c.want) {
			t.Errorf("put %v, removed %v:\n%v, want\n%v", c.put, c.remove, got, c.want)
		}
		for _, id := range c.want {
			if ps.get(id).txnStart != 1 {
				t.Errorf("producer %d is not found", id)
			}
		}
		if len(c.remove) > 0 && ps.find(c.remove[0]) >= 0 {
			t.Error("a producer that has expired is found")
		}
	}
}

func TestEpochHistory(t *testing.T) {
	var e epochs
	for _, entry := range []epochEntry{{1, 0}, {2, 10}, {4, 20}} {
		e, _ = e.assign(entry.epoch, entry.start)
	}
	if _, changed := e.assign(4, 25); changed {
		t.Error("an epoch that is known began again later")
	}
	for _, c := range []struct {
		add  epochEntry
		want epochs
	}{
		{epochEntry{4, 15}, epochs{{1, 0}, {2, 10}, {4, 15}}},
		{epochEntry{5, 20}, epochs{{1, 0}, {2, 10}, {5, 20}}},
		{epochEntry{5, 5}, epochs{{1, 0}, {5, 5}}},
		{epochEntry{3, 30}, epochs{{1, 0}, {2, 10}, {3, 30}}},
		{epochEntry{0, 40}, epochs{{0, 40}}},
	} {
		if got, _ := e.assign(c.add.epoch, c.add.start); !slices.Equal(got, c.want) {
			t.Errorf("after %v: %v, want %v", c.add, got, c.want)
		}
	}
	if want := (epochs{{1, 0}, {2, 10}, {4, 20}}); !slices.Equal(e, want) {
		t.Errorf("the history was changed in place: %v", e)
	}
}

// TestProducersOfALogAreBounded: the oldest are forgotten, but none whose transaction
// is open, and not the one that writes now and then.
func TestProducersOfALogAreBounded(t *testing.T) {
	ps := &producers{}
	most := 0
	write := func(id, offset int64, txn bool) {
		p := ps.get(kafka.ProducerID(id))
		h := record.Header{ProducerID: kafka.ProducerID(id), BaseOffset: kafka.Offset(offset)}
		p.addData(&h, h.BaseOffset)
		if txn {
			p.txnStart = h.BaseOffset
		}
		ps.put(&p)
		most = max(most, len(ps.list))
	}
	write(1, 0, true)
	for i := range int64(3 * maxProducers) {
		write(1000+i, 2*i+1, false)
		if i%1000 == 0 {
			write(2, 2*i+2, false)
		}
	}
	if most != maxProducers {
		t.Errorf("%d producers at most, want %d", most, maxProducers)
	}
	for _, id := range []int64{1, 2, 1000 + 3*maxProducers - 1, 1000 + 3*maxProducers - maxProducers/2} {
		if p := ps.get(kafka.ProducerID(id)); p.epoch == kafka.NoProducerEpoch {
			t.Errorf("producer %d is forgotten", id)
		}
	}
	if p := ps.get(1000); p.epoch != kafka.NoProducerEpoch {
		t.Error("the oldest is remembered")
	}
	for i := range ps.list {
		if ps.find(ps.list[i].id) != i {
			t.Fatalf("producer %d is not found", ps.list[i].id)
		}
	}
}

// TestOpenTransactionsOfALogAreBounded: with as many as there may be one more is refused,
// those that are open go on, the next begins when one has ended, and producers without a
// transaction come and go beside them.
func TestOpenTransactionsOfALogAreBounded(t *testing.T) {
	fx := newFixture(t)
	write := func(id kafka.ProducerID, sequence int32, txn bool) kafka.ErrorCode {
		b := record.NewBuilder(record.BatchOptions{Producer: &record.Producer{ID: id, BaseSequence: sequence}, Transactional: txn})
		b.Append(record.Record{Timestamp: fx.now, Value: []byte("v")})
		built, err := b.Build()
		must(t, err)
		var out [1]Appended
		must(t, fx.log.AppendLeader(0, fx.now, []record.Batch{built}, out[:]))
		return out[0].Err
	}
	for i := range kafka.ProducerID(maxOpenTxns) {
		if code := write(i, 0, true); code != kafka.ErrNone {
			t.Fatalf("transaction %d: %v", i, code)
		}
	}
	end := fx.log.LogEnd()
	if code := write(maxOpenTxns, 0, true); code != kafka.ErrNotEnoughReplicas || fx.log.LogEnd() != end {
		t.Errorf("one more is told %v, and the log ends at %d, before at %d", code, fx.log.LogEnd(), end)
	}
	if code := write(7, 1, true); code != kafka.ErrNone {
		t.Errorf("one that is open is told %v", code)
	}
	for i := range kafka.ProducerID(maxProducers + 1) {
		if code := write(1_000_000+i, 0, false); code != kafka.ErrNone {
			t.Fatalf("a producer without a transaction is told %v", code)
		}
	}
	if n := len(fx.log.producers.list); n > maxOpenTxns+maxProducers {
		t.Errorf("%d producers are remembered", n)
	}
	marker, err := fx.log.AppendMarker(0, fx.now, record.CreateTime, kafka.Marker{ProducerID: 7, Commit: true})
	if must(t, err); marker.Err != kafka.ErrNone {
		t.Fatalf("the marker: %v", marker.Err)
	}
	if code := write(maxOpenTxns, 0, true); code != kafka.ErrNone {
		t.Errorf("when one has ended the next is told %v", code)
	}
}
