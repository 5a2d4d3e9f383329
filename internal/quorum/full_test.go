package quorum

import (
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
)

// TestAFullDiskCutsBackWhatWasAppended: what the disk does not take is given up and
// told, nothing is appended for a while, and when there is space the log goes on at
// the same offset. What was committed before stays.
func TestAFullDiskCutsBackWhatWasAppended(t *testing.T) {
	fsys, c := vfs.NewMem(nil), newClock()
	id := formatFolder(t, fsys, c)
	q, f := startQuorum(t, options(t, fsys, id, c))
	f.awaitLeader(t)
	add := func(n int, at kafka.Offset) (kafka.Offset, error) {
		t.Helper()
		return q.AppendRecords(Records{Epoch: 1, At: at, Frames: [][]byte{configFrame(t, n)}, How: Atomic})
	}
	last, err := add(0, kafka.NoOffset)
	if err != nil {
		t.Fatal(err)
	}
	f.awaitOffset(t, last)
	want := []string{string(configFrame(t, 0))}
	for round := range 3 {
		next := last + 1
		fsys.Inject(func(op vfs.Op) vfs.Fault {
			if op.Kind == vfs.OpWrite && strings.HasSuffix(op.Path, ".log") {
				return vfs.Fault{Err: syscall.ENOSPC, Written: int64(20 * round)}
			}
			return vfs.Fault{}
		})
		if _, err := add(-1, next); err != nil {
			t.Fatal(err)
		}
		f.await(t, "what was appended to be given up", func() bool { return len(f.cuts) == round+1 })
		if cut := f.cuts[round]; cut.NextOffset != next || cut.Epoch != 1 || !cut.IsLeader {
			t.Errorf("cut back to %+v, want offset %d", cut, next)
		}
		for _, at := range []kafka.Offset{next, next + 1, kafka.NoOffset} {
			if _, err := add(-1, at); !errors.Is(err, ErrFull) {
				t.Errorf("append for offset %d on a full disk: %v", at, err)
			}
		}
		fsys.Inject(nil)
		c.advance(fullFor)
		if _, err := add(-1, next+1); !errors.Is(err, ErrFull) {
			t.Errorf("append of one who has not heard of the cut: %v", err)
		}
		if last, err = add(round+1, next); err != nil || last != next {
			t.Fatalf("append with space: offset %d, want %d: %v", last, next, err)
		}
		f.awaitOffset(t, last)
		want = append(want, string(configFrame(t, round+1)))
	}
	if got := f.values(t); !slices.Equal(got, want) {
		t.Errorf("%d records are committed, want %d", len(got), len(want))
	}
	stopQuorum(t, q)
	_, f = startQuorum(t, options(t, fsys, id, c))
	f.awaitLeader(t)
	if got := f.values(t); !slices.Equal(got, want) {
		t.Errorf("after a restart %d records are committed, want %d", len(got), len(want))
	}
}

// TestAFullDiskTakesWhatDoesNotGrow: on a full disk the log is still written from what
// was reserved. Records that let the cluster grow are refused before that is used up,
// and taken again when there is space.
func TestAFullDiskTakesWhatDoesNotGrow(t *testing.T) {
	fsys, c := vfs.NewMem(nil), newClock()
	id := formatFolder(t, fsys, c)
	q, f := startQuorum(t, options(t, fsys, id, c))
	f.awaitLeader(t)
	var frames [][]byte
	for i := range 100 {
		frames = append(frames, configFrame(t, i))
	}
	total := 0
	add := func(growing bool) error {
		t.Helper()
		last, err := q.AppendRecords(Records{Epoch: 1, At: kafka.NoOffset, Frames: frames, How: Atomic, Growing: growing})
		if err == nil {
			f.awaitOffset(t, last)
			total += len(frames)
		}
		return err
	}
	if err := add(true); err != nil {
		t.Fatal(err)
	}
	fsys.SetCapacity(fsys.Used())
	var err error
	for n := 0; err == nil; n++ {
		if err = add(true); n*100*len(frames[0]) > reserve/4 {
			t.Fatal("a quarter of the reserve is used up by what lets the cluster grow")
		}
	}
	if !errors.Is(err, ErrFull) {
		t.Fatal(err)
	}
	for range 100 {
		c.advance(time.Second)
		if err := add(true); !errors.Is(err, ErrFull) {
			t.Fatalf("growing records on a full disk: %v", err)
		}
		if err := add(false); err != nil {
			t.Fatalf("other records on a full disk: %v", err)
		}
	}
	fsys.SetCapacity(0)
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		c.advance(time.Second)
		if add(true) == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("with space growing records are still refused")
		}
	}
	if len(f.cuts) > 0 {
		t.Error("something was given up")
	}
	// It can be closed without space, too, and opens again.
	fsys.SetCapacity(fsys.Used())
	stopQuorum(t, q)
	fsys.SetCapacity(0)
	_, f = startQuorum(t, options(t, fsys, id, c))
	f.awaitLeader(t)
	if got := f.values(t); len(got) != total {
		t.Errorf("after a restart %d records are committed, want %d", len(got), total)
	}
}

// TestASyncWithoutSpaceIsFatal: a sync that reports a lack of space is a failed sync.
func TestASyncWithoutSpaceIsFatal(t *testing.T) {
	fsys, c := vfs.NewMem(nil), newClock()
	o := options(t, fsys, formatFolder(t, fsys, c), c)
	failed := make(chan error, 1)
	o.Fatal = func(err error) { failed <- err }
	q, f := startQuorum(t, o)
	f.awaitLeader(t)
	fsys.Inject(func(op vfs.Op) vfs.Fault {
		if op.Kind == vfs.OpSync {
			return vfs.Fault{Err: syscall.ENOSPC}
		}
		return vfs.Fault{}
	})
	if _, err := q.Append(1, [][]byte{configFrame(t, 1)}, Atomic); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-failed:
		if !errors.Is(err, syscall.ENOSPC) {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("the failure was not told")
	}
}
