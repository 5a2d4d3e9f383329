package replica

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"barnabas/internal/kafka"
	"barnabas/internal/record"
	"barnabas/internal/storage/commitlog"
)

// transactional is a batch of a transaction with one record.
func transactional(t testing.TB, id kafka.ProducerID, epoch kafka.ProducerEpoch, sequence int32) []byte {
	t.Helper()
	b := record.NewBuilder(record.BatchOptions{Producer: &record.Producer{ID: id, Epoch: epoch, BaseSequence: sequence}, Transactional: true})
	b.Append(record.Record{Value: []byte("in a transaction"), Timestamp: time.Now().UnixMilli()})
	raw, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// asked are the enlistments that a coordinator was asked for.
type asked struct {
	list    []Enlistment
	answers []func([]kafka.ErrorCode)
}

// hold has the coordinator answer later.
func (a *asked) hold(e Enlistment, answer func([]kafka.ErrorCode)) {
	a.list, a.answers = append(a.list, e), append(a.answers, answer)
}

// agree has it agree at once.
func (a *asked) agree(e Enlistment, answer func([]kafka.ErrorCode)) {
	a.list = append(a.list, e)
	answer(allCodes(e, kafka.ErrNone))
}

func TestAFirstBatchIsVerifiedAndLaterOnesAreNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, oneDisk())
		n.create("a", 2)
		n.start()
		defer n.close()
		var coordinator asked
		n.enlist = coordinator.agree
		p := newProduce(1, time.Minute, put{"a", 0, transactional(t, 7, 0, 0)}, put{"a", 1, transactional(t, 7, 0, 0)})
		p.TransactionalID = "id"
		n.m.Produce([]*Produce{&p.Produce})
		p.must(t, 0)
		if len(coordinator.list) != 1 {
			t.Fatalf("asked %d times for one request", len(coordinator.list))
		}
		e := coordinator.list[0]
		if want := []kafka.TopicPartition{{Topic: "a", Partition: 0}, {Topic: "a", Partition: 1}}; e.TransactionalID != "id" || e.ProducerID != 7 || e.Version != 12 || !slices.Equal(e.Partitions, want) {
			t.Errorf("asked for %+v", e)
		}
		n.produce(1, put{"a", 0, transactional(t, 7, 0, 1)}).must(t, 1)
		if len(coordinator.list) != 1 {
			t.Error("asked again while the transaction is open")
		}
		n.end("a", 7, 1, true)
		n.produce(1, put{"a", 0, transactional(t, 7, 1, 0)}).must(t, 3)
		if len(coordinator.list) != 2 {
			t.Error("the next transaction was not verified")
		}
	})
}

// TestWhatIsBehindAVerificationWaits: requests of one connection keep their order.
func TestWhatIsBehindAVerificationWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, oneDisk())
		n.create("a", 1)
		n.create("b", 1)
		n.start()
		defer n.close()
		var coordinator asked
		n.enlist = coordinator.hold
		run := []*produced{
			newProduce(1, time.Minute, put{"b", 0, batch(1, nil)}),
			newProduce(1, time.Minute, put{"a", 0, transactional(t, 7, 0, 0)}, put{"b", 0, batch(1, nil)}),
			newProduce(1, time.Minute, put{"a", 0, transactional(t, 7, 0, 1)}),
			newProduce(1, time.Minute, put{"b", 0, batch(1, nil)}),
			newProduce(1, time.Minute, put{"a", 0, transactional(t, 8, 0, 0)}),
			newProduce(1, time.Minute, put{"a", 0, batch(1, nil)}),
		}
		var list []*Produce
		for _, p := range run {
			list = append(list, &p.Produce)
		}
		n.m.Produce(list)
		clear(list) // the memory of the run belongs to its caller
		synctest.Wait()
		for i, p := range run {
			if answered := p.answered.Load() == 1; answered != (i == 0) {
				t.Fatalf("request %d: answered %v before the coordinator has", i, answered)
			}
		}
		coordinator.answers[0]([]kafka.ErrorCode{kafka.ErrNone})
		synctest.Wait()
		if run[3].answered.Load() != 1 || run[4].answered.Load() != 0 || run[5].answered.Load() != 0 {
			t.Fatal("not all up to the second verification are answered, or more")
		}
		coordinator.answers[1]([]kafka.ErrorCode{kafka.ErrInvalidTxnState})
		for _, p := range run {
			p.wait(t)
		}
		for i, want := range []int64{0, 0, 1, 2, -1, 2} {
			if got := run[i].Appends[0].Out.BaseOffset; got != want {
				t.Errorf("request %d at %d, want %d", i, got, want)
			}
		}
		if run[1].Appends[1].Out.BaseOffset != 1 || len(coordinator.list) != 2 {
			t.Errorf("the second of a request is at %d; asked %d times", run[1].Appends[1].Out.BaseOffset, len(coordinator.list))
		}
	})
}

func TestRefusedVerifications(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, oneDisk())
		n.create("a", 1)
		n.start()
		defer n.close()
		for i, c := range []struct{ code, told kafka.ErrorCode }{
			{kafka.ErrInvalidTxnState, kafka.ErrInvalidTxnState},
			{kafka.ErrTransactionAbortable, kafka.ErrTransactionAbortable},
			{kafka.ErrInvalidProducerEpoch, kafka.ErrInvalidProducerEpoch},
			{kafka.ErrInvalidProducerIDMapping, kafka.ErrInvalidProducerIDMapping},
			{kafka.ErrConcurrentTransactions, kafka.ErrNotEnoughReplicas},
			{kafka.ErrNotCoordinator, kafka.ErrNotEnoughReplicas},
			{kafka.ErrCoordinatorLoadInProgress, kafka.ErrNotEnoughReplicas},
			{kafka.ErrCoordinatorNotAvailable, kafka.ErrNotEnoughReplicas},
		} {
			n.enlist = func(e Enlistment, answer func([]kafka.ErrorCode)) { answer(allCodes(e, c.code)) }
			p := n.produce(1, put{"a", 0, transactional(t, kafka.ProducerID(i), 0, 0)})
			out := p.Appends[0].Out
			if p.code(0) != c.told || out.BaseOffset != -1 {
				t.Errorf("%v: told %v at %d", c.code, p.code(0), out.BaseOffset)
			}
			if says := out.ErrorMessage != nil && strings.HasSuffix(*out.ErrorMessage, c.code.String()); says != (c.told == kafka.ErrNotEnoughReplicas) {
				t.Errorf("%v: the message is %v", c.code, out.ErrorMessage)
			}
		}
	})
}

// TestABatchThatIsLateIsKeptOff: its transaction ends while it is being verified.
func TestABatchThatIsLateIsKeptOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, oneDisk())
		n.create("a", 1)
		n.start()
		defer n.close()
		var coordinator asked
		n.enlist = coordinator.hold
		late := newProduce(1, time.Minute, put{"a", 0, transactional(t, 7, 0, 0)})
		late.Version = 11 // its epoch stays
		n.m.Produce([]*Produce{&late.Produce})
		n.end("a", 7, 0, false)
		coordinator.answers[0]([]kafka.ErrorCode{kafka.ErrNone})
		late.wait(t)
		if late.code(0) != kafka.ErrInvalidTxnState {
			t.Errorf("a batch behind its marker: %v", late.code(0))
		}
	})
}

func TestVerificationMayBeOffForClientsThatAddPartitions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, oneDisk(), "transaction.partition.verification.enable=false")
		n.create("a", 1)
		n.start()
		defer n.close()
		var coordinator asked
		n.enlist = coordinator.agree
		p := newProduce(1, time.Minute, put{"a", 0, transactional(t, 7, 0, 0)})
		p.Version = 11
		n.m.Produce([]*Produce{&p.Produce})
		p.must(t, 0)
		if len(coordinator.list) != 0 {
			t.Error("a client that adds partitions itself was verified")
		}
		n.produce(1, put{"a", 0, transactional(t, 8, 0, 0)}).must(t, 1)
		if len(coordinator.list) != 1 {
			t.Error("partitions of a client of transactions v2 were not added")
		}
	})
}

func TestACoordinatorVerifiesWhatItAppends(t *testing.T) {
	n := newNode(t, oneDisk())
	n.create("a", 1)
	n.start()
	defer n.close()
	v := commitlog.Verification{ProducerID: 7, Sequence: record.NoSequence}
	guard, needed, code := n.m.BeginVerification("a", 0, v)
	if !needed || code != kafka.ErrNone {
		t.Fatalf("needed %v, %v", needed, code)
	}
	l := n.led("a", 0)
	if _, _, code := l.Append(transactional(t, 7, 0, 0), commitlog.NoGuard); code != kafka.ErrInvalidTxnState {
		t.Errorf("without a guard: %v", code)
	}
	if end, _, code := l.Append(transactional(t, 7, 0, 0), guard); end != 1 || code != kafka.ErrNone {
		t.Errorf("with its guard: end %d, %v", end, code)
	}
	if _, needed, _ := n.m.BeginVerification("a", 0, v); needed {
		t.Error("needed while the transaction is open")
	}
	if _, _, code := n.m.BeginVerification("nosuch", 0, v); code != kafka.ErrUnknownTopicOrPartition {
		t.Errorf("a topic that is not there: %v", code)
	}
}

// TestAPartitionThatIsNotLedExists: the coordinator of a transaction drops the marker of a
// partition only where the metadata says that it is gone, whoever leads it.
func TestAPartitionThatIsNotLedExists(t *testing.T) {
	n := newNode(t, oneDisk())
	n.create("a", 1)
	n.create("elsewhere", 1)
	n.lead("elsewhere", 0, 9)
	n.create("nobody", 1)
	n.lead("nobody", 0, -1)
	n.start()
	defer n.close()
	for _, topic := range []string{"a", "elsewhere", "nobody"} {
		if !n.m.Exists(kafka.TopicPartition{Topic: topic}) {
			t.Errorf("%s-0 is taken for gone", topic)
		}
	}
	for _, tp := range []kafka.TopicPartition{{Topic: "a", Partition: 1}, {Topic: "a", Partition: -1}, {Topic: "nosuch"}} {
		if n.m.Exists(tp) {
			t.Errorf("%v is taken for being there", tp)
		}
	}
	writes := []MarkerWrite{{Topic: "nobody", Marker: kafka.Marker{ProducerID: 7}}, {Topic: "elsewhere", Marker: kafka.Marker{ProducerID: 7}}}
	done := make(chan struct{})
	n.m.WriteMarkers(writes, time.Minute, func() { close(done) })
	<-done
	for _, w := range writes {
		if w.Code == kafka.ErrNone || w.Code == kafka.ErrUnknownTopicOrPartition {
			t.Errorf("a marker for %s-0, which is not led here: %v", w.Topic, w.Code)
		}
	}
}
