package commitlog

import (
	"errors"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/record"
)

// TestReadersBesideAWriter reads from snapshots while the log is appended to,
// rolled, truncated above the high watermark, flushed and shortened at its start,
// with far fewer descriptors than files. Each truncation begins a new epoch, so
// that the epochs of a snapshot say which bytes it promised: a reader must get
// those or be told to come again.
func TestReadersBesideAWriter(t *testing.T) {
	env := &Env{FS: vfs.NewOS(vfs.NewGate(vfs.GateLimit)), Files: vfs.NewCache(3, func(err error) { t.Error(err) })}
	c := DefaultConfig()
	c.SegmentBytes, c.IndexIntervalBytes, c.IndexBytes = 4000, 200, 1000
	log, _, err := Open(Options{Env: env, Dir: t.TempDir() + "/t-0", Config: c, Clean: true})
	must(t, err)

	var done atomic.Bool
	var reads atomic.Int64
	var readers sync.WaitGroup
	for i := range 4 {
		readers.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(i), 1))
			for !done.Load() {
				if readSomething(t, log.Snapshot(), rnd) {
					reads.Add(1)
				}
			}
		})
	}
	writeALot(t, log, rand.New(rand.NewPCG(7, 7)), func() bool { return reads.Load() > 2000 })
	done.Store(true)
	readers.Wait()
	must(t, log.Close())
	if n := env.Files.Open(); n != 0 {
		t.Errorf("%d files are open at the end", n)
	}
}

// writeALot changes the log until enough says so, and for some time at least.
func writeALot(t *testing.T, log *Log, rnd *rand.Rand, enough func() bool) {
	t.Helper()
	var mu sync.Mutex // the append lock, shared with a flush in the background
	var flushes sync.WaitGroup
	epoch := kafka.LeaderEpoch(0)
	for n := 0; n < 1500 || !enough() && n < 100_000; n++ {
		mu.Lock()
		switch rnd.IntN(40) {
		default:
			out := make([]Appended, 1)
			must(t, log.AppendLeader(epoch, 0, []record.Batch{sizedBatch(1+rnd.IntN(3), rnd.IntN(100), int64(n))}, out))
		case 0, 1, 2, 3:
			log.SetHighWatermark(log.LogEnd() - kafka.Offset(rnd.IntN(4)))
		case 4:
			g, err := log.TruncateTo(log.HighWatermark()+kafka.Offset(rnd.IntN(3)), 0)
			must(t, err)
			must(t, g.Remove(log.env.FS))
			epoch++
			must(t, log.AssignEpoch(epoch))
		case 5:
			g, err := log.RemoveSegments(BeyondBytes(log.Size(), 30_000), 0)
			must(t, err)
			must(t, g.Remove(log.env.FS))
		case 6:
			if f, ok := log.BeginFlush(log.SealedEnd()); ok {
				flushes.Go(func() {
					if err := f.Sync(); err != nil {
						t.Error(err)
					}
					mu.Lock()
					log.EndFlush(f)
					mu.Unlock()
				})
			}
		case 7:
			must(t, log.Checkpoint(log.RecoveryPoint()))
		}
		mu.Unlock()
	}
	flushes.Wait()
}

// readSomething reads once and says whether it got something.
func readSomething(t *testing.T, s *Snapshot, rnd *rand.Rand) bool {
	high := s.HighWatermark()
	if high == s.LogStart() {
		return false
	}
	from := s.LogStart() + kafka.Offset(rnd.Int64N(int64(high-s.LogStart())))
	if rnd.IntN(4) == 0 {
		at, ok, err := s.OffsetByTimestamp(rnd.Int64N(3000))
		if err != nil && !errors.Is(err, ErrStale) {
			t.Errorf("lookup: %v", err)
		}
		return ok && at.Offset >= 0
	}
	slice, err := s.Read(ReadRequest{From: from, UpTo: high, MaxBytes: 500, WholeFirst: true})
	if err != nil {
		if !errors.Is(err, ErrStale) {
			t.Errorf("read at %d: %v", from, err)
		}
		return false
	}
	defer slice.Release()
	b := make([]byte, slice.Length)
	if slice.Length > 0 {
		if _, err := slice.File.ReadAt(b, slice.Position); err != nil && err != io.EOF {
			t.Errorf("read at %d: %v", from, err)
			return false
		}
	}
	for len(b) >= record.HeaderSize {
		h, err := record.ParseHeader(b)
		if err != nil {
			t.Errorf("read at %d: %v", from, err)
			return false
		}
		if h.Size > len(b) {
			break
		}
		if err := record.Verify(b[:h.Size]); err != nil || h.LeaderEpoch != s.EpochOf(h.BaseOffset) && h.BaseOffset >= s.LogStart() {
			t.Errorf("read at %d: batch at %d of epoch %d, promised %d, %v", from, h.BaseOffset, h.LeaderEpoch, s.EpochOf(h.BaseOffset), err)
			return false
		}
		b = b[h.Size:]
	}
	return true
}

func TestStaleSnapshotsSaySo(t *testing.T) {
	fx := newFixture(t, func(c *Config) { c.SegmentBytes = 300 })
	fx.fill(9, 40)
	old := fx.log.Snapshot()
	slice, err := old.Read(ReadRequest{From: 0, UpTo: 9, MaxBytes: 1000})
	must(t, err)
	want := bytesOf(t, slice)
	held, err := old.Read(ReadRequest{From: 0, UpTo: 9, MaxBytes: 1000})
	must(t, err)

	fx.log.SetHighWatermark(9)
	must(t, fx.log.IncrementLogStart(8))
	g, err := fx.log.RemoveSegments(BelowLogStart(8), 0)
	must(t, err)
	must(t, g.Remove(fx.mem))
	if _, err := old.Read(ReadRequest{From: 0, UpTo: 9, MaxBytes: 1000}); !errors.Is(err, ErrStale) {
		t.Errorf("read of a removed segment: %v", err)
	}
	if got := bytesOf(t, held); string(got) != string(want) {
		t.Error("a held file has changed")
	}

	before := fx.log.Snapshot()
	_, err = fx.log.TruncateTo(8, 0)
	must(t, err)
	fx.fill(12, 40)
	if _, err := before.Read(ReadRequest{From: 8, UpTo: 9, MaxBytes: 1000}); !errors.Is(err, ErrStale) {
		t.Errorf("read of a segment that was cut: %v", err)
	}
	if _, _, err := before.OffsetByTimestamp(0); !errors.Is(err, ErrStale) {
		t.Errorf("lookup in a segment that was cut: %v", err)
	}
	fx.log.Abandon()
	if _, err := fx.log.Snapshot().Read(ReadRequest{From: 8, UpTo: 9, MaxBytes: 1000}); !errors.Is(err, ErrStale) {
		t.Errorf("read of a log that was closed: %v", err)
	}
}
