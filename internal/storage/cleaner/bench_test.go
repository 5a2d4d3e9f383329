package cleaner

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"

	"barnabas/internal/base/vfs"
	"barnabas/internal/record"
	"barnabas/internal/storage/commitlog"
)

// BenchmarkClean compacts a log of 256 MB on the disk, whose keys come ten times each,
// by size of values and codec. It says how many bytes of log a second, and how many
// seconds of CPU for a GB.
func BenchmarkClean(b *testing.B) {
	for _, c := range []struct {
		name  string
		size  int
		codec record.Codec
	}{{"plain-1000", 1000, record.None}, {"plain-100", 100, record.None}, {"lz4-1000", 1000, record.LZ4}, {"zstd-1000", 1000, record.Zstd}} {
		b.Run(c.name, func(b *testing.B) {
			var bytes int64
			var cpu float64
			for range b.N {
				b.StopTimer()
				target := benchLog(b, c.size, c.codec)
				keys := NewOffsetMap([2]uint64{1, 2}, 128<<20, 0.9)
				at, err := Measure(target.Snapshot(), 0, target.log.RecoveryPoint(), Rules{MaxLagMs: 1<<63 - 1}, 0)
				must(b, err)
				before := cpuSeconds(b)
				b.StartTimer()
				_, stats, err := Clean(target, at, Config{SegmentBytes: 64 << 20, IndexBytes: 10 << 20, MaxRecordSize: 1 << 30, BufferBytes: 256 << 10}, keys, 0)
				must(b, err)
				b.StopTimer()
				cpu += cpuSeconds(b) - before
				bytes += stats.BytesRead
				target.log.Abandon()
				b.StartTimer()
			}
			b.SetBytes(bytes / int64(b.N))
			b.ReportMetric(cpu/(float64(bytes)/1e9), "cpu-s/GB")
		})
	}
}

func cpuSeconds(b *testing.B) float64 {
	var u syscall.Rusage
	must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
}

// diskTarget is a log on the disk.
type diskTarget struct{ log *commitlog.Log }

func (t diskTarget) Snapshot() *commitlog.Snapshot              { return t.log.Snapshot() }
func (t diskTarget) Locked(do func(*commitlog.Log) error) error { return do(t.log) }
func (t diskTarget) Swapped(commitlog.Garbage)                  {}
func (t diskTarget) Pace(int) error                             { return nil }

func benchLog(b *testing.B, size int, codec record.Codec) diskTarget {
	const total = 256 << 20
	config := commitlog.DefaultConfig()
	config.SegmentBytes = 64 << 20
	env := &commitlog.Env{FS: vfs.NewOS(vfs.NewGate(vfs.GateLimit)), Files: vfs.NewCache(0, nil)}
	log, _, err := commitlog.Open(commitlog.Options{Env: env, Dir: b.TempDir() + "/t-0", Config: config, Clean: true})
	must(b, err)
	rnd := rand.New(rand.NewPCG(1, 1))
	keys := total / (size + 30) / 10
	value := make([]byte, size)
	for i := range value {
		value[i] = byte(rnd.IntN(16))
	}
	out := make([]commitlog.Appended, 1)
	for n := 0; n < total; {
		builder := record.NewBuilder(record.BatchOptions{Compression: record.Compression{Codec: codec}})
		for raw := 0; raw < 16<<10; raw += size + 30 {
			builder.Append(record.Record{Timestamp: 1, Key: fmt.Appendf(nil, "key-%012d", rnd.IntN(keys)), Value: value})
			n += size + 30
		}
		batch, err := builder.Build()
		must(b, err)
		must(b, log.AppendLeader(0, 1, []record.Batch{batch}, out))
	}
	log.SetHighWatermark(log.LogEnd())
	must(b, log.Roll(1))
	must(b, log.Flush(log.LogEnd()))
	return diskTarget{log}
}
