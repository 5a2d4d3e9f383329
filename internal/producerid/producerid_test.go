package producerid

import (
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"barnabas/internal/kafka"

	"pgregory.net/rapid"
)

// controller gives blocks of size ids, at once or when told to.
type controller struct {
	size    int32
	first   kafka.ProducerID
	code    kafka.ErrorCode
	hold    bool
	pending []func(Block, kafka.ErrorCode)
	asked   int
}

func (c *controller) allocate(done func(Block, kafka.ErrorCode)) {
	c.asked++
	c.pending = append(c.pending, done)
	if !c.hold {
		c.answer()
	}
}

func (c *controller) answer() {
	done := c.pending[0]
	c.pending = c.pending[1:]
	if c.code != kafka.ErrNone {
		done(Block{}, c.code)
		return
	}
	b := Block{First: c.first, Len: c.size}
	c.first += kafka.ProducerID(c.size)
	done(b, kafka.ErrNone)
}

type result struct {
	id   kafka.ProducerID
	code kafka.ErrorCode
}

func next(m *Manager) *result {
	r := &result{id: -2}
	m.Next(func(id kafka.ProducerID, code kafka.ErrorCode) { r.id, r.code = id, code })
	return r
}

func manager(c *controller) (*Manager, *time.Time) {
	now := time.Unix(1000, 0)
	return New(Options{Allocate: c.allocate, Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler)}), &now
}

func TestNextBlockIsAskedForAtNinetyPercent(t *testing.T) {
	c := &controller{size: 1000, first: 3000}
	m, _ := manager(c)
	for i := range 2000 {
		if r := next(m); r.id != kafka.ProducerID(3000+i) || r.code != kafka.ErrNone {
			t.Fatalf("id %d: %+v", i, r)
		}
		want := 1
		if i >= 900 {
			want = 2
		}
		if i >= 1900 {
			want = 3
		}
		if c.asked != want {
			t.Fatalf("after %d ids %d blocks were asked for, want %d", i+1, c.asked, want)
		}
	}
}

func TestRequestsWaitForTheBlockThatIsOnItsWay(t *testing.T) {
	c := &controller{size: 3, hold: true}
	m, _ := manager(c)
	m.Prefetch()
	a, b := next(m), next(m)
	if c.asked != 1 || a.id != -2 || b.id != -2 {
		t.Fatalf("asked %d, answers %+v %+v", c.asked, a, b)
	}
	c.answer()
	if a.id != 0 || b.id != 1 {
		t.Fatalf("answers %+v %+v", a, b)
	}
}

func TestMoreWaitThanABlockServes(t *testing.T) {
	c := &controller{size: 2, hold: true}
	m, _ := manager(c)
	rs := []*result{next(m), next(m), next(m)}
	c.answer()
	if rs[1].code != kafka.ErrNone || rs[2].code != kafka.ErrCoordinatorLoadInProgress {
		t.Fatalf("answers %+v %+v", rs[1], rs[2])
	}
}

func TestFailureIsAnsweredAndNotRepeatedAtOnce(t *testing.T) {
	c := &controller{size: 1000, code: kafka.ErrStaleBrokerEpoch}
	m, now := manager(c)
	for range 3 {
		if r := next(m); r.code != kafka.ErrCoordinatorLoadInProgress || r.id != kafka.NoProducerID {
			t.Fatalf("answer %+v", r)
		}
	}
	if c.asked != 1 {
		t.Fatalf("asked %d times within the backoff", c.asked)
	}
	c.code = kafka.ErrNone
	*now = now.Add(retryBackoff)
	if r := next(m); r.id != 0 {
		t.Fatalf("after the backoff: %+v", r)
	}
}

func TestBlockBelowAnEarlierOneIsRefused(t *testing.T) {
	c := &controller{size: 10, first: 50}
	m, _ := manager(c)
	if r := next(m); r.id != 50 {
		t.Fatalf("first id %+v", r)
	}
	c.first = 59 // overlaps with the first block
	for want := kafka.ProducerID(51); want < 60; want++ {
		if r := next(m); r.id != want {
			t.Fatalf("want %d, got %+v", want, r)
		}
	}
	if r := next(m); r.code != kafka.ErrCoordinatorLoadInProgress {
		t.Fatalf("an id of an overlapping block: %+v", r)
	}
}

func TestCloseAnswersThoseThatWait(t *testing.T) {
	c := &controller{size: 10, hold: true}
	m, _ := manager(c)
	r := next(m)
	m.Close()
	if r.code != kafka.ErrCoordinatorLoadInProgress {
		t.Fatalf("answer %+v", r)
	}
	c.answer()
	if r := next(m); r.id != 0 {
		t.Fatalf("the block that came is not used: %+v", r)
	}
}

func TestIdsAreUniqueUnderConcurrency(t *testing.T) {
	var mu sync.Mutex
	first := kafka.ProducerID(0)
	m := New(Options{
		Allocate: func(done func(Block, kafka.ErrorCode)) {
			mu.Lock()
			b := Block{First: first, Len: 100}
			first += 100
			mu.Unlock()
			go done(b, kafka.ErrNone)
		},
		Now: time.Now, Log: slog.New(slog.DiscardHandler),
	})
	const callers, each = 8, 1000
	got := make(chan kafka.ProducerID, callers*each)
	var wg sync.WaitGroup
	for range callers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for n := 0; n < each; {
				answer := make(chan result, 1)
				m.Next(func(id kafka.ProducerID, code kafka.ErrorCode) { answer <- result{id, code} })
				if r := <-answer; r.code == kafka.ErrNone {
					got <- r.id
					n++
				}
			}
		}()
	}
	wg.Wait()
	close(got)
	var ids []kafka.ProducerID
	for id := range got {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	if len(slices.Compact(ids)) != callers*each {
		t.Fatal("an id was handed out twice (invariant 1)")
	}
}

func TestEveryRequestIsAnsweredOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &controller{size: int32(rapid.IntRange(1, 20).Draw(t, "size")), hold: true}
		m, now := manager(c)
		answers := map[int]int{}
		ids := map[kafka.ProducerID]bool{}
		requests := 0
		t.Repeat(map[string]func(*rapid.T){
			"next": func(t *rapid.T) {
				n := requests
				requests++
				m.Next(func(id kafka.ProducerID, code kafka.ErrorCode) {
					answers[n]++
					if code == kafka.ErrNone && ids[id] {
						t.Fatalf("id %d twice", id)
					}
					ids[id] = code == kafka.ErrNone || ids[id]
				})
			},
			"answer": func(t *rapid.T) {
				if len(c.pending) > 1 {
					t.Fatal("two blocks are being asked for (invariant 2)")
				}
				c.code = rapid.SampledFrom([]kafka.ErrorCode{kafka.ErrNone, kafka.ErrNotController}).Draw(t, "code")
				if len(c.pending) == 1 {
					c.answer()
				}
			},
			"wait": func(t *rapid.T) { *now = now.Add(retryBackoff) },
		})
		m.Close()
		for n := range requests {
			if answers[n] != 1 {
				t.Fatalf("request %d was answered %d times (invariant 3)", n, answers[n])
			}
		}
	})
}
