package oracle

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"barnabas/test/kit"
)

// compactedTopics are cleaned as soon as there is anything to clean. Segments are
// small, and joined to larger ones.
var compactedTopics = map[string]map[string]*string{
	"c-plain": {},
	"c-gone":  {"delete.retention.ms": ptr("0")},
	"c-txn":   {},
	"c-codec": {},
	"c-time":  {"message.timestamp.type": ptr("LogAppendTime")},
}

// TestBothCompactTheSame writes one folder with Apache Kafka, whose cleaner is off,
// and lets Apache and ours compact a copy each. The same batches must be left, in the
// same segments, byte for byte but where one was compressed anew or given a delete
// horizon, which is the time of the cleaning. Consumers read the same, Apache's own
// among them. Then each finishes what the other had begun to put in place when it was
// killed, and Apache opens what ours left.
func TestBothCompactTheSame(t *testing.T) {
	binary, apache := buildBarnabas(t), installApache(t)
	source, err := kit.NewNode(apache, filepath.Join(t.TempDir(), "node"), "log.cleaner.enable=false", "log.cleaner.backoff.ms=50", "log.cleaner.threads=2")
	if err != nil {
		t.Fatal(err)
	}
	start(t, source)
	writeCompacted(t, source.Address())
	stop(t, source)
	folders := map[string]string{"apache": t.TempDir(), "ours": t.TempDir()}
	nodes := map[string]*kit.Node{}
	servers := map[string]kit.Server{"apache": apache, "ours": binary}
	for name, s := range servers {
		if err := os.CopyFS(folders[name], os.DirFS(source.Dir)); err != nil {
			t.Fatal(err)
		}
		n, err := kit.AdoptNode(s, folders[name], "log.cleaner.enable")
		if err != nil {
			t.Fatal(err)
		}
		nodes[name] = n
	}
	read, readByConsole := map[string][]string{}, map[string][]string{}
	for _, name := range []string{"apache", "ours"} {
		n := nodes[name]
		start(t, n)
		awaitCompacted(t, n)
		read[name] = consumeCompacted(t, n.Address())
		readByConsole[name] = consoleCompacted(t, apache, n.Address(), len(read[name]))
		stop(t, n)
	}
	same(t, "what consumers read", read["ours"], read["apache"])
	same(t, "what Apache's console consumer reads", readByConsole["ours"], readByConsole["apache"])
	for topic := range compactedTopics {
		same(t, topic, batchesOf(t, nodes["ours"], topic), batchesOf(t, nodes["apache"], topic))
	}
	for topic := range compactedTopics {
		same(t, topic+", indexes", indexesOf(t, nodes["ours"], topic), indexesOf(t, nodes["apache"], topic))
	}
	same(t, "what dump-log says of each file", complaints(t, apache, nodes["ours"]), complaints(t, apache, nodes["apache"]))
	finishesHalfDone(t, source, nodes, servers)
	back := nodes["ours"].As(apache)
	start(t, back)
	same(t, "what Apache reads in our folder", consumeCompacted(t, back.Address()), read["apache"])
	stop(t, back)
}

// same compares two lists line by line.
func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		g, w := "nothing", "nothing"
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			t.Errorf("%s, line %d:\n got %s\nwant %s", what, i, g, w)
			return
		}
	}
	t.Logf("%s: %d lines", what, len(got))
}

// writeCompacted fills the topics with updates and tombstones, from several
// producers, in transactions that commit and abort, with each codec.
func writeCompacted(t *testing.T, bootstrap string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	topics := map[string]map[string]*string{}
	for topic, more := range compactedTopics {
		topics[topic] = map[string]*string{"cleanup.policy": ptr("compact"), "min.cleanable.dirty.ratio": ptr("0"), "internal.segment.bytes": ptr("6000"), "index.interval.bytes": ptr("500")}
		maps.Copy(topics[topic], more)
	}
	createEach(ctx, t, bootstrap, 1, topics)
	rnd := rand.New(rand.NewPCG(7, 7))
	codecs := []kgo.CompressionCodec{kgo.NoCompression(), kgo.GzipCompression(), kgo.SnappyCompression(), kgo.Lz4Compression(), kgo.ZstdCompression()}
	for round := range 10 {
		for _, topic := range []string{"c-plain", "c-gone", "c-time"} {
			produceBatches(ctx, t, bootstrap, topic, rnd, 12, kgo.NoCompression())
		}
		produceBatches(ctx, t, bootstrap, "c-codec", rnd, 12, codecs[round%len(codecs)])
		transact(ctx, t, bootstrap, rnd, fmt.Sprintf("t%d", round%3), round%2 == 0)
	}
	for topic := range compactedTopics { // the active segment is not compacted
		produceBatches(ctx, t, bootstrap, topic, rnd, 1, kgo.NoCompression())
	}
	joinSegments(ctx, t, bootstrap)
}

// joinSegments lets larger segments be made of those of all topics but one.
func joinSegments(ctx context.Context, t *testing.T, bootstrap string) {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(bootstrap))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	for topic := range compactedTopics {
		if topic == "c-gone" {
			continue
		}
		answers, err := kadm.NewClient(cl).AlterTopicConfigs(ctx, []kadm.AlterConfig{{Op: kadm.SetConfig, Name: "internal.segment.bytes", Value: ptr("20000")}}, topic)
		if err != nil || answers[0].Err != nil {
			t.Fatalf("%v %+v", err, answers)
		}
	}
}

func randomRecords(topic string, rnd *rand.Rand) (out []*kgo.Record) {
	for range 1 + rnd.IntN(9) {
		r := &kgo.Record{Topic: topic, Key: fmt.Appendf(nil, "k%d", rnd.IntN(40)), Headers: []kgo.RecordHeader{{Key: "h", Value: []byte("v")}}}
		if rnd.IntN(4) > 0 {
			r.Value = []byte(strings.Repeat("v", rnd.IntN(90)) + strconv.Itoa(rnd.IntN(1000)))
		}
		out = append(out, r)
	}
	return out
}

func produceBatches(ctx context.Context, t *testing.T, bootstrap, topic string, rnd *rand.Rand, n int, codec kgo.CompressionCodec) {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(bootstrap), kgo.ProducerBatchCompression(codec), kgo.ManualFlushing())
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	for range n {
		produceOnce(ctx, t, cl, randomRecords(topic, rnd))
	}
}

// produceOnce produces records as one batch.
func produceOnce(ctx context.Context, t *testing.T, cl *kgo.Client, records []*kgo.Record) {
	t.Helper()
	for _, r := range records {
		cl.Produce(ctx, r, func(_ *kgo.Record, err error) {
			if err != nil {
				t.Errorf("produce: %v", err)
			}
		})
	}
	if err := cl.Flush(ctx); err != nil {
		t.Fatal(err)
	}
}

// transact writes a few batches in a transaction; another producer writes between
// them.
func transact(ctx context.Context, t *testing.T, bootstrap string, rnd *rand.Rand, id string, commit bool) {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(bootstrap), kgo.TransactionalID(id), kgo.ManualFlushing())
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	for range 3 {
		if err := cl.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			produceOnce(ctx, t, cl, randomRecords("c-txn", rnd))
			produceBatches(ctx, t, bootstrap, "c-txn", rnd, 1, kgo.NoCompression())
		}
		end := kgo.TryCommit
		if !commit {
			end = kgo.TryAbort
		}
		if err := cl.EndTransaction(ctx, end); err != nil {
			t.Fatal(err)
		}
		commit = !commit
	}
}

// segmentsOf are the log files of a topic's partition, in order.
func segmentsOf(t *testing.T, n *kit.Node, topic string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(n.DataDir(), topic+"-0", "*.log"))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	return files
}

// awaitCompacted waits until each topic is clean up to its active segment.
func awaitCompacted(t *testing.T, n *kit.Node) {
	t.Helper()
	want := map[string]string{}
	for topic := range compactedTopics {
		files := segmentsOf(t, n, topic)
		base, err := strconv.ParseInt(strings.TrimSuffix(filepath.Base(files[len(files)-1]), ".log"), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		want[topic] = fmt.Sprintf("%s 0 %d\n", topic, base)
	}
	deadline := time.Now().Add(2 * time.Minute)
	for {
		text, err := os.ReadFile(filepath.Join(n.DataDir(), "cleaner-offset-checkpoint"))
		if err != nil {
			t.Fatal(err)
		}
		missing := ""
		for _, line := range want {
			if !strings.Contains(string(text), line) {
				missing += line
			}
		}
		if missing == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("not compacted in 2 minutes: %sthe checkpoint is\n%s", missing, text)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// batchesOf describes the batches of a topic, segment by segment. CRC and size are
// there where the bytes must be equal.
func batchesOf(t *testing.T, n *kit.Node, topic string) (out []string) {
	t.Helper()
	for _, file := range segmentsOf(t, n, topic) {
		out = append(out, filepath.Base(file))
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		be := binary.BigEndian
		for len(b) > 0 {
			size := 12 + int(be.Uint32(b[8:]))
			attributes := be.Uint16(b[21:])
			line := fmt.Sprintf("base %d epoch %d attributes %#x last %d max %d producer %d/%d sequence %d count %d", be.Uint64(b), be.Uint32(b[12:]),
				attributes, be.Uint32(b[23:]), be.Uint64(b[35:]), int64(be.Uint64(b[43:])), int16(be.Uint16(b[51:])), int32(be.Uint32(b[53:])), be.Uint32(b[57:]))
			if attributes&0x47 == 0 {
				line += fmt.Sprintf(" size %d crc %08x", size, be.Uint32(b[17:]))
			}
			out = append(out, line)
			b = b[size:]
		}
	}
	return out
}

// indexesOf are the transaction indexes of a topic and the last entries of its time
// indexes. Where the other entries lie follows from the size of batches, and that from
// the time of the cleaning: a delete horizon is what timestamps are counted from.
func indexesOf(t *testing.T, n *kit.Node, topic string) (out []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(n.DataDir(), topic+"-0", "*index"))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Ext(file) == ".timeindex" {
			b = b[max(0, len(b)-12):]
		}
		if filepath.Ext(file) != ".index" && len(b) > 0 {
			out = append(out, fmt.Sprintf("%s %x", filepath.Base(file), b))
		}
	}
	return out
}

// complaints are what Apache's dump-log finds in the files of the topics. It compares
// time indexes with records, and so complains of some that Apache wrote itself: an
// entry stands for a batch of which cleaning has left the header alone.
func complaints(t *testing.T, apache *kit.Apache, n *kit.Node) (out []string) {
	t.Helper()
	var files []string
	for topic := range compactedTopics {
		for _, pattern := range []string{"*.log", "*index", "*.snapshot"} {
			found, err := filepath.Glob(filepath.Join(n.DataDir(), topic+"-0", pattern))
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, found...)
		}
	}
	slices.Sort(files)
	dump, err := apache.Tool("dump-log", "--print-data-log", "--files", strings.Join(files, ","))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(dump.Stdout + dump.Stderr) {
		if dumpComplaint(line) {
			out = append(out, strings.TrimSpace(strings.ReplaceAll(line, n.DataDir(), "")))
		}
	}
	slices.Sort(out)
	return append(out, fmt.Sprintf("exit %d, %d files", dump.Exit, len(files)))
}

// consumeCompacted reads all topics, once as they are and once as committed.
func consumeCompacted(t *testing.T, bootstrap string) (out []string) {
	t.Helper()
	for _, level := range []kgo.IsolationLevel{kgo.ReadUncommitted(), kgo.ReadCommitted()} {
		for _, topic := range slices.Sorted(maps.Keys(compactedTopics)) {
			out = append(out, consumeTopic(t, bootstrap, topic, level)...)
		}
	}
	return out
}

// consoleCompacted reads the same with Apache's console consumer, in no order: records
// is how many there are in both passes.
func consoleCompacted(t *testing.T, apache *kit.Apache, bootstrap string, records int) (out []string) {
	t.Helper()
	for _, level := range []string{"read_uncommitted", "read_committed"} {
		args := []string{"--bootstrap-server", bootstrap, "--include", "c-.*", "--from-beginning", "--isolation-level", level, "--timeout-ms", "5000"}
		for _, property := range []string{"print.timestamp", "print.offset", "print.key", "print.headers"} {
			args = append(args, "--formatter-property", property+"=true")
		}
		printed, err := apache.Tool("console-consumer", append(args, "--formatter-property", "null.literal=TOMBSTONE")...)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(printed.Stdout), "\n")
		slices.Sort(lines)
		records -= len(lines)
		for _, line := range lines {
			out = append(out, level+" "+line)
		}
		if !strings.Contains(printed.Stdout, "TOMBSTONE") {
			t.Errorf("no tombstone, exit %d: %s", printed.Exit, printed.Stderr)
		}
	}
	if records != 0 {
		t.Errorf("%d records are missing", records)
	}
	return out
}

func consumeTopic(t *testing.T, bootstrap, topic string, level kgo.IsolationLevel) (out []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cl, err := kgo.NewClient(kgo.SeedBrokers(bootstrap), kgo.FetchIsolationLevel(level), kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: {0: kgo.NewOffset().AtStart()}}))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	ends, err := kadm.NewClient(cl).ListEndOffsets(ctx, topic)
	if err != nil {
		t.Fatal(err)
	}
	end, _ := ends.Lookup(topic, 0)
	for last := int64(-1); last < end.Offset-1; {
		fetches := cl.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatalf("%s: %v after offset %d of %d", topic, err, last, end.Offset)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			last = r.Offset
			out = append(out, fmt.Sprintf("%s %d %d %s=%q %v", topic, r.Offset, r.Timestamp.UnixMilli(), r.Key, r.Value, r.Headers))
		})
	}
	return out
}
