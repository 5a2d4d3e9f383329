package runtime

import (
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"barnabas/internal/base/timeline"
	"barnabas/internal/base/wheel"
	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"
	"barnabas/internal/record"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// counter is a toy core: a number per key. A record says what the number is from
// now on, and Replay wants it to be one more than before, or to go.
type counter struct {
	numbers  *timeline.Map[string, int64]
	last     kafka.Offset // of the last record that was replayed
	loadedAt time.Time
	unloaded kafka.ErrorCode
	atUnload map[string]int64 // the numbers then
	ended    []string
	alarm    time.Time
	onTick   func(now time.Time) []machine.Decision
}

func newCounter(_ int32, r *timeline.Registry) *counter {
	return &counter{numbers: timeline.NewMap[string, int64](r), last: -1}
}

func (c *counter) Replay(r machine.Replayed) error {
	key := string(r.Key)
	if strings.HasPrefix(key, "bad") {
		return fmt.Errorf("a bad key")
	}
	c.last = r.Offset
	if r.Value == nil {
		c.numbers.Delete(key)
		return nil
	}
	was, _ := c.numbers.Get(key)
	n := int64(binary.BigEndian.Uint64(r.Value))
	if n != was+1 && !strings.HasPrefix(key, "free") {
		return fmt.Errorf("%s: %d follows %d", key, n, was)
	}
	c.numbers.Set(key, n)
	return nil
}

func (c *counter) Ended(id kafka.ProducerID, epoch kafka.ProducerEpoch, committed bool) {
	c.ended = append(c.ended, fmt.Sprint(id, " ", epoch, " ", committed))
}
func (c *counter) Loaded(now time.Time) { c.loadedAt = now }
func (c *counter) Next() time.Time      { return c.alarm }
func (c *counter) Unload(code kafka.ErrorCode) {
	c.unloaded, c.atUnload = code, maps.Collect(c.numbers.All())
}

func (c *counter) Tick(now time.Time) []machine.Decision {
	if c.alarm.IsZero() || now.Before(c.alarm) {
		return nil
	}
	c.alarm = time.Time{}
	if c.onTick == nil {
		return nil
	}
	return c.onTick(now)
}

func numberRecord(key string, n int64) machine.Record {
	return machine.Record{Key: []byte(key), Value: binary.BigEndian.AppendUint64(nil, uint64(n))}
}

// increment is the decision that raises a number by one.
func (c *counter) increment(key string, done func(kafka.ErrorCode)) machine.Decision {
	n, _ := c.numbers.Get(key)
	return machine.Decision{Records: []machine.Record{numberRecord(key, n+1)}, Done: done}
}

// fakeLog is a log in memory. Every leadership has a handle of its own.
type fakeLog struct {
	mu       sync.Mutex
	start    kafka.Offset
	end      kafka.Offset
	high     kafka.Offset
	batches  []record.Batch // also in compacted logs: with gaps
	epoch    kafka.LeaderEpoch
	led      bool
	notOpen  bool
	lag      bool // the high watermark does not follow by itself
	fail     kafka.ErrorCode
	maxBytes int
	waits    []fakeWait
	readErr  error
	reads    int
	onRead   func()
	appended func()
	guard    uint64 // of the last batch
}

type fakeWait struct {
	offset kafka.Offset
	done   func(kafka.ErrorCode)
}

func newFakeLog() *fakeLog { return &fakeLog{led: true, maxBytes: 1 << 20} }

// handle is the log under one leader epoch.
type handle struct {
	*fakeLog
	at kafka.LeaderEpoch
}

func (l *fakeLog) leadership() Leadership {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Leadership{Epoch: l.epoch, Log: handle{l, l.epoch}}
}

func (h handle) codeLocked() kafka.ErrorCode {
	switch {
	case !h.led || h.at != h.epoch:
		return kafka.ErrNotLeaderOrFollower
	case h.notOpen:
		return kafka.ErrReplicaNotAvailable
	}
	return kafka.ErrNone
}

func (h handle) Append(b record.Batch, guard uint64) (Appended, kafka.ErrorCode) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.appended != nil {
		h.appended()
	}
	if code := h.codeLocked(); code != kafka.ErrNone {
		return Appended{}, code
	}
	if h.fail != kafka.ErrNone {
		return Appended{}, h.fail
	}
	h.guard = guard
	h.putLocked(b)
	return Appended{End: h.end, HighWatermark: h.high}, kafka.ErrNone
}

func (h handle) AppendMarker(m kafka.Marker) (Appended, kafka.ErrorCode) {
	b := record.NewBuilder(record.BatchOptions{
		Producer:      &record.Producer{ID: m.ProducerID, Epoch: m.ProducerEpoch, BaseSequence: record.NoSequence},
		Transactional: true, Control: true,
	})
	b.Append(record.EndTxnMarker{Commit: m.Commit, CoordinatorEpoch: m.CoordinatorEpoch}.Record(epoch.UnixMilli()))
	return h.Append(mustBuild(b), 0)
}

func (l *fakeLog) putLocked(b record.Batch) {
	b.SetBaseOffset(l.end)
	b.SetLeaderEpoch(l.epoch)
	l.batches = append(l.batches, b)
	l.end = b.NextOffset()
	if !l.lag {
		l.high = l.end
	}
}

// put writes records as somebody else.
func (l *fakeLog) put(records ...machine.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := record.NewBuilder(record.BatchOptions{})
	for _, r := range records {
		b.Append(record.Record{Timestamp: epoch.UnixMilli(), Key: r.Key, Value: r.Value})
	}
	l.putLocked(mustBuild(b))
}

func mustBuild(b *record.Builder) record.Batch {
	batch, err := b.Build()
	if err != nil {
		panic(err)
	}
	return batch
}

func (h handle) State() (LogState, kafka.ErrorCode) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return LogState{Start: h.start, HighWatermark: h.high, End: h.end}, h.codeLocked()
}

func (h handle) Read(from kafka.Offset, buf []byte) ([]byte, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reads++
	if h.onRead != nil {
		h.onRead()
	}
	if h.readErr != nil {
		return nil, h.readErr
	}
	out := buf[:0]
	for _, b := range h.batches {
		if b.NextOffset() <= from {
			continue
		}
		if len(out)+len(b) > len(buf) && len(out) > 0 {
			return append(out, b[:max(0, len(buf)-len(out))]...), nil // cut
		}
		out = append(out, b...)
	}
	return out, nil
}

func (h handle) Await(offset kafka.Offset, done func(kafka.ErrorCode)) {
	h.mu.Lock()
	code := h.codeLocked()
	reached := h.high >= offset
	if code == kafka.ErrReplicaNotAvailable || code == kafka.ErrNone && !reached {
		h.waits = append(h.waits, fakeWait{offset, done})
		h.mu.Unlock()
		return
	}
	h.mu.Unlock()
	done(code)
}

func (h handle) MaxBatchBytes() int { return h.maxBytes }

// commit moves the high watermark.
func (l *fakeLog) commit(to kafka.Offset) {
	l.mu.Lock()
	l.high = max(l.high, min(to, l.end))
	var over, left []fakeWait
	for _, w := range l.waits {
		if w.offset <= l.high {
			over = append(over, w)
		} else {
			left = append(left, w)
		}
	}
	l.waits = left
	l.mu.Unlock()
	for _, w := range over {
		w.done(kafka.ErrNone)
	}
}

// change ends all waits after a change of role.
func (l *fakeLog) change(code kafka.ErrorCode, how func()) {
	l.mu.Lock()
	how()
	over := l.waits
	l.waits = nil
	l.mu.Unlock()
	for _, w := range over {
		w.done(code)
	}
}

var epoch = time.Unix(1_700_000_000, 0)

// world is a runtime whose time and workers belong to the test.
type world struct {
	t     testing.TB
	r     *Runtime[*counter]
	wheel *wheel.Wheel
	now   time.Time
	tasks *manual
	log   *strings.Builder
}

// manual is a pool whose functions the test runs.
type manual struct {
	mu    sync.Mutex
	queue []func()
}

func (m *manual) Submit(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.queue = append(m.queue, f)
}

func (m *manual) Close() {
	for m.step(0) {
	}
}

// step runs the i-th of the functions; it is false when there is none.
func (m *manual) step(i int) bool {
	m.mu.Lock()
	if len(m.queue) == 0 {
		m.mu.Unlock()
		return false
	}
	i %= len(m.queue)
	f := m.queue[i]
	m.queue = append(m.queue[:i:i], m.queue[i+1:]...)
	m.mu.Unlock()
	f()
	return true
}

func newWorld(t testing.TB, change func(*Options[*counter])) *world {
	w := &world{t: t, now: epoch, wheel: wheel.New(time.Millisecond, epoch), tasks: &manual{}, log: &strings.Builder{}}
	o := Options[*counter]{
		Topic: "__toy", New: newCounter, Wheel: w.wheel, Now: func() time.Time { return w.now },
		Log:    slog.New(slog.NewTextHandler(io.MultiWriter(w.log), nil)),
		Linger: -1, CommitTimeout: 5 * time.Second, LoadBuffer: 1 << 20,
	}
	if change != nil {
		change(&o)
	}
	w.r = New(o)
	w.r.loads, w.r.workers = w.tasks, w.tasks
	t.Cleanup(w.r.Close)
	return w
}

// run runs everything that waits for a goroutine.
func (w *world) run() {
	for w.tasks.step(0) {
	}
}

func (w *world) advance(d time.Duration) {
	w.now = w.now.Add(d)
	w.wheel.Advance(w.now)
	w.run()
}

// answer is what became of an operation: "" while it waits.
type answer struct{ text string }

func (a *answer) done(code kafka.ErrorCode) {
	if a.text != "" {
		panic("answered twice: " + a.text + ", " + code.String())
	}
	a.text = code.String()
}

func (a *answer) refuse(code kafka.ErrorCode) {
	if a.text != "" {
		panic("answered twice: " + a.text + ", refused with " + code.String())
	}
	a.text = "refused: " + code.String()
}

func (w *world) do(op func(c *counter, done func(kafka.ErrorCode)) machine.Decision) *answer {
	a := &answer{}
	w.r.Do(0, func(c *counter, _ time.Time) machine.Decision { return op(c, a.done) }, a.refuse)
	return a
}

func (w *world) increment(key string) *answer {
	return w.do(func(c *counter, done func(kafka.ErrorCode)) machine.Decision { return c.increment(key, done) })
}

// number reads the latest or the committed number.
func (w *world) number(key string) (latest, committed int64) {
	w.t.Helper()
	ran := false
	w.r.Do(0, func(c *counter, _ time.Time) machine.Decision {
		latest, _ = c.numbers.Get(key)
		committed, _ = c.numbers.GetCommitted(key)
		ran = true
		return machine.Decision{}
	}, func(code kafka.ErrorCode) { w.t.Errorf("cannot read: %s", code.String()) })
	if !ran {
		w.t.Error("the read did not run at once")
	}
	return latest, committed
}

func (w *world) want(a *answer, text string) {
	w.t.Helper()
	if a.text != text {
		w.t.Fatalf("answer %q, want %q\n%s", a.text, text, w.log)
	}
}

func (w *world) wantNumbers(key string, latest, committed int64) {
	w.t.Helper()
	if l, c := w.number(key); l != latest || c != committed {
		w.t.Fatalf("%s is %d, committed %d; want %d, %d", key, l, c, latest, committed)
	}
}
