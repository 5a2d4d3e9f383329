package quorum

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
)

// life is what one life of a node does until the power is cut: it formats if need
// be, starts, appends, writes snapshots, cleans, stops. It runs the steps of the
// loop by itself, so that every cut falls between the same two operations each
// time. It returns the values that were committed, in order, as far as the listener
// was told.
func life(t *testing.T, fsys vfs.FS, c *clock, number int) (f *follower, err error) {
	t.Helper()
	f = newFollower()
	id, err := formatOnly(fsys, testDir, c)
	if err != nil {
		return f, err
	}
	o := options(t, fsys, id, c)
	o.SegmentBytes = 2000
	o.MaxRetention = time.Hour
	q, err := Open(o)
	if err != nil {
		return f, err
	}
	q.listener = f
	if err := q.begin(); err != nil {
		q.log.Abandon()
		return f, err
	}
	for i := range 12 {
		if _, err := q.Append(q.epoch, [][]byte{configFrame(t, number*100+i)}, Atomic); err != nil {
			t.Fatal(err)
		}
		if i%3 == 1 {
			continue // shares the sync of the next
		}
		if err := q.step(); err != nil {
			q.log.Abandon()
			return f, err
		}
		if i == 5 || i == 9 {
			c.advance(40 * time.Minute)
			if err := snapshotNow(q, f, c); err != nil {
				q.log.Abandon()
				return f, err
			}
		}
	}
	if err := q.end(); err != nil {
		q.log.Abandon()
		return f, err
	}
	return f, nil
}

func snapshotNow(q *Quorum, f *follower, c *clock) error {
	w, err := q.CreateSnapshot(SnapshotID{f.end(), q.epoch}, c.Now().UnixMilli())
	if err != nil {
		return err
	}
	// The snapshot repeats all values, so that a restart can be checked.
	var frames [][]byte
	for _, v := range f.all {
		frames = append(frames, []byte(v))
	}
	if err := w.Append(frames); err != nil {
		return errors.Join(err, w.Discard())
	}
	return w.Finish()
}

// TestPowerCutAtEveryOperation cuts the power before each operation of two lives of
// a node, in turn, with and without torn writes. Whatever the listener was told is
// there at the next start, in the same order, and that start takes a new epoch.
func TestPowerCutAtEveryOperation(t *testing.T) {
	cut := errors.New("power cut")
	at := 0
	for done := false; !done; at++ {
		for seed := range uint64(3) {
			fsys, c := vfs.NewMem(nil), newClock()
			n := 0
			fsys.Inject(func(vfs.Op) vfs.Fault {
				n++
				if n > at {
					return vfs.Fault{Err: cut}
				}
				return vfs.Fault{}
			})
			first, err := life(t, fsys, c, 1)
			if err != nil && n <= at {
				t.Fatalf("without a cut: %v", err)
			}
			done = err == nil
			after := fsys.Crash()
			if seed > 0 {
				after = fsys.CrashTorn(seed)
			}
			second, err := life(t, after, c, 2)
			if err != nil {
				t.Fatalf("cut at %d, seed %d: the next start: %v", at, seed, err)
			}
			if err := keeps(first, second); err != nil {
				t.Fatalf("cut at %d, seed %d: %v", at, seed, err)
			}
		}
	}
	t.Logf("%d operations, a cut before each", at)
}

// TestPowerCutsInARow cuts the power at random moments of several lives, one after
// another, on the same disk.
func TestPowerCutsInARow(t *testing.T) {
	cut := errors.New("power cut")
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 1))
		fsys, c := vfs.NewMem(nil), newClock()
		var last *follower
		for number := 1; number <= 6; number++ {
			left := random.IntN(160) // operations until the cut; some lives end well
			fsys.Inject(func(op vfs.Op) vfs.Fault {
				if left--; left < 0 {
					return vfs.Fault{Err: cut, Written: random.Int64N(op.Bytes + 1)}
				}
				return vfs.Fault{}
			})
			f, err := life(t, fsys, c, number)
			if err != nil && left >= 0 {
				t.Fatalf("seed %d, life %d, without a cut: %v", seed, number, err)
			}
			if last != nil && len(f.changes) > 0 {
				if err := keeps(last, f); err != nil {
					t.Fatalf("seed %d, life %d: %v", seed, number, err)
				}
			}
			if last == nil || len(f.changes) > 0 {
				last = f
			}
			fsys = fsys.CrashTorn(random.Uint64())
		}
	}
}

func keeps(before, after *follower) error {
	if !hasPrefix(after.all, before.all) {
		return fmt.Errorf("%d values were committed; after the restart there are %d, others", len(before.all), len(after.all))
	}
	epochs := slices.Concat(before.epochs(), after.epochs())
	if !slices.IsSorted(epochs) || len(slices.Compact(epochs)) != len(before.epochs())+len(after.epochs()) {
		return fmt.Errorf("epochs %v", epochs)
	}
	return nil
}

func (f *follower) epochs() (out []kafka.LeaderEpoch) {
	for _, c := range f.changes {
		if c.IsLeader {
			out = append(out, c.Epoch)
		}
	}
	return out
}
