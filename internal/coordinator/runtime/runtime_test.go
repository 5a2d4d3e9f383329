package runtime

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"
	"barnabas/internal/record"
)

// serving is a world whose partition 0 is led and loaded.
func serving(t *testing.T, change func(*Options[*counter])) (*world, *fakeLog) {
	w, l := newWorld(t, change), newFakeLog()
	w.r.Lead(0, l.leadership())
	w.run()
	return w, l
}

func TestOperationIsAnsweredWhenItsRecordsAreCommitted(t *testing.T) {
	w, l := serving(t, nil)
	w.want(w.increment("a"), "NONE")
	l.lag = true
	a := w.increment("a")
	w.want(a, "")
	w.wantNumbers("a", 2, 1)
	read := w.do(func(c *counter, done func(kafka.ErrorCode)) machine.Decision { return machine.Decision{Done: done} })
	w.want(read, "")
	l.commit(2)
	w.run()
	w.want(a, "NONE")
	w.want(read, "NONE")
	w.wantNumbers("a", 2, 2)
}

func TestOperationsThatWaitTogetherShareABatch(t *testing.T) {
	w, l := serving(t, nil)
	var all []*answer
	w.do(func(c *counter, done func(kafka.ErrorCode)) machine.Decision {
		for range 10 {
			all = append(all, w.increment("a")) // queued: the shard is busy
		}
		return c.increment("a", done)
	})
	for _, a := range all {
		w.want(a, "NONE")
	}
	if len(l.batches) != 1 || l.end != 11 {
		t.Errorf("%d batches, log end %d", len(l.batches), l.end)
	}
	w.wantNumbers("a", 11, 11)
}

func TestBatchWaitsForItsLinger(t *testing.T) {
	for _, c := range []struct {
		linger  time.Duration
		batches int // of two operations
	}{{0, 2}, {5 * time.Millisecond, 1}} {
		w, l := serving(t, func(o *Options[*counter]) { o.Linger = c.linger })
		a, b := w.increment("a"), w.increment("a")
		if c.linger > 0 {
			w.want(a, "")
			w.advance(c.linger)
		}
		w.want(a, "NONE")
		w.want(b, "NONE")
		if len(l.batches) != c.batches {
			t.Errorf("linger %v: %d batches", c.linger, len(l.batches))
		}
	}
}

func TestFailedAppendTakesTheStateBackAndRefusesWhatWasDecidedOnIt(t *testing.T) {
	for code, want := range map[kafka.ErrorCode]string{
		kafka.ErrNotEnoughReplicas:  "COORDINATOR_NOT_AVAILABLE",
		kafka.ErrKafkaStorageError:  "NOT_COORDINATOR",
		kafka.ErrFencedLeaderEpoch:  "NOT_COORDINATOR",
		kafka.ErrMessageTooLarge:    "MESSAGE_TOO_LARGE",
		kafka.ErrRecordListTooLarge: "MESSAGE_TOO_LARGE",
	} {
		w, l := serving(t, nil)
		w.want(w.increment("a"), "NONE")
		l.lag = true
		inFlight := w.increment("a")
		l.fail = code
		var second *answer
		first := w.do(func(c *counter, done func(kafka.ErrorCode)) machine.Decision {
			second = w.increment("a")
			return c.increment("a", done)
		})
		w.want(first, want)
		w.want(second, want)
		w.wantNumbers("a", 2, 1)
		l.fail = kafka.ErrNone
		third := w.increment("a")
		l.commit(3)
		w.run()
		w.want(inFlight, "NONE")
		w.want(third, "NONE")
		w.wantNumbers("a", 3, 3)
	}
}

func TestAnswerDoesNotWaitLongerThanTheCommitTimeout(t *testing.T) {
	w, l := serving(t, nil)
	l.lag = true
	a := w.increment("a")
	w.advance(3 * time.Second)
	b := w.increment("a")
	w.advance(2 * time.Second)
	w.want(a, "COORDINATOR_NOT_AVAILABLE")
	w.want(b, "")
	w.wantNumbers("a", 2, 0) // the records stay
	l.commit(2)
	w.run()
	w.want(b, "NONE")
	w.wantNumbers("a", 2, 2)
	if st := w.r.Stats(); st.Expired != 1 {
		t.Errorf("%d expired", st.Expired)
	}
}

func TestRequestsAreRefusedWithTheRightCode(t *testing.T) {
	w, l := newWorld(t, nil), newFakeLog()
	w.want(w.increment("a"), "refused: NOT_COORDINATOR")
	l.put(numberRecord("a", 1))
	w.r.Lead(0, l.leadership())
	w.tasks.step(0) // the load waits for its goroutine
	w.want(w.increment("a"), "refused: COORDINATOR_LOAD_IN_PROGRESS")
	w.run()
	w.want(w.increment("a"), "NONE")
	w.wantNumbers("a", 2, 2)
	w.r.Resign(0)
	w.run()
	w.want(w.increment("a"), "refused: NOT_COORDINATOR")
	w.r.Close()
	w.want(w.increment("a"), "refused: NOT_COORDINATOR")
	w.r.Lead(0, l.leadership())
	w.want(w.increment("a"), "refused: NOT_COORDINATOR")
}

func TestResigningAnswersAllThatWaits(t *testing.T) {
	w, l := serving(t, func(o *Options[*counter]) { o.Linger = time.Second })
	var core *counter
	w.do(func(c *counter, _ func(kafka.ErrorCode)) machine.Decision { core = c; return machine.Decision{} })
	l.lag = true
	inFlight := w.increment("a")
	w.advance(time.Second)
	open := w.increment("a")
	w.r.Resign(0)
	w.run()
	w.want(inFlight, "NOT_COORDINATOR")
	w.want(open, "NOT_COORDINATOR")
	if core.unloaded != kafka.ErrNotCoordinator || core.atUnload["a"] != 2 {
		t.Errorf("the core was unloaded with %v and %v: who waits in what is in flight has to be answered too", core.unloaded, core.atUnload)
	}
	l.commit(1)
	w.advance(time.Minute) // nothing is left that could be answered twice
}

func TestLoadWaitsUntilTheLogIsOpen(t *testing.T) {
	w, l := newWorld(t, nil), newFakeLog()
	l.put(numberRecord("a", 1))
	l.notOpen = true
	w.r.Lead(0, l.leadership())
	w.run()
	l.change(kafka.ErrNotLeaderOrFollower, func() {})
	w.run()
	w.want(w.increment("a"), "refused: COORDINATOR_LOAD_IN_PROGRESS")
	l.change(kafka.ErrNotLeaderOrFollower, func() { l.notOpen = false })
	w.run()
	w.wantNumbers("a", 1, 1)
}

func TestLoadReadsUntilTheEndStandsStill(t *testing.T) {
	w, l := newWorld(t, func(o *Options[*counter]) { o.LoadBuffer = 100 }), newFakeLog()
	for i := range int64(20) {
		l.put(numberRecord("a", i+1))
	}
	grown := false
	l.onRead = func() {
		if !grown && l.reads == 3 {
			grown = true
			b := record.NewBuilder(record.BatchOptions{})
			r := numberRecord("a", 21)
			b.Append(record.Record{Key: r.Key, Value: r.Value})
			l.putLocked(mustBuild(b))
		}
	}
	w.r.Lead(0, l.leadership())
	w.run()
	w.wantNumbers("a", 21, 21)
	if l.reads < 10 {
		t.Errorf("%d reads with a buffer of 100 bytes", l.reads)
	}
	if st := w.r.Stats(); st.Loads != 1 || st.LoadedRecords != 21 || st.Active != 1 {
		t.Errorf("%+v", st)
	}
}

// TestALoadEndsAtTheHighWatermark: what is above it may have been acknowledged before
// the start, so nothing older is shown in the meantime.
func TestALoadEndsAtTheHighWatermark(t *testing.T) {
	w, l := newWorld(t, nil), newFakeLog()
	l.put(numberRecord("a", 1))
	l.lag = true
	l.put(numberRecord("a", 2))
	w.r.Lead(0, l.leadership())
	w.run()
	w.want(w.increment("a"), "refused: COORDINATOR_LOAD_IN_PROGRESS")
	l.commit(2)
	w.run()
	w.wantNumbers("a", 2, 2)
}

// TestALoadWaitingForTheHighWatermarkEndsWithItsLeadership: by a resignation, by
// another epoch, by a directory that fails, and with the runtime.
func TestALoadWaitingForTheHighWatermarkEndsWithItsLeadership(t *testing.T) {
	waiting := func() (*world, *fakeLog) {
		w, l := newWorld(t, nil), newFakeLog()
		l.lag = true
		l.put(numberRecord("a", 1))
		w.r.Lead(0, l.leadership())
		w.run()
		if st := w.r.Stats(); st.Loading != 1 || st.LoadOffsets != 1 || st.LoadOffsetsDone != 1 || len(l.waits) != 1 {
			t.Fatalf("%+v, %d waits", st, len(l.waits))
		}
		return w, l
	}
	w, l := waiting()
	w.r.Resign(0)
	w.run()
	l.commit(1)
	w.run()
	w.want(w.increment("a"), "refused: NOT_COORDINATOR")

	w, l = waiting()
	l.change(kafka.ErrNotLeaderOrFollower, func() { l.epoch++ })
	w.run()
	w.want(w.increment("a"), "refused: NOT_COORDINATOR")
	w.r.Lead(0, l.leadership())
	w.run()
	w.want(w.increment("a"), "refused: COORDINATOR_LOAD_IN_PROGRESS")
	l.commit(1)
	w.run()
	w.wantNumbers("a", 1, 1)

	w, l = waiting()
	l.change(kafka.ErrKafkaStorageError, func() {})
	w.run()
	if st := w.r.Stats(); st.Failed != 1 || st.LoadErrors != 1 {
		t.Errorf("%+v", st)
	}

	w, l = waiting()
	w.r.Close()
	l.commit(1)
	w.want(w.increment("a"), "refused: NOT_COORDINATOR")
}

// TestALoadThatWasCancelledDoesNotHideItsSuccessor: the one ends behind the other,
// and before the shard has looked.
func TestALoadThatWasCancelledDoesNotHideItsSuccessor(t *testing.T) {
	w, l := newWorld(t, nil), newFakeLog()
	l.put(numberRecord("a", 1))
	w.r.Lead(0, l.leadership())
	w.tasks.step(0) // begins the first load
	l.change(kafka.ErrNotLeaderOrFollower, func() { l.epoch++ })
	w.r.Lead(0, l.leadership())
	w.tasks.step(1) // begins the second
	w.tasks.step(1) // reads it
	w.tasks.step(0) // ends the first
	w.run()
	w.wantNumbers("a", 1, 1)
}

func TestLoadPassesOnTransactionsAndTheirEnds(t *testing.T) {
	w, l := newWorld(t, nil), newFakeLog()
	producer := &record.Producer{ID: 7, Epoch: 3}
	b := record.NewBuilder(record.BatchOptions{Producer: producer, Transactional: true})
	r := numberRecord("a", 1)
	b.Append(record.Record{Key: r.Key, Value: r.Value})
	l.putLocked(mustBuild(b))
	marker := &record.Producer{ID: 7, Epoch: 3, BaseSequence: record.NoSequence}
	b = record.NewBuilder(record.BatchOptions{Producer: marker, Transactional: true, Control: true})
	b.Append(record.EndTxnMarker{Commit: true}.Record(0))
	l.putLocked(mustBuild(b))
	b = record.NewBuilder(record.BatchOptions{Control: true})
	b.Append(record.Record{Key: record.ControlKey(record.ControlLeaderChange), Value: []byte{0, 0}})
	l.putLocked(mustBuild(b))
	w.r.Lead(0, l.leadership())
	w.run()
	w.do(func(c *counter, _ func(kafka.ErrorCode)) machine.Decision {
		if strings.Join(c.ended, ",") != "7 3 true" {
			t.Errorf("ends of transactions: %v", c.ended)
		}
		return machine.Decision{}
	})
	w.want(w.increment("a"), "NONE")
}

func TestLoadOfACompactedLog(t *testing.T) {
	w, l := newWorld(t, nil), newFakeLog()
	l.start, l.end = 10, 40 // the batch that ended at 40 is gone
	b := record.NewBuilder(record.BatchOptions{BaseOffset: 20, LastOffset: 29})
	r := numberRecord("a", 1)
	b.AppendAt(record.Record{Offset: 25, Key: r.Key, Value: r.Value})
	l.batches, l.high = []record.Batch{mustBuild(b)}, 40
	w.r.Lead(0, l.leadership())
	w.run()
	w.want(w.increment("a"), "NONE")
	if l.end != 41 {
		t.Errorf("log end %d", l.end)
	}
	w.wantNumbers("a", 2, 2)
}

func TestWhatCannotBeLoadedFailsThePartitionWithAReason(t *testing.T) {
	flip := func(l *fakeLog) { l.batches[0][len(l.batches[0])-1] ^= 1 }
	for name, damage := range map[string]func(l *fakeLog){
		"checksum": flip,
		"bad key":  func(l *fakeLog) { l.put(numberRecord("bad", 1)) },
		"disk":     func(l *fakeLog) { l.readErr = errors.New("input/output error") },
	} {
		w, l := newWorld(t, nil), newFakeLog()
		l.put(numberRecord("a", 1))
		damage(l)
		w.r.Lead(0, l.leadership())
		w.run()
		w.want(w.increment("a"), "refused: NOT_COORDINATOR")
		if !strings.Contains(w.log.String(), "level=ERROR") || !strings.Contains(w.log.String(), "partition=__toy-0") {
			t.Errorf("%s: log:\n%s", name, w.log)
		}
		if st := w.r.Stats(); st.Failed != 1 || st.LoadErrors != 1 {
			t.Errorf("%s: %+v", name, st)
		}
		// Another leader epoch is another try.
		l.readErr = nil
		l.batches, l.end, l.high = nil, 0, 0
		l.epoch++
		w.r.Lead(0, l.leadership())
		w.run()
		w.want(w.increment("a"), "NONE")
	}
}

func TestStateIsKeptUnderANewerEpochOfTheSameLeader(t *testing.T) {
	w, l := serving(t, nil)
	w.want(w.increment("a"), "NONE")
	l.lag = true
	inFlight := w.increment("a")
	reads := l.reads
	l.change(kafka.ErrNotLeaderOrFollower, func() { l.epoch++ })
	w.run()
	w.want(inFlight, "")
	w.want(w.increment("a"), "NOT_COORDINATOR") // the metadata is not here yet
	w.r.Lead(0, l.leadership())
	w.run()
	if l.reads != reads {
		t.Error("it was loaded anew")
	}
	next := w.increment("a")
	l.commit(3)
	w.run()
	w.want(inFlight, "NONE")
	w.want(next, "NONE")
	w.wantNumbers("a", 3, 3)
}

func TestWaitOfAnOlderEpochDoesNotEndThatOfANewer(t *testing.T) {
	w, l := serving(t, nil)
	l.lag = true
	a := w.increment("a")
	// The wait ends and the metadata comes before the shard has seen either.
	l.change(kafka.ErrNotLeaderOrFollower, func() { l.epoch++ })
	w.r.Lead(0, l.leadership())
	w.run()
	l.commit(1)
	w.run()
	w.want(a, "NONE")
}

func TestForeignWritesLeadToANewLoad(t *testing.T) {
	w, l := serving(t, nil)
	w.want(w.increment("a"), "NONE")
	l.put(numberRecord("free", 100))
	a := w.increment("a")
	w.want(a, "NOT_COORDINATOR") // it is in the log all the same
	w.run()
	w.wantNumbers("a", 2, 2)
	w.wantNumbers("free", 100, 100)
	w.want(w.increment("a"), "NONE")
}

func TestRecreatedTopicIsLoadedAnew(t *testing.T) {
	w, l := serving(t, nil)
	w.want(w.increment("a"), "NONE")
	again := newFakeLog()
	led := again.leadership()
	led.Topic[0] = 1
	l.change(kafka.ErrNotLeaderOrFollower, func() { l.led = false })
	w.r.Lead(0, led)
	w.run()
	w.wantNumbers("a", 0, 0)
}

func TestFailedDirectoryEndsTheShard(t *testing.T) {
	w, l := serving(t, nil)
	l.lag = true
	a := w.increment("a")
	l.change(kafka.ErrKafkaStorageError, func() { l.led = false })
	w.run()
	w.want(a, "NOT_COORDINATOR")
	w.want(w.increment("a"), "refused: NOT_COORDINATOR")
}

func TestLargeRecords(t *testing.T) {
	big := func(n, size int, divisible bool) func(c *counter, done func(kafka.ErrorCode)) machine.Decision {
		return func(c *counter, done func(kafka.ErrorCode)) machine.Decision {
			d := machine.Decision{Done: done, Divisible: divisible}
			for range n {
				r := numberRecord("free"+strings.Repeat("x", size), 1)
				d.Records = append(d.Records, r)
			}
			return d
		}
	}
	w, l := serving(t, nil)
	l.maxBytes = 1000
	w.want(w.do(big(1, 1100, false)), "MESSAGE_TOO_LARGE")
	w.want(w.do(big(10, 100, false)), "MESSAGE_TOO_LARGE")
	w.want(w.do(big(1, 920, false)), "MESSAGE_TOO_LARGE") // known only when it is built
	if l.end != 0 {
		t.Errorf("log end %d", l.end)
	}
	w.want(w.do(big(10, 100, true)), "NONE")
	if l.end != 10 || len(l.batches) < 2 {
		t.Errorf("log end %d in %d batches", l.end, len(l.batches))
	}
	for _, b := range l.batches {
		if len(b) > l.maxBytes {
			t.Errorf("a batch of %d bytes", len(b))
		}
	}
	w.want(w.do(big(3, 1100, true)), "MESSAGE_TOO_LARGE")
	w.want(w.increment("a"), "NONE")
}

func TestLargeRecordsMayCompressIntoABatch(t *testing.T) {
	w, l := serving(t, func(o *Options[*counter]) { o.Compression = record.Compression{Codec: record.LZ4} })
	l.maxBytes = 1000
	a := w.do(func(c *counter, done func(kafka.ErrorCode)) machine.Decision {
		d := machine.Decision{Done: done}
		for range 20 {
			d.Records = append(d.Records, numberRecord("free"+strings.Repeat("x", 500), 1))
		}
		return d
	})
	w.want(a, "NONE")
	if len(l.batches) != 1 || l.batches[0].Codec() != record.LZ4 {
		t.Errorf("%d batches", len(l.batches))
	}
}

func TestFullBatchIsAppendedBeforeItsTime(t *testing.T) {
	w, l := serving(t, func(o *Options[*counter]) { o.Linger = time.Hour })
	l.maxBytes = 300
	for range 20 {
		w.increment("a")
	}
	if len(l.batches) != 3 {
		t.Errorf("%d batches", len(l.batches))
	}
	w.wantNumbers("a", 20, int64(l.end))
}

func TestQueuesAreBounded(t *testing.T) {
	w, l := serving(t, func(o *Options[*counter]) { o.Queue = 8 })
	var queued []*answer
	w.do(func(c *counter, done func(kafka.ErrorCode)) machine.Decision {
		for range 9 {
			queued = append(queued, w.increment("a"))
		}
		return c.increment("a", done)
	})
	w.want(queued[7], "NONE")
	w.want(queued[8], "refused: COORDINATOR_NOT_AVAILABLE")
	l.lag = true
	for range maxFlights {
		w.want(w.increment("a"), "")
	}
	w.want(w.increment("a"), "refused: COORDINATOR_NOT_AVAILABLE")
	if st := w.r.Stats(); st.Overloaded != 2 {
		t.Errorf("%d overloaded", st.Overloaded)
	}
	// The core's own timers wait, too.
	ticked := false
	w.r.shard(0).core.alarm = w.now.Add(time.Second)
	w.r.shard(0).core.onTick = func(time.Time) []machine.Decision { ticked = true; return nil }
	w.r.shard(0).setTimer()
	w.advance(2 * time.Second)
	if ticked {
		t.Error("the core decided though there was no room")
	}
	l.commit(l.end)
	w.run()
	w.advance(2 * fullPause)
	if !ticked {
		t.Error("the core was forgotten")
	}
	w.want(w.increment("a"), "")
}

func TestTickDecisionsAreAppended(t *testing.T) {
	w, l := serving(t, nil)
	var a answer
	w.do(func(c *counter, _ func(kafka.ErrorCode)) machine.Decision {
		c.alarm = w.now.Add(time.Minute)
		c.onTick = func(time.Time) []machine.Decision {
			d := machine.Decision{Records: []machine.Record{numberRecord("a", 1), numberRecord("b", 1)}, Done: a.done}
			return []machine.Decision{d, {Records: []machine.Record{numberRecord("b", 2)}}}
		}
		return machine.Decision{}
	})
	w.advance(time.Minute - time.Millisecond)
	w.want(&a, "")
	w.advance(time.Millisecond)
	w.want(&a, "NONE")
	w.wantNumbers("b", 2, 2)
	if len(l.batches) != 1 {
		t.Errorf("%d batches", len(l.batches))
	}
}

func TestOwnRecordThatCannotBeReplayedIsABug(t *testing.T) {
	w, _ := serving(t, nil)
	defer func() {
		if p := recover(); p == nil || !strings.HasPrefix(p.(string), "BUG:") {
			t.Errorf("%v", p)
		}
		w.r.mu.Lock()
		w.r.shards = nil // its executor never gets free
		w.r.mu.Unlock()
	}()
	w.do(func(c *counter, done func(kafka.ErrorCode)) machine.Decision {
		return machine.Decision{Records: []machine.Record{numberRecord("bad", 1)}, Done: done}
	})
}

// TestRealGoroutines runs many clients against a runtime with its own workers
// and a wheel that runs, while leadership comes and goes.
func TestRealGoroutines(t *testing.T) {
	w := newWorld(t, nil)
	o := w.r.o
	o.Now = time.Now
	r := New(o)
	stop := make(chan struct{})
	var loops sync.WaitGroup
	loops.Go(func() { o.Wheel.Run(time.Now, stop) })
	l := newFakeLog()
	r.Lead(0, l.leadership())
	var acked atomic.Int64
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for range 300 {
				answered := make(chan kafka.ErrorCode, 1)
				r.Do(0, func(c *counter, _ time.Time) machine.Decision {
					return c.increment("a", func(code kafka.ErrorCode) { answered <- code })
				}, func(code kafka.ErrorCode) { answered <- code })
				if <-answered == kafka.ErrNone {
					acked.Add(1)
				}
			}
		})
	}
	for range 20 {
		l.change(kafka.ErrNotLeaderOrFollower, func() { l.epoch++ })
		r.Lead(0, l.leadership())
		time.Sleep(0)
		r.Resign(0)
		r.Lead(0, l.leadership())
	}
	clients.Wait()
	deadline := time.Now().Add(30 * time.Second)
	for r.Stats().Active != 1 {
		if time.Now().After(deadline) {
			t.Fatalf("not active: %+v", r.Stats())
		}
		time.Sleep(time.Millisecond)
	}
	got := make(chan int64, 1)
	r.Do(0, func(c *counter, _ time.Time) machine.Decision {
		n, _ := c.numbers.Get("a")
		got <- n
		return machine.Decision{}
	}, func(code kafka.ErrorCode) { t.Errorf("refused: %v", code); got <- 0 })
	if n := <-got; n < acked.Load() || n != int64(l.end) {
		t.Errorf("the number is %d, %d were acknowledged, the log has %d records", n, acked.Load(), l.end)
	}
	r.Close()
	r.Close()
	close(stop)
	loops.Wait()
}

func BenchmarkOperation(b *testing.B) {
	w, l := newWorld(b, nil), newFakeLog()
	w.r.Lead(0, l.leadership())
	w.run()
	done := func(kafka.ErrorCode) {}
	op := func(c *counter, _ time.Time) machine.Decision { return c.increment("a", done) }
	refuse := func(code kafka.ErrorCode) { b.Fatal(code) }
	b.ReportAllocs()
	for range b.N {
		w.r.Do(0, op, refuse)
		l.batches = l.batches[:0]
	}
}
