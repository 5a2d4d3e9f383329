package vfs_test

import (
	"bytes"
	"errors"
	"io/fs"
	"syscall"
	"testing"

	"barnabas/internal/base/vfs"

	"pgregory.net/rapid"
)

func TestCrashLosesWhatWasNotSynced(t *testing.T) {
	m := vfs.NewMem(nil)
	must(t, m.MkdirAll("/d"))
	must(t, m.SyncDir("/"))
	f := open(t, m, "/d/f", vfs.Create)
	f.WriteAt([]byte("synced"), 0)
	must(t, f.Sync())
	if _, err := m.Crash().Stat("/d/f"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a name that SyncDir did not cover survived: %v", err)
	}
	must(t, m.SyncDir("/d"))
	f.WriteAt([]byte("!!"), 2)
	f.WriteAt([]byte(" and more"), 6)
	if got := content(t, m.Crash(), "/d/f"); got != "synced" {
		t.Errorf("after a crash: %q", got)
	}
	must(t, f.SyncData())
	if got := content(t, m.Crash(), "/d/f"); got != "sy!!ed and more" {
		t.Errorf("after a sync and a crash: %q", got)
	}
	must(t, f.Truncate(2))
	if got := content(t, m.Crash(), "/d/f"); got != "sy!!ed and more" {
		t.Errorf("an unsynced truncation survived: %q", got)
	}
	must(t, m.Rename("/d/f", "/d/g"))
	must(t, f.Sync())
	after := m.Crash()
	if got := content(t, after, "/d/f"); got != "sy" {
		t.Errorf("under its old name: %q", got)
	}
	if _, err := after.Stat("/d/g"); err == nil {
		t.Error("an unsynced rename survived")
	}
	must(t, m.SyncDir("/d"))
	must(t, m.Remove("/d/g"))
	if got := content(t, m.Crash(), "/d/g"); got != "sy" {
		t.Errorf("an unsynced removal survived: %q", got)
	}
}

func TestRenameIsDurableWholeOrNotAtAll(t *testing.T) {
	for seed := range uint64(40) {
		m := vfs.NewMem(nil)
		must(t, vfs.WriteFileAtomic(m, "/f", []byte("old")))
		must(t, vfs.WriteFile(m, "/f.tmp", []byte("new")))
		must(t, m.Rename("/f.tmp", "/f"))
		if got := content(t, m.CrashTorn(seed), "/f"); got != "old" && got != "new" {
			t.Fatalf("seed %d: %q", seed, got)
		}
	}
}

// TestTornCrashKeepsSyncedBytes writes, syncs and cuts at random: every byte that
// was not touched since the last sync must be there after any crash, and every
// other byte must be one that the file had at that place.
func TestTornCrashKeepsSyncedBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := vfs.NewMem(nil)
		f, err := m.Open("/f", vfs.Create)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.SyncDir("/"); err != nil {
			t.Fatal(err)
		}
		var now, synced []byte
		touched := map[int]bool{}
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			switch rapid.IntRange(0, 2).Draw(t, "what") {
			case 0:
				off := rapid.IntRange(0, 3000).Draw(t, "off")
				p := bytes.Repeat([]byte{rapid.Byte().Draw(t, "byte")}, rapid.IntRange(1, 1500).Draw(t, "n"))
				f.WriteAt(p, int64(off))
				for len(now) < off+len(p) {
					touched[len(now)] = true
					now = append(now, 0)
				}
				for i := range p {
					now[off+i] = p[i]
					touched[off+i] = true
				}
			case 1:
				size := rapid.IntRange(0, len(now)).Draw(t, "size")
				f.Truncate(int64(size))
				for i := size; i < len(now); i++ {
					touched[i] = true
				}
				now = now[:size]
			case 2:
				if err := f.Sync(); err != nil {
					t.Fatal(err)
				}
				synced = bytes.Clone(now)
				clear(touched)
			}
		}
		plain, _ := vfs.ReadFile(m.Crash(), "/f")
		if !bytes.Equal(plain, synced) {
			t.Fatalf("plain crash: %d bytes, want the %d synced ones", len(plain), len(synced))
		}
		torn, _ := vfs.ReadFile(m.CrashTorn(rapid.Uint64().Draw(t, "seed")), "/f")
		for i := range synced {
			if !touched[i] && (i >= len(torn) || torn[i] != synced[i]) {
				t.Fatalf("byte %d was synced and is lost", i)
			}
		}
		if len(torn) > max(len(now), len(synced)) {
			t.Fatalf("%d bytes appeared from nowhere", len(torn))
		}
	})
}

func TestFullDiskLeavesBytesBehind(t *testing.T) {
	m := vfs.NewMem(nil)
	m.SetCapacity(10)
	f := open(t, m, "/f", vfs.Create)
	n, err := f.WritevAt([][]byte{[]byte("12345678"), []byte("abcdefgh")}, 0)
	if n != 10 || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("wrote %d, %v; want 10 and ENOSPC", n, err)
	}
	if _, err := f.WriteAt([]byte("x"), 0); err != nil {
		t.Errorf("overwriting on a full disk: %v", err)
	}
	must(t, f.Truncate(4))
	if _, err := f.WriteAt([]byte("yyyyyy"), 4); err != nil {
		t.Errorf("writing after room was made: %v", err)
	}
	must(t, f.Close())
	must(t, m.Remove("/f"))
	if m.Used() != 0 {
		t.Errorf("%d bytes used by nothing", m.Used())
	}
}

func TestInjectedFaults(t *testing.T) {
	m := vfs.NewMem(nil)
	f := open(t, m, "/f", vfs.Create)
	m.Inject(func(op vfs.Op) vfs.Fault {
		switch op.Kind {
		case vfs.OpWrite:
			return vfs.Fault{Err: syscall.EIO, Written: 2}
		case vfs.OpSync:
			return vfs.Fault{Err: syscall.EIO}
		}
		return vfs.Fault{}
	})
	if n, err := f.WriteAt([]byte("abcd"), 0); n != 0 || !errors.Is(err, syscall.EIO) {
		t.Errorf("write: %d, %v", n, err)
	}
	if err := f.Sync(); !errors.Is(err, syscall.EIO) {
		t.Errorf("sync: %v", err)
	}
	m.Inject(nil)
	if got := content(t, m, "/f"); got != "ab" {
		t.Errorf("content %q, want the two bytes that reached the file", got)
	}
	if m.Count(vfs.OpWrite) != 1 || m.Count(vfs.OpSync) != 1 {
		t.Errorf("counted %d writes, %d syncs", m.Count(vfs.OpWrite), m.Count(vfs.OpSync))
	}
}
