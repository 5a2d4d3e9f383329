package quorum

import (
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"barnabas/internal/base/vfs"
	"barnabas/internal/raft"
	"barnabas/internal/record"
)

func goldenFile(t testing.TB, parts ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(append([]string{"testdata/golden"}, parts...)...))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// memFile is a file system that holds one file in the folder d.
func memFile(t testing.TB, name string, data []byte) *vfs.Mem {
	t.Helper()
	fsys := vfs.NewMem(nil)
	if err := fsys.MkdirAll("d"); err != nil {
		t.Fatal(err)
	}
	if err := vfs.WriteFile(fsys, filepath.Join("d", name), data); err != nil {
		t.Fatal(err)
	}
	if err := fsys.SyncDir("d"); err != nil {
		t.Fatal(err)
	}
	return fsys
}

func readAll(r *SnapshotReader) (batches []record.Batch, err error) {
	for {
		b, err := r.Next()
		if err == io.EOF {
			return batches, nil
		}
		if err != nil {
			return batches, err
		}
		batches = append(batches, b)
	}
}

// A snapshot of Apache Kafka, read and written again with its own timestamps, is
// the same to the byte: a bootstrap checkpoint of each kind and a real snapshot.
func TestSnapshotIsWrittenAsApacheDoes(t *testing.T) {
	for _, c := range []struct{ folder, name string }{
		{"clean", "00000000000000000000-0000000000.checkpoint"},
		{"clean", "00000000000000000345-0000000001.checkpoint"},
		{"static-3.3", "00000000000000000000-0000000000.checkpoint"},
	} {
		golden := goldenFile(t, c.folder, folderName, c.name)
		fsys := memFile(t, c.name, golden)
		id, ok := parseSnapshotName(c.name)
		if !ok || id.fileName() != c.name {
			t.Fatalf("%s reads as %v", c.name, id)
		}
		r, err := openSnapshot(fsys, "d/"+c.name, id)
		if err != nil {
			t.Fatal(err)
		}
		batches, err := readAll(r)
		if err != nil {
			t.Fatal(err)
		}
		var h history
		if err := h.learnSnapshot(r); err != nil {
			t.Fatal(err)
		}
		// The clock shows the times of the batches, one after another.
		tick := 0
		now := func() time.Time { tick++; return time.UnixMilli(batches[tick-1].BaseTimestamp()) }
		kraftVersion, voters := h.before(id.EndOffset)
		head := snapshotHead{r.LastContainedLogTimestamp(), kraftVersion, voters}
		if err := fsys.MkdirAll("copy"); err != nil {
			t.Fatal(err)
		}
		w, err := createSnapshot(fsys, "copy", id, head, now)
		if err != nil {
			t.Fatal(err)
		}
		frames, err := readFrames(fsys, "d/"+c.name)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.append(frames); err != nil {
			t.Fatal(err)
		}
		if err := w.finish(); err != nil {
			t.Fatal(err)
		}
		got, err := vfs.ReadFile(fsys, "copy/"+c.name)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(golden) {
			t.Errorf("%s/%s: %d bytes differ from Apache Kafka's %d", c.folder, c.name, len(got), len(golden))
		}
		if info, err := fsys.Stat("copy/" + c.name); err != nil || info.Mode.Perm() != 0o400 {
			t.Errorf("mode %v, %v", info.Mode, err)
		}
	}
}

// A crash leaves the whole snapshot or none, and what it leaves is tidied away.
func TestUnfinishedSnapshotIsRemoved(t *testing.T) {
	fsys := vfs.NewMem(nil)
	if err := fsys.MkdirAll("d"); err != nil {
		t.Fatal(err)
	}
	now := func() time.Time { return time.UnixMilli(1) }
	w, err := createSnapshot(fsys, "d", SnapshotID{5, 1}, snapshotHead{}, now)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.finishPart(); err != nil { // but for the rename
		t.Fatal(err)
	}
	if err := vfs.WriteFile(fsys, "d/00000000000000000004-0000000001.checkpoint.deleted", nil); err != nil {
		t.Fatal(err)
	}
	set, err := scanSnapshots(fsys, "d")
	if err != nil || len(set.ids) != 0 {
		t.Fatalf("found %v, %v", set, err)
	}
	if entries, err := fsys.ReadDir("d"); err != nil || len(entries) != 0 {
		t.Errorf("left over: %v, %v", entries, err)
	}
	// A part that is left, read-only already, does not stand in the way either.
	if w, err = createSnapshot(fsys, "d", SnapshotID{5, 1}, snapshotHead{}, now); err != nil {
		t.Fatal(err)
	}
	if err := w.finish(); err != nil {
		t.Fatal(err)
	}
	if set, err = scanSnapshots(fsys, "d"); err != nil || len(set.ids) != 1 {
		t.Errorf("found %v, %v", set, err)
	}
	if err := w.giveUp(); err != nil {
		t.Error(err)
	}
	if _, err := fsys.Stat("d/" + w.id.fileName()); err != nil {
		t.Errorf("giving up after finishing removed the snapshot: %v", err)
	}
}

func TestDamagedSnapshotIsRefused(t *testing.T) {
	name := "00000000000000000345-0000000001.checkpoint"
	golden := goldenFile(t, "clean", folderName, name)
	read := func(data []byte) error {
		r, err := openSnapshot(memFile(t, name, data), "d/"+name, SnapshotID{345, 1})
		if err != nil {
			return err
		}
		_, err = readAll(r)
		return err
	}
	if err := read(golden); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		cut := random.IntN(len(golden))
		if err := read(golden[:cut]); !errors.Is(err, ErrBadSnapshot) {
			t.Errorf("cut at %d: %v", cut, err)
		}
		at := random.IntN(len(golden))
		damaged := append([]byte(nil), golden...)
		damaged[at] ^= 1 << random.IntN(8)
		epoch := func(base int) bool { return at >= base+12 && at < base+16 } // not in the checksum, not looked at
		if err := read(damaged); err == nil && !epoch(0) && !epoch(166) && !epoch(13894) {
			t.Errorf("a bit flipped at %d went unseen", at)
		}
	}
	if err := read(append(append([]byte(nil), golden...), golden[:166]...)); !errors.Is(err, ErrBadSnapshot) {
		t.Errorf("bytes after the footer: %v", err)
	}
}

func FuzzSnapshot(f *testing.F) {
	f.Add(goldenFile(f, "clean", folderName, "00000000000000000000-0000000000.checkpoint"))
	f.Add(goldenFile(f, "static-3.3", folderName, "00000000000000000000-0000000000.checkpoint"))
	f.Fuzz(func(t *testing.T, data []byte) {
		// Checksums are made right, or nothing behind them would be reached.
		for rest := data; ; {
			b, next, err := record.Next(rest)
			if err != nil {
				break
			}
			binary.BigEndian.PutUint32(b[17:], b.ComputeCRC())
			rest = next
		}
		fsys := memFile(t, "x", data)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, err := openSnapshot(fsys, "d/x", SnapshotID{})
		if err == nil {
			var h history
			_ = h.learnSnapshot(r)
			_, err = readAll(r)
		}
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 32<<20+100*uint64(len(data)) {
			t.Errorf("%d bytes took %d bytes of memory", len(data), used)
		}
		var pathError *fs.PathError
		if errors.As(err, &pathError) {
			t.Errorf("read past the end: %v", err)
		}
	})
}

func TestSurplusSnapshots(t *testing.T) {
	fsys := vfs.NewMem(nil)
	if err := fsys.MkdirAll("d"); err != nil {
		t.Fatal(err)
	}
	set := &snapshotSet{fsys: fsys, dir: "d"}
	day := 24 * time.Hour
	start := time.UnixMilli(1700000000000)
	for i := range 4 {
		id := SnapshotID{EndOffset: 0, Epoch: 0}
		if i > 0 {
			id = SnapshotID{100 * kafkaOffset(i), 1}
		}
		now := func() time.Time { return start.Add(time.Duration(i) * day) }
		w, err := createSnapshot(fsys, "d", id, snapshotHead{lastContainedLogTimestamp: now().UnixMilli()}, now)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.finish(); err != nil {
			t.Fatal(err)
		}
		set.add(id)
	}
	const size = 158 // of an empty snapshot
	for _, c := range []struct {
		name  string
		limit retention
		log   int64
		now   time.Time
		want  int
	}{
		{"no limits", retention{-1, -1}, 1 << 40, start.Add(1000 * day), 0},
		{"all fit", retention{4*size + 1000, 100 * day}, 1000, start.Add(3 * day), 0},
		{"one byte too many", retention{4*size + 999, 100 * day}, 1000, start.Add(3 * day), 1},
		{"the log alone is too large: one stays", retention{10, 100 * day}, 1000, start.Add(3 * day), 3},
		{"two are too old", retention{1 << 30, 2 * day}, 1000, start.Add(3*day + time.Hour), 2},
		{"all are too old: one stays", retention{1 << 30, 2 * day}, 1000, start.Add(300 * day), 3},
	} {
		got, err := set.surplus(c.limit, c.log, c.now)
		if err != nil || got != c.want {
			t.Errorf("%s: %d, %v, want %d", c.name, got, err, c.want)
		}
	}
	if err := set.remove(set.dropBelow(200)); err != nil || len(set.ids) != 2 {
		t.Errorf("left %v, %v", set.ids, err)
	}
	again, err := scanSnapshots(fsys, "d")
	if err != nil || len(again.ids) != 2 {
		t.Errorf("on disk %v, %v", again.ids, err)
	}
}

func TestHistoryAnswersByOffset(t *testing.T) {
	one := raft.VoterSet{{ReplicaKey: raft.ReplicaKey{ID: 1}}}
	two := raft.VoterSet{{ReplicaKey: raft.ReplicaKey{ID: 2}}}
	h := history{static: raft.VoterSet{{ReplicaKey: raft.ReplicaKey{ID: 9}}}}
	if set, at := h.voterSet(); set[0].ID != 9 || at != -1 {
		t.Errorf("static voters: %v at %d", set, at)
	}
	if err := errors.Join(h.learn(10, kraftVersionRecord(1)), h.learn(11, votersRecord(one)), h.learn(20, votersRecord(two))); err != nil {
		t.Fatal(err)
	}
	check := func(end kafkaOffset, version int16, id int32) {
		t.Helper()
		v, set := h.before(end)
		if v != version || id == 0 && set != nil || id != 0 && (set == nil || int32(set[0].ID) != id) {
			t.Errorf("before %d: kraft.version %d, voters %v", end, v, set)
		}
	}
	check(10, 0, 0)
	check(11, 1, 0)
	check(12, 1, 1)
	check(20, 1, 1)
	check(21, 1, 2)
	h.forgetBelow(15)
	check(16, 1, 1)
	check(21, 1, 2)
	h.forgetBelow(21)
	check(21, 1, 2)
	if len(h.voters) != 1 || len(h.versions) != 1 {
		t.Errorf("%d voter sets and %d versions are kept", len(h.voters), len(h.versions))
	}
	if err := h.learn(30, kraftVersionRecord(2)); err == nil {
		t.Error("kraft.version 2 was taken")
	}
	if err := h.learn(30, votersRecord(append(one, one...))); err == nil {
		t.Error("a voter set with the same node twice was taken")
	}
}
