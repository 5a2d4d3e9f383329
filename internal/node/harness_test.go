package node

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"barnabas/internal/admin"
	"barnabas/internal/base/vfs"
	"barnabas/internal/config"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for something that has to come.
const patience = 30 * time.Second

// fixture is a running node with its log.
type fixture struct {
	*Node
	t   *testing.T
	log *lines
	// mayFail allows stop to tell of an error: the test has broken the disk.
	mayFail bool
}

// lines is a log that is written by many.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// options are those of a node with its data in dir and free ports.
func options(t *testing.T, dir string, overrides ...string) (Options, *lines) {
	t.Helper()
	o := append([]string{"log.dirs=" + dir, "listeners=PLAINTEXT://127.0.0.1:0,CONTROLLER://127.0.0.1:0", "barnabas.admin.listener=127.0.0.1:0"}, overrides...)
	c, _, err := config.Load(config.Options{Environ: []string{"HOME=" + dir}, Overrides: o})
	if err != nil {
		t.Fatal(err)
	}
	log := &lines{}
	return Options{Config: c, AutoFormat: true, Log: slog.New(slog.NewTextHandler(log, nil)), Level: new(slog.LevelVar)}, log
}

// launch starts a node and does not wait.
func launch(t *testing.T, o Options, log *lines) *fixture {
	t.Helper()
	n, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{Node: n, t: t, log: log}
	t.Cleanup(func() {
		f.stop()
		if t.Failed() {
			t.Logf("log of the node:\n%s", log)
		}
	})
	return f
}

// start starts a node and waits until clients are let in.
func start(t *testing.T, dir string, overrides ...string) *fixture {
	t.Helper()
	o, log := options(t, dir, overrides...)
	f := launch(t, o, log)
	f.awaitServing()
	return f
}

func (f *fixture) awaitServing() {
	f.t.Helper()
	select {
	case <-f.Serving():
	case <-f.Failed():
		f.t.Fatal(f.Failure())
	case <-time.After(patience):
		f.t.Fatal("not serving")
	}
}

// stop stops the node cleanly; it may be called again.
func (f *fixture) stop() {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := f.Stop(ctx); err != nil && !f.mayFail {
		f.t.Error(err)
	}
}

// crashed is a copy of the node's folder as a kill would leave it now.
func (f *fixture) crashed(dir string) string {
	f.t.Helper()
	to := filepath.Join(f.t.TempDir(), "crashed")
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		f.t.Fatal(err)
	}
	return to
}

func (f *fixture) address() string { return f.Address("PLAINTEXT").String() }

// client is a client of the node until the test ends or close is called.
func (f *fixture) client(more ...kgo.Opt) (c *kgo.Client, closeClient func()) {
	f.t.Helper()
	c, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(f.address())}, more...)...)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(c.Close)
	return c, c.Close
}

func (f *fixture) context() context.Context {
	ctx, cancel := context.WithTimeout(f.t.Context(), patience)
	f.t.Cleanup(cancel)
	return ctx
}

func (f *fixture) create(topic string, partitions int32, configs map[string]*string) {
	f.t.Helper()
	c, done := f.client()
	defer done()
	if _, err := kadm.NewClient(c).CreateTopic(f.context(), partitions, 1, configs, topic); err != nil {
		f.t.Fatal(err)
	}
}

// produce writes records "first" to "first+n-1" to a topic, one after another over
// its partitions.
func (f *fixture) produce(topic string, first, n int) {
	f.t.Helper()
	c, done := f.client(kgo.DefaultProduceTopic(topic), kgo.RecordPartitioner(kgo.RoundRobinPartitioner()))
	defer done()
	var records []*kgo.Record
	for i := range n {
		records = append(records, kgo.StringRecord(fmt.Sprint(first+i)))
	}
	if err := c.ProduceSync(f.context(), records...).FirstErr(); err != nil {
		f.t.Fatal(err)
	}
}

// consume reads n records of a topic from its start and checks that they are "0" to
// "n-1", each once.
func (f *fixture) consume(topic string, n int) {
	f.t.Helper()
	c, done := f.client(kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	defer done()
	seen := map[string]int{}
	for got := 0; got < n; {
		fetches := c.PollFetches(f.context())
		if err := fetches.Err(); err != nil {
			f.t.Fatal(err)
		}
		fetches.EachRecord(func(r *kgo.Record) { seen[string(r.Value)]++; got++ })
	}
	for i := range n {
		if seen[fmt.Sprint(i)] != 1 {
			f.t.Fatalf("record %d came %d times", i, seen[fmt.Sprint(i)])
		}
	}
}

// get reads a page of the admin listener.
func (f *fixture) get(path string) (status int, body string) {
	f.t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	resp, err := client.Get("http://" + f.AdminAddress().String() + path)
	if err != nil {
		f.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func (f *fixture) ready() (status int, r admin.Readiness) {
	f.t.Helper()
	status, body := f.get("/readyz")
	if err := json.Unmarshal([]byte(body), &r); err != nil {
		f.t.Fatal(err)
	}
	return status, r
}

// eventually waits until cond holds.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !cond(); {
		if time.Now().After(deadline) {
			t.Fatalf("not after %v: %s", patience, what)
		}
		time.Sleep(time.Millisecond)
	}
}

// heldFS lets nobody open a file whose path contains a word until release closes.
type heldFS struct {
	vfs.FS
	word    string
	release chan struct{}
}

func (h *heldFS) Open(path string, mode vfs.Mode) (vfs.File, error) {
	if strings.Contains(path, h.word) {
		<-h.release
	}
	return h.FS.Open(path, mode)
}
