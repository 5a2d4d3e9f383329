package purgatory

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"barnabas/internal/kafka"
)

type waiter struct {
	wait  OffsetWait
	want  kafka.Offset
	done  atomic.Int32
	code  kafka.ErrorCode
	order *[]kafka.Offset
}

func (w *waiter) Waited(_ *OffsetWait, code kafka.ErrorCode) {
	w.code = code
	w.done.Add(1)
	if w.order != nil {
		*w.order = append(*w.order, w.want)
	}
}

func TestWaitsEndInOrderOfOffsets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q Offsets
		var got []kafka.Offset
		model := map[*waiter]bool{}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				w := &waiter{want: kafka.Offset(rapid.IntRange(0, 20).Draw(t, "offset")), order: &got}
				q.Add(&w.wait, w, w.want)
				model[w] = true
			},
			"remove": func(t *rapid.T) {
				for w, waiting := range model {
					if q.Remove(&w.wait) != waiting {
						t.Fatalf("Remove of a wait that is queued: %v", waiting)
					}
					delete(model, w)
					break
				}
			},
			"reach": func(t *rapid.T) {
				offset := kafka.Offset(rapid.IntRange(0, 20).Draw(t, "offset"))
				got = got[:0]
				q.Reached(offset).Complete(kafka.ErrNone)
				if !slices.IsSorted(got) {
					t.Fatalf("order %v", got)
				}
				var want []kafka.Offset
				for w, waiting := range model {
					if waiting && w.want <= offset {
						want = append(want, w.want)
						model[w] = false
					}
				}
				slices.Sort(want)
				if !slices.Equal(got, want) {
					t.Fatalf("reached %d: got %v, want %v", offset, got, want)
				}
			},
			"": func(t *rapid.T) {
				for w, waiting := range model {
					if (w.done.Load() == 0) != waiting {
						t.Fatalf("wait for %d: told %d times, waiting %v", w.want, w.done.Load(), waiting)
					}
				}
			},
		})
		q.Drain().Complete(kafka.ErrNotLeaderOrFollower)
		if !q.Empty() {
			t.Fatal("drained, but not empty")
		}
		for w, waiting := range model {
			if w.done.Load() != 1 || waiting && w.code != kafka.ErrNotLeaderOrFollower {
				t.Fatalf("wait for %d: told %d times, code %v", w.want, w.done.Load(), w.code)
			}
		}
	})
}

// TestOneCallerCompletes lets timeouts, progress and a drain race for the same
// waits.
func TestOneCallerCompletes(t *testing.T) {
	var q Offsets
	for range 200 {
		ws := make([]waiter, 50)
		for i := range ws {
			q.Add(&ws[i].wait, &ws[i], kafka.Offset(i))
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			for i := range ws {
				if q.Remove(&ws[i].wait) {
					ws[i].Waited(&ws[i].wait, kafka.ErrRequestTimedOut)
				}
			}
		})
		wg.Go(func() {
			for i := range ws {
				q.Reached(kafka.Offset(i)).Complete(kafka.ErrNone)
			}
		})
		wg.Go(func() { q.Drain().Complete(kafka.ErrNotLeaderOrFollower) })
		wg.Wait()
		for i := range ws {
			if n := ws[i].done.Load(); n != 1 {
				t.Fatalf("wait %d completed %d times", i, n)
			}
		}
	}
}

func TestWaitingAllocatesNothing(t *testing.T) {
	var q Offsets
	var ws [3]waiter
	n := testing.AllocsPerRun(100, func() {
		for i := range ws {
			q.Add(&ws[i].wait, &ws[i], kafka.Offset(i))
		}
		q.Reached(2).Complete(kafka.ErrNone)
	})
	if n != 0 {
		t.Fatalf("%v allocations", n)
	}
}
