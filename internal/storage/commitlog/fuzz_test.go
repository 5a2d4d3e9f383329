package commitlog

import (
	"bytes"
	"errors"
	"testing"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/record"
)

// The fuzz targets feed bytes to every decoder of files that another process, or a
// bad disk, may have written.

func FuzzEpochs(f *testing.F) {
	f.Add([]byte("0\n2\n1 0\n2 542\n"))
	f.Add([]byte("0\n0\n"))
	f.Add([]byte("1\n0\n"))
	f.Add([]byte(""))
	f.Fuzz(func(t *testing.T, text []byte) {
		e, err := parseEpochs(text)
		if err != nil {
			return
		}
		for i := 1; i < len(e); i++ {
			if e[i].epoch <= e[i-1].epoch || e[i].start <= e[i-1].start {
				t.Fatalf("entries do not grow: %v", e)
			}
		}
		again, err := parseEpochs(e.encode())
		if err != nil || len(again) != len(e) {
			t.Fatalf("%v, %v after writing %v", again, err, e)
		}
	})
}

func FuzzPartitionMetadata(f *testing.F) {
	f.Add("version: 0\ntopic_id: brKNDICzQrCVXFONy744mA")
	f.Add("version: 1\ntopic_id: brKNDICzQrCVXFONy744mA")
	f.Fuzz(func(t *testing.T, text string) {
		id, err := parsePartitionMetadata(text)
		if err == nil && id.IsZero() {
			t.Fatal("a zero id was taken")
		}
	})
}

func FuzzProducerSnapshot(f *testing.F) {
	var ps producers
	f.Add(ps.encodeSnapshot())
	p := newProducer(7)
	h := batch(3, 5, producerOpt(7, 1, 0), inTxn).Header()
	p.addData(&h, 100)
	ps.put(&p)
	f.Add(ps.encodeSnapshot())
	f.Fuzz(func(t *testing.T, b []byte) {
		var got producers
		if err := decodeSnapshot(b, func(p *producer) { got.put(p) }); err != nil {
			return
		}
		again := got.encodeSnapshot()
		var twice producers
		if err := decodeSnapshot(again, func(p *producer) { twice.put(p) }); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(twice.encodeSnapshot(), again) {
			t.Fatal("a snapshot changes when it is written again")
		}
	})
}

// fuzzFile puts bytes into a file in memory.
func fuzzFile(t *testing.T, b []byte) vfs.File {
	t.Helper()
	mem := vfs.NewMem(nil)
	must(t, vfs.WriteFile(mem, "/f", b))
	f, err := mem.Open("/f", vfs.ReadWrite)
	must(t, err)
	return f
}

func FuzzOffsetIndex(f *testing.F) {
	var b []byte
	for i := range uint32(1500) {
		b = offsetEntry{7 * (i + 1), 100 * (i + 1)}.appendTo(b)
	}
	f.Add(b, int64(700), int64(10000))
	f.Add(append(bytes.Clone(b[:80]), make([]byte, 80)...), int64(33), int64(5))
	f.Add([]byte{}, int64(0), int64(0))
	f.Fuzz(func(t *testing.T, b []byte, target, most int64) {
		file := fuzzFile(t, b)
		n, err := validEntries(file, byOffset())
		must(t, err)
		var page block
		at, entry, err := floorEntry(file, n, byOffset(), target, most, page[:])
		must(t, err)
		if at >= 0 && (at >= n || !bytes.Equal(entry, b[at*offsetEntrySize:(at+1)*offsetEntrySize])) {
			t.Fatalf("entry %d of %d is not what is in the file", at, n)
		}
		if want, sorted := slowFloor(b, n, byOffset(), target); sorted && at != want {
			t.Fatalf("floor of %d is %d, want %d", target, at, want)
		}
	})
}

func FuzzTimeIndex(f *testing.F) {
	var b []byte
	for i := range uint32(1000) {
		b = timeEntry{int64(1<<40) * int64(i*i), i}.appendTo(b)
	}
	f.Add(b, int64(1<<59))
	f.Add(make([]byte, 24), int64(0))
	f.Fuzz(func(t *testing.T, b []byte, target int64) {
		file := fuzzFile(t, b)
		n, err := validEntries(file, byTimestamp())
		must(t, err)
		var page block
		at, _, err := floorEntry(file, n, byTimestamp(), target, 0, page[:])
		must(t, err)
		if want, sorted := slowFloor(b, n, byTimestamp(), target); sorted && at != want {
			t.Fatalf("floor of %d is %d, want %d", target, at, want)
		}
	})
}

// slowFloor finds the floor entry by looking at all; sorted is false if the keys do
// not grow, as in every index they do.
func slowFloor(b []byte, n int, key indexKey, target int64) (at int, sorted bool) {
	at = -1
	for i := range n {
		k := key.of(b[i*key.size:])
		if i > 0 && k <= key.of(b[(i-1)*key.size:]) {
			return 0, false
		}
		if k <= target {
			at = i
		}
	}
	return at, true
}

func FuzzTxnIndex(f *testing.F) {
	b := AbortedTxn{1, 2, 3, 4}.appendTo(nil)
	f.Add(b)
	f.Add(AbortedTxn{5, 6, 7, 8}.appendTo(b))
	f.Add(b[:20])
	f.Fuzz(func(t *testing.T, b []byte) {
		var page block
		var again []byte
		err := eachAborted(fuzzFile(t, b), page[:], func(a AbortedTxn) bool {
			again = a.appendTo(again)
			return true
		})
		if err == nil && !bytes.Equal(again, b[:len(b)/txnEntrySize*txnEntrySize]) {
			t.Fatal("entries are not what is in the file")
		}
		if err != nil && !errors.Is(err, errBadTxnIndex) {
			t.Fatal(err)
		}
	})
}

// FuzzOpen opens a folder whose log, indexes and snapshot are arbitrary bytes. It
// must open, killed or clean, take appends, and open again the same.
func FuzzOpen(f *testing.F) {
	var log []byte
	for i := range 6 {
		b := batch(3, int64(i), producerOpt(7, 0, int32(3*i)))
		b.SetBaseOffset(kafka.Offset(3 * i))
		log = append(log, b...)
	}
	index := offsetEntry{5, 100}.appendTo(nil)
	times := timeEntry{9, 5}.appendTo(nil)
	f.Add(log, index, times, []byte{}, []byte{}, int64(0), false)
	f.Add(log[:200], index, times, AbortedTxn{7, 0, 5, 6}.appendTo(nil), []byte{0, 1}, int64(5), true)
	broken := bytes.Clone(log)
	broken[150] ^= 0xff
	f.Add(broken, []byte{}, []byte{}, []byte{}, []byte{}, int64(9), false)
	f.Add(append(bytes.Clone(log), make([]byte, 100)...), index, times, []byte{}, []byte{}, int64(18), true)
	f.Fuzz(func(t *testing.T, log, index, times, txns, snapshot []byte, recovery int64, clean bool) {
		mem := vfs.NewMem(nil)
		must(t, mem.MkdirAll(testDir))
		for suffix, b := range map[string][]byte{logSuffix: log, indexSuffix: index, timeIndexSuffix: times, txnIndexSuffix: txns} {
			must(t, vfs.WriteFile(mem, filePath(testDir, 0, suffix), b))
		}
		must(t, vfs.WriteFile(mem, filePath(testDir, 9, snapshotSuffix), snapshot))
		fx := &fixture{t: t, mem: mem, env: testEnv(mem), config: *DefaultConfig()}
		fx.open(Options{Clean: clean, RecoveryPoint: kafka.Offset(recovery)})
		out := make([]Appended, 1)
		if end := fx.log.LogEnd(); end > maxRelativeOffset || end < 0 {
			t.Skip()
		}
		must(t, fx.log.AppendRaft(max(0, fx.log.LatestEpoch()), 0, []record.Batch{batch(2, 1)}, out))
		end := fx.log.LogEnd()
		slice, err := fx.log.Snapshot().Read(ReadRequest{From: end - 1, UpTo: end, MaxBytes: 1 << 20})
		if err == nil {
			bytesOf(t, slice)
		} else if !isBadEntry(err) {
			t.Fatal(err)
		}
		must(t, fx.log.Close())
		fx.open(Options{Clean: true})
		if fx.log.LogEnd() != end {
			t.Fatalf("end %d after a clean stop at %d", fx.log.LogEnd(), end)
		}
		fx.log.Abandon()
	})
}

// FuzzFollower gives arbitrary bytes to a follower's append: what it takes it must be
// able to read back and to recover, and what it refuses must leave nothing.
func FuzzFollower(f *testing.F) {
	var raw []byte
	for i := range 3 {
		b := batch(3, int64(i), producerOpt(7, 0, int32(3*i)), inTxn)
		b.SetBaseOffset(kafka.Offset(3 * i))
		raw = append(raw, b...)
	}
	f.Add(raw)
	f.Add(raw[:200])
	f.Fuzz(func(t *testing.T, raw []byte) {
		fx := makeFixture(t, func(c *Config) { c.SegmentBytes, c.IndexIntervalBytes = 300, 1 })
		done, err := fx.log.AppendFollower(5, 0, raw)
		if err != nil && fx.log.Size() != 0 {
			t.Fatalf("%v, and %d bytes in the log", err, fx.log.Size())
		}
		if int64(done.Bytes) != fx.log.Size() || done.Batches > 0 && fx.log.LogEnd() != done.Last+1 {
			t.Fatalf("%+v, end %d, %d bytes", done, fx.log.LogEnd(), fx.log.Size())
		}
		before, size := fx.log.LogEnd(), fx.log.Size()
		fx.kill(0)
		if fx.log.LogEnd() != before || fx.log.Size() != size {
			t.Fatalf("end %d, %d bytes after a kill; they were %d, %d; %+v", fx.log.LogEnd(), fx.log.Size(), before, size, fx.report)
		}
		fx.log.Abandon()
	})
}
