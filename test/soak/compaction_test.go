package soak

import (
	"bytes"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"barnabas/test/kit"
)

var (
	compactBytes = flag.Int64("compact-bytes", 200_000_000, "how much is written to the compacted topic; 10 GB are a million keys")
	compactKills = flag.Int("compact-kills", 20, "how often the server is killed while it compacts")
)

const (
	compactTopic      = "soak-compact"
	compactPartitions = 4
	// compactValue is the size of a value, compactRewrites how often a key is written.
	compactValue    = 1000
	compactRewrites = 10
	// compactMemory bounds the anonymous memory of the server. 64 MiB of it are
	// log.cleaner.dedupe.buffer.size, the rest is what a node takes for such a load.
	compactMemory = 300 << 20
)

// TestCompaction writes updates and tombstones to a compacted topic and kills the
// server while it compacts. At the end each key must have the value that was
// acknowledged last, or one that was sent later and whose answer the kill took away;
// what was deleted must be gone; and the topic must be small.
func TestCompaction(t *testing.T) {
	t.Logf("seed %d", *seed)
	binary := buildBarnabas(t)
	node := newSoakNode(t, binary, filepath.Join(t.TempDir(), "node"), "log.cleaner.backoff.ms=50", "log.cleaner.threads=2",
		"log.cleaner.dedupe.buffer.size=67108864")
	createCompacted(t, node.Address())
	book := newVersions(max(100, int(*compactBytes/compactValue/compactRewrites)))
	memory := watchMemory(node)
	rng := rand.New(rand.NewPCG(*seed, 1))
	for round := range *compactKills {
		if err := book.write(context.Background(), node.Address(), rng, *compactBytes/int64(*compactKills)); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		ctx, stop := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() {
			ended <- book.write(ctx, node.Address(), rand.New(rand.NewPCG(*seed, uint64(2+round))), 1<<40)
		}()
		<-time.After(time.Duration(rng.IntN(500)) * time.Millisecond) // the random moment itself
		memory.pause()
		if err := node.Kill(); err != nil {
			t.Fatal(err)
		}
		stop()
		<-ended // with the error of a server that is gone
		if err := node.Start(); err != nil {
			t.Fatal(err)
		}
		memory.resume()
	}
	awaitClean(t, node)
	memory.pause()
	written := book.bytes.Load()
	left := book.check(t, node.Address())
	size := folderSize(t, node.DataDir())
	t.Logf("wrote %d MB in %d records over %d keys, %d keys have a value, the topic has %d MB; at most %d MB of memory",
		written>>20, book.records.Load(), len(book.acked), left, size>>20, memory.most.Load()>>20)
	if size > written/2 {
		t.Errorf("%d bytes are left of %d", size, written)
	}
	if most := memory.most.Load(); most > compactMemory {
		t.Errorf("%d bytes of memory, %d are allowed", most, compactMemory)
	}
}

func createCompacted(t *testing.T, bootstrap string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cl, err := kgo.NewClient(kgo.SeedBrokers(bootstrap))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	segment := strconv.FormatInt(max(1<<20, *compactBytes/compactPartitions/50), 10)
	policy, ratio, retention := "compact", "0.3", "100"
	resp, err := kadm.NewClient(cl).CreateTopic(ctx, compactPartitions, 1, map[string]*string{
		"cleanup.policy": &policy, "min.cleanable.dirty.ratio": &ratio, "delete.retention.ms": &retention, "segment.bytes": &segment, "file.delete.delay.ms": &retention,
	}, compactTopic)
	if err != nil || resp.Err != nil {
		t.Fatal(err, resp.Err)
	}
}

// versions is the model: the last version of each key that was sent, and that was
// acknowledged. Versions of a key grow, so a record says what it replaces.
type versions struct {
	mu          sync.Mutex
	sent, acked []uint32 // guarded by mu; 0: none

	bytes, records atomic.Int64
}

func newVersions(keys int) *versions {
	return &versions{sent: make([]uint32, keys), acked: make([]uint32, keys)}
}

// isTombstone says whether a version deletes its key: every seventh does.
func isTombstone(key int, version uint32) bool { return (uint32(key)*31+version)%7 == 0 }

func valueOf(key int, version uint32) []byte {
	b := make([]byte, compactValue)
	for i := 0; i+8 <= len(b); i += 8 {
		binary.BigEndian.PutUint64(b[i:], uint64(key)<<32|uint64(version)+uint64(i)*0x9e3779b97f4a7c15)
	}
	return b
}

// write sends n bytes, or until ctx ends.
func (v *versions) write(ctx context.Context, bootstrap string, rng *rand.Rand, n int64) error {
	cl, err := kgo.NewClient(kgo.SeedBrokers(bootstrap), kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.MaxBufferedRecords(5000))
	if err != nil {
		return err
	}
	defer cl.Close()
	var failed atomic.Pointer[error]
	for n > 0 && ctx.Err() == nil && failed.Load() == nil {
		key := rng.IntN(len(v.sent))
		v.mu.Lock()
		v.sent[key]++
		version := v.sent[key]
		v.mu.Unlock()
		r := &kgo.Record{Topic: compactTopic, Key: fmt.Appendf(nil, "key-%08d", key),
			Headers: []kgo.RecordHeader{{Key: "version", Value: binary.BigEndian.AppendUint32(nil, version)}}}
		if !isTombstone(key, version) {
			r.Value = valueOf(key, version)
		}
		n -= int64(len(r.Key) + len(r.Value) + 20)
		cl.Produce(ctx, r, func(r *kgo.Record, err error) {
			if err != nil {
				failed.Store(&err)
				return
			}
			v.records.Add(1)
			v.bytes.Add(int64(len(r.Key) + len(r.Value) + 20))
			v.mu.Lock()
			v.acked[key] = max(v.acked[key], version)
			v.mu.Unlock()
		})
	}
	if err := cl.Flush(ctx); err != nil {
		return err
	}
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}

// check reads the topic and compares it with the model. It returns how many keys have
// a value.
func (v *versions) check(t *testing.T, bootstrap string) (left int) {
	t.Helper()
	last := make([]uint32, len(v.sent))
	present := make([]bool, len(v.sent))
	readCompacted(t, bootstrap, func(r *kgo.Record) {
		key, err := strconv.Atoi(strings.TrimPrefix(string(r.Key), "key-"))
		if err != nil || len(r.Headers) != 1 || len(r.Headers[0].Value) != 4 {
			t.Fatalf("partition %d offset %d: %q %v", r.Partition, r.Offset, r.Key, r.Headers)
		}
		version := binary.BigEndian.Uint32(r.Headers[0].Value)
		if version <= last[key] {
			t.Fatalf("key %d: version %d behind %d", key, version, last[key])
		}
		if tombstone := isTombstone(key, version); tombstone != (r.Value == nil) || !tombstone && !bytes.Equal(r.Value, valueOf(key, version)) {
			t.Fatalf("key %d, version %d: a value of %d bytes that was not sent", key, version, len(r.Value))
		}
		last[key], present[key] = version, r.Value != nil
	})
	v.mu.Lock()
	defer v.mu.Unlock()
	bad := 0
	for key := range last {
		if present[key] {
			left++
		}
		if last[key] > v.sent[key] || last[key] < v.acked[key] && !(last[key] == 0 && v.mayBeGone(key)) {
			if bad++; bad < 10 {
				t.Errorf("key %d has version %d, acknowledged %d, sent %d", key, last[key], v.acked[key], v.sent[key])
			}
		}
	}
	if bad > 0 {
		t.Errorf("%d of %d keys are wrong", bad, len(last))
	}
	return left
}

// mayBeGone says whether a tombstone may be what a key had last.
func (v *versions) mayBeGone(key int) bool {
	for version := v.acked[key]; version <= v.sent[key]; version++ {
		if isTombstone(key, version) {
			return true
		}
	}
	return false
}

// readCompacted reads all partitions from the start to the end.
func readCompacted(t *testing.T, bootstrap string, visit func(*kgo.Record)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Minute)
	defer cancel()
	starts := map[int32]kgo.Offset{}
	for p := range int32(compactPartitions) {
		starts[p] = kgo.NewOffset().AtStart()
	}
	cl, err := kgo.NewClient(kgo.SeedBrokers(bootstrap), kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{compactTopic: starts}))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	ends, err := kadm.NewClient(cl).ListEndOffsets(ctx, compactTopic)
	if err != nil {
		t.Fatal(err)
	}
	left := map[int32]int64{}
	ends.Each(func(o kadm.ListedOffset) {
		if o.Offset > 0 {
			left[o.Partition] = o.Offset
		}
	})
	for len(left) > 0 {
		fetches := cl.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatal(err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			visit(r)
			if r.Offset >= left[r.Partition]-1 {
				delete(left, r.Partition)
			}
		})
	}
}

// awaitClean waits until nothing is dirtier than the topic allows, and the cleaner has
// run since the last start.
func awaitClean(t *testing.T, node *kit.Node) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Minute)
	for {
		text := metricsPage(t, node)
		if metric(t, text, "barnabas_cleaner_runs_total") > 0 && metric(t, text, "kafka_log_logcleanermanager_max_dirty_percent") <= 30 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("not clean in 10 minutes")
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func metricsPage(t *testing.T, node *kit.Node) string {
	t.Helper()
	resp, err := http.Get("http://" + node.Admin + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(resp.Body); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func metric(t *testing.T, text, name string) float64 {
	t.Helper()
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			f, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				t.Fatal(err)
			}
			return f
		}
	}
	t.Fatalf("no metric %s", name)
	return 0
}

// folderSize is the size of the topic's segments that are in use.
func folderSize(t *testing.T, dir string) (sum int64) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, compactTopic+"-*", "*.log"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if info != (fs.FileInfo)(nil) {
			sum += info.Size()
		}
	}
	return sum
}

// memoryWatch samples the anonymous memory of a server.
type memoryWatch struct {
	node *kit.Node
	mu   sync.Mutex
	stop chan struct{}
	done sync.WaitGroup
	most atomic.Int64
}

func watchMemory(n *kit.Node) *memoryWatch {
	w := &memoryWatch{node: n}
	w.resume()
	return w
}

func (w *memoryWatch) resume() {
	stop := make(chan struct{})
	w.stop = stop
	pid := w.node.PID()
	w.done.Go(func() {
		for {
			if n, err := statusField(pid, "RssAnon"); err == nil && n > w.most.Load() {
				w.most.Store(n)
			}
			select {
			case <-stop:
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	})
}

func (w *memoryWatch) pause() {
	close(w.stop)
	w.done.Wait()
}
