package quorum

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
)

// appendEach appends records one by one, each a batch, and waits for them.
func appendEach(t testing.TB, q *Quorum, f *follower, numbers ...int) (last kafka.Offset) {
	t.Helper()
	epoch := q.Status().Epoch
	for _, n := range numbers {
		var err error
		if last, err = q.Append(epoch, [][]byte{configFrame(t, n)}, Atomic); err != nil {
			t.Fatal(err)
		}
	}
	f.awaitOffset(t, last)
	return last
}

// writeSnapshot writes one that holds the frames.
func writeSnapshot(t testing.TB, q *Quorum, c *clock, id SnapshotID, frames ...[]byte) {
	t.Helper()
	w, err := q.CreateSnapshot(id, c.Now().UnixMilli())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Append(frames), w.Finish(), w.Discard()); err != nil {
		t.Fatal(err)
	}
}

func TestSnapshotIsLoadedAtTheNextStart(t *testing.T) {
	fsys, c := vfs.NewMem(nil), newClock()
	id := formatFolder(t, fsys, c)
	q, f := startQuorum(t, options(t, fsys, id, c))
	f.awaitLeader(t)
	last := appendEach(t, q, f, 1, 2, 3)
	snap := SnapshotID{last, 1} // without the last record
	writeSnapshot(t, q, c, snap, configFrame(t, 12))
	if got, ok := q.LatestSnapshot(); !ok || got != snap {
		t.Errorf("latest snapshot %v, %v", got, ok)
	}
	r, err := q.OpenSnapshot(snap)
	if err != nil {
		t.Fatal(err)
	}
	batches, err := readAll(r)
	if err != nil {
		t.Fatal(err)
	}
	// Header, kraft.version and voters as they are in the log; data; footer.
	if records := controlRecords(t, batches[0]); len(batches) != 3 || len(records) != 3 || batches[1].LeaderEpoch() != 1 {
		t.Errorf("%d batches, %d records in the first", len(batches), len(records))
	}
	if got, err := batchValues(batches); err != nil || len(got) != 1 || got[0] != string(configFrame(t, 12)) {
		t.Errorf("holds %q", got)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	stopQuorum(t, q)

	q, f = startQuorum(t, options(t, fsys, id, c))
	f.awaitLeader(t)
	if f.snapshot == nil || *f.snapshot != snap {
		t.Errorf("snapshot %v was loaded", f.snapshot)
	}
	if f.batches[0].BaseOffset() != snap.EndOffset || len(f.values(t)) != 1 {
		t.Errorf("the log goes on at %d", f.batches[0].BaseOffset())
	}
	if s := q.Status(); s.KRaftVersion != 1 || s.Voters[0].Directory != id {
		t.Errorf("status %+v", s)
	}
	stopQuorum(t, q)
}

func TestSnapshotsAtOtherPlacesAreRefused(t *testing.T) {
	fsys, c := vfs.NewMem(nil), newClock()
	q, f := startQuorum(t, options(t, fsys, formatFolder(t, fsys, c), c))
	f.awaitLeader(t)
	last, err := q.Append(1, [][]byte{configFrame(t, 1), configFrame(t, 2)}, Atomic)
	if err != nil {
		t.Fatal(err)
	}
	f.awaitOffset(t, last)
	end := last + 1
	for _, g := range []struct {
		id   SnapshotID
		want string
	}{
		{SnapshotID{end + 1, 1}, "above the high watermark"},
		{SnapshotID{0, 1}, "at or below the start"},
		{SnapshotID{last, 1}, "inside the batch that begins at 3"},
		{SnapshotID{end, 0}, "of epoch 1"},
		{SnapshotID{end, 2}, "of epoch 1"},
	} {
		if _, err := q.CreateSnapshot(g.id, 0); err == nil || !strings.Contains(err.Error(), g.want) {
			t.Errorf("%v: %v, want %q", g.id, err, g.want)
		}
	}
	writeSnapshot(t, q, c, SnapshotID{end, 1})
	if _, err := q.CreateSnapshot(SnapshotID{end, 1}, 0); err != ErrSnapshotExists {
		t.Errorf("twice: %v", err)
	}
	w, err := q.CreateSnapshot(SnapshotID{3, 1}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Append([][]byte{configFrame(t, 1)}), w.Discard(), w.Discard()); err != nil {
		t.Fatal(err)
	}
	entries, err := fsys.ReadDir(filepath.Join(testDir, folderName))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name, ".part") {
			t.Errorf("%s is left over", e.Name)
		}
	}
}

// Beyond the limits the oldest snapshots go, the log below them with them, and the
// rest is what a restart begins with.
func TestRetentionMovesTheStartOfTheLog(t *testing.T) {
	fsys, c := vfs.NewMem(nil), newClock()
	id := formatFolder(t, fsys, c)
	o := options(t, fsys, id, c)
	o.SegmentBytes = 1000
	o.MaxRetention = 10 * time.Hour
	q, f := startQuorum(t, o)
	f.awaitLeader(t)
	var ids []SnapshotID
	for i := range 4 {
		if i > 0 {
			c.advance(4 * time.Hour)
		}
		last := appendEach(t, q, f, slices.Repeat([]int{i}, 20)...)
		writeSnapshot(t, q, c, SnapshotID{last + 1, 1}, configFrame(t, i))
		ids = append(ids, SnapshotID{last + 1, 1})
	}
	last := appendEach(t, q, f, 99)
	stopQuorum(t, q)
	if got := q.snapshots.ids; !slices.Equal(got, ids[1:]) {
		t.Errorf("after 12 hours: snapshots %v, want %v", got, ids[1:])
	}
	c.advance(4 * time.Hour)
	q, f = startQuorum(t, o)
	f.awaitLeader(t)
	appendEach(t, q, f, 100) // behind the housekeeping of the start
	if got := q.snapshots.ids; !slices.Equal(got, ids[2:]) {
		t.Errorf("snapshots %v, want %v", got, ids[2:])
	}
	if s := q.Status(); s.LogStart != ids[2].EndOffset {
		t.Errorf("the log starts at %d, want %d", s.LogStart, ids[2].EndOffset)
	}
	if *f.snapshot != ids[3] {
		t.Errorf("snapshot %v was loaded", f.snapshot)
	}
	if got := f.values(t); len(got) != 2 || f.end() != last+3 {
		t.Errorf("%d values, end %d", len(got), f.end())
	}
	stopQuorum(t, q)

	// The segments below are gone, so the next start finds the log beginning there.
	q, f = startQuorum(t, o)
	f.awaitLeader(t)
	if s := q.Status(); s.LogStart == 0 || s.LogStart > ids[2].EndOffset {
		t.Errorf("the log starts at %d", s.LogStart)
	}
	stopQuorum(t, q)
	// Without its snapshots such a log is of no use.
	for _, snap := range ids[2:] {
		if err := fsys.Remove(filepath.Join(testDir, folderName, snap.fileName())); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Open(o); err == nil || !strings.Contains(err.Error(), "is lost") {
		t.Errorf("opened a log without its beginning: %v", err)
	}
}

// A snapshot ahead of the log, as a follower has that was given one, replaces it.
func TestSnapshotAheadOfTheLogReplacesIt(t *testing.T) {
	fsys, c := vfs.NewMem(nil), newClock()
	id := formatFolder(t, fsys, c)
	q, f := startQuorum(t, options(t, fsys, id, c))
	f.awaitLeader(t)
	appendEach(t, q, f, 1, 2)
	voters := q.Status().Voters
	stopQuorum(t, q)
	w, err := createSnapshot(fsys, filepath.Join(testDir, folderName), SnapshotID{1000, 5}, snapshotHead{1, 1, voters}, c.Now)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.finish(); err != nil {
		t.Fatal(err)
	}
	q, f = startQuorum(t, options(t, fsys, id, c))
	want := LeaderChange{Epoch: 6, LeaderID: 1, IsLeader: true, NextOffset: 1001}
	if got := f.awaitLeader(t); got != want {
		t.Errorf("leader %+v, want %+v", got, want)
	}
	if s := q.Status(); s.LogStart != 1000 || *f.snapshot != (SnapshotID{1000, 5}) {
		t.Errorf("status %+v, snapshot %v", s, f.snapshot)
	}
	stopQuorum(t, q)
	for _, name := range []string{"00000000000000000000.log", bootstrapID().fileName()} {
		if _, err := fsys.Stat(filepath.Join(testDir, folderName, name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
