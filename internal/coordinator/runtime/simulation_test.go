package runtime

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
	"time"

	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"
	"barnabas/internal/record"
)

// simulation drives one shard by a seed: appends fail, the high watermark lags,
// leadership comes and goes, at times with a high watermark that is below what was
// committed, others write, the log is cut, time passes; and between any two of these the functions that wait for a goroutine run in any order.
type simulation struct {
	*world
	rand *rand.Rand
	l    *fakeLog

	// kept is how far the log was ever committed. A leader may begin with a high
	// watermark below it, and nobody cuts what lies before it.
	kept    kafka.Offset
	pending []*simulated
	acked   []*simulated
	counts  map[string]int
}

// simulated is one increment.
type simulated struct {
	key    string
	number int64
	offset kafka.Offset // where its record was put
	result *answer
}

func TestSimulation(t *testing.T) {
	seeds := uint64(400)
	if testing.Short() {
		seeds = 50
	}
	counts := map[string]int{}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { simulate(t, seed, counts) })
		if t.Failed() {
			return
		}
	}
	// A run in which one of these never happens shows nothing.
	for _, what := range []string{
		"NONE", "NOT_COORDINATOR", "COORDINATOR_NOT_AVAILABLE", "refused: NOT_COORDINATOR", "refused: COORDINATOR_LOAD_IN_PROGRESS",
		"foreign", "cut", "epoch", "resign", "checked", "checked behind", "loads that wait",
	} {
		if counts[what] < 100 {
			t.Errorf("%q happened %d times", what, counts[what])
		}
	}
}

func simulate(t *testing.T, seed uint64, counts map[string]int) {
	s := &simulation{rand: rand.New(rand.NewPCG(seed, 1)), l: newFakeLog(), counts: counts}
	s.world = newWorld(t, func(o *Options[*counter]) {
		o.Linger = []time.Duration{-1, 0, 3 * time.Millisecond}[s.rand.IntN(3)]
		o.LoadBuffer = 1 + s.rand.IntN(2000)
		o.Queue = 1 + s.rand.IntN(20)
	})
	s.l.maxBytes = 400
	s.earlierLife()
	s.l.led = false
	for range 400 {
		s.step()
		s.harvest()
		s.check()
	}
	s.finish()
}

// earlierLife fills the log with what was acknowledged before the start. The high
// watermark is somewhere below it.
func (s *simulation) earlierLife() {
	for i := range s.rand.IntN(12) {
		m := &simulated{key: fmt.Sprint("k", i%3), number: int64(i/3 + 1), offset: s.l.end, result: &answer{"NONE"}}
		s.l.put(numberRecord(m.key, m.number))
		s.acked = append(s.acked, m)
	}
	s.fallBack()
	s.l.lag = s.rand.IntN(2) == 0
}

// keep notes how far the log is committed, and gives how far it ever was.
func (s *simulation) keep() kafka.Offset {
	s.kept = max(s.kept, s.l.high)
	return s.kept
}

// fallBack gives a new leader a high watermark below what is committed.
func (s *simulation) fallBack() {
	s.l.high -= kafka.Offset(s.rand.Int64N(1 + int64(min(s.keep(), s.l.high, 6))))
}

func (s *simulation) step() {
	switch n := s.rand.IntN(100); {
	case n < 40:
		s.increments()
	case n < 60:
		s.tasks.step(s.rand.Int())
	case n < 70:
		s.l.commit(s.l.high + kafka.Offset(s.rand.IntN(4)))
	case n < 75:
		s.l.lag = !s.l.lag
	case n < 80:
		s.l.fail = []kafka.ErrorCode{kafka.ErrNone, kafka.ErrNone, kafka.ErrNone, kafka.ErrNotEnoughReplicas, kafka.ErrKafkaStorageError}[s.rand.IntN(5)]
	case n < 85:
		s.advanceSome(time.Duration(s.rand.IntN(4000)) * time.Millisecond)
	case n < 94:
		s.leadership()
	case n < 96 && s.l.led:
		s.counts["foreign"]++
		s.l.put(numberRecord(fmt.Sprint("free", s.rand.IntN(3)), s.rand.Int64N(100)))
	default:
		s.tasks.step(0)
	}
}

// increments brings one operation, or several that find the shard busy.
func (s *simulation) increments() {
	if s.rand.IntN(3) > 0 {
		s.increment(s.rand.IntN(3))
		return
	}
	n := s.rand.IntN(30)
	s.r.Do(0, func(*counter, time.Time) machine.Decision {
		for range n {
			s.increment(s.rand.IntN(3))
		}
		return machine.Decision{}
	}, func(kafka.ErrorCode) {})
}

func (s *simulation) increment(number int) {
	m := &simulated{key: fmt.Sprint("k", number), result: &answer{}}
	s.pending = append(s.pending, m)
	s.r.Do(0, func(c *counter, _ time.Time) machine.Decision {
		d := c.increment(m.key, m.result.done)
		m.number = int64(binary.BigEndian.Uint64(d.Records[0].Value))
		m.offset = s.r.shard(0).next
		return d
	}, m.result.refuse)
}

// advanceSome lets time pass; what it sets off waits for a goroutine.
func (s *simulation) advanceSome(d time.Duration) {
	s.now = s.now.Add(d)
	s.wheel.Advance(s.now)
}

// leadership changes the log's leader, and tells the runtime of it now or later.
func (s *simulation) leadership() {
	switch s.rand.IntN(5) {
	case 0: // another node leads: it may cut what is not committed
		s.counts["resign"]++
		s.l.change(kafka.ErrNotLeaderOrFollower, func() { s.l.epoch++; s.l.led = false })
		if s.rand.IntN(2) == 0 {
			s.cut()
		}
	case 1: // this node leads, again
		s.counts["epoch"]++
		s.l.change(kafka.ErrNotLeaderOrFollower, func() {
			s.l.epoch++
			s.l.led = true
			s.l.notOpen = s.rand.IntN(4) == 0
			if s.rand.IntN(2) == 0 {
				s.fallBack()
			}
		})
		if s.rand.IntN(3) == 0 {
			s.r.Lead(0, s.l.leadership())
		}
	case 2:
		if s.l.notOpen {
			s.l.change(kafka.ErrNotLeaderOrFollower, func() { s.l.notOpen = false })
		}
	default: // the metadata comes
		if s.l.led {
			s.r.Lead(0, s.l.leadership())
		} else {
			s.r.Resign(0)
		}
	}
}

// cut takes away what is not committed, as a new leader elsewhere would, and writes
// about as much.
func (s *simulation) cut() {
	s.counts["cut"]++
	was := s.l.end
	for n := len(s.l.batches); n > 0 && s.l.batches[n-1].NextOffset() > s.keep(); n-- {
		s.l.end = s.l.batches[n-1].BaseOffset()
		s.l.batches = s.l.batches[:n-1]
	}
	for s.l.end < was-kafka.Offset(s.rand.IntN(2)) {
		s.l.put(numberRecord("free", s.rand.Int64N(100)))
	}
}

// harvest looks at the answers. What is acknowledged must be in the committed part
// of the log, where it was put.
func (s *simulation) harvest() {
	left := s.pending[:0]
	for _, m := range s.pending {
		if m.result.text == "" {
			left = append(left, m)
			continue
		}
		s.counts[m.result.text]++
		if m.result.text == "NONE" {
			s.acked = append(s.acked, m)
		}
	}
	clear(s.pending[len(left):])
	s.pending = left
}

// replayed is the state that the log has before an offset.
func (s *simulation) replayed(upTo kafka.Offset, each func(record.Record)) map[string]int64 {
	numbers := map[string]int64{}
	var it record.Iterator
	defer it.Close()
	for _, b := range s.l.batches {
		for it.Reset(b); it.Next(); {
			r := it.Record()
			if r.Offset >= upTo {
				return numbers
			}
			if each != nil {
				each(*r)
			}
			numbers[string(r.Key)] = int64(binary.BigEndian.Uint64(r.Value))
		}
	}
	return numbers
}

// check holds the state of an active shard that has nothing to react to against
// the log.
func (s *simulation) check() {
	sh := s.r.shard(0)
	if sh != nil && sh.phase() == loading && s.l.led && !s.l.notOpen && len(s.l.waits) > 0 {
		s.counts["loads that wait"]++
	}
	if sh == nil || sh.phase() != active || !s.l.led || sh.led.Epoch != s.l.epoch || s.l.notOpen || sh.flights.end != s.l.end {
		return
	}
	s.counts["checked"]++
	if s.l.high < s.keep() {
		s.counts["checked behind"]++
	}
	if got := maps.Collect(sh.core.numbers.AllCommitted()); !s.committedOnce(got) {
		s.t.Fatalf("committed %v, which the log does not have at any batch below %d", got, s.keep())
	}
	if sh.batch.open() {
		return
	}
	if got, want := maps.Collect(sh.core.numbers.All()), s.replayed(sh.flights.end, nil); !maps.Equal(got, want) {
		s.t.Fatalf("state %v, the log has %v", got, want)
	}
}

// committedOnce says whether the log had this state at the end of a batch that is
// committed and not before what was acknowledged.
func (s *simulation) committedOnce(state map[string]int64) bool {
	least := kafka.Offset(0)
	for _, m := range s.acked {
		least = max(least, m.offset+1)
	}
	for i := len(s.l.batches); i >= 0; i-- {
		end := kafka.Offset(0)
		if i > 0 {
			end = s.l.batches[i-1].NextOffset()
		}
		if end >= least && end <= s.keep() && maps.Equal(state, s.replayed(end, nil)) {
			return true
		}
	}
	return false
}

// finish lets everything come to rest and checks what was acknowledged. A leadership
// that is good must come to rest without another one.
func (s *simulation) finish() {
	s.l.fail, s.l.lag = kafka.ErrNone, false
	if !s.l.led || s.l.notOpen || s.rand.IntN(2) == 0 {
		s.l.change(kafka.ErrNotLeaderOrFollower, func() { s.l.epoch++; s.l.led, s.l.notOpen = true, false })
	}
	s.r.Lead(0, s.l.leadership())
	s.run()
	s.advance(time.Minute)
	s.l.commit(s.l.end)
	s.run()
	s.harvest()
	if len(s.pending) > 0 {
		s.t.Fatalf("%d operations were never answered", len(s.pending))
	}
	s.check()
	at := map[kafka.Offset]string{}
	s.replayed(s.l.end, func(r record.Record) {
		at[r.Offset] = fmt.Sprint(string(r.Key), " ", binary.BigEndian.Uint64(r.Value))
	})
	for _, m := range s.acked {
		if got := at[m.offset]; got != fmt.Sprint(m.key, " ", m.number) {
			s.t.Fatalf("%s %d was acknowledged at offset %d, where the log has %q", m.key, m.number, m.offset, got)
		}
	}
	for key := range 3 {
		s.increment(key)
	}
	s.advance(time.Second)
	s.harvest()
	if n := s.acked[len(s.acked)-1]; len(s.pending) > 0 || n.result.text != "NONE" {
		s.t.Fatalf("not in service at the end: %d pending", len(s.pending))
	}
}
