package serial

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// busy keeps the executor's only place taken until the returned function is
// called; that function waits until the queue has run dry.
func busy(t *testing.T, e *Executor) (release func()) {
	t.Helper()
	started, gate, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		if err := e.Submit(func() { close(started); <-gate }); err != nil {
			t.Errorf("Submit: %v", err)
		}
	}()
	<-started
	return func() { close(gate); <-done }
}

func TestFreeExecutorRunsOnTheCallersGoroutine(t *testing.T) {
	e := New(Options{})
	defer e.Close()
	ran := false
	if err := e.Submit(func() { ran = true }); err != nil {
		t.Fatal(err)
	}
	if !ran {
		t.Fatal("the operation had not run when Submit returned")
	}
}

func TestOperationsNeverOverlapAndAcceptedOnesRunOnce(t *testing.T) {
	e := New(Options{Inputs: 64, Reserve: 8})
	const callers, each = 16, 2000
	var inside atomic.Int32
	ran := make([]int, callers*each) // owned by the running operation
	accepted := make([]bool, callers*each)
	var wg sync.WaitGroup
	for c := range callers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			submit := []func(func()) error{e.Submit, e.Callback, e.Timer}[c%3]
			for i := range each {
				id := c*each + i
				err := submit(func() {
					if inside.Add(1) != 1 {
						t.Error("two operations at once")
					}
					ran[id]++
					inside.Add(-1)
				})
				if err != nil && !errors.Is(err, ErrFull) {
					t.Errorf("submit: %v", err)
				}
				accepted[id] = err == nil
			}
		}()
	}
	wg.Wait()
	e.Close()
	for id := range ran {
		want := 0
		if accepted[id] {
			want = 1
		}
		if ran[id] != want {
			t.Fatalf("operation %d ran %d times, accepted %v", id, ran[id], accepted[id])
		}
	}
}

func TestOrderOfClasses(t *testing.T) {
	e := New(Options{Inputs: 4})
	defer e.Close()
	release := busy(t, e)
	var got []string
	add := func(submit func(func()) error, name string) {
		t.Helper()
		if err := submit(func() { got = append(got, name) }); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	add(e.Timer, "timer 1")
	add(e.Submit, "input 1")
	add(e.Submit, "input 2")
	add(e.Callback, "callback 1")
	add(e.Timer, "timer 2")
	release()
	want := []string{"callback 1", "input 1", "input 2", "timer 1", "timer 2"}
	if !slices.Equal(got, want) {
		t.Fatalf("ran %q, want %q", got, want)
	}
}

func TestEndlessInputsDoNotHoldATimerForEver(t *testing.T) {
	e := New(Options{Inputs: 4})
	release := busy(t, e)
	inputs, before, fired := 0, -1, false
	var again func()
	again = func() {
		inputs++
		if fired || inputs > 1000 {
			return
		}
		if err := e.Submit(again); err != nil {
			t.Errorf("Submit: %v", err)
		}
	}
	if err := e.Submit(again); err != nil {
		t.Fatal(err)
	}
	if err := e.Timer(func() { fired, before = true, inputs }); err != nil {
		t.Fatal(err)
	}
	release()
	e.Close()
	if before != 4 {
		t.Fatalf("the timer ran after %d inputs, want after 4", before)
	}
}

func TestFullQueueRefusesAndKeepsTheReserveFree(t *testing.T) {
	e := New(Options{Inputs: 3, Reserve: 2})
	release := busy(t, e)
	nothing := func() {}
	for range 3 {
		if err := e.Submit(nothing); err != nil {
			t.Fatal(err)
		}
	}
	if n := e.Waiting(); n != 3 {
		t.Fatalf("%d wait, want 3", n)
	}
	if err := e.Submit(nothing); !errors.Is(err, ErrFull) {
		t.Fatalf("fourth input: %v, want ErrFull", err)
	}
	for name, submit := range map[string]func(func()) error{"callback": e.Callback, "timer": e.Timer} {
		for range 2 {
			if err := submit(nothing); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if err := submit(nothing); !errors.Is(err, ErrFull) {
			t.Fatalf("third %s: %v, want ErrFull", name, err)
		}
	}
	release()
	e.Close()
}

func TestCallerIsRelievedAfterItsShare(t *testing.T) {
	e := New(Options{})
	started, gate, returned, last := make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		if err := e.Submit(func() { close(started); <-gate }); err != nil {
			t.Errorf("Submit: %v", err)
		}
		close(returned)
	}()
	<-started
	for range captureLimit {
		if err := e.Submit(func() {}); err != nil {
			t.Fatal(err)
		}
	}
	// This one runs beyond the caller's share; it cannot end before the caller
	// is back, so the test hangs if the caller were to run it.
	if err := e.Submit(func() { <-returned; close(last) }); err != nil {
		t.Fatal(err)
	}
	close(gate)
	<-last
	e.Close()
}

func TestCloseRunsWhatWasAcceptedAndRefusesTheRest(t *testing.T) {
	e := New(Options{})
	release := busy(t, e)
	ran := 0
	for range 100 {
		if err := e.Submit(func() { ran++ }); err != nil {
			t.Fatal(err)
		}
	}
	release()
	e.Close()
	e.Close()
	if ran != 100 {
		t.Fatalf("%d of 100 ran", ran)
	}
	for name, submit := range map[string]func(func()) error{"input": e.Submit, "callback": e.Callback, "timer": e.Timer} {
		if err := submit(func() { t.Error("ran after Close") }); !errors.Is(err, ErrClosed) {
			t.Fatalf("%s after Close: %v", name, err)
		}
	}
}

func TestQueueGivesBackTheMemoryOfABurst(t *testing.T) {
	q := queue{limit: 10_000}
	for range 10_000 {
		q.push(func() {})
	}
	for range 10_000 {
		q.pop()
	}
	if len(q.ring) > keepRing {
		t.Fatalf("an empty queue holds a ring of %d", len(q.ring))
	}
	for i := range 3 * keepRing { // still a FIFO after growing from nothing
		q.push(func() { panic(fmt.Sprint(i)) })
	}
	for want := range 3 * keepRing {
		func() {
			defer func() {
				if got := recover(); got != fmt.Sprint(want) {
					t.Fatalf("popped %v, want %d", got, want)
				}
			}()
			q.pop()()
		}()
	}
}

func BenchmarkSubmitFree(b *testing.B) {
	e := New(Options{})
	defer e.Close()
	n := 0
	op := func() { n++ }
	b.ReportAllocs()
	for range b.N {
		if err := e.Submit(op); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSubmitContended(b *testing.B) {
	e := New(Options{})
	n := 0
	op := func() { n++ }
	b.ReportAllocs()
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			for errors.Is(e.Submit(op), ErrFull) {
				runtime.Gosched()
			}
		}
	})
	e.Close()
}
