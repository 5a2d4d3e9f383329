package loader

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"barnabas/internal/kafka"
	"barnabas/internal/metadata/image"
	"barnabas/internal/metadata/metarec"
	"barnabas/internal/record"
)

// feed builds the batches of a log.
type feed struct {
	t    *testing.T
	next kafka.Offset
	time int64
}

func (f *feed) batch(records ...metarec.Message) record.Batch {
	f.t.Helper()
	f.time += 10
	var b record.Builder
	b.Reset(record.BatchOptions{BaseOffset: f.next, LeaderEpoch: 3})
	for _, m := range records {
		frame, err := metarec.Encode(nil, m, metarec.VersionAt(m, kafka.LatestMetadataVersion))
		if err != nil {
			f.t.Fatal(err)
		}
		b.Append(record.Record{Timestamp: f.time, Value: frame})
	}
	return f.built(&b)
}

func (f *feed) raw(value []byte) record.Batch {
	var b record.Builder
	b.Reset(record.BatchOptions{BaseOffset: f.next, LeaderEpoch: 3})
	b.Append(record.Record{Value: value})
	return f.built(&b)
}

func (f *feed) control() record.Batch {
	f.t.Helper()
	key, value, err := metarec.EncodeControl(&metarec.LeaderChangeMessage{LeaderID: 1})
	if err != nil {
		f.t.Fatal(err)
	}
	var b record.Builder
	b.Reset(record.BatchOptions{BaseOffset: f.next, LeaderEpoch: 3, Control: true})
	b.Append(record.Record{Key: key, Value: value})
	return f.built(&b)
}

func (f *feed) built(b *record.Builder) record.Batch {
	f.t.Helper()
	batch, err := b.Build()
	if err != nil {
		f.t.Fatal(err)
	}
	f.next = batch.NextOffset()
	return batch
}

func level(mv kafka.MetadataVersion) metarec.Message {
	r := metarec.NewFeatureLevelRecord()
	r.Name, r.FeatureLevel = kafka.FeatureMetadataVersion, int16(mv)
	return r
}

func topic(name string, id byte) metarec.Message {
	r := metarec.NewTopicRecord()
	r.Name, r.TopicID = name, kafka.UUID{15: id}
	return r
}

// watcher checks invariant 1 and notes what it was told.
type watcher struct {
	t    *testing.T
	mu   sync.Mutex
	last *image.Image
	seen []string
}

func (w *watcher) publisher(name string) Publisher {
	return Publisher{Name: name, Publish: func(d *image.Delta) {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.last == nil && d.Old.Position.Offset != kafka.NoOffset || w.last != nil && w.last != d.Old {
			w.t.Errorf("%s: a delta from %d on, the last image was another", name, d.Old.Position.Offset)
		}
		w.last = d.New
		text := fmt.Sprintf("%s@%d:", name, d.New.Position.Offset)
		for _, c := range d.Topics {
			sign := "~"
			if c.Old == nil {
				sign = "+"
			} else if c.New == nil {
				sign = "-"
			}
			text += " " + sign + c.Topic().Name
		}
		w.seen = append(w.seen, text)
	}}
}

// take returns what was told since the last call.
func (w *watcher) take() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := strings.Join(w.seen, "; ")
	w.seen = nil
	return out
}

// clock is a time that tests set.
type clock struct{ now time.Time }

func newLoader(t *testing.T, change func(*Options)) (*Loader, *watcher, *clock) {
	w, c := &watcher{t: t}, &clock{now: time.Unix(1000, 0)}
	opts := Options{
		Publishers:    []Publisher{w.publisher("p")},
		CaughtUp:      func(kafka.Offset) bool { return true },
		SnapshotBytes: 1 << 40,
		Now:           func() time.Time { return c.now },
		Logger:        slog.New(slog.DiscardHandler),
	}
	if change != nil {
		change(&opts)
	}
	return New(opts), w, c
}

func (f *feed) apply(l *Loader, batches ...record.Batch) {
	f.t.Helper()
	if err := l.Apply(batches); err != nil {
		f.t.Fatal(err)
	}
}

func drain(step func() bool) int {
	n := 0
	for step() {
		n++
	}
	return n
}

func expect(t *testing.T, w *watcher, want string) {
	t.Helper()
	if got := w.take(); got != want {
		t.Errorf("publishers were told %q, want %q", got, want)
	}
}

func TestNothingIsPublishedBeforeTheLogIsCaughtUp(t *testing.T) {
	end := kafka.Offset(0)
	l, w, _ := newLoader(t, func(o *Options) { o.CaughtUp = func(next kafka.Offset) bool { return next >= end } })
	f := &feed{t: t}
	f.apply(l, f.control())
	drain(l.Publish)
	expect(t, w, "") // caught up, but metadata.version is not known
	end = 5
	f.apply(l, f.batch(level(33), topic("a", 1)))
	drain(l.Publish)
	expect(t, w, "")
	if got := l.Loaded().Position.Offset; got != 2 || l.Image().Position.Offset != kafka.NoOffset {
		t.Errorf("loaded up to %d, shown up to %d", got, l.Image().Position.Offset)
	}
	f.apply(l, f.batch(topic("b", 2)), f.control())
	drain(l.Publish)
	expect(t, w, "p@4: +a +b")
	end = 100 // asked once only
	f.apply(l, f.batch(topic("c", 3)))
	drain(l.Publish)
	expect(t, w, "p@5: +c")
	if l.Image() != l.Loaded() || l.Image().Position != (image.Position{Offset: 5, Epoch: 3, Timestamp: 30, Aligned: true}) {
		t.Errorf("shown %+v", l.Image().Position)
	}
}

func TestPublishersAreCalledInOrderAndSlowOnesGetOneDelta(t *testing.T) {
	var order []string
	note := func(name string) Publisher {
		return Publisher{Name: name, Publish: func(d *image.Delta) { order = append(order, fmt.Sprint(name, len(d.Topics))) }}
	}
	l, w, _ := newLoader(t, nil)
	l.opts.Publishers = []Publisher{w.publisher("p"), note("one"), note("two")}
	f := &feed{t: t}
	f.apply(l, f.batch(level(33)))
	drain(l.Publish)
	f.apply(l, f.batch(topic("a", 1)))
	f.apply(l, f.batch(topic("b", 2)))
	remove := metarec.NewRemoveTopicRecord()
	remove.TopicID = kafka.UUID{15: 1}
	f.apply(l, f.batch(remove, topic("a", 3)))
	if n := drain(l.Publish); n != 1 {
		t.Errorf("%d publications", n)
	}
	expect(t, w, "p@0:; p@4: +a +b")
	if got := strings.Join(order, " "); got != "one0 two0 one2 two2" {
		t.Errorf("order %s", got)
	}
}

func TestTransactionsAreShownWhenTheyEnd(t *testing.T) {
	l, w, _ := newLoader(t, nil)
	f := &feed{t: t}
	f.apply(l, f.batch(level(33)))
	f.apply(l, f.batch(metarec.NewBeginTransactionRecord(), topic("a", 1)))
	drain(l.Publish)
	expect(t, w, "p@0:")
	if !l.InTransaction() || l.Loaded().Position.Offset != 0 {
		t.Errorf("in a transaction: %v, loaded up to %d", l.InTransaction(), l.Loaded().Position.Offset)
	}
	f.apply(l, f.batch(metarec.NewEndTransactionRecord()))
	drain(l.Publish)
	expect(t, w, "p@3: +a")
}

// batches is a SnapshotReader.
type batches struct{ list []record.Batch }

func (b *batches) Next() (record.Batch, error) {
	if len(b.list) == 0 {
		return nil, io.EOF
	}
	first := b.list[0]
	b.list = b.list[1:]
	return first, nil
}

func (b *batches) LastContainedLogTimestamp() kafka.TimestampMs { return 777 }

func TestSnapshotReplacesEverything(t *testing.T) {
	l, w, _ := newLoader(t, nil)
	f := &feed{t: t}
	f.apply(l, f.batch(level(33), topic("a", 1), topic("b", 2)))
	drain(l.Publish)
	s := &feed{t: t}
	r := &batches{[]record.Batch{s.control(), s.batch(level(33), topic("b", 2)), s.batch(topic("c", 3)), s.control()}}
	if err := l.LoadSnapshot(50, 4, r); err != nil {
		t.Fatal(err)
	}
	f.next = 50
	f.apply(l, f.batch(topic("d", 4)))
	drain(l.Publish)
	expect(t, w, "p@2: +a +b; p@50: -a +c +d")
	if err := l.LoadSnapshot(60, 4, &batches{[]record.Batch{s.batch(level(33))}}); err != nil {
		t.Fatal(err)
	}
	if got := l.Loaded().Position; got != (image.Position{Offset: 59, Epoch: 4, Timestamp: 777, Aligned: true}) {
		t.Errorf("loaded %+v", got)
	}
}

// kept is a snapshot in memory.
type kept struct {
	at       image.Position
	frames   [][]byte
	finished bool
	failAt   string
	discards int
}

func (k *kept) Append(frames [][]byte) error {
	if k.failAt == "append" {
		return errors.New("no space")
	}
	k.frames = append(k.frames, frames...)
	return nil
}

func (k *kept) Finish() error {
	if k.failAt == "finish" {
		return errors.New("no space")
	}
	k.finished = true
	return nil
}

func (k *kept) Discard() error {
	k.discards++
	return nil
}

func TestSnapshotIsDueByBytesAndByAge(t *testing.T) {
	var made []*kept
	l, _, clock := newLoader(t, func(o *Options) {
		o.SnapshotBytes, o.SnapshotAge = 2000, time.Hour
		o.CreateSnapshot = func(p image.Position) (SnapshotWriter, error) {
			made = append(made, &kept{at: p})
			return made[len(made)-1], nil
		}
	})
	f := &feed{t: t}
	step := func(records ...metarec.Message) int {
		before := len(made)
		f.apply(l, f.batch(records...))
		drain(l.Publish)
		drain(l.WriteSnapshot)
		return len(made) - before
	}
	if step(level(33), topic("a", 1)) != 0 {
		t.Error("a snapshot after few bytes")
	}
	bytes := 0
	for i := byte(10); bytes == 0 && i < 100; i++ {
		bytes = step(topic(strings.Repeat("x", 200)+string(rune('a'+i)), i))
	}
	if len(made) != 1 || !made[0].finished || made[0].at != l.Image().Position || made[0].at.Offset < 5 {
		t.Fatalf("by bytes: %+v", made)
	}
	b := image.NewBuilder(image.Empty())
	for _, frame := range made[0].frames {
		m, _, err := metarec.Decode(frame)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Replay(m); err != nil {
			t.Fatal(err)
		}
	}
	if d := image.Diff(l.Image(), b.Current()); !d.Empty() {
		t.Errorf("the snapshot says something else: %+v", d)
	}
	clock.now = clock.now.Add(59 * time.Minute)
	if step(metarec.NewNoOpRecord()) != 0 {
		t.Error("a snapshot before its time")
	}
	clock.now = clock.now.Add(time.Minute)
	if step(metarec.NewNoOpRecord()) != 1 || step(metarec.NewNoOpRecord()) != 0 {
		t.Error("no snapshot, or two, when the time has come")
	}
	clock.now = clock.now.Add(time.Hour)
	// Shown up to the middle of a batch: no snapshot can stand for that.
	if step(topic("q", 201), metarec.NewBeginTransactionRecord()) != 0 {
		t.Error("a snapshot inside a batch")
	}
	if step(metarec.NewEndTransactionRecord()) != 1 {
		t.Error("no snapshot at the end of the transaction")
	}
}

func TestLoadedSnapshotStartsTheCountAnew(t *testing.T) {
	made := 0
	l, _, clock := newLoader(t, func(o *Options) {
		o.SnapshotBytes, o.SnapshotAge = 400, time.Hour
		o.CreateSnapshot = func(image.Position) (SnapshotWriter, error) {
			made++
			return &kept{}, nil
		}
	})
	f, s := &feed{t: t}, &feed{t: t}
	f.apply(l, f.batch(level(33), topic(strings.Repeat("x", 200), 1)))
	clock.now = clock.now.Add(time.Hour - 1)
	if err := l.LoadSnapshot(50, 4, &batches{[]record.Batch{s.batch(level(33))}}); err != nil {
		t.Fatal(err)
	}
	clock.now = clock.now.Add(1)
	f.next = 50
	f.apply(l, f.batch(topic("a", 1)))
	drain(l.Publish)
	drain(l.WriteSnapshot)
	if made != 0 {
		t.Error("a snapshot right after one was loaded")
	}
}

func TestFailedSnapshotIsDiscardedAndLogged(t *testing.T) {
	for _, failAt := range []string{"append", "finish", "create", "there already"} {
		var log strings.Builder
		k := &kept{failAt: failAt}
		l, _, _ := newLoader(t, func(o *Options) {
			o.SnapshotBytes = 1
			o.Logger = slog.New(slog.NewTextHandler(&log, nil))
			o.CreateSnapshot = func(image.Position) (SnapshotWriter, error) {
				switch failAt {
				case "create":
					return nil, errors.New("no space")
				case "there already":
					return nil, nil
				}
				return k, nil
			}
		})
		f := &feed{t: t}
		f.apply(l, f.batch(level(33)))
		drain(l.Publish)
		begun := failAt == "append" || failAt == "finish"
		if drain(l.WriteSnapshot) != 1 || k.finished || (k.discards == 1) != begun {
			t.Errorf("%s: %+v", failAt, k)
		}
		if failed := strings.Contains(log.String(), "metadata snapshot failed"); failed != (failAt != "there already") {
			t.Errorf("%s: log %s", failAt, log.String())
		}
	}
}

// TestAFailingSnapshotIsLoggedOnce: the second failure in a row is no second ERROR, and
// one after a snapshot that was made is.
func TestAFailingSnapshotIsLoggedOnce(t *testing.T) {
	var log strings.Builder
	fails := true
	l, _, _ := newLoader(t, func(o *Options) {
		o.SnapshotBytes = 1
		o.Logger = slog.New(slog.NewTextHandler(&log, nil))
		o.CreateSnapshot = func(image.Position) (SnapshotWriter, error) {
			if fails {
				return nil, errors.New("no space")
			}
			return &kept{}, nil
		}
	})
	f := &feed{t: t}
	f.apply(l, f.batch(level(33)))
	for i, want := range []int{1, 1, 1, 2} {
		fails = i != 2
		f.apply(l, f.batch(topic(fmt.Sprint("t", i), byte(i+1))))
		drain(l.Publish)
		if drain(l.WriteSnapshot) != 1 {
			t.Fatalf("snapshot %d is not due", i)
		}
		if n := strings.Count(log.String(), "level=ERROR"); n != want {
			t.Errorf("after snapshot %d there are %d errors, want %d:\n%s", i, n, want, log.String())
		}
	}
}

func TestErrorsNameTheOffset(t *testing.T) {
	for name, value := range map[string][]byte{"unknown type": {1, 99, 0, 0}, "no frame": {7}, "out of order": {1, 24, 0, 0}} {
		l, _, _ := newLoader(t, nil)
		f := &feed{t: t, next: 40}
		err := l.Apply([]record.Batch{f.batch(level(33)), f.raw(value)})
		if err == nil || !strings.Contains(err.Error(), "offset 41") {
			t.Errorf("%s: %v", name, err)
		}
		err = l.LoadSnapshot(50, 1, &batches{[]record.Batch{f.raw(value)}})
		if err == nil || !strings.Contains(err.Error(), "snapshot 50-1") {
			t.Errorf("%s in a snapshot: %v", name, err)
		}
	}
	l, _, _ := newLoader(t, nil)
	f := &feed{t: t}
	b := f.batch(level(33))
	b[len(b)-1] ^= 0xff // the number of headers
	if err := l.Apply([]record.Batch{b}); err == nil {
		t.Error("a damaged batch was loaded")
	}
}

func TestSlowPublisherDelaysNobodyElse(t *testing.T) {
	defer goleak.VerifyNone(t)
	entered, leave := make(chan struct{}, 10), make(chan struct{})
	done := make(chan kafka.Offset, 10)
	l, w, _ := newLoader(t, nil)
	l.opts.Publishers = []Publisher{w.publisher("p"),
		{Name: "slow", Publish: func(*image.Delta) { entered <- struct{}{}; <-leave }},
		{Name: "last", Publish: func(d *image.Delta) { done <- d.New.Position.Offset }}}
	l.Start()
	f := &feed{t: t}
	f.apply(l, f.batch(level(33)))
	<-entered
	const topics = 2*maxPending + 20
	for i := range topics {
		r := metarec.NewTopicRecord()
		r.Name, r.TopicID = fmt.Sprint("t", i), kafka.UUID{byte(i >> 8), byte(i), 1}
		f.apply(l, f.batch(r))
	}
	if l.Loaded().Topics.Len() != topics || l.Image().Topics.Len() != 0 {
		t.Errorf("loaded %d topics, shown %d", l.Loaded().Topics.Len(), l.Image().Topics.Len())
	}
	close(leave)
	for offset := range done {
		if offset == topics {
			break
		}
	}
	l.Close()
	l.Close()
	if l.Image().Topics.Len() != topics {
		t.Errorf("shown %d topics", l.Image().Topics.Len())
	}
	told := w.take()
	if n := strings.Count(told, "p@"); n > 4 {
		t.Errorf("%d publications for what came while one was slow", n)
	}
	if n := strings.Count(told, "+t"); n != topics {
		t.Errorf("publishers were told of %d topics", n)
	}
}

func TestCloseBeforeStart(t *testing.T) {
	l, _, _ := newLoader(t, nil)
	l.Close()
}

// TestLogOfApacheKafkaIsLoaded loads the log of a node of Apache Kafka, once whole and
// once from the snapshot on, batch by batch.
func TestLogOfApacheKafkaIsLoaded(t *testing.T) {
	read := func(name string) (out []record.Batch) {
		raw, err := os.ReadFile("../image/testdata/golden/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for len(raw) > 0 {
			b, rest, err := record.Next(raw)
			if err != nil {
				t.Fatal(err)
			}
			out, raw = append(out, b), rest
		}
		return out
	}
	log := read("00000000000000000000.log")
	whole, _, _ := newLoader(t, nil)
	if err := whole.Apply(log); err != nil {
		t.Fatal(err)
	}
	rest, w, _ := newLoader(t, nil)
	if err := rest.LoadSnapshot(345, 1, &batches{read("00000000000000000345-0000000001.checkpoint")}); err != nil {
		t.Fatal(err)
	}
	for _, b := range log {
		if b.BaseOffset() < 345 {
			continue
		}
		if err := rest.Apply([]record.Batch{b}); err != nil {
			t.Fatal(err)
		}
		drain(rest.Publish)
	}
	if d := image.Diff(whole.Loaded(), rest.Image()); !d.Empty() || whole.Loaded().Position != rest.Image().Position {
		t.Errorf("they differ: %+v", d)
	}
	if n := strings.Count(w.take(), "p@"); n < 10 {
		t.Errorf("%d publications", n)
	}
}
