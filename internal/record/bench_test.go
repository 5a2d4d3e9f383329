package record

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"barnabas/internal/kafka"
)

const benchTime = 1700000000000

// logLine is a record value of about 100 bytes, as compressible as log lines in
// JSON are.
func logLine(rng *rand.Rand) []byte {
	levels := [...]string{"INFO", "WARN", "ERROR", "DEBUG"}
	return fmt.Appendf(nil, `{"ts":%d,"level":"%s","host":"web-%02d","path":"/api/v1/items/%d","ms":%d,"id":"%08x"}`,
		benchTime+rng.Int64N(1e6), levels[rng.IntN(4)], rng.IntN(40), rng.IntN(5000), rng.IntN(900), rng.Uint32())
}

// benchBatch is a batch of records of about 100 bytes, of about the given size
// before compression.
func benchBatch(tb testing.TB, c Codec, uncompressed int) Batch {
	tb.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	b := NewBuilder(BatchOptions{Compression: Compression{Codec: c}})
	for i, size := 0, HeaderSize; size < uncompressed; i++ {
		r := Record{Timestamp: benchTime + int64(i), Key: fmt.Appendf(nil, "key-%d", i%1000), Value: logLine(rng)}
		b.Append(r)
		size += 1 + r.bodySize(int32(i), int64(i))
	}
	batch, err := b.Build()
	if err != nil {
		tb.Fatal(err)
	}
	return batch
}

var benchSizes = []struct {
	name string
	size int
}{{"16KB", 16 << 10}, {"1MB", 1 << 20}}

var codecs = []Codec{None, Gzip, Snappy, LZ4, Zstd}

// forEachShape runs a benchmark per codec and size; its throughput is that of
// uncompressed bytes.
func forEachShape(b *testing.B, run func(b *testing.B, batch Batch)) {
	for _, size := range benchSizes {
		for _, c := range codecs {
			b.Run(c.String()+"/"+size.name, func(b *testing.B) {
				batch := benchBatch(b, c, size.size)
				b.SetBytes(int64(size.size))
				b.ReportAllocs()
				b.ResetTimer()
				run(b, batch)
			})
		}
	}
}

func BenchmarkCheckCRC(b *testing.B) {
	batch := benchBatch(b, None, 16<<10)
	b.SetBytes(int64(len(batch)))
	for b.Loop() {
		if err := batch.CheckCRC(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWalk(b *testing.B) {
	forEachShape(b, func(b *testing.B, batch Batch) {
		var w Walker
		defer w.Close()
		for b.Loop() {
			n := int32(0)
			for w.Reset(batch); w.Next(); {
				n++
			}
			if n != batch.Count() || w.Err() != nil {
				b.Fatal(n, w.Err())
			}
		}
	})
}

func BenchmarkIterate(b *testing.B) {
	forEachShape(b, func(b *testing.B, batch Batch) {
		var it Iterator
		defer it.Close()
		for b.Loop() {
			n := int32(0)
			for it.Reset(batch); it.Next(); {
				n++
			}
			if n != batch.Count() || it.Err() != nil {
				b.Fatal(n, it.Err())
			}
		}
	})
}

// benchOptions are the rules of a topic with Kafka's defaults.
func benchOptions() ValidateOptions {
	return ValidateOptions{
		Partition: kafka.TopicPartition{Topic: "topic", Partition: 1}, Version: 12, Now: benchTime + 1e6,
		TimestampBeforeMaxMs: 1<<63 - 1, TimestampAfterMaxMs: 3600_000, MaxMessageBytes: 2 << 20, SegmentBytes: 1 << 30,
	}
}

func BenchmarkValidate(b *testing.B) {
	opts := benchOptions()
	forEachShape(b, func(b *testing.B, batch Batch) {
		for b.Loop() {
			if v, r := Validate(batch, &opts); r != nil || v.Rebuilt {
				b.Fatal(r)
			}
		}
	})
}

func BenchmarkRecompress(b *testing.B) {
	for _, c := range codecs[1:] {
		b.Run(c.String(), func(b *testing.B) {
			batch := benchBatch(b, None, 16<<10)
			opts := benchOptions()
			opts.Recompress = &Compression{Codec: c}
			b.SetBytes(16 << 10)
			b.ReportAllocs()
			for b.Loop() {
				if v, r := Validate(batch, &opts); r != nil || !v.Rebuilt {
					b.Fatal(r)
				}
			}
		})
	}
}

func BenchmarkParseHeader(b *testing.B) {
	batch := benchBatch(b, None, 16<<10)
	for b.Loop() {
		if h, err := ParseHeader(batch[:HeaderSize]); err != nil || h.Size != len(batch) {
			b.Fatal(err)
		}
	}
}
