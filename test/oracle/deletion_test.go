package oracle

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"barnabas/test/kit"
)

// deletesOnRequest are properties of a server that looks for old segments all the
// time, and finds none but those of topics that say so.
var deletesOnRequest = []string{"log.retention.ms=-1", "log.retention.check.interval.ms=100", "log.initial.task.delay.ms=100"}

// farOff is a timestamp that no retention reaches.
const farOff = int64(4_000_000_000_000)

// byteDeletions creates topics that lose segments by size and by age, some or all of
// them, or records by request, in the middle of a segment or up to the end.
func byteDeletions(s *Session) {
	c := s.Conn("d")
	create := func(name string) string {
		topic := s.Topic(name)
		createTopic(c, topic, 1, map[string]string{"segment.bytes": "1048576", "file.delete.delay.ms": "0", "message.timestamp.after.max.ms": fmt.Sprint(int64(math.MaxInt64))})
		return topic
	}
	fill := func(topic string, batches int, at int64) {
		for i := range batches {
			produce(c, topic, 0, Batch{Records: filled(10, 4000), Timestamp: at + int64(i), Idempotent: true, ProducerID: at/100_000_000_000 + int64(i%3), Sequence: int32(i / 3 * 10)})
		}
	}
	size := create("gone-size")
	fill(size, 90, longAgo) // 3.6 MB
	c.Ask(incremental(1, "topic:"+size, "+retention.bytes=1500000"))
	age := create("gone-age")
	fill(age, 60, longAgo)
	fill(age, 30, farOff)
	c.Ask(incremental(1, "topic:"+age, "+retention.ms=1000"))
	all := create("gone-all")
	fill(all, 60, longAgo)
	c.Ask(incremental(1, "topic:"+all, "+retention.ms=1000"))
	asked := create("gone-asked")
	fill(asked, 90, longAgo)
	c.Ask(deleteRecords(2, asked, 0, 405)) // in the middle of a batch
	inside := create("kept-inside")
	fill(inside, 20, longAgo)
	c.Ask(deleteRecords(2, inside, 0, 37))
	end := create("kept-end")
	fill(end, 20, longAgo)
	c.Ask(deleteRecords(2, end, 0, -1))
}

// awaitDeleted waits until the first segments of the topics that lose some are gone
// for good.
func awaitDeleted(t *testing.T, n *kit.Node) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		first, err := filepath.Glob(filepath.Join(n.DataDir(), "*.gone-*-0", "00000000000000000000.*"))
		if err != nil {
			t.Fatal(err)
		}
		deleted, err := filepath.Glob(filepath.Join(n.DataDir(), "*.gone-*-0", "*.deleted"))
		if err != nil {
			t.Fatal(err)
		}
		if len(first)+len(deleted) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after 30 s there are %v %v", first, deleted)
		}
	}
}

// checkpointsOf are the lines that a node's checkpoints have of the topics, sorted.
func checkpointsOf(t *testing.T, n *kit.Node) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for _, name := range []string{"recovery-point-offset-checkpoint", "log-start-offset-checkpoint", "replication-offset-checkpoint", "cleaner-offset-checkpoint"} {
		text, err := os.ReadFile(filepath.Join(n.DataDir(), name))
		if err != nil {
			t.Fatal(err)
		}
		lines := slices.DeleteFunc(strings.Split(string(text), "\n"), func(line string) bool { return !strings.HasPrefix(line, "bytes.") })
		slices.Sort(lines)
		out[name] = []byte(strings.Join(lines, "\n"))
	}
	return out
}

// deleteLoad lets some of the load topics, and one of several segments, lose segments or
// records.
func deleteLoad(t *testing.T, bootstrap string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cl, err := kgo.NewClient(kgo.SeedBrokers(bootstrap), kgo.ProducerBatchCompression(kgo.NoCompression()))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	createEach(ctx, t, bootstrap, 1, map[string]map[string]*string{"load-size": {"segment.bytes": ptr("1048576")}})
	for i := range 40 { // 4 MB
		r := &kgo.Record{Topic: "load-size", Value: make([]byte, 100_000), Timestamp: time.UnixMilli(longAgo + int64(i))}
		if err := cl.ProduceSync(ctx, r).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	admin := kadm.NewClient(cl)
	ends, err := admin.ListEndOffsets(ctx, "load-plain")
	if err != nil {
		t.Fatal(err)
	}
	upTo := kadm.Offsets{}
	for p, divisor := range []int64{2, 1} { // the third partition keeps all
		end, _ := ends.Lookup("load-plain", int32(p))
		upTo.Add(kadm.Offset{Topic: "load-plain", Partition: int32(p), At: end.Offset / divisor})
	}
	deleted, err := admin.DeleteRecords(ctx, upTo)
	if err != nil || deleted.Error() != nil {
		t.Fatal(err, deleted.Error())
	}
	for topic, set := range map[string]kadm.AlterConfig{
		"load-size":  {Op: kadm.SetConfig, Name: "retention.bytes", Value: ptr("1500000")}, // a part
		"load-small": {Op: kadm.SetConfig, Name: "retention.ms", Value: ptr("1000")},       // all
	} {
		answers, err := admin.AlterTopicConfigs(ctx, []kadm.AlterConfig{set}, topic)
		if err != nil || answers[0].Err != nil {
			t.Fatal(err, answers)
		}
		awaitStart(ctx, t, admin, topic)
	}
}

// awaitStart waits until no partition of a topic begins at offset 0.
func awaitStart(ctx context.Context, t *testing.T, admin *kadm.Client, topic string) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		starts, err := admin.ListStartOffsets(ctx, topic)
		if err != nil {
			t.Fatal(err)
		}
		kept := 0
		starts.Each(func(o kadm.ListedOffset) {
			if o.Offset == 0 {
				kept++
			}
		})
		if kept == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after 30 s %d partitions of %s have lost nothing", kept, topic)
		}
	}
}
