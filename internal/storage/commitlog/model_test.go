package commitlog

import (
	"bytes"
	"fmt"
	"slices"
	"syscall"
	"testing"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/record"

	"pgregory.net/rapid"
)

// model is a log as it should be: a list of batches. It is driven by random
// operations together with a real log on a file system in memory, which is
// stopped, killed, crashed and made to fail.
type model struct {
	*fixture
	rt *rapid.T

	batches []record.Batch // in the log, below the log start too
	past    map[string]bool
	start   kafka.Offset
	end     kafka.Offset
	high    kafka.Offset
	durable kafka.Offset // everything below it has been flushed
	point   kafka.Offset // the recovery point that was checkpointed

	sequences map[kafka.ProducerID]int32
	epoch     kafka.LeaderEpoch
	gapless   bool
}

func TestLogAgainstModel(t *testing.T) {
	for range 5 { // a hundred histories each
		rapid.Check(t, runModel)
	}
}

func runModel(rt *rapid.T) {
	m := &model{rt: rt, past: map[string]bool{}, sequences: map[kafka.ProducerID]int32{}}
	m.fixture = makeFixture(rt, func(c *Config) {
		c.SegmentBytes = rapid.IntRange(300, 3000).Draw(rt, "segment")
		c.IndexIntervalBytes = rapid.IntRange(1, 400).Draw(rt, "interval")
		c.IndexBytes = rapid.IntRange(36, 400).Draw(rt, "index")
		c.Preallocate = rapid.Bool().Draw(rt, "preallocate")
	})
	m.now = 100 // soon after the timestamps: no producer expires
	m.gapless = rapid.Bool().Draw(rt, "gapless")
	for range rapid.IntRange(1, 60).Draw(rt, "steps") {
		m.step()
		m.check()
	}
}

func (m *model) fatalf(format string, args ...any) {
	m.rt.Helper()
	m.rt.Fatalf(format, args...)
}

func (m *model) must(err error) {
	m.rt.Helper()
	must(m.rt, err)
}

func (m *model) step() {
	ops := []struct {
		name   string
		weight int
		do     func()
	}{
		{"append", 30, m.stepAppend},
		{"marker", 8, m.stepMarker},
		{"follow", 6, m.stepFollow},
		{"fail", 3, m.stepFailedAppend},
		{"high watermark", 8, m.stepHigh},
		{"log start", 3, m.stepStart},
		{"flush", 8, m.stepFlush},
		{"checkpoint", 3, m.stepCheckpoint},
		{"roll", 2, func() { m.must(m.log.Roll(m.now)) }},
		{"truncate", 4, m.stepTruncate},
		{"retain", 3, m.stepRetain},
		{"epoch", 2, func() { m.epoch++; m.must(m.log.AssignEpoch(m.epoch)) }},
		{"restart", 3, m.stepRestart},
		{"kill", 3, m.stepKill},
		{"crash", 4, m.stepCrash},
	}
	var all []int
	for i, op := range ops {
		for range op.weight {
			all = append(all, i)
		}
	}
	op := ops[rapid.SampledFrom(all).Draw(m.rt, "op")]
	m.rt.Logf("%s", op.name)
	op.do()
}

// add notes batches that are in the log now.
func (m *model) add(batches ...record.Batch) {
	for _, b := range batches {
		b = record.Batch(bytes.Clone(b))
		m.batches = append(m.batches, b)
		m.past[string(b)] = true
		m.end = b.NextOffset()
	}
}

func (m *model) drawBatch() record.Batch {
	n := rapid.IntRange(1, 4).Draw(m.rt, "n")
	size := rapid.IntRange(0, 120).Draw(m.rt, "size")
	at := rapid.Int64Range(0, 50).Draw(m.rt, "ts")
	id := kafka.ProducerID(rapid.IntRange(0, 3).Draw(m.rt, "pid"))
	if id == 0 {
		return sizedBatch(n, size, at)
	}
	sequence := m.sequences[id]
	m.sequences[id] += int32(n)
	if id == 3 {
		return sizedBatch(n, size, at, producerOpt(id, 0, sequence), inTxn)
	}
	return sizedBatch(n, size, at, producerOpt(id, 0, sequence))
}

func (m *model) stepAppend() {
	var batches []record.Batch
	for range rapid.IntRange(1, 3).Draw(m.rt, "batches") {
		batches = append(batches, m.drawBatch())
	}
	out := make([]Appended, len(batches))
	m.must(m.log.AppendLeader(m.epoch, m.now, batches, out))
	next := m.end
	for i, a := range out {
		switch {
		case len(batches[i]) > m.config.SegmentBytes:
			if a.Err != kafka.ErrRecordListTooLarge {
				m.fatalf("batch of %d bytes: %+v", len(batches[i]), a)
			}
			m.forgetSequences() // a producer would stop here
		case a.Err == kafka.ErrOutOfOrderSequenceNumber:
			m.forgetSequences()
		case a.Err != kafka.ErrNone || a.Duplicate || a.Base != next:
			m.fatalf("batch %d: %+v, expected offset %d", i, a, next)
		default:
			m.add(batches[i])
			next = m.end
		}
	}
}

// forgetSequences takes the next sequences from the log, as a new producer session
// cannot; it keeps the model going after batches were refused or lost.
func (m *model) forgetSequences() {
	clear(m.sequences)
	for _, p := range m.log.Producers(nil) {
		m.sequences[p.ID] = p.LastSequence + 1
	}
}

func (m *model) stepMarker() {
	a, err := m.log.AppendMarker(m.epoch, m.now, record.CreateTime, kafka.Marker{ProducerID: 3, CoordinatorEpoch: 1, Commit: rapid.Bool().Draw(m.rt, "commit")})
	m.must(err)
	if a.Err != kafka.ErrNone || a.Base != m.end {
		m.fatalf("marker: %+v", a)
	}
	b, _, err := record.Next(m.mustRead(ReadRequest{From: a.Base, UpTo: a.Base + 1, MaxBytes: 1 << 20}))
	m.must(err)
	m.add(b)
}

func (m *model) mustRead(r ReadRequest) []byte {
	m.rt.Helper()
	return read(m.rt, m.log.Snapshot(), r)
}

func (m *model) stepFollow() {
	var raw []byte
	var batches []record.Batch
	next := m.end
	for range rapid.IntRange(1, 4).Draw(m.rt, "batches") {
		b := sizedBatch(2, rapid.IntRange(0, 60).Draw(m.rt, "size"), rapid.Int64Range(0, 50).Draw(m.rt, "ts"))
		b.SetBaseOffset(next)
		if !m.gapless {
			b.SetBaseOffset(next + kafka.Offset(rapid.IntRange(0, 3).Draw(m.rt, "gap")))
		}
		b.SetLeaderEpoch(m.epoch)
		next = b.NextOffset()
		raw = append(raw, b...)
		batches = append(batches, b)
	}
	done, err := m.log.AppendFollower(m.epoch, m.now, raw)
	m.must(err)
	if done.Batches != len(batches) || done.Last != next-1 {
		m.fatalf("%+v of %d batches", done, len(batches))
	}
	m.add(batches...)
}

func (m *model) stepFailedAppend() {
	part := rapid.Int64Range(0, 400).Draw(m.rt, "written")
	m.mem.Inject(func(op vfs.Op) vfs.Fault {
		if op.Kind == vfs.OpWrite {
			return vfs.Fault{Err: syscall.ENOSPC, Written: part}
		}
		return vfs.Fault{}
	})
	out := make([]Appended, 1)
	err := m.log.AppendLeader(m.epoch, m.now, []record.Batch{m.drawBatch()}, out)
	m.mem.Inject(nil)
	if err == nil && out[0].Err == kafka.ErrNone {
		m.fatalf("an append to a full disk succeeded")
	}
	if m.log.usable() != nil {
		m.stepKill()
	}
	m.forgetSequences()
}

func (m *model) stepHigh() {
	m.high = kafka.Offset(rapid.Int64Range(0, int64(m.end)).Draw(m.rt, "high"))
	m.high = max(m.high, m.log.HighWatermark())
	m.log.SetHighWatermark(m.high)
}

func (m *model) stepStart() {
	to := kafka.Offset(rapid.Int64Range(0, int64(m.high)).Draw(m.rt, "start"))
	m.must(m.log.IncrementLogStart(to))
	m.start = max(m.start, to)
}

func (m *model) stepFlush() {
	upTo := kafka.Offset(rapid.Int64Range(0, int64(m.end)).Draw(m.rt, "flush"))
	m.must(m.log.Flush(upTo))
	m.durable = max(m.durable, upTo)
	if m.log.RecoveryPoint() < upTo {
		m.fatalf("recovery point %d after a flush up to %d", m.log.RecoveryPoint(), upTo)
	}
}

func (m *model) stepTruncate() {
	to := kafka.Offset(rapid.Int64Range(0, int64(m.end)+2).Draw(m.rt, "truncate"))
	if m.gapless { // not into the middle of a batch
		to = max(to, m.start)
		for _, b := range m.batches {
			if b.BaseOffset() < to && to <= b.LastOffset() {
				to = b.BaseOffset()
			}
		}
	}
	g, err := m.log.TruncateTo(to, m.now)
	m.must(err)
	m.must(g.Remove(m.mem))
	if to >= m.end {
		return
	}
	m.end = to
	m.batches = slices.DeleteFunc(m.batches, func(b record.Batch) bool { return b.LastOffset() >= to })
	m.start, m.high, m.durable = min(m.start, to), min(m.high, to), min(m.durable, m.log.RecoveryPoint())
	m.point = min(m.point, to)
	m.forgetSequences()
}

func (m *model) stepRetain() {
	g, err := m.log.RemoveSegments(BeyondBytes(m.log.Size(), rapid.Int64Range(0, 3000).Draw(m.rt, "retain")), m.now)
	m.must(err)
	m.must(g.Remove(m.mem))
	m.start = max(m.start, m.log.LogStart())
}

func (m *model) reopened() {
	m.log.SetHighWatermark(m.high)
	m.high = m.log.HighWatermark()
	m.forgetSequences()
}

func (m *model) reopen(o Options) {
	o.LogStart, o.Gapless = m.start, m.gapless
	m.must(m.tryOpen(o))
	for _, d := range m.report.Damages {
		m.fatalf("damage: %+v", d)
	}
}

func (m *model) stepRestart() {
	m.must(m.log.Close())
	m.reopen(Options{Clean: true, RecoveryPoint: m.log.RecoveryPoint()})
	if m.report.SegmentsRecovered+len(m.report.Cuts)+len(m.report.IndexesRebuilt) > 0 {
		m.fatalf("after a clean stop: %+v", m.report)
	}
	m.afterStop()
	m.durable, m.point = m.end, m.end
	m.reopened()
}

// afterStop takes over the log's end: after a truncation into the middle of a batch
// a log ends behind its last batch, and a stop forgets that, as with Apache.
func (m *model) afterStop() {
	end := m.log.LogEnd()
	if end < m.end && slices.ContainsFunc(m.batches, func(b record.Batch) bool { return b.LastOffset() >= end }) {
		m.fatalf("end %d, want %d", end, m.end)
	}
	m.end = end
	m.high, m.start = min(m.high, end), min(m.start, end)
	m.durable = min(m.durable, end)
}

// stepCheckpoint does what an owner does from time to time.
func (m *model) stepCheckpoint() {
	point := m.log.RecoveryPoint()
	m.must(m.log.Checkpoint(point))
	m.point = point
}

// lastCheckpoint is the recovery point that the next process finds. It may be as
// fresh as can be.
func (m *model) lastCheckpoint() kafka.Offset {
	if m.log.usable() == nil && rapid.Bool().Draw(m.rt, "fresh") {
		m.stepCheckpoint()
	}
	return m.point
}

// stepKill ends the process but not the machine: what was written is there.
func (m *model) stepKill() {
	point := m.lastCheckpoint()
	m.log.Abandon()
	m.reopen(Options{RecoveryPoint: point})
	for _, c := range m.report.Cuts {
		if c.Offset < m.end {
			m.fatalf("a kill lost data: %+v", c)
		}
	}
	m.afterStop()
	m.reopened()
}

// stepCrash cuts the power. What was flushed must be there, and nothing may be
// there that was never written.
func (m *model) stepCrash() {
	point := m.lastCheckpoint()
	after := m.mem.Crash()
	if rapid.Bool().Draw(m.rt, "torn") {
		after = m.mem.CrashTorn(rapid.Uint64().Draw(m.rt, "seed"))
	}
	m.log.Abandon()
	m.mem, m.env = after, testEnv(after)
	m.reopen(Options{RecoveryPoint: point})

	was := m.batches
	m.batches, m.end = nil, m.log.LogEnd()
	for _, h := range contents(m.rt, m.log.Snapshot()) {
		b, _, err := record.Next(m.mustRead(ReadRequest{From: max(h.BaseOffset, m.start), UpTo: m.end, MaxBytes: 1 << 20}))
		m.must(err)
		if !m.past[string(b)] {
			m.fatalf("batch at offset %d was never written", h.BaseOffset)
		}
		if n := len(m.batches); m.gapless && n > 0 && b.BaseOffset() != m.batches[n-1].NextOffset() {
			m.fatalf("a gap before offset %d", b.BaseOffset())
		}
		m.batches = append(m.batches, b)
	}
	for _, b := range was {
		if b.LastOffset() < m.durable && b.LastOffset() >= m.start && !slices.ContainsFunc(m.batches, func(have record.Batch) bool { return bytes.Equal(have, b) }) {
			m.fatalf("batch [%d, %d] was flushed (up to %d) and is lost; %+v", b.BaseOffset(), b.LastOffset(), m.durable, m.report)
		}
	}
	m.high, m.start = min(m.high, m.end), min(m.start, m.end)
	m.durable = min(m.durable, m.end)
	m.reopened()
}

// check compares the log with the model.
func (m *model) check() {
	s := m.log.Snapshot()
	if s.LogStart() != m.start || s.LogEnd() != m.end || s.HighWatermark() != max(m.high, m.start) {
		m.fatalf("start %d, end %d, high watermark %d; want %d, %d, %d", s.LogStart(), s.LogEnd(), s.HighWatermark(), m.start, m.end, m.high)
	}
	m.high = max(m.high, m.start)
	m.batches = slices.DeleteFunc(m.batches, func(b record.Batch) bool { return b.LastOffset() < m.start })
	have := contents(m.rt, s)
	if len(have) != len(m.batches) {
		m.fatalf("%d batches, want %d", len(have), len(m.batches))
	}
	for i, h := range have {
		if want := m.batches[i].Header(); h != want {
			m.fatalf("batch %d: %+v, want %+v", i, h, want)
		}
		if epoch := s.EpochOf(h.BaseOffset); h.BaseOffset >= m.start && epoch != h.LeaderEpoch {
			m.fatalf("batch %d of epoch %d is taken for one of %d", i, h.LeaderEpoch, epoch)
		}
	}
	m.checkRead(s)
	m.checkTimestamps(s)
	m.checkTransactions(s)
	if n := m.log.env.Files.Open(); n > 4*s.Segments() {
		m.fatalf("%d files open for %d segments", n, s.Segments())
	}
}

// checkRead reads at a random offset, up to a random one.
func (m *model) checkRead(s *Snapshot) {
	if m.end == m.start {
		return
	}
	from := kafka.Offset(rapid.Int64Range(int64(m.start), int64(m.end)-1).Draw(m.rt, "from"))
	upTo := kafka.Offset(rapid.Int64Range(int64(m.start), int64(m.end)).Draw(m.rt, "upto"))
	got := m.mustRead(ReadRequest{From: from, UpTo: upTo, MaxBytes: rapid.IntRange(0, 500).Draw(m.rt, "max"), WholeFirst: true})
	var want []byte
	for _, b := range m.batches {
		if b.LastOffset() >= from && b.LastOffset() < upTo {
			want = append(want, b...)
		}
	}
	if !bytes.HasPrefix(want, got) {
		m.fatalf("read [%d, %d): %d bytes that are not at the start of the %d expected", from, upTo, len(got), len(want))
	}
	if len(got) == 0 && len(want) > 0 && from < upTo && s.segments[floorSegment(s.segments, from)].base <= from {
		m.fatalf("read [%d, %d): nothing of %d bytes", from, upTo, len(want))
	}
}

func (m *model) checkTimestamps(s *Snapshot) {
	ts := rapid.Int64Range(0, 55).Draw(m.rt, "lookup")
	var want *TimestampOffset
	for _, b := range m.batches {
		var w record.Walker
		for w.Reset(b); w.Next(); {
			if w.Timestamp() >= ts && w.Offset() >= m.start && want == nil {
				want = &TimestampOffset{w.Timestamp(), w.Offset(), b.LeaderEpoch()}
			}
		}
		w.Close()
	}
	at, ok, err := s.OffsetByTimestamp(ts)
	m.must(err)
	// A segment without records, or with late ones below the log start only, hides
	// later ones.
	hidden := m.start != s.segments[0].base
	for i := range len(s.segments) - 1 {
		v := s.view(i)
		largest, _, err := s.maxTimestampOf(&v, i)
		m.must(err)
		hidden = hidden || largest < 0
	}
	if !hidden && (ok != (want != nil) || ok && at != *want) {
		m.fatalf("timestamp %d: %+v %v, want %+v", ts, at, ok, want)
	}
}

// checkTransactions compares what producers and index say with the batches, as
// long as all of them are there.
func (m *model) checkTransactions(s *Snapshot) {
	if s.segments[0].base != 0 || m.start != 0 {
		return
	}
	// Of transactions that have ended above the high watermark only the log knows;
	// a snapshot of the producers, as it is read after a restart, does not.
	open, least, most := kafka.NoOffset, s.HighWatermark(), s.HighWatermark()
	var aborted []AbortedTxn
	for _, b := range m.batches {
		switch {
		case b.ProducerID() != 3:
		case !b.IsControl():
			if open < 0 {
				open = b.BaseOffset()
			}
		case open >= 0:
			h := b.Header()
			marker, err := markerOf(&h, b)
			m.must(err)
			if b.BaseOffset() >= s.HighWatermark() {
				least = min(least, open)
			}
			if !marker.Commit {
				aborted = append(aborted, AbortedTxn{3, open, b.BaseOffset(), b.BaseOffset() + 1})
			}
			open = -1
		}
	}
	if open >= 0 {
		least, most = min(least, open), min(most, open)
	}
	if o := s.LastStableOffset(); o < least || o > most {
		m.fatalf("last stable offset %d, want %d to %d", o, least, most)
	}
	have, err := s.AbortedBetween(0, m.end, nil)
	m.must(err)
	if fmt.Sprint(have) != fmt.Sprint(aborted) {
		m.fatalf("aborted %v, want %v", have, aborted)
	}
}
