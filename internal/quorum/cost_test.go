package quorum

import (
	"path/filepath"
	"testing"
	"time"

	"barnabas/internal/base/vfs"
)

// What a first start costs is syncs: they are counted, so that nobody adds one
// unseen.
func TestSyncsOfAFirstStart(t *testing.T) {
	fsys, c := vfs.NewMem(nil), newClock()
	syncs := func() int { return fsys.Count(vfs.OpSync) + fsys.Count(vfs.OpSyncDir) }
	// Format: the directory's name; checkpoint, and its name; meta.properties, and
	// its name.
	id := formatFolder(t, fsys, c)
	if n := syncs(); n != 5 {
		t.Errorf("formatting took %d syncs, want 5", n)
	}
	before := syncs()
	q, f := startQuorum(t, options(t, fsys, id, c))
	f.awaitLeader(t)
	started := syncs() - before
	t.Logf("starting took %d syncs", started)
	if started > 12 {
		t.Errorf("starting took %d syncs, want 12 at most", started)
	}
	before = syncs()
	appendEach(t, q, f, 1)
	if n := syncs() - before; n != 1 {
		t.Errorf("an append took %d syncs, want 1", n)
	}
}

// The same on a real disk.
func TestOnDisk(t *testing.T) {
	fsys := vfs.NewOS(vfs.NewGate(16))
	dir := filepath.Join(t.TempDir(), "a", "b")
	c := newClock()
	id, err := formatOnly(fsys, dir, c)
	if err != nil {
		t.Fatal(err)
	}
	var last int
	for life := range 3 {
		o := options(t, fsys, id, c)
		o.Dir = dir
		began := time.Now()
		q, f := startQuorum(t, o)
		f.awaitLeader(t)
		t.Logf("start to leader %v", time.Since(began).Round(time.Microsecond))
		if got := f.values(t); len(got) != last {
			t.Errorf("life %d begins with %d values, want %d", life, len(got), last)
		}
		for i := range 20 {
			appendEach(t, q, f, i)
			last++
		}
		stopQuorum(t, q)
	}
}

// BenchmarkAppend measures one append to its commit, on the disk of the temporary
// directory; the time is that of fdatasync but for some microseconds.
func BenchmarkAppend(b *testing.B) {
	fsys := vfs.NewOS(vfs.NewGate(16))
	dir := b.TempDir()
	c := newClock()
	id, err := formatOnly(fsys, dir, c)
	if err != nil {
		b.Fatal(err)
	}
	o := options(b, fsys, id, c)
	o.Dir = dir
	q, f := startQuorum(b, o)
	f.awaitLeader(b)
	frame := configFrame(b, 1)
	b.ReportAllocs()
	for b.Loop() {
		last, err := q.Append(1, [][]byte{frame}, Atomic)
		if err != nil {
			b.Fatal(err)
		}
		f.awaitOffset(b, last)
	}
}
