package transactions

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"barnabas/internal/base/wheel"
	"barnabas/internal/coordinator/runtime"
	"barnabas/internal/coordinator/txn"
	"barnabas/internal/kafka"
	"barnabas/internal/record"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// memoryLog is a partition of __transaction_state in memory.
type memoryLog struct {
	mu      sync.Mutex
	batches []record.Batch
	end     kafka.Offset
	fail    kafka.ErrorCode // of appends
}

func (l *memoryLog) Append(b record.Batch, _ uint64) (runtime.Appended, kafka.ErrorCode) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fail != kafka.ErrNone {
		return runtime.Appended{}, l.fail
	}
	b = slices.Clone(b)
	b.SetBaseOffset(l.end)
	l.batches = append(l.batches, b)
	l.end = b.NextOffset()
	return runtime.Appended{End: l.end, HighWatermark: l.end}, kafka.ErrNone
}

func (l *memoryLog) AppendMarker(kafka.Marker) (runtime.Appended, kafka.ErrorCode) {
	panic("there are no markers in this topic")
}

func (l *memoryLog) State() (runtime.LogState, kafka.ErrorCode) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return runtime.LogState{HighWatermark: l.end, End: l.end}, kafka.ErrNone
}

func (l *memoryLog) Read(from kafka.Offset, _ []byte) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []byte
	for _, b := range l.batches {
		if b.NextOffset() > from {
			out = append(out, b...)
		}
	}
	return out, nil
}

func (l *memoryLog) Await(_ kafka.Offset, done func(kafka.ErrorCode)) { done(kafka.ErrNone) }
func (l *memoryLog) MaxBatchBytes() int                               { return 1 << 20 }

func (l *memoryLog) failWith(code kafka.ErrorCode) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fail = code
}

// world is a coordinator of one partition, with partitions that answer as they are told.
type world struct {
	*Coordinator
	t   *testing.T
	log *memoryLog
	out strings.Builder // of the logger; guarded by mu

	mu     sync.Mutex
	codes  map[kafka.TopicPartition][]kafka.ErrorCode // the next answers; then none
	gone   map[kafka.TopicPartition]bool
	asked  []string // markers, in order
	nextID kafka.ProducerID
	idCode kafka.ErrorCode

	before func() // markers are written; nil: nothing
}

func (w *world) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(p)
}

func (w *world) logged() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.String()
}

// Exists implements Partitions.
func (w *world) Exists(tp kafka.TopicPartition) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.gone[tp]
}

// WriteMarkers implements Partitions.
func (w *world) WriteMarkers(m kafka.Marker, to []kafka.TopicPartition, done func([]kafka.ErrorCode)) {
	if w.before != nil {
		w.before()
	}
	w.mu.Lock()
	codes := make([]kafka.ErrorCode, len(to))
	for i, tp := range to {
		if list := w.codes[tp]; len(list) > 0 {
			codes[i], w.codes[tp] = list[0], list[1:]
		}
	}
	w.asked = append(w.asked, fmt.Sprintf("%d/%d by %d commit %v to %v", m.ProducerID, m.ProducerEpoch, m.CoordinatorEpoch, m.Commit, to))
	w.mu.Unlock()
	done(codes)
}

func (w *world) markers() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.asked, "\n")
}

func (w *world) newID(answer func(kafka.ProducerID, kafka.ErrorCode)) {
	w.mu.Lock()
	w.nextID++
	id, code := w.nextID, w.idCode
	w.mu.Unlock()
	answer(id, code)
}

// inWorld runs a test with a coordinator that leads its partition, in time of its own.
func inWorld(t *testing.T, test func(*world)) {
	synctest.Test(t, func(t *testing.T) {
		stop := make(chan struct{})
		w := &world{t: t, log: &memoryLog{}, codes: map[kafka.TopicPartition][]kafka.ErrorCode{}, gone: map[kafka.TopicPartition]bool{}}
		timers := wheel.New(time.Millisecond, time.Now())
		var wait sync.WaitGroup
		wait.Go(func() { timers.Run(time.Now, stop) })
		w.Coordinator = New(Options{
			Settings: txn.Settings{
				MaxTimeout: 15 * time.Minute, Expiration: 24 * time.Hour, AbortInterval: 10 * time.Second, RemoveInterval: time.Hour,
			},
			TransactionVersion: func() int16 { return 2 }, PartitionOf: func(string) int32 { return 0 },
			NewProducerID: w.newID, Partitions: w, Wheel: timers, Now: time.Now, Log: slog.New(slog.NewTextHandler(w, nil)),
			CommitTimeout: 5 * time.Second, LoadBuffer: 1 << 20,
		})
		w.lead(0)
		test(w)
		w.Close()
		close(stop)
		wait.Wait()
	})
}

func (w *world) lead(epoch kafka.LeaderEpoch) {
	w.Lead(0, runtime.Leadership{Epoch: epoch, Log: w.log})
	synctest.Wait()
}

// begin gives an id a producer and a transaction.
func (w *world) begin(id string, partitions ...kafka.TopicPartition) txn.Producer {
	w.t.Helper()
	p := w.init(id)
	if p.Code != kafka.ErrNone {
		w.t.Fatalf("init: %v", p.Code)
	}
	w.add(id, p, partitions...)
	return p
}

func (w *world) init(id string) (p txn.Producer) {
	w.InitProducerID(txn.InitProducerID{TransactionalID: id, TimeoutMs: 60_000, ProducerID: -1, Epoch: -1}, func(got txn.Producer) { p = got })
	synctest.Wait()
	return p
}

func (w *world) add(id string, p txn.Producer, partitions ...kafka.TopicPartition) {
	w.t.Helper()
	w.AddPartitions(txn.Partitions{TransactionalID: id, ProducerID: p.ID, Epoch: p.Epoch, List: partitions, Client: 2}, func(code kafka.ErrorCode) {
		if code != kafka.ErrNone {
			w.t.Errorf("add: %v", code)
		}
	})
	synctest.Wait()
}

func (w *world) end(id string, p txn.Producer, commit bool) (next txn.Producer) {
	w.End(txn.End{TransactionalID: id, ProducerID: p.ID, Epoch: p.Epoch, Commit: commit, Client: 2}, func(got txn.Producer) { next = got })
	synctest.Wait()
	return next
}

func (w *world) wantState(id, want string) {
	w.t.Helper()
	synctest.Wait()
	got := ""
	w.Describe(id, func(s describedState) { got = s.State })
	if synctest.Wait(); got != want {
		w.t.Fatalf("%s is %q, want %q\nmarkers:\n%s\nlog:\n%s", id, got, want, w.markers(), w.logged())
	}
}
