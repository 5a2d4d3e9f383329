package quorum

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/metarec"
	"barnabas/internal/raft"
	"barnabas/internal/record"
)

type kafkaOffset = kafka.Offset

const testDir = "data"

// clock is a clock that a test moves; each look at it is a millisecond later.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.UnixMilli(1_795_961_430_000)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(time.Millisecond)
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// follower is a Listener that keeps what it is told.
type follower struct {
	mu       sync.Mutex
	changed  chan struct{} // closed and made anew at each call
	snapshot *SnapshotID
	batches  []record.Batch
	all      []string // values of all data records, those of the snapshot first
	changes  []LeaderChange
	cuts     []LeaderChange // what CutBack was told
	err      error          // what Committed returns
}

func newFollower() *follower { return &follower{changed: make(chan struct{})} }

func (f *follower) note() {
	close(f.changed)
	f.changed = make(chan struct{})
}

func (f *follower) LoadSnapshot(r *SnapshotReader) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	id := r.ID()
	f.snapshot = &id
	batches, err := readAll(r)
	if err != nil {
		return err
	}
	f.all, err = batchValues(batches)
	f.note()
	return err
}

func (f *follower) Committed(batches []record.Batch) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.batches = append(f.batches, batches...)
	values, err := batchValues(batches)
	f.all = append(f.all, values...)
	f.note()
	return errors.Join(err, f.err)
}

func (f *follower) LeaderChanged(c LeaderChange) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.changes = append(f.changes, c)
	f.note()
}

func (f *follower) CutBack(c LeaderChange) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cuts = append(f.cuts, c)
	f.note()
}

// await waits until done, which is called with the follower locked, says so.
func (f *follower) await(t testing.TB, what string, done func() bool) {
	t.Helper()
	limit := time.After(30 * time.Second)
	for {
		f.mu.Lock()
		ok, changed := done(), f.changed
		f.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-limit:
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func (f *follower) awaitLeader(t testing.TB) LeaderChange {
	t.Helper()
	f.await(t, "a leader", func() bool { return len(f.changes) > 0 })
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.changes[len(f.changes)-1]
}

// end is the offset behind what was committed.
func (f *follower) end() kafka.Offset {
	if len(f.batches) == 0 {
		return 0
	}
	return f.batches[len(f.batches)-1].NextOffset()
}

func (f *follower) awaitOffset(t testing.TB, offset kafka.Offset) {
	t.Helper()
	f.await(t, fmt.Sprintf("offset %d", offset), func() bool { return f.end() > offset })
}

// values are the values of the data records that were committed.
func (f *follower) values(t testing.TB) []string {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	values, err := batchValues(f.batches)
	if err != nil {
		t.Fatal(err)
	}
	return values
}

func batchValues(batches []record.Batch) (out []string, err error) {
	for _, b := range batches {
		if b.IsControl() {
			continue
		}
		if err := eachRecord(b, func(r *record.Record) error { out = append(out, string(r.Value)); return nil }); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

func endpoint(port uint16) []raft.Endpoint {
	return []raft.Endpoint{{Listener: "CONTROLLER", Host: "127.0.0.1", Port: port}}
}

// formatFolder formats testDir for node 1 as the only voter.
func formatFolder(t testing.TB, fsys vfs.FS, c *clock) kafka.UUID {
	t.Helper()
	id, err := formatOnly(fsys, testDir, c)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func formatOnly(fsys vfs.FS, dir string, c *clock) (kafka.UUID, error) {
	random := rand.NewChaCha8([32]byte{7})
	id, err := kafka.RandomUUID(random)
	if err != nil {
		return id, err
	}
	_, err = Format(FormatOptions{
		FS: fsys, ClusterID: "test", NodeID: 1, LogDirs: []string{dir}, MetadataDir: dir, Controller: true,
		Levels: ServedLevels(kafka.LatestMetadataVersion), KRaftVersion: 1,
		Voters: raft.VoterSet{{ReplicaKey: raft.ReplicaKey{ID: 1, Directory: id}, Endpoints: endpoint(9093), MaxKRaftVersion: 1}},
		Now:    c.Now, Random: random, IgnoreFormatted: true,
	})
	return id, err
}

// options are those of node 1; a failure of the quorum fails the test.
func options(t testing.TB, fsys vfs.FS, id kafka.UUID, c *clock) Options {
	return Options{
		FS: fsys, Dir: testDir, NodeID: 1, DirectoryID: id, Endpoints: endpoint(9093),
		SegmentBytes: 1 << 30, SegmentAge: 7 * 24 * time.Hour, MaxRetentionBytes: 100 << 20, MaxRetention: 7 * 24 * time.Hour,
		Now: c.Now, Logger: quiet(),
		Fatal: func(err error) { t.Errorf("the quorum failed: %v", err) },
	}
}

// startQuorum opens and starts, and closes at the end of the test.
func startQuorum(t testing.TB, o Options) (*Quorum, *follower) {
	t.Helper()
	q, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	f := newFollower()
	q.Start(f)
	t.Cleanup(func() { _ = q.Close() })
	return q, f
}

func stopQuorum(t testing.TB, q *Quorum) {
	t.Helper()
	if err := q.Close(); err != nil {
		t.Fatal(err)
	}
}

// configFrame is a framed record; n makes it different from others.
func configFrame(t testing.TB, n int) []byte {
	t.Helper()
	r := metarec.NewConfigRecord()
	value := fmt.Sprint(n)
	r.ResourceType, r.ResourceName, r.Name, r.Value = 2, "topic", "retention.ms", &value
	frame, err := metarec.Encode(nil, r, 0)
	if err != nil {
		t.Fatal(err)
	}
	return frame
}

// copyFolder copies a golden folder into a file system in memory, and makes it
// durable.
func copyFolder(t testing.TB, fsys vfs.FS, from string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join("testdata/golden", from), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(filepath.Join("testdata/golden", from), path)
		if err != nil {
			return err
		}
		to := filepath.Join(testDir, rel)
		if d.IsDir() {
			return makeDir(fsys, to)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return errors.Join(vfs.WriteFile(fsys, to, data), fsys.SyncDir(filepath.Dir(to)))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// logBatches reads the batches of the log from its file.
func logBatches(t testing.TB, fsys vfs.FS) []record.Batch {
	t.Helper()
	data, err := vfs.ReadFile(fsys, filepath.Join(testDir, folderName, "00000000000000000000.log"))
	if err != nil {
		t.Fatal(err)
	}
	batches, err := splitBatches(data, 1<<62)
	if err != nil {
		t.Fatal(err)
	}
	return batches
}

func controlRecords(t testing.TB, b record.Batch) (out []metarec.ControlRecord) {
	t.Helper()
	if err := eachControl(b, func(_ kafka.Offset, c metarec.ControlRecord) error { out = append(out, c); return nil }); err != nil {
		t.Fatal(err)
	}
	return out
}

func hasPrefix(all, front []string) bool {
	return len(front) <= len(all) && slices.Equal(all[:len(front)], front)
}
