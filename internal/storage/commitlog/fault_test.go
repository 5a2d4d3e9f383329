package commitlog

import (
	"errors"
	"fmt"
	"syscall"
	"testing"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/record"
)

// TestEveryOperationMayFail runs one scenario again and again and lets its n-th
// disk operation fail, for each n: the call must return the error, and after a
// kill the log must open with every batch that was appended without an error, and
// with none that was truncated.
func TestEveryOperationMayFail(t *testing.T) {
	for n := 1; ; n++ {
		fx := makeFixture(t, func(c *Config) { c.SegmentBytes, c.IndexIntervalBytes = 400, 100 })
		left := n
		var failed vfs.Op
		fx.mem.Inject(func(op vfs.Op) vfs.Fault {
			left--
			if left != 0 || op.Kind == vfs.OpPreallocate {
				return vfs.Fault{}
			}
			failed = op
			return vfs.Fault{Err: syscall.EIO, Written: op.Bytes / 2}
		})
		s := scenario{fixture: fx}
		err := s.run()
		fx.mem.Inject(nil)
		if failed.Kind == "" {
			must(t, err)
			if n < 50 {
				t.Fatalf("the scenario has %d operations only", n)
			}
			return
		}
		if !errors.Is(err, syscall.EIO) {
			t.Fatalf("operation %d, %v, failed and the scenario says %v", n, failed, err)
		}
		fx.log.Abandon()
		if open := fx.env.Files.Open(); open != 0 {
			t.Fatalf("operation %d, %v: %d files are open", n, failed, open)
		}
		if err := fx.tryOpen(Options{RecoveryPoint: s.flushed, LogStart: s.start}); err != nil {
			t.Fatalf("operation %d, %v: the log does not open: %v", n, failed, err)
		}
		s.check(fmt.Sprintf("operation %d, %v", n, failed))
		fx.log.Abandon()
	}
}

// scenario is a life of a log, and what must be in it.
type scenario struct {
	*fixture
	batches        []record.Batch // appended without an error
	flushed, start kafka.Offset
	cut            bool // a truncation was begun
}

func (s *scenario) run() error {
	for i := range 3 {
		if err := s.append3(int64(10 * i)); err != nil {
			return err
		}
		if err := s.log.Flush(s.log.LogEnd() - 1); err != nil {
			return err
		}
		s.flushed = s.log.RecoveryPoint()
	}
	if a, err := s.log.AppendMarker(0, s.now, record.CreateTime, kafka.Marker{ProducerID: 3}); err != nil || a.Err != 0 {
		return err
	}
	if err := s.log.AssignEpoch(1); err != nil {
		return err
	}
	s.cut = true
	s.flushed = min(s.flushed, 20)
	if _, err := s.log.TruncateTo(20, s.now); err != nil {
		return err
	}
	s.log.SetHighWatermark(15)
	if err := s.log.IncrementLogStart(12); err != nil {
		return err
	}
	s.start = 12
	if _, err := s.log.RemoveSegments(BelowLogStart(12), s.now); err != nil {
		return err
	}
	if err := s.log.Checkpoint(s.log.RecoveryPoint()); err != nil {
		return err
	}
	if err := s.log.Close(); err != nil {
		return err
	}
	l, _, err := Open(Options{Env: s.env, Dir: testDir, Config: &s.config, Now: s.now, Clean: true, LogStart: 12})
	if err == nil {
		s.log = l
	}
	return err
}

// append3 appends three runs of two batches of two records.
func (s *scenario) append3(at int64) error {
	for range 3 {
		run := []record.Batch{sizedBatch(2, 20, at), sizedBatch(2, 20, at, producerOpt(3, 0, int32(len(s.batches))), inTxn)}
		out := make([]Appended, 2)
		err := s.log.AppendLeader(0, s.now, run, out)
		for i, a := range out {
			if a.Err == kafka.ErrNone {
				s.batches = append(s.batches, run[i])
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *scenario) check(what string) {
	s.t.Helper()
	have := contents(s.t, s.log.Snapshot())
	for _, b := range s.batches {
		if b.LastOffset() < s.start || s.cut && b.LastOffset() >= 20 {
			continue
		}
		found := false
		for _, h := range have {
			found = found || h == b.Header()
		}
		if !found {
			s.t.Fatalf("%s: batch [%d, %d] is lost; %+v", what, b.BaseOffset(), b.LastOffset(), s.report)
		}
	}
	if !s.cut && len(s.report.Damages) > 0 {
		s.t.Fatalf("%s: %+v", what, s.report)
	}
}

// TestEveryOperationOfRecoveryMayFail does the same while a log is recovered whose
// last segments are damaged: what an opening that failed has done must not keep the
// next one from doing the same.
func TestEveryOperationOfRecoveryMayFail(t *testing.T) {
	var want string
	for n := 0; ; n++ {
		fx := makeFixture(t, func(c *Config) { c.SegmentBytes, c.IndexIntervalBytes = 400, 100 })
		s := scenario{fixture: fx}
		for i := range 3 {
			must(t, s.append3(int64(10*i)))
		}
		must(t, fx.log.Flush(9))
		segments := fx.log.segments
		damaged, swapped := segments[len(segments)-2].base, filePath(testDir, segments[len(segments)-4].base, logSuffix)
		fx.overwrite(fileName(damaged, logSuffix), 30, []byte{1})
		must(t, fx.mem.Remove(filePath(testDir, 0, indexSuffix)))
		must(t, fx.mem.Rename(swapped, swapped+swapSuffix))
		fx.log.Abandon()

		left := n
		var failed vfs.Op
		fx.mem.Inject(func(op vfs.Op) vfs.Fault {
			if left--; left != 0 {
				return vfs.Fault{}
			}
			failed = op
			return vfs.Fault{Err: syscall.EIO, Written: op.Bytes / 2}
		})
		err := fx.tryOpen(Options{RecoveryPoint: 9})
		fx.mem.Inject(nil)
		if failed.Kind != "" {
			if !errors.Is(err, syscall.EIO) {
				t.Fatalf("operation %d, %v, failed and Open says %v", n, failed, err)
			}
			if open := fx.env.Files.Open(); open != 0 {
				t.Fatalf("operation %d, %v: %d files are open", n, failed, open)
			}
			must(t, fx.tryOpen(Options{RecoveryPoint: 9}))
		}
		have := fmt.Sprint(fx.contents(), fx.log.Producers(nil), fx.log.LogEnd())
		if n == 0 {
			want = have
		}
		if have != want {
			t.Fatalf("operation %d, %v:\n%s\nwant\n%s", n, failed, have, want)
		}
		fx.log.Abandon()
		if n > 0 && failed.Kind == "" {
			return
		}
	}
}

// TestFullAtEveryOperation lets the n-th operation of a log's life find the disk full,
// for each n. What failed is tried again, as a log's owner does, or something smaller
// is, and a kill follows. Every batch that was appended is there then, and recovery
// finds nothing odd.
func TestFullAtEveryOperation(t *testing.T) {
	for _, then := range []string{"again", "smaller and killed"} {
		for n, failed := 1, true; failed; n++ {
			if failed = fullAt(t, n, then == "again"); !failed && n < 40 {
				t.Fatalf("the life has %d operations only", n)
			}
		}
	}
}

// fullAt says whether there was an n-th operation.
func fullAt(t *testing.T, n int, again bool) bool {
	fx := makeFixture(t, func(c *Config) { c.SegmentBytes, c.IndexIntervalBytes = 400, 100 })
	left := n
	var failed vfs.Op
	fx.mem.Inject(func(op vfs.Op) vfs.Fault {
		switch op.Kind {
		case vfs.OpWrite, vfs.OpCreate, vfs.OpRename:
			if left--; left == 0 {
				failed = op
				return vfs.Fault{Err: syscall.ENOSPC, Written: op.Bytes / 2}
			}
		}
		return vfs.Fault{}
	})
	s := scenario{fixture: fx}
	s.lifeOnAFullDisk(again)
	fx.mem.Inject(nil)
	end, epoch := fx.log.LogEnd(), fx.log.LatestEpoch()
	what := fmt.Sprintf("operation %d, %v, tried again: %v", n, failed, again)
	if !fx.log.Usable() {
		t.Fatalf("%s: %v", what, fx.log.Err())
	}
	fx.log.Abandon()
	must(t, fx.tryOpen(Options{RecoveryPoint: s.flushed}))
	s.check(what)
	if r := fx.report; len(r.Cuts)+len(r.Damages)+len(r.BadSnapshots) > 0 || r.BadEpochs != nil || fx.log.LogEnd() != end || fx.log.LatestEpoch() != epoch {
		t.Fatalf("%s: the log ends at %d in epoch %d, want %d in %d: %+v", what, fx.log.LogEnd(), fx.log.LatestEpoch(), end, epoch, r)
	}
	fx.log.Abandon()
	return failed.Kind != ""
}

// lifeOnAFullDisk does what a leader does. What finds no space is tried again; else
// something smaller is, and life ends.
func (s *scenario) lifeOnAFullDisk(again bool) {
	s.t.Helper()
	sequence := int32(0)
	for epoch := range kafka.LeaderEpoch(8) {
		add := func(records, size int) func() error {
			b := sizedBatch(records, size, 1000, producerOpt(3, 0, sequence))
			return func() error {
				out := make([]Appended, 1)
				err := s.log.AppendLeader(epoch, s.now, []record.Batch{b}, out)
				if err == nil {
					s.batches = append(s.batches, b)
					sequence += int32(records)
				}
				return err
			}
		}
		steps := []func() error{func() error { return s.log.AssignEpoch(epoch) }}
		for _, size := range []int{20, 100, 20, 120} {
			steps = append(steps, func() error { return add(2, size)() })
		}
		for _, step := range append(steps, func() error { return s.log.Checkpoint(s.flushed) }) {
			err := step()
			switch {
			case err == nil:
			case !vfs.IsFull(err):
				s.t.Fatal(err)
			case again:
				must(s.t, step())
			default:
				must(s.t, add(1, 1)())
				s.flush()
				return
			}
		}
		if epoch%3 == 1 {
			s.flush()
		}
	}
}

func (s *scenario) flush() {
	s.t.Helper()
	must(s.t, s.log.Flush(s.log.LogEnd()))
	if err := s.log.Checkpoint(s.log.RecoveryPoint()); err == nil {
		s.flushed = s.log.RecoveryPoint()
	} else if !vfs.IsFull(err) {
		s.t.Fatal(err)
	}
}
