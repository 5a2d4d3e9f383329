package cleaner

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/record"
	"barnabas/internal/storage/commitlog"
)

// check compares the log with the model: what must be there, what must not, and that
// nothing was changed. strict says that everything below r.dirty has been cleaned just
// now; else older records may still be there.
func (r *rig) check(s *commitlog.Snapshot, strict bool) {
	r.t.Helper()
	all, headers := readAll(r.t, s, false)
	r.checkHeaders(s, headers)
	at := map[kafka.Offset]found{}
	for _, f := range all {
		at[f.Offset] = f
	}
	last := map[string]kafka.Offset{} // the last decided record of each key, below the last stable offset
	for _, w := range r.written {
		if !w.aborted && !w.undecided && w.Offset < s.LastStableOffset() {
			last[string(w.Key)] = w.Offset
		}
	}
	lastBelow := map[string]kafka.Offset{} // and below what was cleaned
	for _, w := range r.written {
		if !w.aborted && w.Offset < r.dirty {
			lastBelow[string(w.Key)] = w.Offset
		}
	}
	for _, w := range r.written {
		f, there := at[w.Offset]
		delete(at, w.Offset)
		if there && (!bytes.Equal(f.Key, w.Key) || !bytes.Equal(f.Value, w.Value) || (f.Value == nil) != (w.Value == nil) || f.Timestamp != w.Timestamp) {
			r.t.Fatalf("offset %d: %s=%s at %d, appended was %s=%s at %d", w.Offset, f.Key, f.Value, f.Timestamp, w.Key, w.Value, w.Timestamp)
		}
		switch {
		case !there && w.Value != nil && last[string(w.Key)] == w.Offset && !w.aborted:
			r.t.Fatalf("offset %d: the last record of %s is missing", w.Offset, w.Key)
		case !there && w.Offset >= max(r.dirty, r.reach) && !w.aborted:
			r.t.Fatalf("offset %d is missing and was not to be cleaned, dirty is %d", w.Offset, r.dirty)
		case there && strict && w.Offset < r.dirty && w.aborted:
			r.t.Fatalf("offset %d of an aborted transaction is still there", w.Offset)
		case there && strict && w.Offset < r.dirty && lastBelow[string(w.Key)] != w.Offset:
			r.t.Fatalf("offset %d of %s is there, but the last one is %d", w.Offset, w.Key, lastBelow[string(w.Key)])
		}
	}
	for o := range at {
		r.t.Fatalf("offset %d was never appended", o)
	}
	r.checkConsumer(s)
}

// checkConsumer checks that a consumer of committed data who reads the log from its
// start knows the same of each key as one who has read all of it.
func (r *rig) checkConsumer(s *commitlog.Snapshot) {
	r.t.Helper()
	want, got := map[string]string{}, map[string]string{}
	for _, w := range r.written {
		if w.undecided || w.aborted || w.Offset >= s.LastStableOffset() {
			continue
		}
		if delete(want, string(w.Key)); w.Value != nil {
			want[string(w.Key)] = string(w.Value)
		}
	}
	committed, _ := readAll(r.t, s, true)
	for _, f := range committed {
		if f.Offset >= s.LastStableOffset() {
			break
		}
		if delete(got, string(f.Key)); f.Value != nil {
			got[string(f.Key)] = string(f.Value)
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		r.t.Fatalf("a consumer sees\n%v\nwant\n%v", got, want)
	}
}

// checkHeaders checks the order of batches, and that the log ends where it did.
func (r *rig) checkHeaders(s *commitlog.Snapshot, headers []record.Header) {
	r.t.Helper()
	next := kafka.Offset(0)
	for _, h := range headers {
		if h.BaseOffset < next {
			r.t.Fatalf("batch [%d, %d] behind offset %d", h.BaseOffset, h.LastOffset(), next)
		}
		next = h.NextOffset()
	}
}

// state is what must survive a cleaning and a recovery after it.
func state(l *commitlog.Log) string {
	producers := l.Producers(nil)
	for i := range producers {
		producers[i].LastTimestamp = 0 // of the records that stay, as with Apache
	}
	slices.SortFunc(producers, func(a, b commitlog.ProducerState) int { return int(a.ID - b.ID) })
	return fmt.Sprint("end ", l.LogEnd(), " stable ", l.LastStableOffset(), " epoch ", l.LatestEpoch(), " producers ", producers)
}

func TestCleaningAgreesWithTheModel(t *testing.T) {
	for seed := range uint64(30) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 1))
			r := newRig(t)
			for range 6 {
				r.workload(rnd, 40, 30)
				if rnd.IntN(2) == 0 {
					r.decide(rnd)
				}
				r.roll()
				before := state(r.log)
				r.run()
				r.check(r.log.Snapshot(), true)
				if after := state(r.log); after != before {
					t.Fatalf("%s, before %s", after, before)
				}
				switch rnd.IntN(3) {
				case 0: // the process dies, and everything is read again
					r.log.Abandon()
					if report := r.open(commitlog.Options{}); len(report.Cuts)+len(report.Damages) > 0 {
						t.Fatalf("%+v", report)
					}
				case 1:
					must(t, r.log.Close())
					r.open(commitlog.Options{Clean: true})
				}
				if after := state(r.log); after != before {
					t.Fatalf("after a restart %s, before %s", after, before)
				}
				r.check(r.log.Snapshot(), true)
				r.now += 300
			}
		})
	}
}

// A map that holds a few keys cleans a part at a time, and all in the end.
func TestSmallMapCleansInParts(t *testing.T) {
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		r := newRig(t, func(r *rig) { r.keys = NewOffsetMap([2]uint64{5, 6}, 20*entryBytes, 0.9) })
		r.workload(rnd, 150, 60)
		r.decide(rnd)
		r.roll()
		for runs := 0; ; runs++ {
			at, _ := r.run()
			r.check(r.log.Snapshot(), true)
			if at.FirstDirty == at.FirstUncleanable {
				if runs < 3 {
					t.Errorf("seed %d: only %d runs", seed, runs)
				}
				break
			}
		}
	}
}

func TestMapTooSmallForABatch(t *testing.T) {
	r := newRig(t, func(r *rig) { r.keys = NewOffsetMap([2]uint64{5, 6}, 3*entryBytes, 1) })
	r.append(record.BatchOptions{}, r.records(rand.New(rand.NewPCG(1, 1)), 1)...)
	records := []record.Record{}
	for i := range 5 {
		records = append(records, record.Record{Key: fmt.Append(nil, i)})
	}
	r.append(record.BatchOptions{}, records...)
	r.roll()
	at, _ := r.run() // the first batch fits
	at, err := Measure(r.log.Snapshot(), r.dirty, r.log.RecoveryPoint(), Rules{}, r.now)
	must(t, err)
	if _, _, err := Clean(r, at, r.clean, r.keys, r.now); !errors.Is(err, ErrMapTooSmall) {
		t.Errorf("%v", err)
	}
}

// stepFS calls step before each operation that changes what is on the disk.
type stepFS struct {
	*vfs.Mem
	step func()
}

type stepFile struct {
	vfs.File
	fs *stepFS
}

func (s *stepFS) do() {
	if s.step != nil {
		s.step()
	}
}

func (s *stepFS) Open(path string, mode vfs.Mode) (vfs.File, error) {
	if mode != vfs.Read && mode != vfs.ReadWrite {
		s.do()
	}
	f, err := s.Mem.Open(path, mode)
	if err != nil {
		return nil, err
	}
	return &stepFile{f, s}, nil
}
func (s *stepFS) Rename(from, to string) error { s.do(); return s.Mem.Rename(from, to) }
func (s *stepFS) Remove(path string) error     { s.do(); return s.Mem.Remove(path) }
func (s *stepFS) SyncDir(path string) error    { s.do(); return s.Mem.SyncDir(path) }
func (f *stepFile) Sync() error                { f.fs.do(); return f.File.Sync() }
func (f *stepFile) WriteAt(b []byte, off int64) (int, error) {
	f.fs.do()
	return f.File.WriteAt(b, off)
}

// The power is cut before every step of a cleaning, and whatever has reached the disk
// opens to a log that agrees with the model; and its next cleaning is a whole one.
func TestCrashAtEachStepOfACleaning(t *testing.T) {
	for seed := range uint64(2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 3))
			steps := &stepFS{}
			r := newRig(t, func(r *rig) { steps.Mem = r.mem; r.fs = steps })
			r.workload(rnd, 60, 20)
			r.decide(rnd)
			r.roll()
			r.run()
			r.now += 1500
			r.workload(rnd, 60, 20)
			r.decide(rnd)
			r.roll()
			must(t, r.log.Flush(r.log.LogEnd()))
			before, point, dirty := state(r.log), r.log.RecoveryPoint(), r.dirty
			r.reach = r.log.SealedEnd()
			crashes := 0
			crash := func() {
				crashes++
				for _, disk := range []*vfs.Mem{r.mem.Crash(), r.mem.CrashTorn(uint64(crashes))} {
					after := *r
					after.mem, after.fs, after.dirty = disk, disk, dirty
					report := after.open(commitlog.Options{RecoveryPoint: point})
					if len(report.Cuts)+len(report.Damages) > 0 {
						t.Fatalf("step %d: %+v", crashes, report)
					}
					if s := state(after.log); s != before {
						t.Fatalf("step %d: %s, before %s", crashes, s, before)
					}
					after.check(after.log.Snapshot(), false)
					after.run()
					after.reach = 0
					after.check(after.log.Snapshot(), true)
					after.log.Abandon()
				}
			}
			steps.step = func() { steps.step = nil; crash(); steps.step = nil }
			// The step restores itself: crash uses other file systems.
			var rearm func()
			rearm = func() { crash(); steps.step = rearm }
			steps.step = rearm
			r.run()
			steps.step = nil
			r.check(r.log.Snapshot(), true)
			if crashes < 30 {
				t.Errorf("only %d steps", crashes)
			}
		})
	}
}
