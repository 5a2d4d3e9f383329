package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"barnabas/test/kit"
)

// TestKafkaConnectIsExactlyOnce runs a distributed worker of Apache's Kafka Connect under
// kills of the node, and kills the worker once. A source copies lines of a file into a
// topic, exactly once; a sink copies them into another file, at least once.
func TestKafkaConnectIsExactlyOnce(t *testing.T) {
	install, err := kit.InstallApache()
	if err != nil {
		t.Fatal(err)
	}
	node := newNode(t)
	createTopics(t, node.Address(), 1, copied)
	w := newWorker(t, install, node.Address())
	ctx, done := context.WithTimeout(context.Background(), 15*time.Minute)
	defer done()
	began := time.Now()
	w.start()
	w.appendLines(1000)
	w.connect(ctx, "source", map[string]string{
		"connector.class": "FileStreamSource", "file": w.from, "topic": copied, "batch.size": "20",
		"exactly.once.support": "required", "transaction.boundary": "poll",
	})
	w.connect(ctx, "sink", map[string]string{"connector.class": "FileStreamSink", "file": w.to, "topics": copied})
	for range *restarts {
		w.waitForCopies(ctx, w.lines/2)
		restart(t, node)
		w.appendLines(1000)
	}
	w.appendLines(1000)
	w.waitForCopies(ctx, w.lines-500)
	t.Logf("the worker is killed %v after the beginning", time.Since(began).Round(time.Second))
	w.kill()
	w.start()
	w.waitForAll(ctx)
	t.Logf("all is copied %v after the beginning", time.Since(began).Round(time.Second))
	w.waitForSink(ctx)
	t.Logf("all is in the second file %v after the beginning", time.Since(began).Round(time.Second))
	if err := w.program.signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	w.checkTopic(ctx)
	w.checkInternalTopics(ctx)
}

// copied is the topic between source and sink.
const copied = "copied"

// worker is a worker of Kafka Connect, with one file that is read and one that is
// written.
type worker struct {
	*testing.T
	install  *kit.Apache
	program  *javaProgram
	url      string
	settings string // file
	classes  string // folder of what the connectors need beside Connect
	from, to string // files
	lines    int    // in from
	adm      *kadm.Client
	address  string
}

func newWorker(t *testing.T, install *kit.Apache, address string) *worker {
	t.Helper()
	ports, err := kit.FreePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	w := &worker{T: t, install: install, url: fmt.Sprintf("http://127.0.0.1:%d", ports[0]), settings: filepath.Join(dir, "worker.properties"),
		classes: filepath.Join(dir, "classes"), from: filepath.Join(dir, "from"), to: filepath.Join(dir, "to"), address: address}
	if out, err := exec.Command("javac", "-d", w.classes, "java/AppInfoParser.java").CombinedOutput(); err != nil {
		t.Fatalf("javac: %v\n%s", err, out)
	}
	cl, err := kgo.NewClient(kgo.SeedBrokers(address))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	w.adm = kadm.NewClient(cl)
	settings := strings.Join([]string{
		"bootstrap.servers=" + address, "listeners=" + w.url, "group.id=connect", "exactly.once.source.support=enabled",
		"key.converter=org.apache.kafka.connect.storage.StringConverter", "value.converter=org.apache.kafka.connect.storage.StringConverter",
		"config.storage.topic=connect-configs", "offset.storage.topic=connect-offsets", "status.storage.topic=connect-status",
		"config.storage.replication.factor=1", "offset.storage.replication.factor=1", "status.storage.replication.factor=1",
		"offset.storage.partitions=5", "status.storage.partitions=2",
		"offset.flush.interval.ms=500", "consumer.isolation.level=read_committed", "producer.transaction.timeout.ms=10000",
		"consumer.session.timeout.ms=6000", "consumer.heartbeat.interval.ms=500", "plugin.discovery=service_load",
		// Soon back at work after the node or the worker was away.
		"session.timeout.ms=6000", "heartbeat.interval.ms=500", "reconnect.backoff.max.ms=500", "scheduled.rebalance.max.delay.ms=0",
	}, "\n")
	if err := os.WriteFile(w.settings, []byte(settings), 0o644); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *worker) start() {
	w.Helper()
	cmd := w.install.Program("256m", "org.apache.kafka.connect.cli.ConnectDistributed", w.settings)
	cmd.Args[slices.Index(cmd.Args, "-cp")+1] += ":" + w.classes
	w.program = newJavaProgram(w.T, cmd)
	if err := w.program.start(func([]byte) error { return nil }); err != nil {
		w.Fatal(err)
	}
}

func (w *worker) kill() {
	w.Helper()
	if err := w.program.signal(syscall.SIGKILL); err != nil {
		w.Fatal(err)
	}
}

func line(i int) string { return fmt.Sprintf("line %d", i) }

// appendLines gives the source more to read.
func (w *worker) appendLines(n int) {
	w.Helper()
	var text strings.Builder
	for range n {
		text.WriteString(line(w.lines) + "\n")
		w.lines++
	}
	f, err := os.OpenFile(w.from, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		w.Fatal(err)
	}
	_, err = f.WriteString(text.String())
	if err := errors.Join(err, f.Close()); err != nil {
		w.Fatal(err)
	}
}

// ask asks the worker. An answer in the 200s is read into answer.
func (w *worker) ask(ctx context.Context, method, path string, body, answer any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, method, w.url+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, said)
	}
	return json.Unmarshal(said, answer)
}

// connect makes a connector, as soon as the worker is there.
func (w *worker) connect(ctx context.Context, name string, settings map[string]string) {
	w.Helper()
	settings["tasks.max"] = "1"
	var last error
	w.waitFor(ctx, "connector "+name, func() bool {
		var made any
		last = w.ask(ctx, http.MethodPut, "/connectors/"+name+"/config", settings, &made)
		return last == nil
	}, func() any { return last })
}

// waitFor waits for a condition while the worker runs.
func (w *worker) waitFor(ctx context.Context, what string, done func() bool, why func() any) {
	w.Helper()
	for !done() {
		select {
		case <-w.program.ended:
			w.Fatalf("the worker has ended while it was waited for %s: %v", what, w.program.failed)
		case <-ctx.Done():
			w.Fatalf("waited for %s: %v", what, why())
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// state is what the worker says of its connectors and tasks.
func (w *worker) state() any {
	ctx, done := context.WithTimeout(context.Background(), 10*time.Second)
	defer done()
	var state any
	if err := w.ask(ctx, http.MethodGet, "/connectors?expand=status", nil, &state); err != nil {
		return err
	}
	return state
}

// waitForCopies waits until a number of lines is in the topic.
func (w *worker) waitForCopies(ctx context.Context, lines int) {
	w.Helper()
	w.waitFor(ctx, fmt.Sprintf("%d copies", lines), func() bool { return w.copies(ctx) >= lines }, w.state)
}

// waitForAll waits until all lines are in the topic. The source keeps lines in its
// buffer until it reads more, so it is given more.
func (w *worker) waitForAll(ctx context.Context) {
	w.Helper()
	w.waitFor(ctx, "all copies", func() bool {
		if w.copies(ctx) >= w.lines {
			return true
		}
		w.appendLines(1)
		return false
	}, w.state)
}

func (w *worker) copies(ctx context.Context) int {
	asking, done := context.WithTimeout(ctx, 10*time.Second)
	defer done()
	records, err := committedRecords(asking, w.adm, w.address, copied)
	if err != nil {
		return -1 // the node may be starting
	}
	return len(records)
}

// waitForSink waits until each line is in the second file. Nothing else is, but what the
// killed worker had not written to its end.
func (w *worker) waitForSink(ctx context.Context) {
	w.Helper()
	times := map[string]int{}
	w.waitFor(ctx, "all lines in the second file", func() bool {
		text, err := os.ReadFile(w.to)
		if err != nil {
			return false
		}
		clear(times)
		for l := range strings.Lines(string(text)) {
			times[strings.TrimSuffix(l, "\n")]++
		}
		for i := range w.lines {
			if times[line(i)] == 0 {
				return false
			}
		}
		return true
	}, w.state)
	again := -w.lines
	for i := range w.lines {
		again += times[line(i)]
	}
	if torn := len(times) - w.lines; torn > 1 {
		w.Errorf("the second file has %d lines that are not in the first", torn)
	}
	w.Logf("%d lines in the second file, %d came again", w.lines, again)
}

// checkTopic: each line is in the topic once, in order.
func (w *worker) checkTopic(ctx context.Context) {
	w.Helper()
	if _, err := stable(ctx, w.adm, copied); err != nil {
		w.Fatal(err)
	}
	copies, err := committedRecords(ctx, w.adm, w.address, copied)
	if err != nil {
		w.Fatal(err)
	}
	for i, r := range copies {
		if string(r.Value) != line(i) {
			w.Fatalf("record %d, at offset %d, is %q, want %q", i, r.Offset, r.Value, line(i))
		}
	}
	if len(copies) != w.lines {
		w.Errorf("%d records, want %d", len(copies), w.lines)
	}
}

// checkInternalTopics: what Connect keeps in topics is compacted.
func (w *worker) checkInternalTopics(ctx context.Context) {
	w.Helper()
	checkCleanup(w.T, ctx, w.adm, map[string]string{"connect-configs": "compact", "connect-offsets": "compact", "connect-status": "compact"})
}
