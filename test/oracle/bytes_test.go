package oracle

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/test/kit"
)

// TestFilesEqualApachesToTheByte does the same operations on both servers, deletions
// among them, and compares the files of the partitions: logs, indexes, producer
// snapshots and leader epochs, and what the checkpoints say, after a clean stop.
func TestFilesEqualApachesToTheByte(t *testing.T) {
	apache, ours := installApache(t), buildBarnabas(t)
	a := filesAfterOperations(t, apache)
	o := filesAfterOperations(t, ours)
	names := map[string]bool{}
	for name := range a {
		names[name] = true
	}
	for name := range o {
		names[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		x, inApache := a[name]
		y, inOurs := o[name]
		if inApache != inOurs {
			t.Errorf("%s: in Apache's folder %v, in ours %v", name, inApache, inOurs)
			continue
		}
		if !bytes.Equal(x, y) {
			t.Errorf("%s: %d and %d bytes, first difference at byte %d", name, len(x), len(y), firstDifference(x, y))
		}
	}
	t.Logf("%d files compared", len(names))
}

func firstDifference(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// filesAfterOperations are the files of the data partitions by name.
func filesAfterOperations(t *testing.T, s kit.Server) map[string][]byte {
	t.Helper()
	n, err := kit.NewNode(s, filepath.Join(t.TempDir(), "node"), deletesOnRequest...)
	if err != nil {
		t.Fatal(err)
	}
	start(t, n)
	for _, do := range []func(*Session){byteOperations, byteDeletions} {
		tr, err := runSequence(n, sequence{"bytes", do})
		if err != nil {
			t.Fatalf("%v\n%s", err, strings.Join(tr.Lines, "\n"))
		}
	}
	awaitDeleted(t, n)
	stop(t, n)
	files := checkpointsOf(t, n)
	folders, err := filepath.Glob(filepath.Join(n.DataDir(), "bytes.*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		entries, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.Name() == "partition.metadata" { // holds a random topic id
				continue
			}
			b, err := os.ReadFile(filepath.Join(folder, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			files[filepath.Join(filepath.Base(folder), e.Name())] = b
		}
	}
	return files
}

// byteOperations creates topics and produces batches whose bytes do not depend
// on the clock.
func byteOperations(s *Session) {
	c := s.Conn("a")
	sizes := s.Topic("sizes")
	createTopic(c, sizes, 1, map[string]string{"segment.bytes": "1048576", "index.interval.bytes": "1024"})
	for i := range 600 {
		produce(c, sizes, 0, Batch{Records: filled(1+i%5, 37*i%1500), Timestamp: 1_700_000_000_000 + int64(i)*10})
	}
	index := s.Topic("index")
	createTopic(c, index, 1, map[string]string{"segment.index.bytes": "128", "index.interval.bytes": "64"})
	for i := range 200 {
		produce(c, index, 0, Batch{Records: filled(2, 50), Timestamp: 1_700_000_000_000 - int64(i%9)*1000 + int64(i)*100})
	}
	times := s.Topic("times")
	createTopic(c, times, 1, map[string]string{"segment.ms": "10000"})
	for i := range 60 {
		produce(c, times, 0, Batch{Records: filled(3, 20), Timestamp: 1_700_000_000_000 + int64(i)*1500})
	}
	pids := s.Topic("pids")
	createTopic(c, pids, 1, map[string]string{"segment.bytes": "1048576"})
	for i := range 300 {
		produce(c, pids, 0, Batch{Records: filled(4, 1000), Timestamp: 1_700_000_000_000 + int64(i), Idempotent: true,
			ProducerID: int64(i % 3), Sequence: int32(i / 3 * 4)})
	}
	createTopic(c, s.Topic("empty"), 2, nil)
}

// createTopic creates a topic and waits until it has a leader.
func createTopic(c *Conn, topic string, partitions int32, configs map[string]string) {
	r := At(7, kmsg.NewPtrCreateTopicsRequest())
	r.TimeoutMillis = 30_000
	rt := kmsg.NewCreateTopicsRequestTopic()
	rt.Topic, rt.NumPartitions, rt.ReplicationFactor = topic, partitions, 1
	for _, k := range slices.Sorted(maps.Keys(configs)) {
		rc := kmsg.NewCreateTopicsRequestTopicConfig()
		rc.Name, rc.Value = k, kmsg.StringPtr(configs[k])
		rt.Configs = append(rt.Configs, rc)
	}
	r.Topics = append(r.Topics, rt)
	c.Ask(r)
	c.awaitLeader(topic, partitions)
}
