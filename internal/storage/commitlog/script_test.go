package commitlog

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"barnabas/internal/base/script"
	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/record"
)

// TestScripts runs testdata/scripts: dialogues with one log. Sizes of batches are
// given whole; a batch of one record without key has 61 bytes of header.
func TestScripts(t *testing.T) {
	script.RunDir(t, "testdata/scripts", func(t *testing.T) func(script.Command) string {
		fx := newFixture(t)
		fx.now = 1000
		return func(c script.Command) string { return fx.do(t, c) }
	})
}

func (fx *fixture) do(t *testing.T, c script.Command) string {
	switch c.Name {
	case "config":
		return fx.doConfig(c)
	case "now":
		fx.now = word(c, 0)
		return ""
	case "append", "coordinator", "raft":
		return fx.doAppend(c)
	case "verify":
		return fx.doVerify(c)
	case "marker":
		return fx.doMarker(c)
	case "follow":
		return fx.doFollow(c)
	case "read":
		return fx.doRead(t, c)
	case "time", "maxtime":
		return fx.doTime(c)
	case "aborted":
		out, err := fx.log.Snapshot().AbortedBetween(kafka.Offset(c.Int("from", 0)), kafka.Offset(c.Int("upto", 1<<40)), nil)
		return join(out) + failure(err)
	case "files":
		return fx.files()
	case "show":
		return fx.doShow(c)
	case "epoch":
		e, o := fx.log.EndOffsetForEpoch(kafka.LeaderEpoch(word(c, 0)))
		return fmt.Sprintf("epoch %d ends at %d\n", e, o)
	}
	return fx.doChange(t, c)
}

// doChange runs the commands that change a log otherwise than by an append.
func (fx *fixture) doChange(t *testing.T, c script.Command) string {
	o := kafka.Offset(0)
	if n, err := strconv.ParseInt(c.Word(0), 10, 64); err == nil {
		o = kafka.Offset(n)
	}
	switch c.Name {
	case "hw":
		fx.log.SetHighWatermark(o)
		return fx.line()
	case "start":
		return failure(fx.log.IncrementLogStart(o)) + fx.line()
	case "lead":
		return failure(fx.log.AssignEpoch(kafka.LeaderEpoch(o)))
	case "expire":
		fx.log.ExpireProducers(int64(o))
		return ""
	case "truncate":
		g, err := fx.log.TruncateTo(o, fx.now)
		return fx.garbage(g, err)
	case "restart-at":
		g, err := fx.log.TruncateFullyAndStartAt(o, fx.now)
		return fx.garbage(g, err)
	case "retain":
		g, err := fx.log.RemoveSegments(fx.doomed(c), fx.now)
		return fx.garbage(g, err)
	case "roll":
		return failure(fx.log.Roll(fx.now)) + fx.line()
	case "flush":
		return failure(fx.log.Flush(o)) + fx.line()
	case "checkpoint":
		return failure(fx.log.Checkpoint(fx.log.RecoveryPoint()))
	case "close":
		return failure(fx.log.Close())
	case "open":
		err := fx.tryOpen(Options{Clean: c.Has("clean"), Gapless: c.Has("gapless"), RecoveryPoint: kafka.Offset(c.Int("recovery", 0)), LogStart: kafka.Offset(c.Int("start", 0))})
		if err != nil {
			return failure(err)
		}
		return reportText(fx.report) + fx.line()
	case "kill":
		fx.log.Abandon()
		return ""
	case "put", "cut", "remove", "rename":
		return fx.doDamage(c)
	}
	t.Fatalf("unknown command %s", c.Name)
	return ""
}

func word(c script.Command, i int) int64 {
	n, err := strconv.ParseInt(c.Word(i), 10, 64)
	if err != nil {
		panic(fmt.Sprintf("script: %s: word %d: %v", c.Name, i, err))
	}
	return n
}

func failure(err error) string {
	var code kafka.ErrorCode
	switch {
	case err == nil:
		return ""
	case errors.As(err, &code):
		return code.String() + "\n"
	}
	return "error: " + err.Error() + "\n"
}

func (fx *fixture) doConfig(c script.Command) string {
	fx.log.Abandon()
	must(fx.t, vfs.RemoveAll(fx.mem, testDir))
	fx.config = *DefaultConfig()
	fx.config.SegmentBytes = int(c.Int("segment", 1<<20))
	fx.config.SegmentMs = c.Int("ms", fx.config.SegmentMs)
	fx.config.SegmentJitterMs = c.Int("jitter", 0)
	fx.config.IndexBytes = int(c.Int("index", 10<<20))
	fx.config.IndexIntervalBytes = int(c.Int("interval", 4096))
	fx.config.Preallocate = c.Has("preallocate")
	fx.config.VerifyTransactions = c.Has("verify")
	fx.config.ProducerExpirationMs = c.Int("expiration", fx.config.ProducerExpirationMs)
	fx.env.Random = func(n int64) int64 { return n - 1 }
	fx.open(Options{Clean: true})
	return ""
}

// doBatch builds the batch that a command describes. With size, the last record's
// value makes the batch as large.
func doBatch(c script.Command) record.Batch {
	b, want := buildBatch(c, 0), int(c.Int("size", 0))
	for pad := want - len(b); len(b) != want && pad > 0; pad -= len(b) - want {
		b = buildBatch(c, pad)
	}
	return b
}

func buildBatch(c script.Command, pad int) record.Batch {
	o := record.BatchOptions{Transactional: c.Has("txn")}
	if c.Args["pid"] != "" {
		o.Producer = &record.Producer{
			ID: kafka.ProducerID(c.Int("pid", 0)), Epoch: kafka.ProducerEpoch(c.Int("epoch", 0)), BaseSequence: int32(c.Int("seq", -1)),
		}
	}
	n, at := c.Int("n", 1), c.Int("ts", -1)
	b := record.NewBuilder(o)
	for i := range n {
		r := record.Record{Timestamp: at, Value: []byte{}}
		if at >= 0 {
			r.Timestamp += i
		}
		if i == n-1 {
			r.Value = make([]byte, pad)
		}
		b.Append(r)
	}
	out, err := b.Build()
	if err != nil {
		panic(err)
	}
	return out
}

func (fx *fixture) doAppend(c script.Command) string {
	batches := make([]record.Batch, c.Int("times", 1))
	for i := range batches {
		batches[i] = doBatch(c)
	}
	out := make([]Appended, len(batches))
	guards := make([]Guard, len(batches))
	for i := range guards {
		guards[i] = Guard(c.Int("guard", 0))
	}
	epoch := kafka.LeaderEpoch(c.Int("leader", 0))
	var err error
	switch {
	case c.Name == "coordinator":
		err = fx.log.AppendCoordinator(epoch, fx.now, batches, guards, out)
	case c.Name == "raft":
		err = fx.log.AppendRaft(epoch, fx.now, batches, out)
	case c.Args["guard"] != "":
		err = fx.log.AppendVerified(epoch, fx.now, batches, guards, out)
	default:
		err = fx.log.AppendLeader(epoch, fx.now, batches, out)
	}
	text := failure(err)
	for i, a := range out {
		if len(out) > 3 && i > 0 && i < len(out)-1 {
			continue
		}
		text += appendedText(a)
	}
	return text
}

func appendedText(a Appended) string {
	switch {
	case a.Err != kafka.ErrNone:
		return a.Err.String() + "\n"
	case a.Duplicate:
		return fmt.Sprintf("duplicate of [%d, %d], timestamp %d\n", a.Base, a.Last, a.Timestamp)
	}
	return fmt.Sprintf("[%d, %d]\n", a.Base, a.Last)
}

func (fx *fixture) doVerify(c script.Command) string {
	guard, open := fx.log.BeginVerification(fx.now, Verification{
		ProducerID: kafka.ProducerID(c.Int("pid", 0)), ProducerEpoch: kafka.ProducerEpoch(c.Int("epoch", 0)),
		Sequence: int32(c.Int("seq", 0)), EpochBump: c.Has("bump"),
	})
	if open {
		return "its transaction is open\n"
	}
	return fmt.Sprintf("guard %d\n", guard)
}

func (fx *fixture) doMarker(c script.Command) string {
	a, err := fx.log.AppendMarker(kafka.LeaderEpoch(c.Int("leader", 0)), fx.now, record.CreateTime, kafka.Marker{
		ProducerID: kafka.ProducerID(c.Int("pid", 0)), ProducerEpoch: kafka.ProducerEpoch(c.Int("epoch", 0)),
		CoordinatorEpoch: int32(c.Int("coordinator", 0)), Commit: c.Has("commit"), TransactionVersion: int16(c.Int("tv", 0)),
	})
	return failure(err) + appendedText(a)
}

func (fx *fixture) doFollow(c script.Command) string {
	b := doBatch(c)
	b.SetBaseOffset(kafka.Offset(c.Int("base", 0)))
	b.SetLeaderEpoch(kafka.LeaderEpoch(c.Int("leader", 0)))
	done, err := fx.log.AppendFollower(kafka.LeaderEpoch(c.Int("own", 100)), fx.now, b)
	if err != nil {
		return failure(err)
	}
	return fmt.Sprintf("%d batches, [%d, %d]\n", done.Batches, done.Base, done.Last)
}

func (fx *fixture) doRead(t *testing.T, c script.Command) string {
	s := fx.log.Snapshot()
	slice, err := s.Read(ReadRequest{
		From: kafka.Offset(word(c, 0)), UpTo: kafka.Offset(c.Int("upto", int64(s.LogEnd()))),
		MaxBytes: int(c.Int("max", 1<<20)), WholeFirst: c.Has("whole"),
	})
	if err != nil {
		return failure(err)
	}
	text := fmt.Sprintf("segment %d, position %d, %d bytes, first batch at %d has %d bytes", slice.Segment, slice.Position, slice.Length, slice.FirstOffset, slice.FirstSize)
	if slice.End.Position > 0 {
		text += fmt.Sprintf("; ends at offset %d", slice.End.Offset)
	}
	text += "\n"
	aborted, err := s.AbortedTxns(kafka.Offset(word(c, 0)), slice, nil)
	text += failure(err) + join(aborted)
	bytesOf(t, slice)
	return text
}

func (fx *fixture) doTime(c script.Command) string {
	s := fx.log.Snapshot()
	var at TimestampOffset
	var ok bool
	var err error
	if c.Name == "time" {
		at, ok, err = s.OffsetByTimestamp(word(c, 0))
	} else {
		at, ok, err = s.MaxTimestamp()
	}
	if err != nil || !ok {
		return failure(err) + "none\n"
	}
	return fmt.Sprintf("offset %d, timestamp %d, epoch %d\n", at.Offset, at.Timestamp, at.LeaderEpoch)
}

func (fx *fixture) doomed(c script.Command) Doomed {
	switch {
	case c.Has("start"):
		return BelowLogStart(fx.log.LogStart())
	case c.Args["bytes"] != "":
		return BeyondBytes(fx.log.Size(), c.Int("bytes", -1))
	}
	return OlderThan(fx.now, c.Int("ms", -1))
}

func (fx *fixture) garbage(g Garbage, err error) string {
	text := failure(err)
	for _, name := range g.Files {
		text += name + "\n"
	}
	must(fx.t, g.Remove(fx.mem))
	return text + fx.line()
}

func (fx *fixture) line() string {
	l := fx.log
	return fmt.Sprintf("start %d, end %d, high watermark %d, last stable %d, recovery point %d, %d segments, %d bytes\n",
		l.LogStart(), l.LogEnd(), l.HighWatermark(), l.LastStableOffset(), l.RecoveryPoint(), l.Snapshot().Segments(), l.Size())
}

// doShow prints what the words name.
func (fx *fixture) doShow(c script.Command) string {
	if len(c.Words) == 0 {
		return fx.line()
	}
	switch c.Word(0) {
	case "producers":
		return join(fx.log.Producers(nil))
	case "epochs":
		var text string
		for _, e := range fx.log.epochs {
			text += fmt.Sprintf("epoch %d from %d\n", e.epoch, e.start)
		}
		return text
	case "batches":
		var text string
		for _, h := range fx.contents() {
			text += fmt.Sprintf("[%d, %d] epoch %d\n", h.BaseOffset, h.LastOffset(), h.LeaderEpoch)
		}
		return text
	}
	return showFile(fx.file(c.Word(0)), c.Word(0))
}

// showFile prints the entries of an index file, or what a text file says.
func showFile(b []byte, name string) string {
	var text string
	switch {
	case strings.HasSuffix(name, timeIndexSuffix):
		for ; len(b) >= timeEntrySize; b = b[timeEntrySize:] {
			e := parseTimeEntry(b)
			text += fmt.Sprintf("timestamp %d at +%d\n", e.timestamp, e.rel)
		}
	case strings.HasSuffix(name, txnIndexSuffix):
		for ; len(b) >= txnEntrySize; b = b[txnEntrySize:] {
			t, err := parseAbortedTxn(b)
			text += fmt.Sprintf("%+v%s\n", t, failure(err))
		}
	case strings.HasSuffix(name, indexSuffix):
		for ; len(b) >= offsetEntrySize; b = b[offsetEntrySize:] {
			e := parseOffsetEntry(b)
			text += fmt.Sprintf("+%d at %d\n", e.rel, e.pos)
		}
	case strings.HasSuffix(name, snapshotSuffix):
		err := decodeSnapshot(b, func(p *producer) { text += fmt.Sprintf("%+v\n", *p) })
		text += failure(err)
	default:
		text = string(b)
	}
	return text
}

func join[T any](list []T) string {
	var text string
	for _, x := range list {
		text += fmt.Sprintf("%+v\n", x)
	}
	return text
}

// doDamage changes files as a bad disk or another process does.
func (fx *fixture) doDamage(c script.Command) string {
	path := testDir + "/" + c.Word(0)
	switch c.Name {
	case "remove":
		return failure(fx.mem.Remove(path))
	case "rename":
		return failure(fx.mem.Rename(path, testDir+"/"+c.Word(1)))
	}
	f, err := fx.mem.Open(path, vfs.Create)
	must(fx.t, err)
	defer f.Close()
	if c.Name == "cut" {
		return failure(f.Truncate(c.Int("size", 0)))
	}
	// put: bytes of one value at an offset
	_, err = f.WriteAt([]byte(strings.Repeat(string(rune(c.Int("byte", 0))), int(c.Int("n", 1)))), c.Int("at", 0))
	return failure(err)
}

func reportText(r OpenReport) string {
	var text string
	say := func(format string, args ...any) { text += fmt.Sprintf(format, args...) + "\n" }
	if r.SegmentsRecovered > 0 {
		say("recovered %d segments, %d bytes", r.SegmentsRecovered, r.BytesScanned)
	}
	if len(r.BadSnapshots) > 0 {
		say("bad snapshots %s", strings.Join(r.BadSnapshots, " "))
	}
	if len(r.FilesDeleted) > 0 {
		say("deleted %s", strings.Join(r.FilesDeleted, " "))
	}
	if len(r.SwapsFinished) > 0 {
		say("swapped %s", strings.Join(r.SwapsFinished, " "))
	}
	if len(r.IndexesRebuilt) > 0 {
		say("rebuilt indexes of %v", r.IndexesRebuilt)
	}
	if r.BadEpochs != nil {
		say("%v", r.BadEpochs)
	}
	if r.ResetTo != nil {
		say("reset to %d", *r.ResetTo)
	}
	for _, x := range r.Cuts {
		say("cut segment %d at %d: log ends at %d, %d bytes, %s", x.Segment, x.Position, x.Offset, x.Bytes, x.Reason)
		if x.Lost {
			say("  lost [%d, %d]", x.FirstLost, x.LastLost)
		}
		if len(x.Kept) > 0 {
			say("  kept %s", strings.Join(x.Kept, " "))
		}
	}
	for _, x := range r.Damages {
		say("damage in segment %d, [%d, %d): lost [%d, %d], %s", x.Segment, x.From, x.To, x.FirstLost, x.LastLost, x.Reason)
	}
	return text
}
