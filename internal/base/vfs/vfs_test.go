package vfs_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"barnabas/internal/base/vfs"
)

// systems runs a test on the real file system and on the one in memory: what the
// one promises the other must keep.
func systems(t *testing.T, test func(t *testing.T, fsys vfs.FS, dir string)) {
	t.Run("os", func(t *testing.T) { test(t, vfs.NewOS(vfs.NewGate(vfs.GateLimit)), t.TempDir()) })
	t.Run("mem", func(t *testing.T) {
		m := vfs.NewMem(nil)
		must(t, m.MkdirAll("/data"))
		test(t, m, "/data")
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, fsys vfs.FS, path string, mode vfs.Mode) vfs.File {
	t.Helper()
	f, err := fsys.Open(path, mode)
	must(t, err)
	return f
}

func content(t *testing.T, fsys vfs.FS, path string) string {
	t.Helper()
	b, err := vfs.ReadFile(fsys, path)
	must(t, err)
	return string(b)
}

func TestSetModTime(t *testing.T) {
	systems(t, func(t *testing.T, fsys vfs.FS, dir string) {
		path := filepath.Join(dir, "f")
		must(t, open(t, fsys, path, vfs.CreateNew).Close())
		at := time.UnixMilli(1_700_000_000_123)
		must(t, fsys.SetModTime(path, at))
		info, err := fsys.Stat(path)
		must(t, err)
		if !info.ModTime.Equal(at) {
			t.Errorf("modified at %v", info.ModTime)
		}
		if err := fsys.SetModTime(path+"x", at); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("of a missing file: %v", err)
		}
	})
}

func TestOpenModes(t *testing.T) {
	systems(t, func(t *testing.T, fsys vfs.FS, dir string) {
		path := filepath.Join(dir, "f")
		for _, mode := range []vfs.Mode{vfs.Read, vfs.ReadWrite} {
			if _, err := fsys.Open(path, mode); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("mode %d of a missing file: %v", mode, err)
			}
		}
		f := open(t, fsys, path, vfs.CreateNew)
		_, err := f.WriteAt([]byte("hello"), 0)
		must(t, err)
		must(t, f.Close())
		if _, err := fsys.Open(path, vfs.CreateNew); !errors.Is(err, fs.ErrExist) {
			t.Errorf("CreateNew of an existing file: %v", err)
		}
		f = open(t, fsys, path, vfs.Create)
		if size, err := f.Size(); size != 5 || err != nil {
			t.Errorf("size %d, %v after Create of an existing file", size, err)
		}
		must(t, f.Close())
		f = open(t, fsys, path, vfs.Read)
		if _, err := f.WriteAt([]byte("x"), 0); !errors.Is(err, syscall.EBADF) {
			t.Errorf("write to a file opened for reading: %v", err)
		}
		must(t, f.Close())
		if err := f.Close(); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("second close: %v", err)
		}
		must(t, open(t, fsys, path, vfs.CreateEmpty).Close())
		if got := content(t, fsys, path); got != "" {
			t.Errorf("content %q after CreateEmpty", got)
		}
		if _, err := fsys.Open(dir, vfs.ReadWrite); !errors.Is(err, syscall.EISDIR) {
			t.Errorf("open of a directory: %v", err)
		}
	})
}

func TestReadsAndWrites(t *testing.T) {
	systems(t, func(t *testing.T, fsys vfs.FS, dir string) {
		f := open(t, fsys, filepath.Join(dir, "f"), vfs.Create)
		defer f.Close()
		n, err := f.WritevAt([][]byte{[]byte("abc"), nil, []byte("defg"), {}}, 2)
		if n != 7 || err != nil {
			t.Fatalf("WritevAt: %d, %v", n, err)
		}
		buf := make([]byte, 12)
		if n, err := f.ReadAt(buf, 0); n != 9 || err != io.EOF || string(buf[:n]) != "\x00\x00abcdefg" {
			t.Errorf("ReadAt: %d, %v, %q", n, err, buf[:n])
		}
		if n, err := f.ReadAt(buf[:3], 4); n != 3 || err != nil || string(buf[:3]) != "cde" {
			t.Errorf("ReadAt in the middle: %d, %v, %q", n, err, buf[:3])
		}
		if n, err := f.ReadAt(buf, 9); n != 0 || err != io.EOF {
			t.Errorf("ReadAt at the end: %d, %v", n, err)
		}
		if err := f.Preallocate(9, 1<<20); err != nil && !errors.Is(err, vfs.ErrUnsupported) {
			t.Error(err)
		}
		if size, err := f.Size(); size != 9 || err != nil {
			t.Errorf("size %d, %v after Preallocate", size, err)
		}
		must(t, f.Truncate(4))
		must(t, f.Truncate(6))
		must(t, f.Sync())
		must(t, f.SyncData())
		if got := content(t, fsys, filepath.Join(dir, "f")); got != "\x00\x00ab\x00\x00" {
			t.Errorf("content %q after Truncate", got)
		}
	})
}

func TestWritevOfMoreBuffersThanOneCallTakes(t *testing.T) {
	systems(t, func(t *testing.T, fsys vfs.FS, dir string) {
		f := open(t, fsys, filepath.Join(dir, "f"), vfs.Create)
		defer f.Close()
		var bufs [][]byte
		var want []byte
		for i := range 3000 {
			b := bytes.Repeat([]byte{byte(i)}, i%7)
			bufs = append(bufs, b)
			want = append(want, b...)
		}
		if n, err := f.WritevAt(bufs, 0); n != int64(len(want)) || err != nil {
			t.Fatalf("WritevAt: %d of %d, %v", n, len(want), err)
		}
		if got := content(t, fsys, filepath.Join(dir, "f")); got != string(want) {
			t.Error("content differs")
		}
	})
}

func TestNames(t *testing.T) {
	systems(t, func(t *testing.T, fsys vfs.FS, dir string) {
		sub := filepath.Join(dir, "a", "b")
		must(t, fsys.MkdirAll(sub))
		must(t, fsys.MkdirAll(sub))
		must(t, vfs.WriteFileAtomic(fsys, filepath.Join(sub, "x"), []byte("one")))
		must(t, vfs.WriteFileAtomic(fsys, filepath.Join(sub, "x"), []byte("two")))
		f := open(t, fsys, filepath.Join(sub, "x"), vfs.ReadWrite)
		must(t, fsys.Rename(filepath.Join(sub, "x"), filepath.Join(sub, "y")))
		_, err := f.WriteAt([]byte("T"), 0) // a descriptor follows its file
		must(t, err)
		must(t, f.Close())
		if got := content(t, fsys, filepath.Join(sub, "y")); got != "Two" {
			t.Errorf("content %q", got)
		}
		must(t, fsys.Rename(filepath.Join(dir, "a"), filepath.Join(dir, "c")))
		entries, err := fsys.ReadDir(filepath.Join(dir, "c", "b"))
		if err != nil || len(entries) != 1 || entries[0] != (vfs.Entry{Name: "y"}) {
			t.Errorf("entries %v, %v", entries, err)
		}
		if err := fsys.Remove(filepath.Join(dir, "c")); !errors.Is(err, syscall.ENOTEMPTY) {
			t.Errorf("remove of a directory that is not empty: %v", err)
		}
		must(t, fsys.Chmod(filepath.Join(dir, "c", "b", "y"), 0o400))
		info, err := fsys.Stat(filepath.Join(dir, "c", "b", "y"))
		if err != nil || info.Size != 3 || info.Mode.Perm() != 0o400 {
			t.Errorf("stat %+v, %v", info, err)
		}
		must(t, fsys.SyncDir(dir))
		must(t, vfs.RemoveAll(fsys, filepath.Join(dir, "c")))
		must(t, vfs.RemoveAll(fsys, filepath.Join(dir, "c")))
		if there, err := vfs.Exists(fsys, filepath.Join(dir, "c")); there || err != nil {
			t.Errorf("exists %v, %v after RemoveAll", there, err)
		}
		for what, err := range map[string]error{
			"rename": fsys.Rename(filepath.Join(dir, "no"), filepath.Join(dir, "yes")),
			"remove": fsys.Remove(filepath.Join(dir, "no")),
			"sync":   fsys.SyncDir(filepath.Join(dir, "no")),
		} {
			if !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s of nothing: %v", what, err)
			}
		}
	})
}

func TestReadOfAClosedFileFails(t *testing.T) {
	systems(t, func(t *testing.T, fsys vfs.FS, dir string) {
		f := open(t, fsys, filepath.Join(dir, "f"), vfs.Create)
		must(t, f.Close())
		if _, err := f.ReadAt(make([]byte, 1), 0); !errors.Is(err, syscall.EBADF) {
			t.Errorf("read: %v", err)
		}
		if err := f.Sync(); !errors.Is(err, syscall.EBADF) {
			t.Errorf("sync: %v", err)
		}
	})
}

func TestALackOfSpaceThatASyncReportsIsNone(t *testing.T) {
	for _, x := range []struct {
		op   vfs.OpKind
		do   func(m *vfs.Mem) error
		want bool
	}{
		{vfs.OpWrite, func(m *vfs.Mem) error { return vfs.WriteFileAtomic(m, "f", []byte("new")) }, true},
		{vfs.OpCreate, func(m *vfs.Mem) error { return vfs.WriteFileAtomic(m, "f", []byte("new")) }, true},
		{vfs.OpMkdir, func(m *vfs.Mem) error { return m.MkdirAll("d") }, true},
		{vfs.OpSync, func(m *vfs.Mem) error { return vfs.WriteFileAtomic(m, "f", []byte("new")) }, false},
		{vfs.OpSyncDir, func(m *vfs.Mem) error { return m.SyncDir("/") }, false},
	} {
		for _, number := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EIO} {
			m := vfs.NewMem(nil)
			must(t, vfs.WriteFile(m, "f", []byte("old")))
			m.Inject(func(op vfs.Op) vfs.Fault {
				if op.Kind == x.op {
					return vfs.Fault{Err: number, Written: 1}
				}
				return vfs.Fault{}
			})
			err := x.do(m)
			m.Inject(nil)
			if got, want := vfs.IsFull(err), x.want && number != syscall.EIO; err == nil || got != want {
				t.Errorf("%s %v: a lack of space: %v, want %v", x.op, err, got, want)
			}
			if got := content(t, m, "f"); got != "old" {
				t.Errorf("%s: the file is %q", x.op, got)
			}
			if there, _ := vfs.Exists(m, "f.tmp"); there && vfs.IsFull(err) {
				t.Errorf("%s %v: part of the new file is left", x.op, err)
			}
		}
	}
}
