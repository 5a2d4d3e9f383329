package kafkatest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newClient(t *testing.T, n *Node, more ...kgo.Opt) *kgo.Client {
	t.Helper()
	c, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(n.Addr())}, more...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func testContext(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

func produce(t *testing.T, n *Node, topic string, values ...string) {
	t.Helper()
	c := newClient(t, n, kgo.DefaultProduceTopic(topic))
	for _, v := range values {
		if err := c.ProduceSync(testContext(t), kgo.StringRecord(v)).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
}

// consume reads a topic from its start until it has n records.
func consume(t *testing.T, n *Node, topic string, count int) (values []string) {
	t.Helper()
	c := newClient(t, n, kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	for len(values) < count {
		fetches := c.PollFetches(testContext(t))
		if err := fetches.Err(); err != nil {
			t.Fatal(err)
		}
		fetches.EachRecord(func(r *kgo.Record) { values = append(values, string(r.Value)) })
	}
	return values
}

func TestDataSurvivesARestart(t *testing.T) {
	dirs := map[string][]Option{"in memory": nil, "in a folder": {Dir(filepath.Join(t.TempDir(), "data"))}}
	for name, where := range dirs {
		t.Run(name, func(t *testing.T) {
			n := Start(t, append(where, Topic("a", 1))...)
			address := n.Addr()
			produce(t, n, "a", "one", "two")
			if err := n.Restart(); err != nil {
				t.Fatal(err)
			}
			if n.Addr() != address {
				t.Errorf("address %s, was %s", n.Addr(), address)
			}
			produce(t, n, "a", "three")
			if got := consume(t, n, "a", 3); strings.Join(got, " ") != "one two three" {
				t.Errorf("%q", got)
			}
		})
	}
}

// TestLargeRecordsInMemory: what the operating system would send from a file by
// itself comes from memory as well.
func TestLargeRecordsInMemory(t *testing.T) {
	n := Start(t, Topic("a", 1))
	var want []string
	for i := range 20 {
		want = append(want, strings.Repeat(fmt.Sprint(i%10), 900_000))
	}
	produce(t, n, "a", want...)
	for i, got := range consume(t, n, "a", len(want)) {
		if got != want[i] {
			t.Fatalf("record %d differs", i)
		}
	}
}

func TestTopicsAndConfigs(t *testing.T) {
	n := Start(t, Topic("a", 3, "cleanup.policy=compact", "retention.ms=5"), Topic("b", 1),
		Config("num.partitions", "7"), Config("barnabas.admin.listener", "127.0.0.1:0"))
	adm := kadm.NewClient(newClient(t, n))
	topics, err := adm.ListTopics(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(topics["a"].Partitions) != 3 || len(topics["b"].Partitions) != 1 {
		t.Errorf("topics %v", topics)
	}
	if _, err := adm.CreateTopic(testContext(t), -1, -1, nil, "c"); err != nil {
		t.Fatal(err)
	}
	if topics, err = adm.ListTopics(testContext(t), "c"); err != nil || len(topics["c"].Partitions) != 7 {
		t.Errorf("num.partitions=7: %v, %v", topics, err)
	}
	configs, err := adm.DescribeTopicConfigs(testContext(t), "a")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, c := range configs[0].Configs {
		got[c.Key] = c.MaybeValue()
	}
	if got["cleanup.policy"] != "compact" || got["retention.ms"] != "5" {
		t.Errorf("configs %v", got)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	resp, err := client.Get("http://" + n.AdminAddr() + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if err := n.Stop(); err != nil || n.AdminAddr() != "" {
		t.Errorf("stop: %v, admin listener %q", err, n.AdminAddr())
	}
}

// TestATopicThatWasDeletedStaysSo across a restart.
func TestATopicThatWasDeletedStaysSo(t *testing.T) {
	n := Start(t, Topic("a", 1))
	c := newClient(t, n)
	if _, err := kadm.NewClient(c).DeleteTopic(testContext(t), "a"); err != nil {
		t.Fatal(err)
	}
	if err := n.Restart(); err != nil {
		t.Fatal(err)
	}
	if topics, err := kadm.NewClient(c).ListTopics(testContext(t)); err != nil || len(topics) != 0 {
		t.Errorf("topics %v, %v", topics, err)
	}
}

func TestNodesDoNotKnowEachOther(t *testing.T) {
	for i := range 4 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			n := Start(t, Topic("a", 1))
			produce(t, n, "a", t.Name())
			if got := consume(t, n, "a", 1); got[0] != t.Name() {
				t.Errorf("%q", got)
			}
		})
	}
}

func TestWhatCannotStartIsAnError(t *testing.T) {
	for want, o := range map[string][]Option{
		"num.partitions": {Config("num.partitions", "many")},
		"INVALID_TOPIC":  {Topic("a/b", 1)},
		"key=value":      {Topic("a", 1, "retention.ms")},
		"is in use":      {Dir(Start(t, Dir(t.TempDir())).options.dir)},
	} {
		n, err := Open(o...)
		if err == nil {
			t.Errorf("%s: no error, stopped: %v", want, n.Stop())
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
}

// TestNothingIsLeft: goroutines, descriptors, the port and, in a folder, nothing but
// Kafka's files.
func TestNothingIsLeft(t *testing.T) {
	dir := t.TempDir()
	for name, where := range map[string][]Option{"in memory": nil, "in a folder": {Dir(dir)}} {
		if runtime.GOOS != "linux" {
			break
		}
		t.Run(name, func(t *testing.T) {
			goroutines, descriptors := goleak.IgnoreCurrent(), openDescriptors(t)
			for range 3 {
				n, err := Open(append(where, Topic("a", 10))...)
				if err != nil {
					t.Fatal(err)
				}
				c, err := kgo.NewClient(kgo.SeedBrokers(n.Addr()))
				if err != nil {
					t.Fatal(err)
				}
				if err := c.Ping(testContext(t)); err != nil {
					t.Fatal(err)
				}
				if err := errors.Join(n.Restart(), n.Stop(), n.Stop()); err != nil {
					t.Fatal(err)
				}
				c.Close()
				if conn, err := net.Dial("tcp", n.Addr()); err == nil {
					conn.Close()
					t.Error("the port is still open")
				}
			}
			goleak.VerifyNone(t, goroutines)
			if now := openDescriptors(t); now > descriptors {
				t.Errorf("%d descriptors, at first %d", now, descriptors)
			}
		})
	}
	if _, err := os.Stat(filepath.Join(dir, ".lock")); err == nil {
		t.Error("the lock is left")
	}
	if _, err := os.Stat(memoryDir); err == nil {
		t.Errorf("%s is on the disk", memoryDir)
	}
}

func openDescriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func TestTheLogKeepsItsEnd(t *testing.T) {
	l := &tail{}
	for i := range 100_000 {
		fmt.Fprintf(l, "line %d\n", i)
	}
	if s := l.String(); len(s) != keptLog || !strings.HasSuffix(s, "line 99999\n") {
		t.Errorf("%d bytes, end %q", len(s), s[len(s)-20:])
	}
	if cap(l.bytes) > 4*keptLog {
		t.Errorf("it takes %d bytes", cap(l.bytes))
	}
	if l := (&tail{bytes: bytes.Repeat([]byte("x"), 3)}); l.String() != "xxx" {
		t.Error(l.String())
	}
}

// BenchmarkStart is a node from nothing to serving, and its end.
func BenchmarkStart(b *testing.B) {
	var stops time.Duration
	for b.Loop() {
		n, err := Open()
		if err != nil {
			b.Fatal(err)
		}
		begun := time.Now()
		if err := n.Stop(); err != nil {
			b.Fatal(err)
		}
		stops += time.Since(begun)
	}
	b.ReportMetric(float64(stops.Nanoseconds())/float64(b.N), "ns/stop")
}
