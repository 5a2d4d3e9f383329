package commitlog

import (
	"path/filepath"
	"testing"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/record"
)

func benchLog(b *testing.B) *Log {
	env := &Env{FS: vfs.NewOS(vfs.NewGate(vfs.GateLimit)), Files: vfs.NewCache(0, nil)}
	log, _, err := Open(Options{Env: env, Dir: filepath.Join(b.TempDir(), "t-0"), Config: DefaultConfig(), Clean: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(log.Abandon)
	return log
}

// BenchmarkAppend appends runs of 16 KB batches as a leader does.
func BenchmarkAppend(b *testing.B) {
	for name, n := range map[string]int{"one": 1, "four": 4, "sixteen": 16} {
		b.Run(name, func(b *testing.B) {
			log := benchLog(b)
			run := make([]record.Batch, n)
			for i := range run {
				run[i] = sizedBatch(150, 95, 1000)
			}
			out := make([]Appended, n)
			b.SetBytes(int64(n * len(run[0])))
			b.ReportAllocs()
			for b.Loop() {
				if err := log.AppendLeader(0, 0, run, out); err != nil {
					b.Fatal(err)
				}
				log.SetHighWatermark(log.LogEnd())
			}
		})
	}
}

// BenchmarkAppendIdempotent is the same with a producer's sequences to check.
func BenchmarkAppendIdempotent(b *testing.B) {
	log := benchLog(b)
	run := []record.Batch{sizedBatch(1, 95, 1000, producerOpt(7, 0, 0))}
	out := make([]Appended, 1)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		run[0] = sizedBatch(1, 95, 1000, producerOpt(7, 0, int32(i)))
		if err := log.AppendLeader(0, 0, run, out); err != nil || out[0].Err != 0 {
			b.Fatal(err, out[0].Err)
		}
	}
}

// BenchmarkRead reads a sealed segment at random offsets.
func BenchmarkRead(b *testing.B) {
	log := benchLog(b)
	for log.LogEnd() < 200_000 {
		out := make([]Appended, 1)
		if err := log.AppendLeader(0, 0, []record.Batch{sizedBatch(10, 95, 1000)}, out); err != nil {
			b.Fatal(err)
		}
	}
	if err := log.Roll(0); err != nil {
		b.Fatal(err)
	}
	s := log.Snapshot()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		slice, err := s.Read(ReadRequest{From: kafka.Offset(i*7919) % 200_000, UpTo: s.LogEnd(), MaxBytes: 1 << 20})
		if err != nil {
			b.Fatal(err)
		}
		slice.Release()
	}
}

// BenchmarkTailRead reads what was appended last, with and without the place where
// the last read ended.
func BenchmarkTailRead(b *testing.B) {
	for _, hint := range []bool{false, true} {
		name := map[bool]string{false: "index", true: "hint"}[hint]
		b.Run(name, func(b *testing.B) {
			log := benchLog(b)
			out := make([]Appended, 1)
			var end Position
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				from := log.LogEnd()
				if err := log.AppendLeader(0, 0, []record.Batch{sizedBatch(10, 95, 1000)}, out); err != nil {
					b.Fatal(err)
				}
				s := log.Snapshot()
				b.StartTimer()
				r := ReadRequest{From: from, UpTo: s.LogEnd(), MaxBytes: 1 << 20}
				if hint {
					r.Hint = end
				}
				slice, err := s.Read(r)
				if err != nil {
					b.Fatal(err)
				}
				slice.Release()
				end = slice.End
			}
		})
	}
}

// BenchmarkOpen opens logs after a clean stop.
func BenchmarkOpen(b *testing.B) {
	log := benchLog(b)
	out := make([]Appended, 1)
	for range 1000 {
		if err := log.AppendLeader(0, 0, []record.Batch{sizedBatch(10, 95, 1000)}, out); err != nil {
			b.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		l, _, err := Open(Options{Env: log.env, Dir: log.Dir(), Config: DefaultConfig(), Clean: true})
		if err != nil {
			b.Fatal(err)
		}
		l.Abandon()
	}
}

// BenchmarkRecover scans a log after a kill.
func BenchmarkRecover(b *testing.B) {
	log := benchLog(b)
	out := make([]Appended, 1)
	for log.Size() < 64<<20 {
		if err := log.AppendLeader(0, 0, []record.Batch{sizedBatch(150, 95, 1000)}, out); err != nil {
			b.Fatal(err)
		}
	}
	size := log.Size()
	if err := log.Close(); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(size)
	for b.Loop() {
		l, _, err := Open(Options{Env: log.env, Dir: log.Dir(), Config: DefaultConfig()})
		if err != nil {
			b.Fatal(err)
		}
		l.Abandon()
	}
}
