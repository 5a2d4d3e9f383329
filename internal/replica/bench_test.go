package replica

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/goleak"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/record"
)

// benchNode is a node on a real disk with one topic of four partitions.
func benchNode(b testing.TB, config ...string) *node {
	n := newNode(b, nil)
	dir := b.TempDir()
	n.disks = map[string]vfs.FS{"/data": rooted{vfs.NewOS(vfs.NewGate(vfs.GateLimit)), dir}}
	n.create("a", 4, config...)
	return n.start()
}

// rooted puts the paths of the tests below a real directory.
type rooted struct {
	*vfs.OS
	root string
}

func (r rooted) Open(path string, mode vfs.Mode) (vfs.File, error) {
	return r.OS.Open(r.root+path, mode)
}
func (r rooted) Stat(path string) (vfs.Info, error)       { return r.OS.Stat(r.root + path) }
func (r rooted) ReadDir(path string) ([]vfs.Entry, error) { return r.OS.ReadDir(r.root + path) }
func (r rooted) Rename(from, to string) error             { return r.OS.Rename(r.root+from, r.root+to) }
func (r rooted) Remove(path string) error                 { return r.OS.Remove(r.root + path) }
func (r rooted) MkdirAll(path string) error               { return r.OS.MkdirAll(r.root + path) }
func (r rooted) SetModTime(path string, at time.Time) error {
	return r.OS.SetModTime(r.root+path, at)
}
func (r rooted) SyncDir(path string) error { return r.OS.SyncDir(r.root + path) }

// batch16K is a batch of 16 KB of 100-byte records.
func batch16K() []byte {
	b := record.NewBuilder(record.BatchOptions{})
	now, value := time.Now().UnixMilli(), make([]byte, 100)
	for i := 0; b.Size() < 16_000; i++ {
		b.Append(record.Record{Offset: kafka.Offset(i), Timestamp: now, Value: value})
	}
	out, err := b.Build()
	if err != nil {
		panic(err)
	}
	return out
}

// countingCaller answers nothing and counts.
type countingCaller struct{ answered, placed int }

func (c *countingCaller) Placed(*Produce)   { c.placed++ }
func (c *countingCaller) Answered(*Produce) { c.answered++ }

// produceRun is a run of requests that is sent again and again.
type produceRun struct {
	run    []*Produce
	raw    []byte
	out    []kmsg.ProduceResponseTopicPartition
	caller countingCaller
}

func newProduceRun(requests int, acks int16) *produceRun {
	r := &produceRun{raw: batch16K(), out: make([]kmsg.ProduceResponseTopicPartition, requests)}
	for i := range requests {
		p := &Produce{Version: 12, Acks: acks, Timeout: time.Minute, Caller: &r.caller}
		p.Appends = []Append{{Topic: "a", Records: append([]byte(nil), r.raw...), Out: &r.out[i]}}
		r.run = append(r.run, p)
	}
	return r
}

func (r *produceRun) send(m *Manager) {
	for i, p := range r.run {
		record.Batch(p.Appends[0].Records).SetBaseOffset(0)
		r.out[i].ErrorCode = 0
	}
	m.Produce(r.run)
}

func BenchmarkProduce(b *testing.B) {
	for _, c := range []struct {
		name     string
		requests int
	}{{"alone", 1}, {"run-of-5", 5}} {
		b.Run(c.name, func(b *testing.B) {
			n := benchNode(b)
			defer n.close()
			r := newProduceRun(c.requests, AcksAll)
			r.send(n.m)
			b.SetBytes(int64(c.requests * len(r.raw)))
			b.ReportAllocs()
			for b.Loop() {
				r.send(n.m)
			}
			if r.out[0].ErrorCode != 0 || r.caller.placed > 0 {
				b.Fatal(r.out[0].ErrorCode, r.caller.placed)
			}
		})
	}
}

// TestProduceAllocatesLittle: what a request costs the collector, records never.
func TestProduceAllocatesLittle(t *testing.T) {
	if raceDetector {
		t.Skip("pools do not keep everything under the race detector")
	}
	n := benchNode(t)
	defer n.close()
	r := newProduceRun(5, AcksAll)
	r.send(n.m)
	perRun := testing.AllocsPerRun(100, func() { r.send(n.m) })
	t.Logf("%v allocations for a run of 5 requests", perRun)
	if perRun > 5 {
		t.Fatalf("%v allocations for a run of 5 requests to one partition, want at most 5", perRun)
	}
	if r.out[4].ErrorCode != 0 {
		t.Fatal(kafka.ErrorCode(r.out[4].ErrorCode))
	}
}

// TestCloseLeavesNothing starts a node on a real disk, lets requests wait in it
// and closes it.
func TestCloseLeavesNothing(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	n := benchNode(t, "flush.messages=1")
	n.twoReplicas("a", 2)
	var waiting []*produced
	for i := range 20 {
		p := newProduce(AcksAll, time.Hour, put{"a", 0, batch(1, nil)}, put{"a", int32(i % 4), batch(1, nil)})
		n.m.Produce([]*Produce{&p.Produce})
		waiting = append(waiting, p)
	}
	var parked []*fetched
	for range 20 {
		f := newFetch(fetchOptions{wait: time.Hour, minBytes: 1 << 20}, from{"a", 0, 0}, from{"a", 1, 0})
		n.m.Fetch(&f.Fetch)
		parked = append(parked, f)
	}
	n.close()
	for _, p := range waiting {
		p.wait(t)
		if p.code(0) != kafka.ErrNotLeaderOrFollower {
			t.Fatal(p.code(0))
		}
	}
	for _, f := range parked {
		f.wait(t)
		f.answer.Release()
	}
}

// fetchLoop is a consumer with a session.
type fetchLoop struct {
	Fetch
	answer *FetchAnswer
}

func (f *fetchLoop) MayRead(*Fetch, string) bool { return true }

func (f *fetchLoop) Fetched(_ *Fetch, a *FetchAnswer) { f.answer = a }

// consume fetches what is there and goes behind it.
func (f *fetchLoop) consume(m *Manager) int64 {
	q := f.Request
	m.Fetch(&f.Fetch)
	n := int64(0)
	for i := range f.answer.Records {
		n += f.answer.Records[i].Length
	}
	part := &q.Topics[0].Partitions[0]
	if n > 0 {
		part.FetchOffset = f.answer.Response.Topics[0].Partitions[0].HighWatermark
	}
	f.answer.Release()
	q.SessionID, q.SessionEpoch = f.answer.Response.SessionID, q.SessionEpoch+1
	return n
}

func newFetchLoop() *fetchLoop {
	f := &fetchLoop{}
	x := newFetch(fetchOptions{maxBytes: 50 << 20, partitionBytes: 50 << 20}, from{"a", 0, 0})
	f.Request, f.Caller = x.Request, f
	return f
}

// BenchmarkTail is a consumer at the end of the log: each round is one append and
// one fetch of it by a session.
func BenchmarkTail(b *testing.B) {
	n := benchNode(b)
	defer n.close()
	r := newProduceRun(1, AcksLeader)
	f := newFetchLoop()
	f.consume(n.m)
	b.SetBytes(int64(len(r.raw)))
	b.ReportAllocs()
	for b.Loop() {
		r.send(n.m)
		if got := f.consume(n.m); got != int64(len(r.raw)) {
			b.Fatal(got)
		}
	}
}

// BenchmarkParkAndWake is the same, but the fetch is there first and waits.
func BenchmarkParkAndWake(b *testing.B) {
	n := benchNode(b)
	defer n.close()
	r := newProduceRun(1, AcksLeader)
	f := newFetchLoop()
	f.consume(n.m)
	f.Request.MaxWaitMillis = 500
	b.ReportAllocs()
	for b.Loop() {
		f.answer = nil
		n.m.Fetch(&f.Fetch)
		if f.answer != nil {
			b.Fatal("did not wait")
		}
		r.send(n.m)
		f.Request.Topics[0].Partitions[0].FetchOffset = f.answer.Response.Topics[0].Partitions[0].HighWatermark
		f.answer.Release()
		f.Request.SessionEpoch++
	}
}

// BenchmarkEmptySessionFetch is a fetch of a session of 1000 partitions of which
// none has anything.
func BenchmarkEmptySessionFetch(b *testing.B) {
	n := newNode(b, oneDisk())
	n.create("a", 1000)
	n.start()
	defer n.close()
	var parts []from
	for i := range 1000 {
		parts = append(parts, from{"a", int32(i), 0})
	}
	x := newFetch(fetchOptions{}, parts...)
	f := &fetchLoop{}
	f.Request, f.Caller = x.Request, f
	n.m.Fetch(&f.Fetch)
	f.Request.Topics = nil
	f.Request.SessionID = f.answer.Response.SessionID
	b.ReportAllocs()
	for b.Loop() {
		f.Request.SessionEpoch++
		n.m.Fetch(&f.Fetch)
	}
}

func TestFetchAllocatesLittle(t *testing.T) {
	if raceDetector {
		t.Skip("pools do not keep everything under the race detector")
	}
	n := benchNode(t)
	defer n.close()
	r := newProduceRun(1, AcksLeader)
	f := newFetchLoop()
	f.consume(n.m)
	r.send(n.m)
	f.consume(n.m)
	perRound := testing.AllocsPerRun(100, func() {
		r.send(n.m)
		if f.consume(n.m) == 0 {
			t.Error("nothing to fetch")
		}
	})
	t.Logf("%v allocations for an append and a fetch", perRound)
	if perRound > 9 {
		t.Fatalf("%v allocations for an append and its fetch, want at most 9", perRound)
	}
}
