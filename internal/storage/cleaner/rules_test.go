package cleaner

import (
	"errors"
	"slices"
	"testing"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/record"
	"barnabas/internal/storage/commitlog"
)

func (r *rig) offsets() (out []kafka.Offset) {
	r.t.Helper()
	all, _ := readAll(r.t, r.log.Snapshot(), false)
	for _, f := range all {
		out = append(out, f.Offset)
	}
	return out
}

func (r *rig) expect(want ...kafka.Offset) {
	r.t.Helper()
	if got := r.offsets(); !slices.Equal(got, want) {
		r.t.Fatalf("records at %v, want %v", got, want)
	}
}

// A tombstone removes what was before it at once, and goes itself when
// delete.retention.ms has passed since the cleaning that met it first.
func TestTombstoneGoesAfterItsHorizon(t *testing.T) {
	r := newRig(t)
	r.put("a", "1")
	r.put("b", "1")
	r.put("a", "")
	r.put("c", "1")
	r.roll()
	r.run()
	r.expect(1, 2, 3)
	_, headers := readAll(t, r.log.Snapshot(), false)
	if at, set := headers[1].DeleteHorizon(); !set || at != r.now+1000 {
		t.Errorf("horizon %d %v", at, set)
	}
	r.put("d", "1")
	r.roll()
	r.now += 999
	r.run()
	r.expect(1, 2, 3, 4)
	r.put("e", "1")
	r.roll()
	r.now++
	r.run()
	r.expect(1, 3, 4, 5)
}

// A marker stays as long as data of its transaction does, and then until its horizon;
// the last one of a producer stays for its epoch.
func TestMarkersGoAfterTheirTransactions(t *testing.T) {
	r := newRig(t)
	p, q := r.producer(7), r.producer(8)
	rec := func(key, value string) record.Record {
		return record.Record{Timestamp: r.now, Key: []byte(key), Value: []byte(value)}
	}
	r.produce(p, true, 0, rec("a", "1"))
	r.end(p, true)
	r.produce(q, true, 0, rec("b", "1"))
	r.end(q, false)
	r.produce(p, true, 0, rec("a", "2"), rec("c", "1"))
	r.end(p, true)
	r.roll()
	controls := func() (out []kafka.Offset) {
		_, headers := readAll(t, r.log.Snapshot(), false)
		for _, h := range headers {
			if h.Attributes.IsControl() {
				out = append(out, h.BaseOffset)
			}
		}
		return out
	}
	step := func(wantRecords, wantControls []kafka.Offset) {
		t.Helper()
		r.run()
		r.expect(wantRecords...)
		if got := controls(); !slices.Equal(got, wantControls) {
			t.Fatalf("markers at %v, want %v", got, wantControls)
		}
		r.put("x", "1")
		r.roll()
	}
	step([]kafka.Offset{4, 5}, []kafka.Offset{1, 3, 6})    // the data of two transactions was met and removed
	step([]kafka.Offset{4, 5, 7}, []kafka.Offset{1, 3, 6}) // its first absence begins the horizon of the first marker
	r.now += 1001
	// Of the aborted one an empty batch stays, the producer's last, and so its marker.
	step([]kafka.Offset{4, 5, 8}, []kafka.Offset{3, 6})
}

// Records without a key cannot be compacted; they go, and are counted.
func TestKeylessRecordsGo(t *testing.T) {
	r := newRig(t)
	r.append(record.BatchOptions{}, record.Record{Value: []byte("x")}, record.Record{Key: []byte{}, Value: []byte("empty")})
	r.put("b", "1")
	r.roll()
	_, stats := r.run()
	r.expect(1, 2)
	if stats.Keyless != 1 {
		t.Errorf("%+v", stats)
	}
}

// Damaged bytes are found before anything is written, and say where they are.
func TestDamagedSegmentIsLeftAlone(t *testing.T) {
	r := newRig(t)
	r.put("a", "1")
	r.put("a", "2")
	r.roll()
	r.put("a", "3")
	r.roll()
	must(t, r.log.Flush(r.log.LogEnd()))
	f, err := r.mem.Open(testDir+"/00000000000000000000.log", vfs.ReadWrite)
	must(t, err)
	defer f.Close()
	damage := func(pos int64, b byte) {
		_, err = f.WriteAt([]byte{b}, pos)
		must(t, err)
	}
	damage(66, 'b') // in the key of the first record
	at, err := Measure(r.log.Snapshot(), 0, r.log.RecoveryPoint(), Rules{}, r.now)
	must(t, err)
	var corrupt *CorruptError
	if _, _, err := Clean(r, at, r.clean, r.keys, r.now); !errors.As(err, &corrupt) || corrupt.Segment != 0 || corrupt.Position != 0 || !errors.Is(err, record.ErrBadCRC) {
		t.Errorf("%v", err)
	}
	damage(66, 'a')
	damage(70, 0xff) // in the base offset of the second batch, which no checksum covers
	if _, _, err := Clean(r, at, r.clean, r.keys, r.now); !errors.As(err, &corrupt) || corrupt.Position != 70 {
		t.Errorf("%v", err)
	}
	r.noLeftovers()
}

func (r *rig) noLeftovers() {
	r.t.Helper()
	entries, err := r.mem.ReadDir(testDir)
	must(r.t, err)
	for _, e := range entries {
		if slices.ContainsFunc([]string{".cleaned", ".swap"}, func(s string) bool { return len(e.Name) > len(s) && e.Name[len(e.Name)-len(s):] == s }) {
			r.t.Errorf("left over: %s", e.Name)
		}
	}
}

// An error of Pace, as of an owner who wants to stop, ends the run and leaves nothing
// behind.
func TestStoppedCleaningLeavesNothing(t *testing.T) {
	stop := errors.New("stop")
	for after := 1; ; after++ {
		r := newRig(t)
		for range 40 {
			r.put("a", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx")
		}
		r.roll()
		must(t, r.log.Flush(r.log.LogEnd()))
		n := 0
		r.pace = func(int) error {
			if n++; n == after {
				return stop
			}
			return nil
		}
		at, err := Measure(r.log.Snapshot(), 0, r.log.RecoveryPoint(), Rules{}, r.now)
		must(t, err)
		r.reach = at.FirstUncleanable
		_, _, err = Clean(r, at, r.clean, r.keys, r.now)
		r.noLeftovers()
		r.check(r.log.Snapshot(), false)
		if err == nil {
			if after < 5 {
				t.Errorf("only %d calls of Pace", after)
			}
			return
		}
		if !errors.Is(err, stop) {
			t.Fatal(err)
		}
	}
}

// A log that is cut while it is cleaned keeps the cut, whenever it comes.
func TestTruncationDuringACleaning(t *testing.T) {
	for after := 1; ; after++ {
		steps := &stepFS{}
		r := newRig(t, func(r *rig) { steps.Mem = r.mem; r.fs = steps })
		for i := range 12 {
			r.put(string(rune('a'+i%3)), "1")
			if i%4 == 3 {
				r.roll()
			}
		}
		must(t, r.log.Flush(r.log.LogEnd()))
		at, err := Measure(r.log.Snapshot(), 0, r.log.RecoveryPoint(), Rules{}, r.now)
		must(t, err)
		n, cut := 0, false
		steps.step = func() {
			if n++; n == after {
				cut = true
			}
		}
		target := cutting{r, func() {
			if cut {
				cut, steps.step = false, nil
				_, err := r.log.TruncateTo(2, r.now)
				must(t, err)
			}
		}}
		_, _, err = Clean(target, at, r.clean, r.keys, r.now)
		if steps.step != nil {
			break // the cleaning was over before
		}
		if err != nil && !errors.Is(err, commitlog.ErrStale) {
			t.Fatal(err)
		}
		if end := r.log.LogEnd(); end != 2 {
			t.Fatalf("step %d: the log ends at %d", after, end)
		}
		r.noLeftovers()
		before := r.offsets()
		disk := r.mem.Crash()
		again := *r
		again.mem, again.fs = disk, disk
		again.open(commitlog.Options{})
		if got := again.offsets(); !slices.Equal(got, before) || len(got) > 0 && again.log.LogEnd() != 2 {
			t.Fatalf("step %d: after a power cut the log ends at %d with %v, had %v", after, again.log.LogEnd(), got, before)
		}
	}
}

// cutting is a target whose owner does something whenever the lock is free.
type cutting struct {
	*rig
	between func()
}

func (c cutting) Locked(do func(*commitlog.Log) error) error {
	c.between()
	err := c.rig.Locked(do)
	c.between()
	return err
}

// A log whose start is raised and whose old segments are removed while it is cleaned
// keeps what is behind them and nothing else, whenever it comes, and after a power cut
// too.
func TestRemovalDuringACleaning(t *testing.T) {
	stale := 0
	for after := 1; ; after++ {
		steps := &stepFS{}
		r := newRig(t, func(r *rig) { steps.Mem = r.mem; r.fs = steps })
		for i := range 12 {
			r.put(string(rune('a'+i%3)), "1")
			if i%4 == 3 {
				r.roll()
			}
		}
		must(t, r.log.Flush(r.log.LogEnd()))
		at, err := Measure(r.log.Snapshot(), 0, r.log.RecoveryPoint(), Rules{}, r.now)
		must(t, err)
		n, due := 0, false
		steps.step = func() {
			if n++; n == after {
				due = true
			}
		}
		target := cutting{r, func() {
			if due {
				due, steps.step = false, nil
				must(t, r.log.IncrementLogStart(5))
				_, err := r.log.RemoveSegments(commitlog.BelowLogStart(5), r.now)
				must(t, err)
			}
		}}
		_, _, err = Clean(target, at, r.clean, r.keys, r.now)
		if steps.step != nil {
			break // the cleaning was over before
		}
		if errors.Is(err, commitlog.ErrStale) {
			stale++
		} else if err != nil {
			t.Fatal(err)
		}
		r.noLeftovers()
		checkShortened(t, r, after)
		for _, disk := range []*vfs.Mem{r.mem.Crash(), r.mem.CrashTorn(uint64(after))} {
			again := *r
			again.mem, again.fs = disk, disk
			again.open(commitlog.Options{LogStart: 5, RecoveryPoint: 12})
			checkShortened(t, &again, after)
			again.run()
			checkShortened(t, &again, after)
			again.log.Abandon()
		}
	}
	if stale < 5 {
		t.Errorf("%d cleanings only were in vain", stale)
	}
}

// checkShortened checks a log of TestRemovalDuringACleaning.
func checkShortened(t *testing.T, r *rig, step int) {
	t.Helper()
	got := r.offsets()
	if n := len(got); r.log.LogStart() < 5 || r.log.LogEnd() != 12 || n < 3 || got[0] < 5 || !slices.Equal(got[n-3:], []kafka.Offset{9, 10, 11}) {
		t.Fatalf("step %d: records at %v, the log is [%d, %d)", step, got, r.log.LogStart(), r.log.LogEnd())
	}
}

// What can be cleaned ends with the active segment, the last stable offset, the
// recovery point, and with records that are too young.
func TestMeasure(t *testing.T) {
	r := newRig(t)
	base := func() kafka.Offset { return r.log.SealedEnd() }
	for range 3 { // segments [0,2) [2,4) [4,6), and 6 in the active one
		r.put("a", "1")
		r.put("b", "1")
		r.roll()
		r.now += 100
	}
	r.put("a", "1")
	measure := func(checkpoint, point kafka.Offset, rules Rules) Range {
		t.Helper()
		got, err := Measure(r.log.Snapshot(), checkpoint, point, rules, r.now)
		must(t, err)
		return got
	}
	forever := Rules{MaxLagMs: 1<<63 - 1}
	for _, c := range []struct {
		name              string
		checkpoint, point kafka.Offset
		rules             Rules
		dirty, end        kafka.Offset
		ratio             float64
	}{
		{"no checkpoint", -1, 7, forever, 0, 6, 1},
		{"all clean", 6, 7, forever, 6, 6, 0},
		{"a third", 4, 7, forever, 4, 6, 1. / 3},
		{"recovery point inside a segment", 0, 5, forever, 0, 4, 1},
		{"min lag", 0, 7, Rules{MinLagMs: 150, MaxLagMs: 1<<63 - 1}, 0, 4, 1},
		{"min lag of everything", 0, 7, Rules{MinLagMs: 1000, MaxLagMs: 1<<63 - 1}, 0, 0, 0},
		{"behind the end", 9, 7, forever, 0, 6, 1},
	} {
		got := measure(c.checkpoint, c.point, c.rules)
		if got.FirstDirty != c.dirty || got.FirstUncleanable != c.end || got.Ratio() != c.ratio || (got.Reset != "") != (c.checkpoint > 7) {
			t.Errorf("%s: %+v, ratio %v", c.name, got, got.Ratio())
		}
	}
	if got := measure(2, 7, Rules{MaxLagMs: 150}); got.DelayMs != 50 || !got.Due(1) {
		t.Errorf("max lag: %+v", got)
	}
	if got := measure(2, 7, Rules{MaxLagMs: 200}); got.DelayMs != 0 || got.Due(1) || !got.Due(0.5) {
		t.Errorf("max lag not reached: %+v", got)
	}
	p := r.producer(9)
	r.produce(p, true, 0, record.Record{Key: []byte("t"), Value: []byte("1")})
	r.roll()
	if got := measure(0, base(), forever); got.FirstUncleanable != 6 {
		t.Errorf("open transaction in the last sealed segment: %+v", got)
	}
	must(t, r.log.IncrementLogStart(3))
	if got := measure(2, base(), forever); !got.BelowStart || got.FirstDirty != 3 {
		t.Errorf("log start above the checkpoint: %+v", got)
	}
}

// A segment that has nothing left does not end a lookup by timestamp, and reads pass
// over it.
func TestEmptySegmentsArePassedOver(t *testing.T) {
	r := newRig(t, func(r *rig) { r.clean.SegmentBytes = 1 })
	r.put("a", "1")
	r.roll()
	r.put("a", "2")
	r.roll()
	r.now += 1000
	r.put("a", "3")
	r.roll()
	r.run()
	r.expect(2)
	at, ok, err := r.log.Snapshot().OffsetByTimestamp(r.now - 500)
	must(t, err)
	if !ok || at.Offset != 2 || at.Timestamp != r.now {
		t.Errorf("%+v %v", at, ok)
	}
	if n := r.log.Snapshot().Segments(); n != 4 {
		t.Errorf("%d segments", n)
	}
	r.clean.SegmentBytes = 4000
	r.put("b", "1")
	r.roll()
	r.run()
	if n := r.log.Snapshot().Segments(); n != 2 {
		t.Errorf("%d segments after they were joined", n)
	}
}

// The last batch of a run stays, be it without records: it says where the cleaned part
// ends.
func TestLastBatchOfARunStays(t *testing.T) {
	r := newRig(t)
	r.put("a", "1")
	r.append(record.BatchOptions{}, record.Record{Value: []byte("no key")}, record.Record{Value: []byte("no key")})
	r.roll()
	r.run()
	r.expect(0)
	_, headers := readAll(t, r.log.Snapshot(), false)
	if last := headers[len(headers)-1]; last.BaseOffset != 1 || last.LastOffset() != 2 || last.Count != 0 {
		t.Errorf("last batch %+v", last)
	}
}
