package vfs_test

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"barnabas/internal/base/vfs"
)

func TestGateBoundsCallsInside(t *testing.T) {
	g := vfs.NewGate(3)
	var wg sync.WaitGroup
	most := make(chan int, 1000)
	for range 50 {
		wg.Go(func() {
			for range 20 {
				g.Enter()
				most <- g.Busy()
				g.Leave()
			}
		})
	}
	wg.Wait()
	close(most)
	for n := range most {
		if n > 3 {
			t.Fatalf("%d calls inside a gate of 3", n)
		}
	}
	var none *vfs.Gate
	none.Enter()
	none.Leave()
}

func TestSharedFileLivesUntilItsLastHolder(t *testing.T) {
	m := vfs.NewMem(nil)
	s := vfs.NewShared(open(t, m, "f", vfs.Create))
	if !s.TryHold() {
		t.Fatal("no hold on an open file")
	}
	s.Release()
	if _, err := s.WriteAt([]byte("x"), 0); err != nil {
		t.Errorf("write by the remaining holder: %v", err)
	}
	s.Release()
	if s.TryHold() {
		t.Error("hold on a closed file")
	}
	if _, err := s.ReadAt(make([]byte, 1), 0); err == nil {
		t.Error("file is open after its last release")
	}
}

func TestCacheClosesFilesThatWereNotUsed(t *testing.T) {
	m := vfs.NewMem(nil)
	c := vfs.NewCache(3, func(err error) { t.Error(err) })
	slots := make([]vfs.Slot, 5)
	hold := func(i int) *vfs.Shared {
		t.Helper()
		s, err := c.Hold(&slots[i], m, fmt.Sprint("f", i), vfs.Create)
		must(t, err)
		return s
	}
	for i := range 3 {
		hold(i).Release()
	}
	kept := hold(0)
	hold(3).Release() // one of 0, 1, 2 goes
	hold(4).Release()
	if c.Open() != 3 || c.Evictions() != 2 {
		t.Errorf("%d files open, %d evicted; want 3, 2", c.Open(), c.Evictions())
	}
	if _, err := kept.WriteAt([]byte("x"), 0); err != nil {
		t.Errorf("a held file was closed: %v", err)
	}
	kept.Release()
	for i := range slots {
		hold(i).Release()
		slots[i].Drop()
		if slots[i].TryHold() != nil {
			t.Errorf("slot %d is open after Drop", i)
		}
	}
	if c.Open() != 0 {
		t.Errorf("%d files open after all were dropped", c.Open())
	}
}

func TestHoldReportsThatAFileIsNotThere(t *testing.T) {
	c := vfs.NewCache(0, nil)
	var slot vfs.Slot
	if _, err := c.Hold(&slot, vfs.NewMem(nil), "no", vfs.Read); err == nil {
		t.Error("no error")
	}
}

// TestCacheUnderContention holds, reads, drops and evicts from many goroutines: a
// file that is held must stay open, and each must be closed in the end.
func TestCacheUnderContention(t *testing.T) {
	dir := t.TempDir()
	fsys := vfs.NewOS(nil)
	c := vfs.NewCache(4, func(err error) { t.Error(err) })
	slots := make([]vfs.Slot, 16)
	for i := range slots {
		must(t, vfs.WriteFile(fsys, filepath.Join(dir, fmt.Sprint(i)), []byte{byte(i)}))
	}
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for n := range 2000 {
				i := (n*7 + w) % len(slots)
				s, err := c.Hold(&slots[i], fsys, filepath.Join(dir, fmt.Sprint(i)), vfs.Read)
				if err != nil {
					t.Error(err)
					return
				}
				var b [1]byte
				if _, err := s.ReadAt(b[:], 0); err != nil || b[0] != byte(i) {
					t.Errorf("file %d: read %d, %v", i, b[0], err)
				}
				s.Release()
				if n%97 == 0 {
					slots[i].Drop()
				}
			}
		})
	}
	wg.Wait()
	if n := c.Open(); n > 4 {
		t.Errorf("%d files open in a cache of 4", n)
	}
	for i := range slots {
		slots[i].Drop()
	}
	if c.Open() != 0 {
		t.Errorf("%d files open at the end", c.Open())
	}
}

func TestCloseErrorsReachTheCachesOwner(t *testing.T) {
	want := errors.New("no luck")
	var got error
	c := vfs.NewCache(0, func(err error) { got = err })
	var slot vfs.Slot
	c.Adopt(&slot, badClose{err: want}).Release()
	slot.Drop()
	if got != want {
		t.Errorf("got %v", got)
	}
}

type badClose struct {
	vfs.File
	err error
}

func (b badClose) Close() error { return b.err }

func BenchmarkHold(b *testing.B) {
	c := vfs.NewCache(0, nil)
	m := vfs.NewMem(nil)
	var slot vfs.Slot
	for b.Loop() {
		s, err := c.Hold(&slot, m, "f", vfs.Create)
		if err != nil {
			b.Fatal(err)
		}
		s.Release()
	}
}

// fewFiles is a file system of a process that may open only so many files.
type fewFiles struct {
	vfs.FS
	left int
}

type countedFile struct {
	vfs.File
	fs *fewFiles
}

func (f *fewFiles) Open(path string, mode vfs.Mode) (vfs.File, error) {
	if f.left == 0 {
		return nil, &fs.PathError{Op: "open", Path: path, Err: syscall.EMFILE}
	}
	f.left--
	file, err := f.FS.Open(path, mode)
	return countedFile{file, f}, err
}

func (f countedFile) Close() error {
	f.fs.left++
	return f.File.Close()
}

func TestCacheGivesDescriptorsBackWhenThereAreNone(t *testing.T) {
	few := &fewFiles{FS: vfs.NewMem(nil), left: 3}
	c := vfs.NewCache(100, func(err error) { t.Error(err) })
	slots := make([]vfs.Slot, 10)
	for i := range slots {
		s, err := c.Hold(&slots[i], few, fmt.Sprint("f", i), vfs.Create)
		must(t, err)
		s.Release()
	}
	var held []*vfs.Shared
	for i := range 3 {
		s, err := c.Hold(&slots[i], few, fmt.Sprint("f", i), vfs.Create)
		must(t, err)
		held = append(held, s)
	}
	if _, err := c.Hold(&slots[5], few, "f5", vfs.Create); !errors.Is(err, syscall.EMFILE) {
		t.Errorf("with all descriptors in use: %v", err)
	}
	for _, s := range held {
		s.Release()
	}
}
