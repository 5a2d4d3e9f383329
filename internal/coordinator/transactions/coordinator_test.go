package transactions

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"barnabas/internal/coordinator/txn"
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

type describedState = kmsg.DescribeTransactionsResponseTransactionState

func tp(topic string, partition int32) kafka.TopicPartition {
	return kafka.TopicPartition{Topic: topic, Partition: partition}
}

func (w *world) answerNext(at kafka.TopicPartition, codes ...kafka.ErrorCode) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.codes[at] = codes
}

func (w *world) wantMarkers(want ...string) {
	w.t.Helper()
	if got := w.markers(); got != strings.Join(want, "\n") {
		w.t.Errorf("markers:\n%s\nwant:\n%s", got, strings.Join(want, "\n"))
	}
}

func TestMarkersAreSentUntilEachPartitionHasItsOwn(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answerNext(tp("t", 1), kafka.ErrNotLeaderOrFollower, kafka.ErrNotEnoughReplicas)
		p := w.begin("a", tp("t", 0), tp("t", 1))
		w.end("a", p, true)
		w.wantState("a", "PrepareCommit")
		if w.Sending() != 1 {
			t.Errorf("%d transactions are being ended", w.Sending())
		}
		time.Sleep(time.Second)
		w.wantState("a", "CompleteCommit")
		w.wantMarkers("1/1 by 0 commit true to [t-0 t-1]", "1/1 by 0 commit true to [t-1]", "1/1 by 0 commit true to [t-1]")
		if w.Sending() != 0 {
			t.Errorf("%d transactions are being ended", w.Sending())
		}
	})
}

func TestPartitionsThatAreGoneNeedNoMarker(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.begin("a", tp("t", 0), tp("u", 0))
		w.gone[tp("u", 0)] = true
		p = w.end("a", p, false)
		w.wantState("a", "CompleteAbort")
		w.wantMarkers("1/1 by 0 commit false to [t-0]")
		w.add("a", p, tp("t", 0))
		w.gone[tp("t", 0)] = true
		w.end("a", p, true)
		w.wantState("a", "CompleteCommit")
	})
}

// TestPartitionWithALaterEpochDoesNotBlockTheTransaction: Apache Kafka leaves it as it is.
func TestPartitionWithALaterEpochDoesNotBlockTheTransaction(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answerNext(tp("t", 0), kafka.ErrInvalidProducerEpoch)
		w.end("a", w.begin("a", tp("t", 0), tp("t", 1)), true)
		w.wantState("a", "CompleteCommit")
		if !strings.Contains(w.logged(), "a later epoch") {
			t.Errorf("log:\n%s", w.logged())
		}
	})
}

func TestWhoIsNotTheCoordinatorAnyMoreSendsNoMarkers(t *testing.T) {
	inWorld(t, func(w *world) {
		never := make([]kafka.ErrorCode, 1000)
		for i := range never {
			never[i] = kafka.ErrTransactionCoordinatorFenced
		}
		w.answerNext(tp("t", 0), never...)
		w.end("a", w.begin("a", tp("t", 0)), true)
		time.Sleep(time.Minute)
		if !strings.Contains(w.logged(), "cannot be written") {
			t.Errorf("log:\n%s", w.logged())
		}
		w.Resign(0)
		time.Sleep(time.Minute)
		asked := len(w.markers())
		time.Sleep(time.Minute)
		if w.Sending() != 0 || len(w.markers()) != asked {
			t.Errorf("%d transactions are being ended", w.Sending())
		}
		w.answerNext(tp("t", 0))
		w.lead(7)
		w.wantState("a", "CompleteCommit")
		if all := w.markers(); !strings.HasSuffix(all, "\n1/1 by 7 commit true to [t-0]") {
			t.Errorf("markers:\n%s", all)
		}
	})
}

func TestCompletionThatIsNotWrittenIsTriedAgain(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answerNext(tp("t", 0), kafka.ErrNotLeaderOrFollower)
		w.end("a", w.begin("a", tp("t", 0)), true)
		w.log.failWith(kafka.ErrNotEnoughReplicas)
		time.Sleep(time.Second)
		w.wantState("a", "PrepareCommit")
		w.log.failWith(kafka.ErrNone)
		time.Sleep(2 * time.Second)
		w.wantState("a", "CompleteCommit")
		w.wantMarkers("1/1 by 0 commit true to [t-0]", "1/1 by 0 commit true to [t-0]")
	})
}

func TestWithoutProducerIDsThereIsNoProducer(t *testing.T) {
	inWorld(t, func(w *world) {
		w.idCode = kafka.ErrCoordinatorLoadInProgress
		if p := w.init("a"); p.Code != kafka.ErrCoordinatorLoadInProgress || p.ID != kafka.NoProducerID {
			t.Errorf("%+v", p)
		}
		w.idCode = kafka.ErrNone
		if p := w.init("a"); p.Code != kafka.ErrNone || p.ID != 2 || p.Epoch != 0 {
			t.Errorf("%+v", p)
		}
		if p := w.init("a"); p.Code != kafka.ErrNone || p.ID != 2 || p.Epoch != 1 {
			t.Errorf("%+v", p)
		}
	})
}

func TestWhatHasNoCoordinatorHereIsRefused(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.begin("a", tp("t", 0))
		w.Resign(0)
		time.Sleep(time.Second)
		if got := w.init("a"); got.Code != kafka.ErrNotCoordinator {
			t.Errorf("init: %v", got.Code)
		}
		if got := w.end("a", p, true); got.Code != kafka.ErrNotCoordinator {
			t.Errorf("end: %v", got.Code)
		}
		var codes []kafka.ErrorCode
		w.Verify(txn.Partitions{TransactionalID: "a", List: []kafka.TopicPartition{tp("t", 0), tp("t", 1)}}, func(got []kafka.ErrorCode) { codes = got })
		if len(codes) != 2 || codes[1] != kafka.ErrNotCoordinator {
			t.Errorf("verify: %v", codes)
		}
		// What can be refused without a coordinator is.
		var code kafka.ErrorCode
		w.InitProducerID(txn.InitProducerID{TransactionalID: "a", TimeoutMs: 900_001}, func(p txn.Producer) { code = p.Code })
		if code != kafka.ErrInvalidTransactionTimeout {
			t.Errorf("init: %v", code)
		}
	})
}

// TestTenThousandOpenTransactions is a coordinator that many clients have left alone.
func TestTenThousandOpenTransactions(t *testing.T) {
	const many = 10_000
	inWorld(t, func(w *world) {
		id := func(i int) string {
			return strings.Repeat("x", 100) + string(rune('a'+i%26)) + strings.Repeat("y", i/26)
		}
		for i := range many {
			w.InitProducerID(txn.InitProducerID{TransactionalID: id(i), TimeoutMs: 60_000, ProducerID: -1, Epoch: -1}, func(p txn.Producer) {
				w.AddPartitions(txn.Partitions{TransactionalID: id(i), ProducerID: p.ID, Epoch: p.Epoch, List: []kafka.TopicPartition{tp("t", int32(i))}, Client: 2},
					func(code kafka.ErrorCode) {
						if code != kafka.ErrNone {
							t.Errorf("add: %v", code)
						}
					})
			})
		}
		time.Sleep(time.Second)
		var census txn.Census
		count := func() {
			w.EachCore(func(core *txn.Core, _ time.Time) { census = core.Census() }, func(kafka.ErrorCode) {})
		}
		if count(); census[txn.Ongoing] != many {
			t.Fatalf("%v", census)
		}
		time.Sleep(10 * time.Minute) // they take too long
		if count(); census[txn.CompleteAbort] != many {
			t.Fatalf("%v", census)
		}
	})
}

// TestCloseDoesNotWaitForMarkersThatHaveNotBegun: those of the jobs that a worker has
// are written, those that queue behind them are not.
func TestCloseDoesNotWaitForMarkersThatHaveNotBegun(t *testing.T) {
	const many = 10 * jobsAtOnce
	inWorld(t, func(w *world) {
		disk := make(chan struct{})
		w.before = func() { <-disk }
		for i := range many {
			id := strings.Repeat("x", i+1)
			w.end(id, w.begin(id, tp("t", int32(i))), true)
		}
		closed := make(chan struct{})
		go func() {
			w.Close()
			close(closed)
		}()
		synctest.Wait()
		close(disk)
		<-closed
		if n := len(w.asked); n != jobsAtOnce {
			t.Errorf("%d markers were written, want %d", n, jobsAtOnce)
		}
	})
}
