package node

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

var damageSeeds = flag.Int("damage-seeds", 1, "places at which each kind of file is damaged")

// damagedKind is a kind of file and what becomes of a node that finds it damaged.
type damagedKind struct {
	pattern string // below the folder
	// refused says that a node does not start on a file that makes no sense: what it
	// says cannot be known otherwise.
	refused bool
	// quiet says that the file is not looked at as a whole, so that no line is owed: an
	// index is a hint that each read checks, and of snapshots the newest is read.
	quiet bool
}

var damagedKinds = []damagedKind{
	{pattern: "a-0/*.log"},
	{pattern: "a-0/*.index", quiet: true},
	{pattern: "a-0/*.timeindex", quiet: true},
	{pattern: "a-0/*.snapshot", quiet: true},
	{pattern: "a-0/00000000000000000200.snapshot"}, // the newest, after a clean stop
	{pattern: "a-0/leader-epoch-checkpoint"},
	{pattern: "a-0/partition.metadata", refused: true},
	{pattern: "recovery-point-offset-checkpoint"},
	{pattern: "replication-offset-checkpoint"},
	{pattern: "log-start-offset-checkpoint"},
	{pattern: "cleaner-offset-checkpoint"},
	{pattern: "meta.properties", refused: true},
	{pattern: "bootstrap.checkpoint", quiet: true},
	{pattern: "__cluster_metadata-0/quorum-state", refused: true},
	{pattern: "__cluster_metadata-0/*.log", refused: true},
	{pattern: "__cluster_metadata-0/*.checkpoint", refused: true},
	{pattern: "__cluster_metadata-0/*.index", quiet: true},
	{pattern: "__cluster_metadata-0/leader-epoch-checkpoint"},
	{pattern: "__cluster_metadata-0/partition.metadata", refused: true},
}

const damageRecords = 200

// damageFolder is the folder of a node with topics a and b, stopped cleanly, and a copy
// of it as a kill would have left it.
func damageFolder(t *testing.T) (clean, killed string) {
	t.Helper()
	clean = t.TempDir()
	n := start(t, clean)
	small, interval := "2048", "200"
	for _, topic := range []string{"a", "b"} {
		n.create(topic, 1, map[string]*string{"internal.segment.bytes": &small, "index.interval.bytes": &interval})
		c, done := n.client(kgo.DefaultProduceTopic(topic))
		for i := range damageRecords {
			if err := c.ProduceSync(n.context(), kgo.StringRecord(fmt.Sprint(i))).FirstErr(); err != nil {
				t.Fatal(err)
			}
		}
		done()
	}
	killed = n.crashed(clean)
	n.stop()
	return clean, killed
}

// TestDamagedFiles: bytes of each kind of file are changed, and a node started on it. It
// refuses to start and says why, or it serves all that lies in files which are whole; it
// never panics, and about a file that makes no sense there is a line.
func TestDamagedFiles(t *testing.T) {
	clean, killed := damageFolder(t)
	for _, kind := range damagedKinds {
		for name, folder := range map[string]string{"clean": clean, "killed": killed} {
			for seed := range *damageSeeds {
				for _, how := range []string{"flipped", "garbage"} {
					if name == "killed" && how == "flipped" {
						continue // the clean folder has shown it
					}
					t.Run(fmt.Sprintf("%s/%s/%s/%d", strings.ReplaceAll(kind.pattern, "/", "+"), name, how, seed), func(t *testing.T) {
						damageAndStart(t, kind, folder, how, uint64(seed))
					})
				}
			}
		}
	}
}

// damageAndStart is the body of a subtest.
func damageAndStart(t *testing.T, kind damagedKind, folder, how string, seed uint64) {
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.CopyFS(dir, os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(seed, uint64(len(kind.pattern))))
	file := damage(t, dir, kind.pattern, how, rng)
	if file == "" {
		return // this folder has none with bytes in it
	}
	o, log := options(t, dir)
	o.AutoFormat = false
	n, err := Start(o)
	if err != nil {
		if !strings.Contains(err.Error(), filepath.Base(file)) && !strings.Contains(err.Error(), filepath.Dir(file)) {
			t.Errorf("the error does not name %s: %v", file, err)
		}
		t.Logf("refused: %v", err)
		if !kind.refused {
			t.Error("it need not be refused")
		}
		return
	}
	f := &fixture{Node: n, t: t, log: log}
	defer f.stop()
	select {
	case <-n.Serving():
	case <-n.Failed():
		t.Logf("failed: %v", n.Failure())
		if text := n.Failure().Error(); !strings.Contains(text, filepath.Base(file)) && !strings.Contains(text, filepath.Base(filepath.Dir(file))) {
			t.Errorf("the failure does not name %s: %v", file, n.Failure())
		}
		if !kind.refused {
			t.Error("it need not fail")
		}
		if f.stop(); how == "flipped" && kind.pattern == "__cluster_metadata-0/*.log" {
			staysRefused(t, dir)
		}
		return
	case <-time.After(patience):
		t.Fatalf("neither serving nor failed\n%s", log)
	}
	f.consumeStrings("b")
	if !strings.HasPrefix(kind.pattern, "a-0/") || !strings.HasSuffix(kind.pattern, ".log") {
		f.consumeStrings("a")
	}
	said := complaints(log.String())
	t.Logf("serves; said: %s", said)
	if how == "garbage" && said == "" && !kind.quiet && !strings.HasSuffix(kind.pattern, "a-0/*.log") {
		t.Errorf("not a line about %s", file)
	}
}

// staysRefused: the second start finds a log that was cut by the first, and the topics
// are still lost.
func staysRefused(t *testing.T, dir string) {
	t.Helper()
	o, log := options(t, dir)
	f := launch(t, o, log)
	select {
	case <-f.Failed():
	case <-time.After(patience):
		t.Errorf("the second start does not refuse\n%s", log)
	}
}

// damage changes a file of the kind and returns its path, "" if there is none.
func damage(t *testing.T, dir, pattern, how string, rng *rand.Rand) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		t.Fatal(err)
	}
	files = slices.DeleteFunc(files, func(f string) bool {
		info, err := os.Stat(f)
		return err != nil || info.Size() == 0
	})
	if len(files) == 0 {
		return ""
	}
	file := files[rng.IntN(len(files))]
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if how == "garbage" {
		for i := range content {
			content[i] = byte(rng.Uint32()) | 0x80
		}
	} else {
		for range 1 + rng.IntN(3) {
			content[rng.IntN(len(content))] ^= 1 << rng.IntN(8)
		}
	}
	if err := os.WriteFile(file, content, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s %s", how, file)
	return file
}

// complaints are the lines of a log that are warnings or errors.
func complaints(log string) string {
	var out []string
	for line := range strings.Lines(log) {
		if strings.Contains(line, "level=WARN") || strings.Contains(line, "level=ERROR") {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return strings.Join(out, "\n")
}

// consumeStrings reads a topic and checks that each record is there, in order.
func (f *fixture) consumeStrings(topic string) {
	f.t.Helper()
	c, done := f.client(kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	defer done()
	for next := 0; next < damageRecords; {
		fetches := c.PollFetches(f.context())
		if err := fetches.Err(); err != nil && !errors.Is(err, context.Canceled) {
			f.t.Fatalf("topic %s after %d records: %v\n%s", topic, next, err, f.log)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			if !bytes.Equal(r.Value, fmt.Append(nil, next)) {
				f.t.Errorf("topic %s: record %q at offset %d", topic, r.Value, r.Offset)
			}
			next++
		})
	}
}
