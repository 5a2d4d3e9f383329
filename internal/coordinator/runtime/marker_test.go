package runtime

import (
	"fmt"
	"testing"
	"time"

	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"
)

func (w *world) transactional(key string, of machine.Transaction) *answer {
	return w.do(func(c *counter, done func(kafka.ErrorCode)) machine.Decision {
		d := c.increment(key, done)
		d.Transaction = &of
		return d
	})
}

func (w *world) mark(m kafka.Marker) *answer {
	a := &answer{}
	w.r.WriteMarker(0, m, a.done)
	return a
}

// ended is what the core was told of transactions.
func (w *world) ended() (list []string) {
	w.do(func(c *counter, _ func(kafka.ErrorCode)) machine.Decision {
		list = c.ended
		return machine.Decision{}
	})
	return list
}

func TestTransactionAndItsMarkerAreBatchesOfTheirOwn(t *testing.T) {
	w, l := serving(t, func(o *Options[*counter]) { o.Linger = time.Second })
	of := machine.Transaction{ProducerID: 7, Epoch: 3}
	waits := w.increment("a") // in the open batch
	w.want(w.transactional("b", of), "NONE")
	w.want(waits, "NONE") // it was appended before
	w.want(w.mark(kafka.Marker{ProducerID: of.ProducerID, ProducerEpoch: of.Epoch, CoordinatorEpoch: 2, Commit: true}), "NONE")
	var got []string
	for _, b := range l.batches {
		h := b.Header()
		got = append(got, fmt.Sprint(h.ProducerID, h.ProducerEpoch, h.Attributes.IsTransactional(), h.Attributes.IsControl()))
	}
	if want := "[-1 -1 false false 7 3 true false 7 3 true true]"; fmt.Sprint(got) != want {
		t.Errorf("batches %v, want %v", got, want)
	}
	if got := fmt.Sprint(w.ended()); got != "[7 3 true]" {
		t.Errorf("ended: %v", got)
	}
	w.want(w.increment("b"), "")
	w.advance(time.Second)
	w.wantNumbers("b", 2, 2)
	w.r.Resign(0)
	w.run()
	w.r.Lead(0, l.leadership())
	w.run()
	if got := fmt.Sprint(w.ended()); got != "[7 3 true]" {
		t.Errorf("after a load: %v", got)
	}
}

func TestMarkerIsAnsweredWhenItIsCommitted(t *testing.T) {
	w, l := serving(t, nil)
	l.lag = true
	a := w.mark(kafka.Marker{ProducerID: 7})
	w.want(a, "")
	l.commit(1)
	w.run()
	w.want(a, "NONE")
	late := w.mark(kafka.Marker{ProducerID: 7})
	w.advance(5 * time.Second)
	w.want(late, "COORDINATOR_NOT_AVAILABLE")
}

func TestMarkerThatIsRefusedEndsNothing(t *testing.T) {
	for code, want := range map[kafka.ErrorCode]string{
		kafka.ErrInvalidProducerEpoch:         "INVALID_PRODUCER_EPOCH",
		kafka.ErrTransactionCoordinatorFenced: "TRANSACTION_COORDINATOR_FENCED",
		kafka.ErrNotEnoughReplicas:            "COORDINATOR_NOT_AVAILABLE",
		kafka.ErrKafkaStorageError:            "NOT_COORDINATOR",
	} {
		w, l := serving(t, nil)
		l.fail = code
		w.want(w.mark(kafka.Marker{ProducerID: 7}), want)
		l.fail = kafka.ErrNone
		if list := w.ended(); len(list) != 0 {
			t.Errorf("%v: ended %v", code, list)
		}
		w.want(w.increment("a"), "NONE") // it knows where the log ends
	}
	w := newWorld(t, nil)
	w.want(w.mark(kafka.Marker{}), "NOT_COORDINATOR")
}

// TestWhatTheLogHasAgainstAProducerIsItsOwnAffair: nobody else is refused with it.
func TestWhatTheLogHasAgainstAProducerIsItsOwnAffair(t *testing.T) {
	w, l := serving(t, func(o *Options[*counter]) { o.Linger = time.Second })
	before := w.increment("a")
	w.do(func(*counter, func(kafka.ErrorCode)) machine.Decision {
		l.appended = func() {
			if len(l.batches) == 1 { // the batch before has been appended
				l.fail = kafka.ErrInvalidProducerEpoch
			}
		}
		return machine.Decision{}
	})
	refused := w.transactional("b", machine.Transaction{ProducerID: 7, Epoch: 1})
	w.want(before, "NONE")
	w.want(refused, "INVALID_PRODUCER_EPOCH")
	w.wantNumbers("a", 1, 1)
	w.wantNumbers("b", 0, 0)
}

func TestMarkerBehindWhichSomebodyElseWroteLoadsAnew(t *testing.T) {
	w, l := serving(t, nil)
	w.want(w.increment("a"), "NONE")
	l.put(numberRecord("free", 5))
	w.want(w.mark(kafka.Marker{ProducerID: 7}), "NOT_COORDINATOR")
	w.run()
	w.wantNumbers("free", 5, 5)
	w.want(w.increment("a"), "NONE")
}
