package commitlog

import (
	"errors"
	"sync"
	"testing"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/record"
)

// These tests cut the power at a moment that matters.

// A segment that was cut and then rolled must not come back with its old bytes,
// whose offsets the next segment has.
func TestTruncationSurvivesAPowerCut(t *testing.T) {
	fx := newFixture(t, func(c *Config) { c.SegmentBytes = 1000 })
	fx.append(sizedBatch(10, 10, 1), sizedBatch(10, 10, 1))
	must(t, fx.log.Flush(5)) // syncs the whole file, and promises little
	_, err := fx.log.TruncateTo(10, 0)
	must(t, err)
	must(t, fx.log.Roll(0))
	must(t, fx.log.AssignEpoch(1))
	must(t, fx.log.Checkpoint(11)) // writes a file, and syncs the folder's names
	fx.crash(fx.mem.Crash(), fx.log.RecoveryPoint())
	if end := fx.log.LogEnd(); end != 10 || len(fx.report.Cuts) > 0 {
		t.Errorf("end %d, report %+v", end, fx.report)
	}
}

// Segments that a truncation removed must not come back beside what is written
// next.
func TestRemovedSegmentsStayRemoved(t *testing.T) {
	fx := newFixture(t, func(c *Config) { c.SegmentBytes = 350 })
	for range 5 {
		fx.append(sizedBatch(5, 10, 1))
	}
	if n := fx.log.Snapshot().Segments(); n != 3 {
		t.Fatalf("%d segments", n)
	}
	must(t, fx.log.Flush(25))
	_, err := fx.log.TruncateTo(15, 0)
	must(t, err)
	fx.append(sizedBatch(1, 0, 1))
	must(t, fx.log.Flush(16))
	fx.crash(fx.mem.Crash(), fx.log.RecoveryPoint())
	if end := fx.log.LogEnd(); end != 16 {
		t.Errorf("end %d, %s", end, fx.files())
	}
}

// What is below the recovery point needs no recovery: the indexes of a segment that
// was flushed while it was active, and rolled with nothing left to flush.
func TestIndexesOfAFlushedSegmentSurvive(t *testing.T) {
	fx := newFixture(t, func(c *Config) { c.SegmentBytes, c.IndexIntervalBytes = 1000, 100 })
	fx.append(sizedBatch(5, 10, 1), sizedBatch(5, 10, 2), sizedBatch(5, 10, 3), sizedBatch(5, 10, 4))
	must(t, fx.log.Flush(20))
	must(t, fx.log.Roll(0))
	fx.append(batch(1, 1))
	must(t, fx.log.Flush(21))
	fx.crash(fx.mem.Crash(), fx.log.RecoveryPoint())
	if fx.report.SegmentsRecovered != 1 {
		t.Fatalf("report %+v", fx.report)
	}
	if n := len(fx.file("00000000000000000000.index")); n != 3*offsetEntrySize {
		t.Errorf("index of %d bytes", n)
	}
	if n := len(fx.file("00000000000000000000.timeindex")); n != 3*timeEntrySize {
		t.Errorf("time index of %d bytes", n)
	}
}

// A flush that was begun before a truncation says nothing of what came after it.
func TestFlushAcrossATruncationRaisesNothing(t *testing.T) {
	fx := newFixture(t)
	fx.append(batch(10, 1), batch(10, 1))
	f, ok := fx.log.BeginFlush(20)
	if !ok {
		t.Fatal("nothing to flush")
	}
	must(t, f.Sync())
	_, err := fx.log.TruncateTo(10, 0)
	must(t, err)
	fx.append(batch(10, 1))
	fx.log.EndFlush(f)
	if p := fx.log.RecoveryPoint(); p != 0 {
		t.Errorf("recovery point %d", p)
	}
}

// A flush of a log that was given up must not say that anything is durable.
func TestFlushOfAnAbandonedLogSaysSo(t *testing.T) {
	fx := newFixture(t)
	fx.append(batch(10, 1))
	f, ok := fx.log.BeginFlush(10)
	if !ok {
		t.Fatal("nothing to flush")
	}
	fx.log.Abandon()
	if err := f.Sync(); !errors.Is(err, ErrClosed) {
		t.Errorf("after Abandon: %v", err)
	}
	if f, ok := fx.log.BeginFlush(10); !ok || !errors.Is(f.Sync(), ErrClosed) {
		t.Error("a flush that was begun after Abandon said that all is durable")
	}
	fx.open(Options{})
	f, _ = fx.log.BeginFlush(10)
	must(t, fx.log.Close())
	if err := f.Sync(); err != nil {
		t.Errorf("after Close, which syncs: %v", err)
	}
}

// hookFS calls hook once, in the middle of a read of a log file.
type hookFS struct {
	vfs.FS
	hook func()
	once sync.Once
}

type hookFile struct {
	vfs.File
	fs *hookFS
}

func (h *hookFS) Open(path string, mode vfs.Mode) (vfs.File, error) {
	f, err := h.FS.Open(path, mode)
	if err != nil {
		return nil, err
	}
	return &hookFile{f, h}, nil
}

func (f *hookFile) ReadAt(p []byte, off int64) (int, error) {
	if f.fs.hook != nil {
		f.fs.once.Do(f.fs.hook)
	}
	return f.File.ReadAt(p, off)
}

// A reader in the middle of a segment that is cut and written anew gets nothing of
// what is new.
func TestReadAcrossATruncationIsStale(t *testing.T) {
	for name, lookup := range map[string]func(*Snapshot) error{
		"read": func(s *Snapshot) error {
			slice, err := s.Read(ReadRequest{From: 15, UpTo: 20, MaxBytes: 1000})
			slice.Release()
			return err
		},
		"time": func(s *Snapshot) error { _, _, err := s.OffsetByTimestamp(5); return err },
		"max":  func(s *Snapshot) error { _, _, err := s.MaxTimestamp(); return err },
	} {
		t.Run(name, func(t *testing.T) {
			h := &hookFS{FS: vfs.NewMem(nil)}
			env := testEnv(h)
			l, _, err := Open(Options{Env: env, Dir: testDir, Config: DefaultConfig(), Clean: true})
			must(t, err)
			defer l.Abandon()
			out := make([]Appended, 2)
			must(t, l.AppendLeader(0, 0, []record.Batch{batch(10, 1), batch(10, 1)}, out))
			s := l.Snapshot()
			h.hook = func() {
				h.hook = nil
				_, err := l.TruncateTo(10, 0)
				must(t, err)
				must(t, l.AppendLeader(1, 0, []record.Batch{sizedBatch(10, 3, 1)}, out[:1]))
			}
			if err := lookup(s); !errors.Is(err, ErrStale) {
				t.Errorf("%v, want ErrStale", err)
			}
		})
	}
}

// A descriptor is closed when its last reader has released it, not before.
func TestHeldSliceOutlivesItsLog(t *testing.T) {
	fx := newFixture(t)
	fx.append(batch(3, 1))
	slice, err := fx.log.Snapshot().Read(ReadRequest{UpTo: 3, MaxBytes: 1000})
	must(t, err)
	must(t, fx.log.Close())
	b, err := readAll(slice.File, slice.Length)
	must(t, err)
	if got, _, err := record.Next(b); err != nil || got.LastOffset() != kafka.Offset(2) {
		t.Errorf("%v", err)
	}
	slice.Release()
	slice.Release() // a second one does nothing
}

// TestEpochsOfBatchesOutliveACleanStop: a file of epochs that loses one in which nothing
// was appended is replaced at a clean stop, and what it has of batches must outlive a
// power cut.
func TestEpochsOfBatchesOutliveACleanStop(t *testing.T) {
	fx := newFixture(t)
	must(t, fx.log.AssignEpoch(1))
	must(t, fx.log.AppendLeader(1, fx.now, []record.Batch{batch(5, 0)}, make([]Appended, 1)))
	must(t, fx.log.Roll(fx.now)) // recovery looks at all of the newest segment
	must(t, fx.log.AssignEpoch(2))
	must(t, fx.log.Flush(5))
	must(t, fx.log.Checkpoint(6))
	fx.log.Abandon()
	fx.open(Options{RecoveryPoint: 5})
	_, err := fx.log.TruncateTo(5, fx.now) // nothing, but the stop is not that of an idle log
	must(t, err)
	must(t, fx.log.Close())
	fx.open(Options{Clean: true, RecoveryPoint: 5})
	fx.crash(fx.mem.Crash(), 5)
	if got := fx.log.Snapshot().EpochOf(4); got != 1 {
		t.Errorf("offset 4 is taken for one of epoch %d", got)
	}
}
