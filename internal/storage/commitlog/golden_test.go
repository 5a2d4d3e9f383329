package commitlog

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/record"
)

// The folders in testdata/golden were written by Apache Kafka 4.4.0: "clean" was
// stopped, "killed" was killed while it was written to. expect.json is what
// Apache's own client saw of them.

type goldenPartition struct {
	Configs          map[string]string
	Start            kafka.Offset
	HighWatermark    kafka.Offset
	LastStableOffset kafka.Offset
	Batches          [][]int64 // base, last, size, epoch, attributes, producer, its epoch, base sequence, count, CRC
	Times            [][]int64 // asked for, offset, timestamp
	MaxTimestamp     []int64   // offset, timestamp
	Producers        [][]int64 // id, epoch, last sequence, last timestamp, coordinator epoch, transaction start
	Committed        string    // ranges of offsets that a read_committed consumer sees
}

// golden is one of the folders, on a file system in memory.
type golden struct {
	variant, name           string
	expect                  goldenPartition
	config                  *Config
	mem                     *vfs.Mem
	recoveryPoint, logStart kafka.Offset
	log                     *Log
	report                  OpenReport
}

// goldenEach calls test for each of the folders of a variant.
func goldenEach(t *testing.T, variant string, test func(t *testing.T, g *golden)) {
	text, err := os.ReadFile("testdata/golden/expect.json")
	must(t, err)
	var all map[string]map[string]goldenPartition
	must(t, json.Unmarshal(text, &all))
	files := untar(t, variant)
	if len(all[variant]) == 0 || len(files) == 0 {
		t.Fatal("no golden folders")
	}
	for _, name := range slices.Sorted(maps.Keys(all[variant])) {
		expect := all[variant][name]
		t.Run(variant+"/"+name, func(t *testing.T) {
			g := &golden{variant: variant, name: name, expect: expect, config: goldenConfig(t, expect.Configs)}
			g.mem = folder(t, files, name)
			g.recoveryPoint = goldenCheckpoint(t, files["recovery-point-offset-checkpoint"], name)
			g.logStart = goldenCheckpoint(t, files["log-start-offset-checkpoint"], name)
			test(t, g)
		})
	}
}

// untar reads the files of an archive.
func untar(t *testing.T, variant string) map[string][]byte {
	t.Helper()
	f, err := os.Open("testdata/golden/" + variant + ".tar.gz")
	must(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	must(t, err)
	files := map[string][]byte{}
	for archive := tar.NewReader(z); ; {
		h, err := archive.Next()
		if err == io.EOF {
			return files
		}
		must(t, err)
		if h.Typeflag == tar.TypeReg {
			files[h.Name], err = io.ReadAll(archive)
			must(t, err)
		}
	}
}

// folder puts the files of a partition into the place of a log.
func folder(t *testing.T, files map[string][]byte, name string) *vfs.Mem {
	t.Helper()
	mem := vfs.NewMem(nil)
	must(t, mem.MkdirAll(testDir))
	n := 0
	for path, b := range files {
		if dir, file := filepath.Split(path); dir == name+"/" {
			must(t, vfs.WriteFile(mem, testDir+"/"+file, b))
			n++
		}
	}
	if n == 0 {
		t.Fatalf("no files of %s", name)
	}
	return mem
}

// goldenNow is soon after the folders were written.
const goldenNow = 1_795_962_400_000

func (g *golden) open(t *testing.T) {
	t.Helper()
	var err error
	g.log, g.report, err = Open(Options{
		Env: testEnv(g.mem), Dir: testDir, Config: g.config, Now: goldenNow,
		Clean: g.variant == "clean", RecoveryPoint: g.recoveryPoint, LogStart: g.logStart,
	})
	must(t, err)
	t.Cleanup(g.log.Abandon)
	g.log.SetHighWatermark(g.log.LogEnd())
}

func goldenConfig(t *testing.T, topic map[string]string) *Config {
	c := DefaultConfig()
	c.IndexBytes = 1 << 20
	c.ProducerExpirationMs = 1<<31 - 1
	number := func(key string, set func(int)) {
		if v, ok := topic[key]; ok {
			n, err := strconv.Atoi(v)
			must(t, err)
			set(n)
		}
	}
	number("segment.bytes", func(n int) { c.SegmentBytes = n })
	number("segment.ms", func(n int) { c.SegmentMs = int64(n) })
	number("segment.index.bytes", func(n int) { c.IndexBytes = n })
	number("index.interval.bytes", func(n int) { c.IndexIntervalBytes = n })
	return c
}

// goldenCheckpoint finds a partition in a checkpoint file.
func goldenCheckpoint(t *testing.T, text []byte, name string) kafka.Offset {
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if len(words) == 3 && words[0]+"-"+words[1] == name {
			n, err := strconv.ParseInt(words[2], 10, 64)
			must(t, err)
			return kafka.Offset(n)
		}
	}
	return 0
}

func (g *golden) snapshot() *Snapshot { return g.log.Snapshot() }

func TestGoldenFolders(t *testing.T) {
	for _, variant := range []string{"clean", "killed"} {
		goldenEach(t, variant, func(t *testing.T, g *golden) {
			g.open(t)
			if n := len(g.report.Cuts) + len(g.report.Damages); n > 0 {
				t.Errorf("report: %+v", g.report)
			}
			s := g.snapshot()
			if s.LogStart() != g.expect.Start || s.HighWatermark() != g.expect.HighWatermark || s.LastStableOffset() != g.expect.LastStableOffset {
				t.Errorf("start %d, high watermark %d, last stable %d; want %d, %d, %d", s.LogStart(), s.HighWatermark(), s.LastStableOffset(),
					g.expect.Start, g.expect.HighWatermark, g.expect.LastStableOffset)
			}
			g.checkBatches(t)
			g.checkTimes(t)
			g.checkProducers(t)
			g.checkCommitted(t)
		})
	}
}

func (g *golden) checkBatches(t *testing.T) {
	got := contents(t, g.snapshot())
	if len(got) != len(g.expect.Batches) {
		t.Errorf("%d batches, want %d", len(got), len(g.expect.Batches))
		return
	}
	for i, h := range got {
		have := []int64{
			int64(h.BaseOffset), int64(h.LastOffset()), int64(h.Size), int64(h.LeaderEpoch), int64(h.Attributes),
			int64(h.ProducerID), int64(h.ProducerEpoch), int64(h.BaseSequence), int64(h.Count), int64(h.CRC),
		}
		if !slices.Equal(have, g.expect.Batches[i]) {
			t.Errorf("batch %d: %v, want %v", i, have, g.expect.Batches[i])
		}
	}
}

func (g *golden) checkTimes(t *testing.T) {
	s := g.snapshot()
	for _, want := range g.expect.Times {
		at, ok, err := s.OffsetByTimestamp(want[0])
		must(t, err)
		if ok && at.Offset >= s.HighWatermark() {
			ok = false
		}
		if !ok {
			at.Offset, at.Timestamp = -1, -1
		}
		if int64(at.Offset) != want[1] || at.Timestamp != want[2] {
			t.Errorf("timestamp %d: offset %d, timestamp %d; want %d, %d", want[0], at.Offset, at.Timestamp, want[1], want[2])
		}
	}
	if want := g.expect.MaxTimestamp; len(want) == 2 {
		at, ok, err := s.MaxTimestamp()
		must(t, err)
		if !ok {
			at.Offset, at.Timestamp = -1, -1
		}
		if int64(at.Offset) != want[0] || at.Timestamp != want[1] {
			t.Errorf("max timestamp: offset %d, timestamp %d; want %v", at.Offset, at.Timestamp, want)
		}
	}
}

func (g *golden) checkProducers(t *testing.T) {
	var have [][]int64
	for _, p := range g.log.Producers(nil) {
		have = append(have, []int64{int64(p.ID), int64(p.Epoch), int64(p.LastSequence), p.LastTimestamp, int64(p.CoordinatorEpoch), int64(p.TxnStart)})
	}
	slices.SortFunc(have, slices.Compare[[]int64])
	var want [][]int64
	for _, p := range g.expect.Producers {
		if goldenNow-p[3] < g.config.ProducerExpirationMs || p[5] >= 0 {
			want = append(want, p)
		}
	}
	if fmt.Sprint(have) != fmt.Sprint(want) {
		t.Errorf("producers:\n%v, want\n%v", have, want)
	}
}

// checkCommitted reads as a read_committed consumer does, in small slices, and
// compares the offsets that it would be given.
func (g *golden) checkCommitted(t *testing.T) {
	if g.expect.Committed == "" {
		return
	}
	s := g.snapshot()
	var have []kafka.Offset
	for o := s.LogStart(); o < s.LastStableOffset(); {
		slice, err := s.Read(ReadRequest{From: o, UpTo: s.LastStableOffset(), MaxBytes: 300, WholeFirst: true})
		must(t, err)
		aborted, err := s.AbortedTxns(o, slice, nil)
		must(t, err)
		b := bytesOf(t, slice)
		next := o
		for len(b) > 0 {
			batch, rest, err := record.Next(b)
			if err != nil {
				break
			}
			next = batch.NextOffset()
			b = rest
			if batch.IsControl() || isAborted(aborted, batch) {
				continue
			}
			var it record.Iterator
			for it.Reset(batch); it.Next(); {
				if it.Record().Offset >= o {
					have = append(have, it.Record().Offset)
				}
			}
			must(t, it.Err())
			it.Close()
		}
		if next == o {
			break
		}
		o = next
	}
	if got := ranges(have); got != g.expect.Committed {
		t.Errorf("committed offsets %s, want %s", got, g.expect.Committed)
	}
}

// isAborted says whether a batch belongs to one of the transactions; a consumer
// has the markers to know where they end.
func isAborted(aborted []AbortedTxn, b record.Batch) bool {
	return b.IsTransactional() && slices.ContainsFunc(aborted, func(t AbortedTxn) bool {
		return t.ProducerID == b.ProducerID() && t.FirstOffset <= b.BaseOffset() && b.BaseOffset() < t.LastOffset
	})
}

func ranges(offsets []kafka.Offset) string {
	var parts []string
	for i := 0; i < len(offsets); {
		j := i
		for j+1 < len(offsets) && offsets[j+1] == offsets[j]+1 {
			j++
		}
		part := strconv.Itoa(int(offsets[i]))
		if j > i {
			part += "-" + strconv.Itoa(int(offsets[j]))
		}
		parts = append(parts, part)
		i = j + 1
	}
	return strings.Join(parts, ",")
}

// TestRebuiltIndexesAreApaches removes all indexes of the clean folders and
// compares what Open makes in their place with what Apache had made.
func TestRebuiltIndexesAreApaches(t *testing.T) {
	goldenEach(t, "clean", func(t *testing.T, g *golden) {
		if g.name == "compacted-txn-0" {
			t.Skip("compaction has removed the transactions, and kept the index")
		}
		before := map[string]string{}
		entries, err := g.mem.ReadDir(testDir)
		must(t, err)
		for _, e := range entries {
			_, suffix, ok := parseName(e.Name)
			if !ok || suffix != indexSuffix && suffix != timeIndexSuffix && suffix != txnIndexSuffix {
				continue
			}
			b, err := vfs.ReadFile(g.mem, testDir+"/"+e.Name)
			must(t, err)
			before[e.Name] = string(b)
			must(t, g.mem.Remove(testDir+"/"+e.Name))
		}
		g.open(t)
		for name, want := range before {
			have, err := vfs.ReadFile(g.mem, testDir+"/"+name)
			must(t, err)
			if string(have) != want {
				t.Errorf("%s: %d bytes, want %d:\n%x\n%x", name, len(have), len(want), have, want)
			}
		}
	})
}

// TestRecoveredFilesAreApaches opens the killed folders, stops cleanly, and
// compares all files with what Apache made of the same folders. Only the epochs
// differ: Apache had become leader again.
func TestRecoveredFilesAreApaches(t *testing.T) {
	recovered := untar(t, "recovered")
	goldenEach(t, "killed", func(t *testing.T, g *golden) {
		g.open(t)
		if g.report.SegmentsRecovered == 0 {
			t.Error("nothing was recovered")
		}
		must(t, g.log.Close())
		compareFolders(t, folder(t, recovered, g.name), g.mem, func(name string) bool { return name == epochFileName })
	})
}

// TestReplayedAppendsMakeApachesFiles appends the batches of the clean folders to
// new logs, as a leader got them, and compares all files with Apache's.
func TestReplayedAppendsMakeApachesFiles(t *testing.T) {
	whole := []string{"txn-1", "times-0", "idempotent-0", "append-time-0", "shapes-0"} // neither compacted nor trimmed
	goldenEach(t, "clean", func(t *testing.T, g *golden) {
		if !slices.Contains(whole, g.name) {
			t.Skip("not all batches are there")
		}
		g.open(t)
		must(t, g.log.Checkpoint(g.log.LogEnd()+1)) // without the epoch in which nothing was appended
		fx := newFixture(t, func(c *Config) { *c = *g.config })
		s := g.snapshot()
		for o := s.LogStart(); o < s.LogEnd(); {
			slice, err := s.Read(ReadRequest{From: o, UpTo: s.LogEnd(), WholeFirst: true})
			must(t, err)
			b, _, err := record.Next(bytesOf(t, slice))
			must(t, err)
			o = b.NextOffset()
			fx.replay(b)
		}
		must(t, fx.log.Close())
		compareFolders(t, g.mem, fx.mem, func(name string) bool { return name == partitionMetadataName })
	})
}

func (fx *fixture) replay(b record.Batch) {
	fx.t.Helper()
	fx.now = b.MaxTimestamp()
	h := b.Header()
	marker, err := markerOf(&h, b)
	must(fx.t, err)
	out := make([]Appended, 1)
	if marker == nil {
		must(fx.t, fx.log.AppendLeader(h.LeaderEpoch, fx.now, []record.Batch{b}, out))
	} else {
		out[0], err = fx.log.AppendMarker(h.LeaderEpoch, fx.now, h.Attributes.TimestampType(), kafka.Marker{
			ProducerID: h.ProducerID, ProducerEpoch: h.ProducerEpoch, CoordinatorEpoch: marker.CoordinatorEpoch, Commit: marker.Commit,
			TransactionVersion: 2,
		})
		must(fx.t, err)
	}
	if out[0].Err != kafka.ErrNone || out[0].Base != h.BaseOffset {
		fx.t.Fatalf("batch at offset %d: %+v", h.BaseOffset, out[0])
	}
}

// compareFolders compares the folders of a log on two file systems.
func compareFolders(t *testing.T, want, have vfs.FS, skip func(string) bool) {
	t.Helper()
	names := map[string]bool{}
	for _, fsys := range []vfs.FS{want, have} {
		entries, err := fsys.ReadDir(testDir)
		must(t, err)
		for _, e := range entries {
			names[e.Name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if skip(name) {
			continue
		}
		a, errA := vfs.ReadFile(want, testDir+"/"+name)
		b, errB := vfs.ReadFile(have, testDir+"/"+name)
		switch {
		case errA != nil:
			t.Errorf("%s: there should be none", name)
		case errB != nil:
			t.Errorf("%s is missing", name)
		case string(a) != string(b):
			t.Errorf("%s differs: %d bytes, want %d\n%.200x\n%.200x", name, len(b), len(a), b, a)
		}
	}
}
