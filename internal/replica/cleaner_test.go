package replica

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/record"
	"barnabas/internal/storage/logdir"
)

// keyValues builds a batch of records, each with its key and a value.
func keyValues(value string, keys ...string) []byte {
	b := record.NewBuilder(record.BatchOptions{})
	for _, key := range keys {
		r := record.Record{Timestamp: time.Now().UnixMilli(), Key: []byte(key)}
		if value != "" {
			r.Value = []byte(value)
		}
		b.Append(r)
	}
	out, err := b.Build()
	if err != nil {
		panic(err)
	}
	return out
}

// eventually waits for a condition.
func (n *node) eventually(what string, done func() bool) {
	n.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			n.t.Fatalf("not within 30 s: %s\n%s", what, n.logs)
		}
	}
}

// compacted makes a topic that is compacted as soon as a segment is full, which is
// after two or three batches.
func (n *node) compacted(name string, more ...string) {
	n.t.Helper()
	n.create(name, 1, append([]string{"cleanup.policy=compact", "min.cleanable.dirty.ratio=0", "segment.bytes=1048576", "internal.segment.bytes=250"}, more...)...)
}

func (n *node) puts(topic, value string, times int) {
	n.t.Helper()
	for range times {
		if p := n.produce(-1, put{topic, 0, keyValues(value, "a", "b")}); p.code(0) != kafka.ErrNone {
			n.t.Fatal(p.code(0))
		}
	}
}

// cleaned says that all sealed segments were cleaned, for which they must have been
// synced first.
func (n *node) cleaned(topic string) bool {
	s, ok := n.m.Cleaning(topic, 0)
	log := n.m.Partition(topic, 0).role.Load().log.Snapshot()
	return ok && !s.Last.At.IsZero() && s.FirstDirty == log.SegmentBase(log.LogEnd()) && !s.Busy
}

// threads sets log.cleaner.threads as a dynamic configuration.
func (n *node) threads(count string) {
	n.t.Helper()
	c, problems := n.config.With(configDynamic("log.cleaner.threads", count))
	if len(problems) > 0 {
		n.t.Fatal(problems)
	}
	if n.config = c; n.m != nil {
		n.m.SetConfig(c)
	}
}

var cleanerSettings = []string{"log.cleaner.backoff.ms=1", "log.cleaner.dedupe.buffer.size=4194304", "log.cleaner.threads=2"}

func TestTopicsAreCompacted(t *testing.T) {
	n := newNode(t, oneDisk(), cleanerSettings...)
	n.compacted("c")
	n.create("d", 1, "internal.segment.bytes=250")
	n.start()
	n.puts("c", "xxxxxxxxxxxxxxxxxxxxxxxx", 20)
	n.puts("d", "xxxxxxxxxxxxxxxxxxxxxxxx", 20)
	n.eventually("compacted", func() bool { return n.cleaned("c") })
	sealed := n.m.Partition("c", 0).role.Load().log.Snapshot()
	first := sealed.SegmentBase(sealed.LogEnd()) - 1 // of what is left below the active segment
	if got := n.fetch(fetchOptions{}, from{"c", 0, 0}).show(); !strings.HasPrefix(got, fmt.Sprintf("c-0 hw=40 [%d..%d]", first-1, first)) {
		t.Errorf("compacted topic: %s", got)
	}
	if got := n.fetch(fetchOptions{}, from{"d", 0, 0}).show(); !strings.HasPrefix(got, "d-0 hw=40 [0..1 2..3") {
		t.Errorf("other topic: %s", got)
	}
	if _, ok := n.m.Cleaning("d", 0); ok {
		t.Error("a topic that is not compacted has a state of compaction")
	}
	st := n.m.Stats().Cleaner
	if st.Runs == 0 || st.BytesRead == 0 || st.BytesWritten == 0 || st.Threads != 2 || st.LastBufferUse <= 0 {
		t.Errorf("%+v", st)
	}
	end := first + 1
	n.close()
	points, err := logdir.ReadCheckpoint(n.disks["/data"], "/data", logdir.CleanerOffsets)
	if err != nil || len(points) != 1 || points[kafka.TopicPartition{Topic: "c"}] != end {
		t.Errorf("checkpoint %v %v, want c-0 at %d", points, err, end)
	}
	n.start()
	defer n.close()
	if s, ok := n.m.Cleaning("c", 0); !ok || s.FirstDirty != end {
		t.Errorf("after a restart: %+v", s)
	}
	n.remove("c")
	n.compacted("c")
	if s, ok := n.m.Cleaning("c", 0); !ok || s.FirstDirty != 0 {
		t.Errorf("a topic that was deleted and made anew: %+v", s)
	}
	n.eventually("checkpoint forgets", func() bool {
		points, err := logdir.ReadCheckpoint(n.disks["/data"], "/data", logdir.CleanerOffsets)
		return err == nil && len(points) == 0
	})
}

// A partition that cannot be read is set aside, with one line in the log; the others
// go on.
func TestDamagedPartitionIsSetAside(t *testing.T) {
	n := newNode(t, oneDisk(), append(cleanerSettings, "log.cleaner.threads=1")...)
	n.threads("0")
	n.compacted("bad")
	n.compacted("good")
	n.start()
	n.puts("bad", "xxxxxxxxxxxxxxxxxxxxxxxx", 20)
	n.puts("good", "xxxxxxxxxxxxxxxxxxxxxxxx", 20)
	f, err := n.disks["/data"].Open("/data/bad-0/00000000000000000000.log", vfs.ReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("damage"), 70); err != nil {
		t.Fatal(err)
	}
	f.Close()
	n.threads("1")
	n.eventually("the good one is compacted", func() bool { return n.cleaned("good") })
	n.eventually("the bad one is set aside", func() bool { s, _ := n.m.Cleaning("bad", 0); return s.Aside != "" })
	n.puts("good", "y", 20)
	n.eventually("the good one is compacted again", func() bool { return n.cleaned("good") })
	if s, _ := n.m.Cleaning("bad", 0); !strings.Contains(s.Aside, "segment 0, position 0: record: checksum mismatch") {
		t.Errorf("%+v", s)
	}
	if d := n.m.Stats().Dirs[0]; d.Uncleanable != 1 || d.UncleanableBytes == 0 || !d.Online {
		t.Errorf("%+v", d)
	}
	n.close()
	if got := strings.Count(n.logs.String(), "is set aside until the next start"); got != 1 {
		t.Errorf("said %d times\n%s", got, n.logs)
	}
}

// Topics that go while they are compacted take nothing with them, and the next one of
// the name is whole.
func TestTopicIsDeletedWhileItIsCompacted(t *testing.T) {
	n := newNode(t, oneDisk(), cleanerSettings...)
	n.start()
	for i := range 30 {
		n.compacted("c")
		n.puts("c", "xxxxxxxxxxxxxxxxxxxxxxxx", 10+i%5)
		n.remove("c")
	}
	n.compacted("c")
	n.puts("c", "y", 1)
	if got := n.fetch(fetchOptions{}, from{"c", 0, 0}).show(); got != "c-0 hw=2 [0..1]" {
		t.Error(got)
	}
	n.close()
	if logs := n.logs.String(); strings.Contains(logs, "level=ERROR") || strings.Contains(logs, "level=WARN") {
		t.Error(logs)
	}
}

// A full disk ends a cleaning and nothing else; when there is room again it is done.
func TestCleaningOnAFullDisk(t *testing.T) {
	n := newNode(t, oneDisk(), cleanerSettings...)
	n.threads("0")
	n.compacted("c")
	n.start()
	n.puts("c", "xxxxxxxxxxxxxxxxxxxxxxxx", 20)
	mem := n.disks["/data"].(*vfs.Mem)
	mem.SetCapacity(mem.Used() + 10)
	n.threads("1")
	n.eventually("a cleaning fails", func() bool { return n.m.Stats().Cleaner.Failures > 2 })
	mem.SetCapacity(0)
	n.eventually("compacted", func() bool { return n.cleaned("c") })
	if !n.m.Stats().Dirs[0].Online {
		t.Error("the directory is offline")
	}
	n.close()
	if got := strings.Count(n.logs.String(), "cannot clean a log: the disk is full"); got != 1 {
		t.Errorf("said %d times\n%s", got, n.logs)
	}
}

// What a cleaning replaced is removed after file.delete.delay.ms, and is not before.
func TestReplacedSegmentsAreRemovedLater(t *testing.T) {
	n := newNode(t, oneDisk(), cleanerSettings...)
	n.compacted("later", "file.delete.delay.ms=3600000")
	n.compacted("soon", "file.delete.delay.ms=0")
	n.start()
	defer n.close()
	deleted := func(topic string) (count int) {
		entries, err := n.disks["/data"].ReadDir("/data/" + topic + "-0")
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if strings.HasSuffix(e.Name, ".deleted") {
				count++
			}
		}
		return count
	}
	for _, topic := range []string{"later", "soon"} {
		n.puts(topic, "xxxxxxxxxxxxxxxxxxxxxxxx", 10)
		n.eventually("compacted", func() bool { return n.cleaned(topic) })
	}
	n.eventually("removed", func() bool { return deleted("soon") == 0 })
	if deleted("later") == 0 {
		t.Error("removed before its time")
	}
}

// Bytes are spread over time, and a lower rate waits longer.
func TestPacer(t *testing.T) {
	now := time.Unix(0, 0)
	clock := func() time.Time { return now }
	var p pacer
	var waited time.Duration
	for range 100 {
		wait := p.take(10_000, 1_000_000, clock)
		waited += wait
		now = now.Add(wait)
	}
	if waited < 980*time.Millisecond || waited > time.Second {
		t.Errorf("1 MB at 1 MB/s took %v", waited)
	}
	if wait := p.take(1<<30, 1.7976931348623157e308, clock); wait != 0 {
		t.Errorf("without a limit: %v", wait)
	}
	if wait := p.take(1<<30, 1, clock); wait > paceMost {
		t.Errorf("at 1 byte a second: %v", wait)
	}
}

// A log whose batch has more keys than the map holds is set aside, and cleaned when
// there is more memory.
func TestTooLittleMemoryForABatch(t *testing.T) {
	n := newNode(t, oneDisk(), append(cleanerSettings, "log.cleaner.io.buffer.load.factor=0.00002")...)
	n.compacted("c")
	n.start()
	defer n.close()
	for range 10 {
		keys := []string{"a", "b", "c", "d", "e", "f", "g"}
		if p := n.produce(-1, put{"c", 0, keyValues("x", keys...)}); p.code(0) != kafka.ErrNone {
			t.Fatal(p.code(0))
		}
	}
	n.eventually("set aside", func() bool {
		s, _ := n.m.Cleaning("c", 0)
		return strings.Contains(s.Aside, "log.cleaner.dedupe.buffer.size")
	})
	c, problems := n.config.With(configDynamic("log.cleaner.io.buffer.load.factor", "0.9"))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	n.m.SetConfig(c)
	n.eventually("compacted", func() bool { return n.cleaned("c") })
}

// On a full disk the checkpoint waits for space.
func TestCleanerCheckpointOnAFullDisk(t *testing.T) {
	n := newNode(t, oneDisk(), cleanerSettings...)
	n.create("c", 1)
	n.start()
	defer n.close()
	mem := n.disks["/data"].(*vfs.Mem)
	mem.SetCapacity(mem.Used())
	d, p := n.m.Dirs()[0], n.m.Partition("c", 0)
	if err := d.setCleaned(p, 7); err != nil {
		t.Fatal(err)
	}
	mem.SetCapacity(0)
	n.eventually("written", func() bool {
		points, err := logdir.ReadCheckpoint(mem, "/data", logdir.CleanerOffsets)
		return err == nil && points[kafka.TopicPartition{Topic: "c"}] == 7
	})
}
