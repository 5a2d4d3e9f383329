package cleaner

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/record"
	"barnabas/internal/storage/commitlog"
)

// Segments are joined as long as together they are not larger than one may be, nor
// their indexes, and their offsets fit one index.
func TestGroupsOfSegments(t *testing.T) {
	c := Config{SegmentBytes: 100, IndexBytes: 80}
	segment := func(base, next kafka.Offset, size, index, times int64) commitlog.SealedSegment {
		return commitlog.SealedSegment{Base: base, Next: next, Size: size, IndexBytes: index, TimeIndexBytes: times}
	}
	far := kafka.Offset(math.MaxInt32)
	for name, x := range map[string]struct {
		segments []commitlog.SealedSegment
		want     int
	}{
		"one":                    {[]commitlog.SealedSegment{segment(0, 5, 500, 8, 12)}, 1},
		"all that fit":           {[]commitlog.SealedSegment{segment(0, 5, 40, 8, 12), segment(5, 9, 60, 8, 12)}, 2},
		"a byte too much":        {[]commitlog.SealedSegment{segment(0, 5, 40, 8, 12), segment(5, 9, 61, 8, 12)}, 1},
		"the index too large":    {[]commitlog.SealedSegment{segment(0, 5, 1, 48, 0), segment(5, 9, 1, 40, 0)}, 1},
		"the time index":         {[]commitlog.SealedSegment{segment(0, 5, 1, 0, 48), segment(5, 9, 1, 0, 36)}, 1},
		"as far as it reaches":   {[]commitlog.SealedSegment{segment(7, 9, 1, 0, 0), segment(9, 8+far, 1, 0, 0)}, 2},
		"too far":                {[]commitlog.SealedSegment{segment(7, 9, 1, 0, 0), segment(9, 9+far, 1, 0, 0)}, 1},
		"far, but nothing in it": {[]commitlog.SealedSegment{segment(7, 9, 1, 0, 0), segment(9, 9+far, 0, 0, 0)}, 2},
	} {
		if got := groupSize(x.segments, c, math.MaxInt64); got != x.want {
			t.Errorf("%s: %d, want %d", name, got, x.want)
		}
	}
}

// TestJoinedSegments joins three segments, over which a transaction that was aborted
// spreads: one is left with what the index of each said, and nothing else of the old
// ones but garbage.
func TestJoinedSegments(t *testing.T) {
	r := newRig(t)
	p := r.producer(10)
	for i := range 3 {
		r.put(fmt.Sprint("stays", i), "1")
		r.produce(p, true, 0, record.Record{Timestamp: r.now, Key: []byte("aborted"), Value: []byte("x")})
		r.roll()
	}
	r.end(p, false)
	r.produce(p, true, 0, record.Record{Timestamp: r.now, Key: []byte("second"), Value: []byte("x")})
	r.end(p, false)
	r.roll()
	before := state(r.log)
	if _, stats := r.run(); stats.Segments != 4 || stats.SegmentsWritten != 1 {
		t.Fatalf("%+v", stats)
	}
	r.expect(0, 2, 4)
	var names []string
	entries, err := r.mem.ReadDir(testDir)
	must(t, err)
	for _, e := range entries {
		if len(e.Name) > 20 && e.Name[len(e.Name)-8:] != ".deleted" {
			names = append(names, e.Name)
		}
	}
	want := []string{"00000000000000000000.txnindex", "00000000000000000009.snapshot"}
	for _, suffix := range []string{".index", ".log", ".timeindex"} {
		want = append(want, "00000000000000000000"+suffix, "00000000000000000009"+suffix)
	}
	slices.Sort(want)
	slices.Sort(names)
	names = slices.DeleteFunc(names, func(n string) bool { return n == "leader-epoch-checkpoint" })
	if !slices.Equal(names, want) {
		t.Errorf("files %v\nwant %v", names, want)
	}
	index, err := vfs.ReadFile(r.mem, testDir+"/00000000000000000000.txnindex")
	must(t, err)
	if n := len(index) / 34; n != 2 {
		t.Errorf("%d aborted transactions in the index", n)
	}
	for range 2 {
		if after := state(r.log); after != before {
			t.Errorf("%s, before %s", after, before)
		}
		r.log.Abandon()
		r.open(commitlog.Options{})
		r.expect(0, 2, 4)
		r.check(r.log.Snapshot(), true)
	}
}
