package record

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"barnabas/internal/kafka"
)

const now = benchTime + 1_000_000

// ruled are the rules of a topic with defaults, changed.
func ruled(change func(o *ValidateOptions)) *ValidateOptions {
	o := &ValidateOptions{
		Partition: kafka.TopicPartition{Topic: "t", Partition: 3}, Version: 12, Now: now,
		TimestampBeforeMaxMs: math.MaxInt64, TimestampAfterMaxMs: 3_600_000, MaxMessageBytes: 1_048_588, SegmentBytes: 1 << 30,
	}
	if change != nil {
		change(o)
	}
	return o
}

func inCodec(c Codec) BatchOptions {
	return BatchOptions{LeaderEpoch: kafka.NoLeaderEpoch, Compression: Compression{Codec: c}}
}

// keyed is a record with timestamp, key and value; "-" is null.
func keyed(timestamp kafka.TimestampMs, key, value string) Record {
	r := Record{Timestamp: timestamp, Key: []byte(key), Value: []byte(value)}
	if key == "-" {
		r.Key = nil
	}
	if value == "-" {
		r.Value = nil
	}
	return r
}

func batchOf(t testing.TB, opts BatchOptions, records ...Record) Batch {
	t.Helper()
	b := NewBuilder(opts)
	for _, r := range records {
		b.Append(r)
	}
	batch, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return batch
}

func put32(pos int, v uint32) func(Batch) {
	return func(b Batch) { binary.BigEndian.PutUint32(b[pos:], v) }
}

func setByte(pos int, v byte) func(Batch) { return func(b Batch) { b[pos] = v } }

func asProducer(id int64, epoch int16, sequence int32) func(Batch) {
	return func(b Batch) {
		binary.BigEndian.PutUint64(b[posProducerID:], uint64(id))
		binary.BigEndian.PutUint16(b[posProducerEpoch:], uint16(epoch))
		binary.BigEndian.PutUint32(b[posBaseSequence:], uint32(sequence))
	}
}

// TestRefusalsAreThoseOfApache has the answers of Apache Kafka 4.4.0 to these
// batches, but for those that are named: there Apache answers
// UNKNOWN_SERVER_ERROR or takes what its own consumer cannot read.
func TestRefusalsAreThoseOfApache(t *testing.T) {
	plain := batchOf(t, inCodec(None), keyed(now, "a", "1"), keyed(now+5, "b", "-"), keyed(now+3, "c", "3"))
	gz := batchOf(t, inCodec(Gzip), keyed(now, "a", "1"), keyed(now+5, "b", "-"), keyed(now+3, "c", "3"))
	small := func(o *ValidateOptions) { o.MaxMessageBytes = 200 }
	large := strings.Repeat("x", 300)
	version := func(v int16) func(*ValidateOptions) { return func(o *ValidateOptions) { o.Version = v } }
	for _, c := range []struct {
		name    string
		raw     []byte
		rules   func(*ValidateOptions)
		code    kafka.ErrorCode
		message string
	}{
		{"null", nil, nil, kafka.ErrInvalidRecord, ""},
		{"empty", []byte{}, nil, kafka.ErrInvalidRecord, ""},
		{"cut in the header", plain[:60], nil, kafka.ErrInvalidRecord, ""},
		{"cut", plain[:len(plain)-1], nil, kafka.ErrInvalidRecord, ""},
		{"two batches", join(plain, plain), nil, kafka.ErrInvalidRecord, ""},
		{"a few bytes behind it", join(plain, []byte{1, 2, 3, 4, 5}), nil, kafka.ErrNone, ""},
		{"part of a batch behind it", join(plain, plain[:40]), nil, kafka.ErrNone, ""},
		{"zeros behind it", join(plain, make([]byte, 16)), nil, kafka.ErrCorruptMessage, ""},
		{"other magic behind it", join(plain, changed(plain, setByte(posMagic, 9))), nil, kafka.ErrCorruptMessage, ""},
		{"magic 0", changed(plain, setByte(posMagic, 0)), nil, kafka.ErrInvalidRecord, ""},
		{"magic 1", changed(plain, setByte(posMagic, 1)), nil, kafka.ErrInvalidRecord, ""},
		{"magic 3", changed(plain, setByte(posMagic, 3)), nil, kafka.ErrCorruptMessage, "Invalid magic found in record: 3"},
		{"magic -1", changed(plain, setByte(posMagic, 255)), nil, kafka.ErrCorruptMessage, "Invalid magic found in record: -1"},
		{"length 0", changed(plain, put32(posLength, 0)), nil, kafka.ErrCorruptMessage, "Record size 0 is less than the minimum record overhead (14)"},
		{"length -1", changed(plain, put32(posLength, math.MaxUint32)), nil, kafka.ErrCorruptMessage, "Record size -1 is less than the minimum record overhead (14)"},
		{"length 14", changed(plain, put32(posLength, 14)), nil, kafka.ErrCorruptMessage, ""},
		{"length 48", changed(plain, put32(posLength, 48)), nil, kafka.ErrCorruptMessage, ""},
		{"length 49", changed(plain, put32(posLength, 49)), nil, kafka.ErrCorruptMessage, ""},
		{"zstd before version 7", batchOf(t, inCodec(Zstd), keyed(now, "a", "1")), version(6), kafka.ErrUnsupportedCompressionType, ""},
		{"zstd in version 7", batchOf(t, inCodec(Zstd), keyed(now, "a", "1")), version(7), kafka.ErrNone, ""},
		{"codec 5 (not Apache's answer)", changed(plain, setByte(posAttributes+1, 5)), nil, kafka.ErrUnsupportedCompressionType, ""},
		{"wrong checksum", edit(plain, posCRC, 1), nil, kafka.ErrCorruptMessage, ""},
		{"flipped bit", edit(plain, -1, 1), nil, kafka.ErrCorruptMessage, ""},
		{"base offset 5", changed(plain, setByte(7, 5)), nil, kafka.ErrInvalidRecord, ""},
		{"leader epoch", changed(plain, setByte(posLeaderEpoch+3, 9)), nil, kafka.ErrNone, ""},
		{"last offset below", changed(plain, put32(posLastOffsetDelta, 1)), nil, kafka.ErrInvalidRecord, ""},
		{"last offset negative", changed(plain, put32(posLastOffsetDelta, math.MaxUint32)), nil, kafka.ErrInvalidRecord, ""},
		{"last offset huge", changed(plain, put32(posLastOffsetDelta, math.MaxInt32)), nil, kafka.ErrInvalidRecord, ""},
		{"count 0", changed(plain, put32(posCount, 0)), nil, kafka.ErrInvalidRecord, ""},
		{"count -1", changed(plain, put32(posCount, math.MaxUint32)), nil, kafka.ErrInvalidRecord, ""},
		{"fewer records than counted", changed(changed(plain, put32(posCount, 4)), put32(posLastOffsetDelta, 3)), nil, kafka.ErrInvalidRecord, ""},
		{"fewer, compressed", changed(changed(gz, put32(posCount, 4)), put32(posLastOffsetDelta, 3)), nil, kafka.ErrInvalidRecord, ""},
		{"more records than counted", changed(changed(plain, put32(posCount, 2)), put32(posLastOffsetDelta, 1)), nil, kafka.ErrInvalidRecord, ""},
		{"more, compressed", changed(changed(gz, put32(posCount, 2)), put32(posLastOffsetDelta, 1)), nil, kafka.ErrInvalidRecord, ""},
		{"control batch", changed(plain, setByte(posAttributes+1, 0x20)), nil, kafka.ErrInvalidRecord, ""},
		{"delete horizon", changed(plain, setByte(posAttributes+1, 0x40)), nil, kafka.ErrNone, ""},
		{"unknown attribute", changed(plain, setByte(posAttributes+1, 0x80)), nil, kafka.ErrNone, ""},
		{"producer without sequence", changed(plain, asProducer(70, 0, -1)), nil, kafka.ErrInvalidRecord, ""},
		{"producer", changed(plain, asProducer(70, 0, 0)), nil, kafka.ErrNone, ""},
		{"sequence without producer", changed(plain, asProducer(-1, 3, 5)), nil, kafka.ErrNone, ""},
		{"too large", batchOf(t, inCodec(None), keyed(now, "a", large)), small, kafka.ErrMessageTooLarge, ""},
		{"too large is said before corrupt", edit(batchOf(t, inCodec(None), keyed(now, "a", large)), -1, 1), small, kafka.ErrMessageTooLarge, ""},
		{"large, but packed", batchOf(t, inCodec(Zstd), keyed(now, "a", large)), small, kafka.ErrNone, ""},
		{"too large when unpacked", batchOf(t, inCodec(Zstd), keyed(now, "a", large)),
			func(o *ValidateOptions) { small(o); o.Recompress = &Compression{} }, kafka.ErrMessageTooLarge, ""},
		{"larger than a segment", plain, func(o *ValidateOptions) { o.SegmentBytes = 70 }, kafka.ErrRecordListTooLarge, ""},
		{"record size that Apache does not check (not Apache's answer)",
			withRecords(t, Gzip, 1, join([]byte{0x0a}, plainRecord(0, "v")[1:])), nil, kafka.ErrInvalidRecord, ""},
		{"garbage for gzip (not Apache's answer)", changed(plain, setByte(posAttributes+1, 1)), nil, kafka.ErrInvalidRecord, ""},
	} {
		raw := bytes.Clone(c.raw)
		_, r := Validate(raw, ruled(c.rules))
		switch {
		case c.code == kafka.ErrNone && r != nil:
			t.Errorf("%s: %v", c.name, r)
		case c.code != kafka.ErrNone && (r == nil || r.Code != c.code || r.Message != c.message || r.Reason == "" || r.RecordErrors != nil):
			t.Errorf("%s: %+v", c.name, r)
		case r != nil && !bytes.Equal(raw, c.raw):
			t.Errorf("%s: refused bytes were changed", c.name)
		}
	}
}

func TestRecordErrorsAreThoseOfApache(t *testing.T) {
	compacted := func(o *ValidateOptions) { o.Compacted = true }
	appendTime := func(o *ValidateOptions) { o.TimestampType = LogAppendTime }
	toZstd := func(o *ValidateOptions) { o.Recompress = &Compression{Codec: Zstd} }
	noKey := "Compacted topic cannot accept message without key in topic partition t-3"
	outOfRange := func(ts int64, offset int) string {
		return fmt.Sprintf("Timestamp %d of message with offset %d is out of range. The timestamp should be within [%d, %d]", ts, offset, int64(now-math.MaxInt64), now+3_600_000)
	}
	badTime := "One or more records have been rejected due to invalid timestamp"
	noKeys := []Record{keyed(now, "a", "1"), keyed(now, "-", "2"), keyed(now, "-", "3"), keyed(now, "-", "4"), keyed(now, "-", "5")}
	fourNoKeys := &Refusal{
		Code: kafka.ErrInvalidRecord,
		Message: "One or more records have been rejected due to 4 record errors in total, and only showing the first three errors at most: " +
			"[RecordError(batchIndex=1, message='" + noKey + "'), RecordError(batchIndex=2, message='" + noKey + "'), RecordError(batchIndex=3, message='" + noKey + "')]",
		RecordErrors: []RecordError{{1, noKey}, {2, noKey}, {3, noKey}, {4, noKey}},
	}
	producersTime := func(record string) *Refusal {
		return &Refusal{Code: kafka.ErrInvalidTimestamp, Message: badTime, RecordErrors: []RecordError{
			{0, "Invalid timestamp type in message " + record + ". Producer should not set timestamp type to LogAppendTime."}}}
	}
	asAppendTime := func(b Batch) Batch {
		return changed(b, func(b Batch) { b[posAttributes+1] |= byte(logAppendTimeFlag) })
	}
	for _, c := range []struct {
		name  string
		raw   Batch
		rules []func(*ValidateOptions)
		want  *Refusal
	}{
		{"no keys", batchOf(t, inCodec(None), noKeys...), []func(*ValidateOptions){compacted}, fourNoKeys},
		{"no keys, compressed", batchOf(t, inCodec(LZ4), noKeys...), []func(*ValidateOptions){compacted}, fourNoKeys},
		{"no keys, to be compressed", batchOf(t, inCodec(None), noKeys...), []func(*ValidateOptions){compacted, toZstd}, fourNoKeys},
		{"empty key", batchOf(t, inCodec(None), keyed(now, "", "1")), []func(*ValidateOptions){compacted}, nil},
		{"future", batchOf(t, inCodec(None), keyed(now, "a", "1"), keyed(now+7_200_000, "b", "2")), nil,
			&Refusal{Code: kafka.ErrInvalidTimestamp, Message: badTime, RecordErrors: []RecordError{{1, outOfRange(now+7_200_000, 1)}}}},
		{"future, but it is not asked", batchOf(t, inCodec(None), keyed(now+7_200_000, "b", "2")), []func(*ValidateOptions){appendTime}, nil},
		{"future and no key", batchOf(t, inCodec(Zstd), keyed(now, "-", "1"), keyed(now+7_200_000, "b", "2"), keyed(now+7_200_000, "-", "3")), []func(*ValidateOptions){compacted},
			&Refusal{Code: kafka.ErrInvalidTimestamp, Message: badTime, RecordErrors: []RecordError{{0, noKey}, {1, outOfRange(now+7_200_000, 1)}, {2, noKey}}}},
		{"just in time", batchOf(t, inCodec(None), keyed(now+3_600_000, "a", "1")), nil, nil},
		{"no timestamp", batchOf(t, inCodec(None), keyed(-1, "a", "1")), nil, nil},
		{"before the earliest", batchOf(t, inCodec(None), keyed(now-1001, "a", "1")),
			[]func(*ValidateOptions){func(o *ValidateOptions) { o.TimestampBeforeMaxMs = 1000 }},
			&Refusal{Code: kafka.ErrInvalidTimestamp, Message: badTime, RecordErrors: []RecordError{
				{0, fmt.Sprintf("Timestamp %d of message with offset 0 is out of range. The timestamp should be within [%d, %d]", now-1001, now-1000, now+3_600_000)}}}},
		{"the producer's append time", asAppendTime(batchOf(t, inCodec(None), keyed(now, "a", "-"))), []func(*ValidateOptions){appendTime},
			producersTime(fmt.Sprintf("DefaultRecord(offset=0, timestamp=%d, key=1 bytes, value=0 bytes)", now))},
		{"the producer's append time, compressed", asAppendTime(batchOf(t, inCodec(Gzip), keyed(now, "a", "-"))), []func(*ValidateOptions){appendTime},
			producersTime(fmt.Sprintf("PartialDefaultRecord(offset=0, timestamp=%d, key=1 bytes, value=-1 bytes)", now))},
		{"the producer's append time where it is taken for a time", asAppendTime(batchOf(t, inCodec(None), keyed(now, "a", "1"))), nil, nil},
	} {
		_, got := Validate(c.raw, ruled(func(o *ValidateOptions) {
			for _, change := range c.rules {
				change(o)
			}
		}))
		if (got == nil) != (c.want == nil) {
			t.Errorf("%s: %+v", c.name, got)
		} else if got != nil && (got.Code != c.want.Code || got.Message != c.want.Message || !slices.Equal(got.RecordErrors, c.want.RecordErrors)) {
			t.Errorf("%s:\n%+v, want\n%+v", c.name, got, c.want)
		}
	}
}

func TestMaxRecordSizeIsForCompressedBatches(t *testing.T) {
	value := strings.Repeat("x", 492) // a record of 500 bytes
	for limit, ok := range map[int]bool{499: false, 500: true} {
		for _, c := range codecs {
			for _, target := range []*Compression{nil, {Codec: LZ4}, {}} {
				raw := batchOf(t, inCodec(c), keyed(now, "k", value), keyed(now, "k", value[2:]))
				_, r := Validate(raw, ruled(func(o *ValidateOptions) { o.MaxRecordSize, o.Recompress = limit, target }))
				if want := ok || c == None; want != (r == nil) || r != nil && r.Code != kafka.ErrInvalidRecord {
					t.Errorf("%s to %v, limit %d: %v", c, target, limit, r)
				}
			}
		}
	}
}

func TestBatchesAreTakenInPlace(t *testing.T) {
	for _, c := range codecs {
		for _, target := range []*Compression{nil, {Codec: c, Level: 5}} {
			raw := batchOf(t, inCodec(c), keyed(now+5, "a", "1"), keyed(now+9, "b", "2"), keyed(now, "c", "3"))
			before := bytes.Clone(raw)
			v, r := Validate(raw, ruled(func(o *ValidateOptions) { o.Recompress = target }))
			if r != nil || v.Rebuilt || &v.Batch[0] != &raw[0] || !bytes.Equal(raw, before) {
				t.Errorf("%s: %v, rebuilt %v", c, r, v.Rebuilt)
			}
			if v.MaxTimestamp != now+9 || v.AppendTime != kafka.NoTimestamp {
				t.Errorf("%s: %+v", c, v)
			}
		}
	}
}

func TestHeaderTimestampsArePutRight(t *testing.T) {
	raw := batchOf(t, inCodec(Snappy), keyed(now+5, "a", "1"), keyed(now, "b", "2"))
	v, r := Validate(changed(raw, put32(posMaxTimestamp, 7)), ruled(nil))
	if r != nil || !bytes.Equal(v.Batch, raw) {
		t.Errorf("%v, %+v", r, v.Batch.Header())
	}
	v, r = Validate(bytes.Clone(raw), ruled(func(o *ValidateOptions) { o.TimestampType = LogAppendTime }))
	if r != nil || v.Batch.TimestampType() != LogAppendTime || v.Batch.MaxTimestamp() != now || v.MaxTimestamp != now || v.AppendTime != now || v.Batch.CheckCRC() != nil {
		t.Errorf("%v, %+v", r, v)
	}
}

func TestOtherCodecsAreRepacked(t *testing.T) {
	for _, from := range codecs {
		for _, to := range codecs {
			if from == to {
				continue
			}
			for _, timestamps := range []TimestampType{CreateTime, LogAppendTime} {
				opts := inCodec(from)
				opts.Producer, opts.Transactional = &Producer{ID: 7, Epoch: 2, BaseSequence: 40}, true
				raw := batchOf(t, opts, keyed(now+5, "a", "1"), Record{Timestamp: now, Headers: MakeHeaders(RecordHeader{Key: []byte("h")})}, keyed(now+9, "b", "-"))
				before := bytes.Clone(raw)
				v, r := Validate(raw, ruled(func(o *ValidateOptions) { o.Recompress, o.TimestampType = &Compression{Codec: to}, timestamps }))
				if r != nil || !v.Rebuilt || !bytes.Equal(raw, before) {
					t.Fatalf("%s to %s: %v, rebuilt %v", from, to, r, v.Rebuilt)
				}
				// What is made of it is what the producer would have built.
				opts.Compression.Codec = to
				want := batchOf(t, opts, keyed(now+5, "a", "1"), Record{Timestamp: now, Headers: MakeHeaders(RecordHeader{Key: []byte("h")})}, keyed(now+9, "b", "-"))
				if timestamps == LogAppendTime {
					want.SetMaxTimestamp(LogAppendTime, now)
				}
				if !bytes.Equal(v.Batch, want) || v.MaxTimestamp != want.MaxTimestamp() {
					t.Errorf("%s to %s:\n%+v, want\n%+v", from, to, v.Batch.Header(), want.Header())
				}
			}
		}
	}
}

func TestOffsetsThatDoNotFollowOneAnotherAreMadeTo(t *testing.T) {
	for _, c := range codecs {
		for _, deltas := range [][]int64{{0, 2}, {1, 2}, {5, 6}, {1, 0}, {0, 0}, {-1, 0}} {
			raw := withRecords(t, c, 2, join(plainRecord(deltas[0], "a"), plainRecord(deltas[1], "b")))
			v, r := Validate(raw, ruled(nil))
			if r != nil || !v.Rebuilt || v.Batch.Codec() != c {
				t.Errorf("%s, %v: %v, rebuilt %v", c, deltas, r, v.Rebuilt)
				continue
			}
			got, err := readAll(t, v.Batch)
			if err != nil || len(got) != 2 || got[0].offset != 0 || got[1].offset != 1 || string(got[1].value) != "b" || v.Batch.CheckCRC() != nil {
				t.Errorf("%s, %v: %v, %v", c, deltas, got, err)
			}
		}
	}
}

func TestCoordinatorsMayWriteWhatClientsMayNot(t *testing.T) {
	opts := BatchOptions{Transactional: true, Control: true, Producer: &Producer{ID: 4, BaseSequence: NoSequence}}
	marker := batchOf(t, opts, EndTxnMarker{Commit: true, CoordinatorEpoch: 3}.Record(now))
	coordinator := func(o *ValidateOptions) { o.Origin, o.Version = OriginCoordinator, 0 }
	v, r := Validate(marker, ruled(func(o *ValidateOptions) { coordinator(o); o.Recompress = &Compression{Codec: Zstd} }))
	if r != nil || v.Rebuilt {
		t.Errorf("%v, rebuilt %v: control batches stay as they are", r, v.Rebuilt)
	}
	opts.Control = false
	if _, r := Validate(batchOf(t, opts, keyed(now, "a", "b")), ruled(coordinator)); r != nil {
		t.Error(r)
	}
	if _, r := Validate(marker, ruled(nil)); r == nil || r.Code != kafka.ErrInvalidRecord {
		t.Errorf("a client wrote a marker: %v", r)
	}
}

func TestSmallRequestsCannotTakeTheMemory(t *testing.T) {
	// One record of 64 MiB of zeros in a few KB: walked in place, refused where it
	// would have to be written anew.
	raw := batchOf(t, inCodec(Zstd), Record{Timestamp: now, Value: make([]byte, 64<<20)})
	if len(raw) > 100_000 {
		t.Fatalf("%d bytes", len(raw))
	}
	if v, r := Validate(raw, ruled(nil)); r != nil || v.Rebuilt {
		t.Error(r)
	}
	if _, r := Validate(raw, ruled(func(o *ValidateOptions) { o.Recompress = &Compression{Codec: Gzip} })); r == nil || r.Code != kafka.ErrInvalidRecord {
		t.Errorf("%v", r)
	}
	// Many records: building stops when the batch is too large for sure.
	b := NewBuilder(inCodec(Zstd))
	for range 3000 {
		b.Append(Record{Timestamp: now, Value: make([]byte, 10_000)})
	}
	many, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	if n := allocated(func() {
		if _, r := Validate(many, ruled(func(o *ValidateOptions) { o.Recompress = &Compression{} })); r == nil || r.Code != kafka.ErrMessageTooLarge {
			t.Errorf("%v", r)
		}
	}); n > 20<<20 {
		t.Errorf("%d bytes for a batch that is too large after one megabyte", n)
	}
}

func TestWhatIsValidatedHoldsWhatWasSent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		opts := drawOptions(t)
		opts.BaseOffset, opts.Control, opts.DeleteHorizon, opts.TimestampType = 0, false, nil, CreateTime
		b := NewBuilder(opts)
		for range rapid.IntRange(1, 8).Draw(t, "records") {
			b.Append(drawRecord(t, 0))
		}
		raw, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		want, err := readAll(t, raw)
		if err != nil {
			t.Fatal(err)
		}
		rules := ruled(func(o *ValidateOptions) {
			o.TimestampAfterMaxMs, o.MaxMessageBytes = math.MaxInt64, 100<<20
			if rapid.Bool().Draw(t, "recompress") {
				o.Recompress = &Compression{Codec: Codec(rapid.IntRange(0, 4).Draw(t, "target"))}
			}
		})
		v, r := Validate(raw, rules)
		if r != nil {
			t.Fatal(r)
		}
		got, err := readAll(t, v.Batch)
		if err != nil || len(got) != len(want) {
			t.Fatalf("%d records of %d, %v", len(got), len(want), err)
		}
		for i := range want {
			if !got[i].equal(want[i]) {
				t.Fatalf("record %d is another", i)
			}
		}
		h, w := v.Batch.Header(), raw.Header()
		if Verify(v.Batch) != nil || h.ProducerID != w.ProducerID || h.ProducerEpoch != w.ProducerEpoch || h.BaseSequence != w.BaseSequence ||
			h.LastOffsetDelta != w.LastOffsetDelta || h.Count != w.Count || h.MaxTimestamp != w.MaxTimestamp {
			t.Fatalf("%+v, want %+v", h, w)
		}
		if rules.Recompress != nil && h.Attributes.Codec() != rules.Recompress.Codec {
			t.Fatalf("codec %s", h.Attributes.Codec())
		}
	})
}
