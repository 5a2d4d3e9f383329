package quorum

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/metarec"
	"barnabas/internal/raft"
	"barnabas/internal/record"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The first start of a formatted folder: the batch that begins the log is the one
// that Apache Kafka writes, and quorum-state names the leader.
func TestFirstStartOfAFreshFolder(t *testing.T) {
	fsys, c := vfs.NewMem(nil), newClock()
	id := formatFolder(t, fsys, c)
	q, f := startQuorum(t, options(t, fsys, id, c))
	want := LeaderChange{Epoch: 1, LeaderID: 1, IsLeader: true, NextOffset: 3}
	if got := f.awaitLeader(t); got != want {
		t.Errorf("leader %+v, want %+v", got, want)
	}
	bootstrap, err := q.Bootstrap()
	if err != nil || len(bootstrap.Frames) != 4 || !strings.HasSuffix(bootstrap.Source, "0-0000000000.checkpoint") {
		t.Errorf("bootstrap %+v, %v", bootstrap, err)
	}
	last, err := q.Append(1, [][]byte{configFrame(t, 1), configFrame(t, 2)}, Atomic)
	if err != nil || last != 4 {
		t.Fatalf("appended up to %d, %v", last, err)
	}
	f.awaitOffset(t, last)
	if s := q.Status(); s.HighWatermark != 5 || s.LogEnd != 5 || s.Role != raft.Leader || s.KRaftVersion != 1 || s.Voters[0].Directory != id {
		t.Errorf("status %+v", s)
	}
	stopQuorum(t, q)
	if change := f.changes[len(f.changes)-1]; change.IsLeader || change.LeaderID != kafka.NoBroker || change.Epoch != 1 {
		t.Errorf("after the end: %+v", change)
	}
	if f.snapshot != nil {
		t.Errorf("the snapshot that formatting wrote was loaded as one of committed records")
	}

	batches := logBatches(t, fsys)
	if len(batches) != 2 || batches[0].LeaderEpoch() != 1 || batches[1].LeaderEpoch() != 1 {
		t.Fatalf("%d batches", len(batches))
	}
	records := controlRecords(t, batches[0])
	if len(records) != 3 {
		t.Fatalf("control records %v", records)
	}
	change := records[0].(*metarec.LeaderChangeMessage)
	voters := records[2].(*metarec.VotersRecord)
	if change.LeaderID != 1 || len(change.Voters) != 1 || len(change.GrantingVoters) != 1 || records[1].(*metarec.KRaftVersionRecord).KRaftVersion != 1 ||
		voters.Voters[0].VoterDirectoryID != id || voters.Voters[0].Endpoints[0].Port != 9093 {
		t.Errorf("the epoch begins with %+v, %+v", change, voters)
	}
	state, err := vfs.ReadFile(fsys, filepath.Join(testDir, folderName, electionFileName))
	if want := `{"leaderId":1,"leaderEpoch":1,"votedId":-1,"votedDirectoryId":"AAAAAAAAAAAAAAAAAAAAAA","data_version":1}`; err != nil || string(state) != want {
		t.Errorf("quorum-state is %s, %v", state, err)
	}
	meta, err := vfs.ReadFile(fsys, filepath.Join(testDir, folderName, "partition.metadata"))
	if want := "version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ"; err != nil || string(meta) != want {
		t.Errorf("partition.metadata is %q, %v", meta, err)
	}
}

// A restart takes a new epoch and gives the listener all that was committed. The
// voter set is written again only when this node's endpoint has changed.
func TestRestart(t *testing.T) {
	fsys, c := vfs.NewMem(nil), newClock()
	id := formatFolder(t, fsys, c)
	var values []string
	for life := range 4 {
		o := options(t, fsys, id, c)
		if life == 2 {
			o.Endpoints = endpoint(9193)
		}
		q, f := startQuorum(t, o)
		change := f.awaitLeader(t)
		if change.Epoch != kafka.LeaderEpoch(life+1) || !change.IsLeader {
			t.Fatalf("life %d: %+v", life, change)
		}
		if got := f.values(t); !slices.Equal(got, values) {
			t.Fatalf("life %d: %d values, want %d", life, len(got), len(values))
		}
		frame := configFrame(t, life)
		last, err := q.Append(change.Epoch, [][]byte{frame}, Atomic)
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, string(frame))
		f.awaitOffset(t, last)
		stopQuorum(t, q)
	}
	var withVoters []kafka.LeaderEpoch
	for _, b := range logBatches(t, fsys) {
		if len(controlRecords(t, b)) == 3 {
			withVoters = append(withVoters, b.LeaderEpoch())
		}
	}
	// Life 3 goes back to the first endpoint: that is a change, too.
	if want := []kafka.LeaderEpoch{1, 3, 4}; !slices.Equal(withVoters, want) {
		t.Errorf("voter sets were written in epochs %v, want %v", withVoters, want)
	}
}

// Folders that Apache Kafka wrote: kraft.version 1 with a snapshot, clean and
// killed, and kraft.version 0 at metadata.version 3.3 with static voters.
func TestFoldersOfApacheAreOpened(t *testing.T) {
	directory := func(s string) kafka.UUID {
		id, err := kafka.ParseUUID(s)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	for _, g := range []struct {
		folder   string
		id       kafka.UUID
		static   raft.VoterSet
		snapshot *SnapshotID
		end      kafka.Offset
		epoch    kafka.LeaderEpoch // of the new leader
		kraft    int16
	}{
		{"clean", directory("IkYWTjb8Q6aUPRUi9rIm4w"), nil, &SnapshotID{345, 1}, 597, 3, 1},
		{"killed", directory("IkYWTjb8Q6aUPRUi9rIm4w"), nil, &SnapshotID{345, 1}, 707, 4, 1},
		{"static-3.3", directory("uokv2B6YBuVbvRKuP_yO-Q"), raft.VoterSet{{ReplicaKey: raft.ReplicaKey{ID: 1}}}, nil, 23, 2, 0},
	} {
		t.Run(g.folder, func(t *testing.T) {
			fsys, c := vfs.NewMem(nil), newClock()
			copyFolder(t, fsys, g.folder)
			before := logBatches(t, fsys)
			o := options(t, fsys, g.id, c)
			o.StaticVoters = g.static
			o.Endpoints = endpoint(22111)
			q, f := startQuorum(t, o)
			change := f.awaitLeader(t)
			if change.Epoch != g.epoch || change.NextOffset != g.end+1 {
				t.Errorf("leader %+v, want epoch %d, one record behind %d", change, g.epoch, g.end)
			}
			if (f.snapshot == nil) != (g.snapshot == nil) || g.snapshot != nil && *f.snapshot != *g.snapshot {
				t.Errorf("snapshot %v was loaded, want %v", f.snapshot, g.snapshot)
			}
			from := kafka.Offset(0)
			if g.snapshot != nil {
				from = g.snapshot.EndOffset
			}
			want := slices.DeleteFunc(slices.Clone(before), func(b record.Batch) bool { return b.BaseOffset() < from })
			if len(f.batches) != len(want)+1 {
				t.Fatalf("%d batches committed, want %d and one", len(f.batches), len(want))
			}
			for i, b := range want {
				if string(f.batches[i]) != string(b) {
					t.Errorf("batch at %d differs from the file", b.BaseOffset())
				}
			}
			if s := q.Status(); s.KRaftVersion != g.kraft || s.Voters[0].ID != 1 {
				t.Errorf("status %+v", s)
			}
			stopQuorum(t, q)
			after := logBatches(t, fsys)
			if len(after) != len(before)+1 || len(controlRecords(t, after[len(after)-1])) != 1 {
				t.Errorf("%d batches in the log, had %d", len(after), len(before))
			}
			state, err := vfs.ReadFile(fsys, filepath.Join(testDir, folderName, electionFileName))
			if err != nil || !strings.Contains(string(state), fmt.Sprintf(`"data_version":%d}`, g.kraft)) {
				t.Errorf("quorum-state %s, %v", state, err)
			}
		})
	}
}

// Of the snapshot 0-0, bootstrap.checkpoint and the default, the first that holds
// records counts.
func TestBootstrapOfOlderReleases(t *testing.T) {
	c := newClock()
	open := func(fsys *vfs.Mem, id kafka.UUID) Bootstrap {
		t.Helper()
		q, err := Open(options(t, fsys, id, c))
		if err != nil {
			t.Fatal(err)
		}
		b, err := q.Bootstrap()
		if err != nil {
			t.Fatal(err)
		}
		stopQuorum(t, q)
		return b
	}
	// A release before 4.4 writes the records into bootstrap.checkpoint and the
	// voters alone into 0-0.
	fsys := vfs.NewMem(nil)
	id := formatFolder(t, fsys, c)
	folder := filepath.Join(testDir, folderName)
	voters := raft.VoterSet{{ReplicaKey: raft.ReplicaKey{ID: 1, Directory: id}, Endpoints: endpoint(9093), MaxKRaftVersion: 1}}
	write := func(dir string, head snapshotHead, frames [][]byte) {
		t.Helper()
		w, err := createSnapshot(fsys, dir, bootstrapID(), head, c.Now)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(w.append(frames), w.finish()); err != nil {
			t.Fatal(err)
		}
	}
	write(folder, snapshotHead{1, 1, voters}, nil)
	if b := open(fsys, id); len(b.Frames) != 1 || b.Source != "the default of this release" {
		t.Errorf("without any records: %+v", b)
	}
	legacy, err := Levels{MetadataVersion: 20}.frames()
	if err != nil {
		t.Fatal(err)
	}
	if err := fsys.MkdirAll("elsewhere"); err != nil {
		t.Fatal(err)
	}
	write("elsewhere", snapshotHead{1, 0, nil}, legacy)
	if err := fsys.Rename(filepath.Join("elsewhere", bootstrapID().fileName()), filepath.Join(testDir, legacyBootstrapName)); err != nil {
		t.Fatal(err)
	}
	if b := open(fsys, id); len(b.Frames) != 1 || string(b.Frames[0]) != string(legacy[0]) || !strings.HasSuffix(b.Source, legacyBootstrapName) {
		t.Errorf("with bootstrap.checkpoint: %+v", b)
	}
	own, err := ServedLevels(33).frames()
	if err != nil {
		t.Fatal(err)
	}
	write(folder, snapshotHead{1, 1, voters}, own)
	if b := open(fsys, id); len(b.Frames) != len(own) {
		t.Errorf("with records in 0-0: %+v", b)
	}
}

func TestFoldersThatCannotBeLedAreRefused(t *testing.T) {
	c := newClock()
	for _, g := range []struct {
		name   string
		change func(*Options)
		want   string
	}{
		{"another node", func(o *Options) { o.NodeID = 2 }, "node 2 is not among the voters"},
		{"another directory", func(o *Options) { o.DirectoryID[3]++ }, "directory.id"},
	} {
		fsys := vfs.NewMem(nil)
		o := options(t, fsys, formatFolder(t, fsys, c), c)
		g.change(&o)
		if _, err := Open(o); err == nil || !strings.Contains(err.Error(), g.want) {
			t.Errorf("%s: %v", g.name, err)
		}
	}
	fsys := vfs.NewMem(nil)
	if _, err := Open(options(t, fsys, kafka.UUID{1}, c)); err == nil || !strings.Contains(err.Error(), "has no voters") {
		t.Errorf("an unformatted folder: %v", err)
	}
}

func TestLimitsOfAppend(t *testing.T) {
	fsys, c := vfs.NewMem(nil), newClock()
	q, f := startQuorum(t, options(t, fsys, formatFolder(t, fsys, c), c))
	f.awaitLeader(t)
	end := q.Status().LogEnd
	if _, err := q.Append(0, [][]byte{configFrame(t, 0)}, Atomic); !errors.Is(err, ErrNotLeader) {
		t.Errorf("another epoch: %v", err)
	}
	if _, err := q.Append(1, nil, Atomic); err == nil {
		t.Error("no records were appended")
	}
	many := slices.Repeat([][]byte{configFrame(t, 0)}, MaxBatchRecords+1)
	if _, err := q.Append(1, many, Atomic); !errors.Is(err, ErrTooLarge) {
		t.Errorf("too many records: %v", err)
	}
	big := [][]byte{make([]byte, 5<<20), make([]byte, 5<<20)}
	if _, err := q.Append(1, big, Atomic); !errors.Is(err, ErrTooLarge) {
		t.Errorf("too many bytes: %v", err)
	}
	if _, err := q.Append(1, [][]byte{make([]byte, 9<<20)}, Divisible); !errors.Is(err, ErrTooLarge) {
		t.Errorf("one record too large: %v", err)
	}
	if got := q.Status().LogEnd; got != end {
		t.Errorf("a refused append moved the end from %d to %d", end, got)
	}
	last, err := q.Append(1, append(slices.Clone(many), big...), Divisible)
	if want := end + MaxBatchRecords + 2; err != nil || last != want {
		t.Fatalf("divided append: %d, %v, want %d", last, err, want)
	}
	f.awaitOffset(t, last)
	var counts []int32
	for _, b := range f.batches[1:] {
		counts = append(counts, b.Count())
		if b.Size() > MaxBatchBytes {
			t.Errorf("batch of %d bytes", b.Size())
		}
	}
	if want := []int32{MaxBatchRecords, 2, 1}; !slices.Equal(counts, want) {
		t.Errorf("records per batch %v, want %v", counts, want)
	}
}

// gateFS lets a test hold fdatasync.
type gateFS struct {
	vfs.FS
	mu    sync.Mutex
	hold  chan struct{} // not nil: syncs wait until it is closed
	syncs int
	began chan struct{} // gets a token when a sync begins to wait
}

type gateFile struct {
	vfs.File
	gate *gateFS
}

func (g *gateFS) Open(path string, mode vfs.Mode) (vfs.File, error) {
	f, err := g.FS.Open(path, mode)
	if err != nil || !strings.HasSuffix(path, ".log") {
		return f, err
	}
	return &gateFile{f, g}, nil
}

func (f *gateFile) wait() {
	f.gate.mu.Lock()
	f.gate.syncs++
	hold := f.gate.hold
	f.gate.mu.Unlock()
	if hold != nil {
		f.gate.began <- struct{}{}
		<-hold
	}
}

func (f *gateFile) Sync() error     { f.wait(); return f.File.Sync() }
func (f *gateFile) SyncData() error { f.wait(); return f.File.SyncData() }

// All that arrives while a sync runs rides on the next one.
func TestAppendsShareASync(t *testing.T) {
	mem, c := vfs.NewMem(nil), newClock()
	id := formatFolder(t, mem, c)
	gate := &gateFS{FS: mem, began: make(chan struct{}, 10)}
	q, f := startQuorum(t, options(t, gate, id, c))
	f.awaitLeader(t)
	hold := make(chan struct{})
	gate.mu.Lock()
	gate.hold, gate.syncs = hold, 0
	gate.mu.Unlock()
	if _, err := q.Append(1, [][]byte{configFrame(t, 0)}, Atomic); err != nil {
		t.Fatal(err)
	}
	select {
	case <-gate.began: // the first append is being synced
	case <-time.After(30 * time.Second):
		t.Fatal("nothing is synced")
	}
	var last kafka.Offset
	for i := 1; i < 100; i++ {
		var err error
		if last, err = q.Append(1, [][]byte{configFrame(t, i)}, Atomic); err != nil {
			t.Fatal(err)
		}
	}
	if s := q.Status(); s.LogEnd != last+1 || s.HighWatermark != 3 {
		t.Errorf("while the sync runs: %+v", s)
	}
	gate.mu.Lock()
	gate.hold = nil
	gate.mu.Unlock()
	close(hold)
	f.awaitOffset(t, last)
	gate.mu.Lock()
	syncs := gate.syncs
	gate.mu.Unlock()
	if syncs != 2 {
		t.Errorf("100 appends took %d syncs, want 2", syncs)
	}
	if values := f.values(t); len(values) != 100 || values[42] != string(configFrame(t, 42)) {
		t.Errorf("%d values", len(values))
	}
}

func TestConcurrentAppendsAreInOrder(t *testing.T) {
	fsys, c := vfs.NewMem(nil), newClock()
	q, f := startQuorum(t, options(t, fsys, formatFolder(t, fsys, c), c))
	f.awaitLeader(t)
	const writers, each = 8, 50
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				last, err := q.Append(1, [][]byte{configFrame(t, w*each+i)}, Atomic)
				if err != nil {
					t.Error(err)
					return
				}
				f.awaitOffset(t, last)
			}
		})
	}
	wg.Wait()
	next := kafka.Offset(0)
	for _, b := range f.batches {
		if b.BaseOffset() != next {
			t.Fatalf("batch at %d, want %d", b.BaseOffset(), next)
		}
		next = b.NextOffset()
	}
	if next != 3+writers*each {
		t.Errorf("end %d", next)
	}
}

// A failed write or sync ends the quorum, once, and what was committed is there at
// the next start.
func TestFailureOfTheDiskIsFatal(t *testing.T) {
	for _, kind := range []vfs.OpKind{vfs.OpWrite, vfs.OpSync} {
		fsys, c := vfs.NewMem(nil), newClock()
		id := formatFolder(t, fsys, c)
		o := options(t, fsys, id, c)
		failed := make(chan error, 2)
		o.Fatal = func(err error) { failed <- err }
		q, f := startQuorum(t, o)
		f.awaitLeader(t)
		last, err := q.Append(1, [][]byte{configFrame(t, 1)}, Atomic)
		if err != nil {
			t.Fatal(err)
		}
		f.awaitOffset(t, last)
		broken := errors.New("the disk is broken")
		fsys.Inject(func(op vfs.Op) vfs.Fault {
			if op.Kind == kind && strings.HasSuffix(op.Path, ".log") {
				return vfs.Fault{Err: broken}
			}
			return vfs.Fault{}
		})
		if _, err := q.Append(1, [][]byte{configFrame(t, 2)}, Atomic); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-failed:
			if !errors.Is(err, broken) {
				t.Errorf("%s: failed with %v", kind, err)
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("%s: the failure was not told", kind)
		}
		if _, err := q.Append(1, [][]byte{configFrame(t, 3)}, Atomic); !errors.Is(err, ErrStopped) {
			t.Errorf("%s: append after the failure: %v", kind, err)
		}
		if err := q.Close(); !errors.Is(err, broken) {
			t.Errorf("%s: close after the failure: %v", kind, err)
		}
		if len(failed) > 0 {
			t.Errorf("%s: told twice", kind)
		}
		fsys.Inject(nil)
		_, f = startQuorum(t, options(t, fsys.Crash(), id, c))
		f.awaitLeader(t)
		if values := f.values(t); len(values) != 1 || values[0] != string(configFrame(t, 1)) {
			t.Errorf("%s: after a restart: %d values", kind, len(values))
		}
	}
}

func TestFailureOfTheListenerIsFatal(t *testing.T) {
	fsys, c := vfs.NewMem(nil), newClock()
	o := options(t, fsys, formatFolder(t, fsys, c), c)
	failed := make(chan error, 1)
	o.Fatal = func(err error) { failed <- err }
	q, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	f := newFollower()
	f.err = errors.New("no such record")
	q.Start(f)
	if err := <-failed; !errors.Is(err, f.err) {
		t.Errorf("failed with %v", err)
	}
	if err := q.Close(); !errors.Is(err, f.err) {
		t.Errorf("close: %v", err)
	}
}
