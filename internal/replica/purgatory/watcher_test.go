package purgatory

import (
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

type sleeper struct {
	watcher Watcher
	woken   atomic.Int32
	awake   chan struct{}
}

func newSleeper() *sleeper {
	s := &sleeper{awake: make(chan struct{}, 1)}
	s.watcher.Init(s)
	return s
}

func (s *sleeper) Wake() {
	s.woken.Add(1)
	s.awake <- struct{}{}
}

func change(l *Watchers, bytes int64) {
	var woken Woken
	l.Changed(bytes, &woken)
	for w := range woken.Take {
		w.Wake()
	}
}

func taken(w *Watcher) []int {
	var set Slots
	w.Take(&set)
	return slices.Collect(set.All)
}

func TestWatcherWakesOnceWithEnoughBytes(t *testing.T) {
	s := newSleeper()
	var parts [200]Watchers
	var watches [200]Watch
	s.watcher.Grow(len(parts))
	for i := range parts {
		parts[i].Add(&watches[i], &s.watcher, i)
	}
	if !s.watcher.Park(100) {
		t.Fatal("no marks, but not parked")
	}
	change(&parts[3], 60)
	change(&parts[150], 39)
	if s.woken.Load() != 0 {
		t.Fatal("woken by 99 of 100 bytes")
	}
	change(&parts[64], 1)
	change(&parts[65], 500)
	change(&parts[3], Event)
	if n := s.woken.Load(); n != 1 {
		t.Fatalf("woken %d times", n)
	}
	if got := taken(&s.watcher); !slices.Equal(got, []int{3, 64, 65, 150}) {
		t.Fatalf("marks %v", got)
	}
	if got := taken(&s.watcher); len(got) != 0 {
		t.Fatalf("marks %v were taken before", got)
	}
}

func TestEventWakesAtOnce(t *testing.T) {
	s := newSleeper()
	var part Watchers
	var watch Watch
	part.Add(&watch, &s.watcher, 0)
	s.watcher.Park(1 << 40)
	change(&part, 10)
	change(&part, Event)
	if s.woken.Load() != 1 {
		t.Fatal("an event did not wake")
	}
}

func TestParkRefusesWhileMarked(t *testing.T) {
	s := newSleeper()
	var part Watchers
	var watch Watch
	part.Add(&watch, &s.watcher, 0)
	change(&part, 1)
	if s.watcher.Park(1) {
		t.Fatal("parked over a mark")
	}
	change(&part, 1)
	if s.woken.Load() != 0 {
		t.Fatal("woken though not parked")
	}
	taken(&s.watcher)
	if !s.watcher.Park(1) || !s.watcher.Unpark() || s.watcher.Unpark() {
		t.Fatal("parked once, so it can be unparked once")
	}
}

func TestStoppedWatchIsNotMarked(t *testing.T) {
	s := newSleeper()
	var part Watchers
	var watches [3]Watch
	for i := range watches {
		part.Add(&watches[i], &s.watcher, i)
	}
	watches[0].Stop()
	watches[0].Stop()
	change(&part, 1)
	if got := taken(&s.watcher); !slices.Equal(got, []int{1, 2}) {
		t.Fatalf("marks %v", got)
	}
	watches[2].Stop()
	watches[1].Stop()
	change(&part, 1)
	if got := taken(&s.watcher); len(got) != 0 || part.list != nil {
		t.Fatalf("marks %v, list %v after all have stopped", got, part.list)
	}
}

// TestNoChangeIsMissed lets appenders race with a fetch that parks: each byte
// must be seen, by a mark or by a wake.
func TestNoChangeIsMissed(t *testing.T) {
	const appenders, each = 4, 2000
	s := newSleeper()
	var parts [appenders]Watchers
	var data [appenders]atomic.Int64
	var watches [appenders]Watch
	for i := range parts {
		parts[i].Add(&watches[i], &s.watcher, i)
	}
	var wg sync.WaitGroup
	for i := range parts {
		wg.Go(func() {
			for range each {
				data[i].Add(1)
				change(&parts[i], 1)
			}
		})
	}
	var seen [appenders]int64
	parked := int32(0)
	for total := int64(0); total < appenders*each; {
		total = 0
		for _, slot := range taken(&s.watcher) {
			seen[slot] = data[slot].Load()
		}
		for _, n := range seen {
			total += n
		}
		// Never ask for more than will come.
		need := min(1+rand.Int64N(50), appenders*each-total)
		if total < appenders*each && s.watcher.Park(need) {
			parked++
			<-s.awake
		}
	}
	wg.Wait()
	if s.woken.Load() != parked {
		t.Fatalf("parked %d times, woken %d times", parked, s.woken.Load())
	}
}

func TestChangeAllocatesNothing(t *testing.T) {
	s := newSleeper()
	var part Watchers
	var watch Watch
	part.Add(&watch, &s.watcher, 0)
	var woken Woken
	if n := testing.AllocsPerRun(100, func() { part.Changed(1, &woken) }); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}
