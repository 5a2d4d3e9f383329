package replica

import (
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"barnabas/internal/kafka"
	"barnabas/internal/metadata/metarec"
	"barnabas/internal/record"
	"barnabas/internal/storage/commitlog"
)

// expect fetches and compares the answer's text.
func (n *node) expect(want string, o fetchOptions, parts ...from) *fetched {
	n.t.Helper()
	f := n.fetch(o, parts...)
	if got := f.show(); got != want {
		n.t.Errorf("got  %s\nwant %s", got, want)
	}
	return f
}

// one is the size of a batch(1, nil), two that of a batch(2, nil).
var one, two = len(batch(1, nil)), len(batch(2, nil))

func TestFetchSizeRules(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, oneDisk())
		n.create("a", 2)
		n.create("b", 1)
		n.start()
		defer n.close()
		for range 3 {
			n.produce(1, put{"a", 0, batch(1, nil)})
		}
		n.produce(1, put{"a", 1, batch(1, nil)})
		n.produce(1, put{"b", 0, batch(1, nil)})
		all := []from{{"a", 0, 0}, {"a", 1, 0}, {"b", 0, 0}}
		none := fetchOptions{epoch: -1, wait: time.Hour}
		limit := func(change func(*fetchOptions)) fetchOptions { o := none; change(&o); return o }
		n.expect("a-0 hw=3 [0..0 1..1 2..2]; a-1 hw=1 [0..0]; b-0 hw=1 [0..0]", none, all...)
		// The first batch comes whole, whatever the limits.
		n.expect("a-0 hw=3 [0..0]; a-1 hw=1; b-0 hw=1", limit(func(o *fetchOptions) { o.maxBytes = 1 }), all...)
		n.expect("a-0 hw=3 [0..0]; a-1 hw=1; b-0 hw=1", limit(func(o *fetchOptions) { o.partitionBytes = 5 }), all...)
		// A later batch may be cut, but one that begins a partition is left out.
		n.expect("a-0 hw=3 [0..0 +30]; a-1 hw=1; b-0 hw=1", limit(func(o *fetchOptions) { o.maxBytes = int32(one + 30) }), all...)
		n.expect("a-0 hw=3 [1..1 2..2]; a-1 hw=1; b-0 hw=1", limit(func(o *fetchOptions) { o.maxBytes = int32(2*one + 30) }), from{"a", 0, 1}, all[1], all[2])
		n.expect("a-0 hw=3 [0..0 1..1 +30]; a-1 hw=1 [0..0]; b-0 hw=1 [0..0]", limit(func(o *fetchOptions) { o.partitionBytes = int32(2*one + 30) }), all...)
		// What does not fit counts towards the bytes that are waited for.
		n.expect("a-0 hw=3 [2..2]; a-1 hw=1; b-0 hw=1", limit(func(o *fetchOptions) { o.maxBytes = int32(one + 30); o.minBytes = o.maxBytes }), from{"a", 0, 2}, all[1], all[2])
		// Empty partitions before it do not count as the first.
		n.expect("a-0 hw=3; a-1 hw=1 [0..0]; b-0 hw=1", limit(func(o *fetchOptions) { o.maxBytes = 1 }), from{"a", 0, 3}, all[1], all[2])
	})
}

func TestFetchErrorsEndTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, oneDisk())
		n.create("a", 1)
		n.lead("a", 0, self)
		n.create("elsewhere", 1)
		n.lead("elsewhere", 0, 9)
		n.start()
		defer n.close()
		n.produce(1, put{"a", 0, batch(3, nil)})
		o := fetchOptions{epoch: -1, wait: time.Hour}
		n.expect("a-0 OFFSET_OUT_OF_RANGE", o, from{"a", 0, 4})
		n.expect("a-0 OFFSET_OUT_OF_RANGE", o, from{"a", 0, -1})
		f := n.expect("elsewhere-0 NOT_LEADER_OR_FOLLOWER", o, from{"elsewhere", 0, 0})
		if l := f.answer.Response.Topics[0].Partitions[0].CurrentLeader; l.LeaderID != 9 || l.LeaderEpoch != 1 {
			t.Errorf("leader %+v", l)
		}
		o.leaderEpoch = 2
		n.expect("a-0 UNKNOWN_LEADER_EPOCH", o, from{"a", 0, 0})
		o.leaderEpoch = 1
		n.expect("a-0 hw=3 [0..2]", o, from{"a", 0, 0})
		n.lead("a", 0, self)
		f = n.expect("a-0 FENCED_LEADER_EPOCH", o, from{"a", 0, 0})
		if l := f.answer.Response.Topics[0].Partitions[0].CurrentLeader; l.LeaderID != 1 || l.LeaderEpoch != 2 {
			t.Errorf("leader %+v", l)
		}
		// The client's last epoch: known, beyond, unknown.
		n.produce(1, put{"a", 0, batch(1, nil)})
		o = fetchOptions{epoch: -1, wait: time.Hour, lastFetchedEpoch: 1 + 1}
		n.expect("a-0 hw=4 [3..3]", o, from{"a", 0, 3})
		n.expect("a-0 hw=4 diverging=1@3", o, from{"a", 0, 4})
		o.lastFetchedEpoch = 9 + 1
		n.expect("a-0 OFFSET_OUT_OF_RANGE", o, from{"a", 0, 4})
		// What is refused without a partition does not end the wait, and stands at
		// the end.
		start := time.Now()
		o = fetchOptions{epoch: -1, wait: time.Second}
		n.expect("a-0 hw=4; ?-0 UNKNOWN_TOPIC_ID; a-7 UNKNOWN_TOPIC_OR_PARTITION", o, from{"ghost", 0, 0}, from{"a", 7, 0}, from{"a", 0, 4})
		if waited := time.Since(start); waited != time.Second {
			t.Errorf("waited %v", waited)
		}
		// Unless there is nothing else.
		start = time.Now()
		n.expect("?-0 UNKNOWN_TOPIC_ID", o, from{"ghost", 0, 0})
		o.version = 12
		n.expect("ghost-0 UNKNOWN_TOPIC_OR_PARTITION", o, from{"ghost", 0, 0})
		n.expect("", o)
		denied := newFetch(o, from{"a", 0, 0})
		denied.deny = map[string]bool{"a": true}
		n.m.Fetch(&denied.Fetch)
		denied.wait(t)
		if got, want := denied.show(), "a-0 TOPIC_AUTHORIZATION_FAILED"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if waited := time.Since(start); waited != 0 {
			t.Errorf("waited %v", waited)
		}
		follower := newFetch(o, from{"a", 0, 0})
		follower.Request.ReplicaID = 2
		n.m.Fetch(&follower.Fetch)
		follower.wait(t)
		if got, want := follower.show(), "a-0 NOT_LEADER_OR_FOLLOWER"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

func TestFetchWaitsWithoutAGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, oneDisk())
		n.create("a", 3)
		n.start()
		defer n.close()
		before := runtime.NumGoroutine()
		var parked []*fetched
		for range 100 {
			f := newFetch(fetchOptions{epoch: -1, wait: time.Minute}, from{"a", 0, 0}, from{"a", 1, 0}, from{"a", 2, 0})
			n.m.Fetch(&f.Fetch)
			parked = append(parked, f)
		}
		synctest.Wait()
		if more := runtime.NumGoroutine() - before; more > 0 {
			t.Fatalf("%d goroutines more for 100 parked fetches", more)
		}
		n.produce(1, put{"a", 1, batch(1, nil)})
		for _, f := range parked {
			f.wait(t)
			if got, want := f.show(), "a-0 hw=0; a-1 hw=1 [0..0]; a-2 hw=0"; got != want {
				t.Fatalf("got %s, want %s", got, want)
			}
		}
		if n := n.m.Partition("a", 0).watchers.Len(); n != 0 {
			t.Fatalf("%d fetches that are over still watch", n)
		}
	})
}

func TestFetchTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, oneDisk())
		n.create("a", 1)
		n.start()
		defer n.close()
		n.produce(1, put{"a", 0, batch(1, nil)})
		start := time.Now()
		n.expect("a-0 hw=1 [0..0]", fetchOptions{epoch: -1, wait: 700 * time.Millisecond, minBytes: 5000}, from{"a", 0, 0})
		if waited := time.Since(start); waited != 700*time.Millisecond {
			t.Fatalf("waited %v", waited)
		}
	})
}

func TestFetchWaitsForMinBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, oneDisk())
		n.create("a", 2)
		n.start()
		defer n.close()
		n.produce(1, put{"a", 0, batch(1, nil)})
		f := newFetch(fetchOptions{epoch: -1, wait: time.Minute, minBytes: int32(4 * one)}, from{"a", 0, 0}, from{"a", 1, 0})
		n.m.Fetch(&f.Fetch)
		for i := range 3 {
			synctest.Wait()
			if f.answer != nil {
				t.Fatalf("answered with %d of 4 batches", 1+i)
			}
			n.produce(1, put{"a", int32(i % 2), batch(1, nil)})
		}
		f.wait(t)
		if got, want := f.show(), "a-0 hw=3 [0..0 1..1 2..2]; a-1 hw=1 [0..0]"; got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
	})
}

// TestFetchIsNotHeldByTheEndOfASegment: what is left of a sealed segment is
// answered at once, since nothing will be added to it.
func TestFetchIsNotHeldByTheEndOfASegment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, oneDisk())
		n.create("a", 1, fmt.Sprintf("internal.segment.bytes=%d", 2*one))
		n.start()
		defer n.close()
		for range 3 {
			n.produce(1, put{"a", 0, batch(1, nil)})
		}
		n.expect("a-0 hw=3 [0..0 1..1]", fetchOptions{epoch: -1, wait: time.Hour, minBytes: 5000}, from{"a", 0, 0})
	})
}

func TestAChangeOfLeaderEndsAFetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, oneDisk())
		n.create("a", 2)
		n.start()
		defer n.close()
		f := newFetch(fetchOptions{epoch: -1, wait: time.Hour, minBytes: 5000}, from{"a", 0, 0}, from{"a", 1, 0})
		n.m.Fetch(&f.Fetch)
		n.lead("a", 0, 4)
		f.wait(t)
		if got, want := f.show(), "a-0 NOT_LEADER_OR_FOLLOWER; a-1 hw=0"; got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
		f = newFetch(fetchOptions{epoch: -1, wait: time.Hour, minBytes: 5000}, from{"a", 1, 0})
		n.m.Fetch(&f.Fetch)
		n.remove("a")
		f.wait(t)
		if got, want := f.show(), "a-1 UNKNOWN_TOPIC_OR_PARTITION"; got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
	})
}

// TestATopicThatGoesEndsAFetch: one that was not there when the fetch began does
// not, as with Apache.
func TestATopicThatGoesEndsAFetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, oneDisk())
		n.create("stays", 1)
		n.create("goes", 1)
		n.start()
		defer n.close()
		begin := time.Now()
		f := newFetch(fetchOptions{epoch: -1, wait: time.Hour}, from{"stays", 0, 0}, from{"goes", 0, 0})
		n.m.Fetch(&f.Fetch)
		n.remove("goes")
		<-f.done
		if got, want := f.show(), "stays-0 hw=0; goes-0 UNKNOWN_TOPIC_OR_PARTITION"; got != want || time.Since(begin) > time.Minute {
			t.Fatalf("got %s after %v, want %s at once", got, time.Since(begin), want)
		}
		f = newFetch(fetchOptions{version: 12, epoch: -1, wait: time.Hour}, from{"stays", 0, 0}, from{"goes", 0, 0})
		begin = time.Now()
		n.m.Fetch(&f.Fetch)
		<-f.done
		if got, want := f.show(), "stays-0 hw=0; goes-0 UNKNOWN_TOPIC_OR_PARTITION"; got != want || time.Since(begin) < time.Hour {
			t.Fatalf("got %s after %v, want %s after the wait", got, time.Since(begin), want)
		}
	})
}

// TestSessionDialogue is a dialogue as Apache Kafka 4.4.0 answered it.
func TestSessionDialogue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, oneDisk())
		n.create("a", 3)
		n.create("b", 3)
		n.start()
		defer n.close()
		for range 2 {
			n.produce(1, put{"a", 0, batch(1, nil)})
		}
		wait := 300 * time.Millisecond
		id, epoch := int32(0), int32(0)
		ask := func(want string, waits bool, o fetchOptions, parts ...from) {
			t.Helper()
			start := time.Now()
			o.wait, o.id, o.epoch = wait, id, epoch
			f := n.expect(want, o, parts...)
			if waited := time.Since(start); waited != 0 != waits {
				t.Errorf("waited %v", waited)
			}
			id = f.answer.Response.SessionID
			epoch++
		}
		ask("a-0 hw=2 [0..0 1..1]; a-1 hw=0; b-0 hw=0", false, fetchOptions{}, from{"a", 0, 0}, from{"a", 1, 0}, from{"b", 0, 0})
		first := id
		ask("a-0 hw=2 [0..0 1..1]", false, fetchOptions{})
		ask("", true, fetchOptions{}, from{"a", 0, 2})
		n.produce(1, put{"a", 1, batch(1, nil)}, put{"b", 0, batch(1, nil)}, put{"a", 0, batch(1, nil)})
		ask("a-1 hw=1 [0..0]; b-0 hw=1 [0..0]; a-0 hw=3 [2..2]", false, fetchOptions{})
		ask("a-1 hw=1 [0..0]", false, fetchOptions{maxBytes: 10})
		ask("b-0 hw=1 [0..0]", false, fetchOptions{maxBytes: 10})
		ask("a-0 hw=3 [2..2]", false, fetchOptions{maxBytes: 10})
		n.expect("INVALID_FETCH_SESSION_EPOCH", fetchOptions{id: id, epoch: 5})
		n.expect("FETCH_SESSION_TOPIC_ID_ERROR", fetchOptions{version: 12, id: id, epoch: epoch})
		ask("?-0 UNKNOWN_TOPIC_ID; a-9 UNKNOWN_TOPIC_OR_PARTITION", true, fetchOptions{}, from{"ghost", 0, 0}, from{"a", 9, 0}, from{"a", 0, 3}, from{"a", 1, 1}, from{"b", 0, 1})
		ask("?-0 UNKNOWN_TOPIC_ID; a-9 UNKNOWN_TOPIC_OR_PARTITION", true, fetchOptions{})
		ask("", true, fetchOptions{forget: []from{{"ghost", 0, 0}, {"a", 9, 0}}})
		ask("a-0 OFFSET_OUT_OF_RANGE", false, fetchOptions{}, from{"a", 0, 99})
		ask("a-0 OFFSET_OUT_OF_RANGE", false, fetchOptions{})
		ask("a-0 hw=3", true, fetchOptions{}, from{"a", 0, 3})
		ask("", true, fetchOptions{forget: []from{{"a", 1, 0}}}, from{"a", 1, 0})
		ask("", true, fetchOptions{})
		if id != first {
			t.Fatalf("session %d became %d", first, id)
		}
		ask("", false, fetchOptions{forget: []from{{"a", 0, 0}, {"b", 0, 0}}})
		if id != 0 {
			t.Fatalf("the session has no partitions left, but id %d", id)
		}
		id = first
		ask("FETCH_SESSION_ID_NOT_FOUND", false, fetchOptions{})
		if s := n.m.Stats().Sessions; s.Sessions != 0 {
			t.Fatalf("%+v", s)
		}
	})
}

// TestABusySessionSeesItsQuietPartitions: a session that never waits, because one
// partition always has something, is told of the others all the same.
func TestABusySessionSeesItsQuietPartitions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, oneDisk())
		n.create("a", 2)
		n.start()
		defer n.close()
		n.produce(1, put{"a", 0, batch(1, nil)})
		id := n.expect("a-0 hw=1 [0..0]; a-1 hw=0", fetchOptions{}, from{"a", 0, 0}, from{"a", 1, 0}).answer.Response.SessionID
		n.expect("a-0 hw=1 [0..0]", fetchOptions{id: id, epoch: 1, wait: time.Hour})
		n.expect("a-0 hw=1 [0..0]", fetchOptions{id: id, epoch: 2, wait: time.Hour})
		n.produce(1, put{"a", 1, batch(1, nil)})
		n.expect("a-1 hw=1 [0..0]; a-0 hw=1 [0..0]", fetchOptions{id: id, epoch: 3, wait: time.Hour})
		n.expect("a-1 hw=1 [0..0]; a-0 hw=1 [0..0]", fetchOptions{id: id, epoch: 4, wait: time.Hour})
	})
}

// TestOnlyChangedPartitionsAreRead holds a session of many partitions against the
// reads that it costs.
func TestOnlyChangedPartitionsAreRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const many = 300
		n := newNode(t, oneDisk())
		n.create("a", many)
		n.start()
		defer n.close()
		var parts []from
		for i := range many {
			parts = append(parts, from{"a", int32(i), 0})
		}
		f := n.fetch(fetchOptions{epoch: 0, wait: time.Millisecond}, parts...)
		f.answer.Release()
		id, looked := f.answer.Response.SessionID, 0
		for epoch := int32(1); epoch < 20; epoch++ {
			p := newFetch(fetchOptions{id: id, epoch: epoch, wait: time.Hour})
			n.m.Fetch(&p.Fetch)
			looked = 0
			for range p.session.Value.pending.All {
				looked++
			}
			hot := int32(7 * epoch)
			n.produce(1, put{"a", hot, batch(1, nil)})
			p.wait(t)
			if got, want := p.show(), fmt.Sprintf("a-%d hw=1 [0..0]", hot); got != want {
				t.Fatalf("got %s, want %s", got, want)
			}
			n.fetch(fetchOptions{id: id, epoch: epoch + 1}, from{"a", hot, 1}).answer.Release()
			epoch++
		}
		if looked != 0 {
			t.Fatalf("%d partitions are looked at though nothing changed", looked)
		}
	})
}

func TestReadCommitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, oneDisk())
		n.create("a", 1)
		n.start()
		defer n.close()
		n.produce(1, put{"a", 0, batch(1, nil)})
		n.transact("a", 7, 0)
		n.transact("a", 8, 0)
		n.expect("a-0 hw=3 lso=1 [0..0 1..1 2..2]", fetchOptions{epoch: -1}, from{"a", 0, 0})
		n.expect("a-0 hw=3 lso=1 [0..0]", fetchOptions{epoch: -1, committed: true}, from{"a", 0, 0})
		f := newFetch(fetchOptions{epoch: -1, committed: true, wait: time.Hour, minBytes: 400}, from{"a", 0, 1})
		n.m.Fetch(&f.Fetch)
		n.produce(1, put{"a", 0, batch(5, nil)})
		n.end("a", 8, 0, false)
		synctest.Wait()
		if f.answer != nil {
			t.Fatal("the first transaction is still open")
		}
		// The end of the first transaction lets all be read, though what came since
		// the fetch waits is less than it waits for.
		n.end("a", 7, 0, true)
		f.wait(t)
		if got, want := f.show(), "a-0 hw=10 aborted=8@2 [1..1 2..2 3..7 8..8 9..9]"; got != want {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
		if a := f.answer.Response.Topics[0].Partitions[0].AbortedTransactions; a == nil {
			t.Fatal("null list")
		}
		n.expect("a-0 hw=10 [9..9]", fetchOptions{epoch: -1, committed: true}, from{"a", 0, 9})
		q := n.m.DescribeProducers("a", 0)
		if q.ErrorCode != 0 || len(q.ActiveProducers) != 2 || q.ActiveProducers[0].CurrentTxnStartOffset != -1 {
			t.Fatalf("%+v", q)
		}
	})
}

// transact appends the first batch of a transaction, which the coordinator knows.
func (n *node) transact(topic string, id kafka.ProducerID, sequence int32) {
	n.t.Helper()
	b := record.NewBuilder(record.BatchOptions{Producer: &record.Producer{ID: id, BaseSequence: sequence}, Transactional: true})
	b.Append(record.Record{Value: []byte("in a transaction"), Timestamp: time.Now().UnixMilli()})
	raw, err := b.Build()
	if err != nil {
		n.t.Fatal(err)
	}
	p := n.m.Partition(topic, 0)
	var out [1]commitlog.Appended
	var woken purgatoryWoken
	r := p.role.Load()
	guard := p.beginVerification(r, raw, 12)
	if _, code := p.appendLeader(producers, r.leaderEpoch, []record.Batch{raw}, []commitlog.Guard{guard}, out[:], &woken); code != 0 || out[0].Err != 0 {
		n.t.Fatal(code, out[0].Err)
	}
	p.env.wake(&woken)
}

// end appends a transaction marker.
func (n *node) end(topic string, id kafka.ProducerID, epoch kafka.ProducerEpoch, commit bool) {
	n.t.Helper()
	p := n.m.Partition(topic, 0)
	var e effects
	p.mu.Lock()
	r := p.role.Load()
	if _, err := r.log.AppendMarker(r.leaderEpoch, time.Now().UnixMilli(), record.CreateTime, kafka.Marker{ProducerID: id, ProducerEpoch: epoch, Commit: commit}); err != nil {
		n.t.Error(err)
	}
	p.unannounced += 78
	p.advanceLocked(r, &e)
	p.mu.Unlock()
	p.settleNow(e)
}

func TestAProducerMayGoOnWithItsTransaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, oneDisk())
		n.create("a", 1)
		n.start()
		defer n.close()
		n.transact("a", 7, 0)
		b := record.NewBuilder(record.BatchOptions{Producer: &record.Producer{ID: 7, BaseSequence: 1}, Transactional: true})
		b.Append(record.Record{Value: []byte("more")})
		raw, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		n.produce(1, put{"a", 0, raw}).must(t, 1)
	})
}

func TestListOffsets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, oneDisk())
		n.create("a", 1)
		n.create("behind", 1)
		n.twoReplicas("behind", 2)
		n.start()
		defer n.close()
		first := time.Now().UnixMilli()
		n.produce(1, put{"a", 0, batch(2, nil)})
		time.Sleep(5 * time.Second)
		n.produce(1, put{"a", 0, batch(3, nil)})
		n.lead("a", 0, self)
		n.produce(1, put{"behind", 0, batch(2, nil)})
		n.lead("behind", 0, self)
		for _, c := range []struct {
			topic     string
			timestamp int64
			want      string
		}{
			{"a", kafka.TimestampLatest, "NONE 5 epoch 1"},
			{"a", kafka.TimestampEarliest, "NONE 0 epoch 0"},
			{"a", kafka.TimestampMax, "NONE 2 epoch 0"},
			{"a", kafka.TimestampEarliestLocal, "NONE 0 epoch 0"},
			{"a", kafka.TimestampLatestTiered, "NONE -1 epoch -1"},
			{"a", kafka.TimestampEarliestPendingUpload, "NONE -1 epoch -1"},
			{"a", first, "NONE 0 epoch 0"},
			{"a", first + 1, "NONE 2 epoch 0"},
			{"a", first + 9000, "NONE -1 epoch -1"},
			{"nosuch", kafka.TimestampLatest, "UNKNOWN_TOPIC_OR_PARTITION -1 epoch -1"},
			// The new leader has not caught up with what an older one may have
			// committed.
			{"behind", kafka.TimestampLatest, "OFFSET_NOT_AVAILABLE -1 epoch -1"},
			{"behind", kafka.TimestampEarliest, "NONE 0 epoch 0"},
			{"behind", first, "OFFSET_NOT_AVAILABLE -1 epoch -1"},
			{"behind", first + 9000, "NONE -1 epoch -1"},
		} {
			if got := n.listOffset(c.topic, c.timestamp); got != c.want {
				t.Errorf("%s at %d: got %s, want %s", c.topic, c.timestamp, got, c.want)
			}
		}
	})
}

func TestOffsetForLeaderEpoch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, oneDisk())
		n.create("a", 1)
		n.start()
		defer n.close()
		n.produce(1, put{"a", 0, batch(2, nil)})
		n.lead("a", 0, self)
		n.produce(1, put{"a", 0, batch(3, nil)})
		for _, c := range []struct {
			current, epoch int32
			want           string
		}{
			{-1, 0, "NONE 0 2"},
			{1, 1, "NONE 1 5"},
			{-1, 2, "NONE -1 -1"},
			{-1, -1, "NONE -1 -1"},
			{0, 0, "FENCED_LEADER_EPOCH -1 -1"},
			{2, 0, "UNKNOWN_LEADER_EPOCH -1 -1"},
		} {
			q := newEpochRequest(c.current, c.epoch)
			a := n.m.OffsetForLeaderEpoch("a", &q)
			if got := fmt.Sprintf("%v %d %d", kafka.ErrorCode(a.ErrorCode), a.LeaderEpoch, a.EndOffset); got != c.want {
				t.Errorf("epoch %d: got %s, want %s", c.epoch, got, c.want)
			}
		}
	})
}

func TestANewTopicOfTheSameNameIsAnotherTopic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, oneDisk())
		n.create("a", 1)
		n.start()
		defer n.close()
		n.produce(1, put{"a", 0, batch(1, nil)})
		f := n.expect("a-0 hw=1 [0..0]", fetchOptions{}, from{"a", 0, 0})
		gone := metarec.NewRemoveTopicRecord()
		gone.TopicID = topicID("a")
		again := topicRecords("a", 1)
		id := kafka.UUID{0: 'A', 15: 9}
		again[0].(*metarec.TopicRecord).TopicID = id
		again[1].(*metarec.PartitionRecord).TopicID = id
		n.replay(append([]metarec.Message{gone}, again...)...)
		n.expect("a-0 INCONSISTENT_TOPIC_ID", fetchOptions{id: f.answer.Response.SessionID, epoch: 1, wait: time.Hour})
		n.produce(1, put{"a", 0, batch(1, nil)}).must(t, 0)
	})
}
