package wheel

import (
	"math/rand/v2"
	"sort"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

var epoch = time.Unix(1_700_000_000, 0)

func TestTimersFireInOrderNeverEarlyAtMostOneTickLate(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 7))
		w := New(time.Millisecond, epoch)
		now := epoch
		want := map[int]time.Time{}
		fired := map[int]time.Time{}
		timers := make([]Timer, 500)
		for i := range timers {
			at := now.Add(time.Duration(r.Int64N(int64(1) << r.IntN(44))))
			if r.IntN(10) == 0 {
				at = now.Add(-time.Second)
			}
			want[i] = at
			w.Schedule(&timers[i], at, func() { fired[i] = now })
			if r.IntN(5) == 0 {
				if !w.Cancel(&timers[i]) || w.Cancel(&timers[i]) {
					t.Fatal("Cancel of a pending timer")
				}
				delete(want, i)
			}
		}
		for {
			next, ok := w.Next()
			if !ok {
				break
			}
			if next.After(now) {
				now = next
			}
			w.Advance(now)
		}
		if len(fired) != len(want) {
			t.Fatalf("seed %d: %d timers fired, want %d", seed, len(fired), len(want))
		}
		for i, at := range want {
			if late := fired[i].Sub(at); late < 0 || at.After(epoch) && late > time.Millisecond {
				t.Errorf("seed %d: timer for %v fired at %v", seed, at, fired[i])
			}
		}
	}
}

func TestAdvanceOverALongTimeKeepsTheOrder(t *testing.T) {
	w := New(time.Millisecond, epoch)
	r := rand.New(rand.NewPCG(1, 1))
	timers := make([]Timer, 1000)
	var order []int64
	for i := range timers {
		ms := r.Int64N(10_000_000)
		w.Schedule(&timers[i], epoch.Add(time.Duration(ms)*time.Millisecond), func() { order = append(order, ms) })
	}
	if n := w.Advance(epoch.Add(5_000_000 * time.Millisecond)); n < 300 || n > 700 {
		t.Errorf("%d of 1000 fired after half of the time", n)
	}
	w.Advance(epoch.Add(10_000_000 * time.Millisecond))
	if len(order) != 1000 || !sort.SliceIsSorted(order, func(i, j int) bool { return order[i] < order[j] }) {
		t.Errorf("%d timers, not all in order", len(order))
	}
}

func TestTimerIsScheduledAgainByItsCallbackAndMovedByOthers(t *testing.T) {
	w := New(time.Millisecond, epoch)
	var tm, moved Timer
	n := 0
	var again func()
	again = func() {
		if n++; n < 3 {
			w.Schedule(&tm, epoch.Add(time.Duration(n)*time.Second), again)
		}
	}
	w.Schedule(&tm, epoch, again)
	w.Schedule(&moved, epoch.Add(time.Millisecond), func() { t.Error("fired at the old time") })
	hit := false
	w.Schedule(&moved, epoch.Add(time.Hour), func() { hit = true })
	for _, at := range []time.Duration{0, time.Second, 2 * time.Second, time.Hour - time.Millisecond} {
		w.Advance(epoch.Add(at))
	}
	if n != 3 || hit {
		t.Errorf("fired %d times, moved timer fired: %v", n, hit)
	}
	w.Advance(epoch.Add(time.Hour))
	if !hit {
		t.Error("the moved timer did not fire")
	}
}

func TestRunSleepsUntilTheNextTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		w := New(time.Millisecond, start)
		stop := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() { w.Run(time.Now, stop) })
		synctest.Wait()

		var mu sync.Mutex
		var at []time.Duration
		note := func() { mu.Lock(); at = append(at, time.Since(start)); mu.Unlock() }
		var late, early Timer
		w.Schedule(&late, start.Add(time.Hour), note)
		synctest.Wait()
		w.Schedule(&early, start.Add(time.Second), note)
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		close(stop)
		wg.Wait()
		if len(at) != 2 || at[0] != time.Second || at[1] != time.Hour {
			t.Errorf("fired at %v", at)
		}
	})
}

func BenchmarkScheduleCancel(b *testing.B) {
	w := New(time.Millisecond, epoch)
	var t Timer
	for i := range b.N {
		w.Schedule(&t, epoch.Add(time.Duration(i%1000)*time.Millisecond), func() {})
		w.Cancel(&t)
	}
}
