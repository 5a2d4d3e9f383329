package record

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"barnabas/internal/kafka"
)

// threeRecords is a small plain batch.
func threeRecords(t testing.TB, opts BatchOptions) Batch {
	t.Helper()
	b := NewBuilder(opts)
	b.Append(Record{Timestamp: benchTime, Key: []byte("a"), Value: []byte("1")})
	b.Append(Record{Timestamp: benchTime + 5, Key: []byte("b")})
	b.Append(Record{Timestamp: benchTime + 3, Key: []byte("c"), Value: []byte{}})
	batch, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return batch
}

// changed is a copy of a batch with something changed and the checksum put right.
func changed(b Batch, change func(b Batch)) Batch {
	b = bytes.Clone(b)
	change(b)
	b.setCRC()
	return b
}

func TestNextSplitsABuffer(t *testing.T) {
	one, two := threeRecords(t, BatchOptions{}), threeRecords(t, BatchOptions{BaseOffset: 3})
	buf := append(append(bytes.Clone(one), two...), one[:20]...)
	b, rest, err := Next(buf)
	if err != nil || !bytes.Equal(b, one) {
		t.Fatalf("first batch: %x, %v", []byte(b), err)
	}
	if cap(b) != len(b) {
		t.Error("appending to a batch would overwrite the next one")
	}
	if b, rest, err = Next(rest); err != nil || !bytes.Equal(b, two) {
		t.Fatalf("second batch: %x, %v", []byte(b), err)
	}
	if _, left, err := Next(rest); !errors.Is(err, ErrShort) || len(left) != 20 {
		t.Fatalf("partial batch: %v, %d bytes left", err, len(left))
	}
}

func TestNextSaysWhatIsWrong(t *testing.T) {
	good := threeRecords(t, BatchOptions{})
	withLength := func(n int32) []byte {
		b := bytes.Clone(good)
		binary.BigEndian.PutUint32(b[posLength:], uint32(n))
		return b
	}
	withMagic := func(m byte) []byte {
		b := bytes.Clone(good)
		b[posMagic] = m
		return b
	}
	for name, c := range map[string]struct {
		buf  []byte
		want error
	}{
		"empty":                    {nil, ErrShort},
		"ends in length":           {good[:11], ErrShort},
		"ends before magic":        {good[:16], ErrShort},
		"ends in header":           {good[:60], ErrShort},
		"one byte short":           {good[:len(good)-1], ErrShort},
		"negative length":          {withLength(-1), ErrBadLength},
		"impossible length, short": {withLength(13)[:12], ErrBadLength},
		"less than a header":       {withLength(HeaderSize - LogOverhead - 1), ErrBadLength},
		"huge length":              {withLength(1<<31 - 1), ErrShort},
		"magic 0":                  {withMagic(0), ErrBadMagic},
		"magic 1":                  {withMagic(1), ErrBadMagic},
		"magic 3":                  {withMagic(3), ErrBadMagic},
		"magic -1":                 {withMagic(255), ErrBadMagic},
	} {
		if _, _, err := Next(c.buf); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

func TestParseHeaderNeedsTheHeaderOnly(t *testing.T) {
	b := threeRecords(t, BatchOptions{BaseOffset: 7, LeaderEpoch: 4, Producer: &Producer{ID: 9, Epoch: 2, BaseSequence: 5}, Transactional: true})
	h, err := ParseHeader(b[:HeaderSize])
	if err != nil || h != b.Header() {
		t.Fatalf("%+v, %v", h, err)
	}
	if h.Size != len(b) || h.NextOffset() != 10 || !h.HasProducer() || !h.Attributes.IsTransactional() {
		t.Errorf("%+v", h)
	}
	for n := range HeaderSize {
		if _, err := ParseHeader(b[:n]); !errors.Is(err, ErrShort) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

func TestSettersOutsideTheChecksumLeaveItValid(t *testing.T) {
	b := threeRecords(t, BatchOptions{})
	b.SetBaseOffset(1 << 40)
	b.SetLeaderEpoch(77)
	if b.BaseOffset() != 1<<40 || b.LastOffset() != 1<<40+2 || b.LeaderEpoch() != 77 {
		t.Errorf("%+v", b.Header())
	}
	if err := b.CheckCRC(); err != nil {
		t.Error(err)
	}
}

func TestSetMaxTimestampKeepsTheChecksumRight(t *testing.T) {
	b := threeRecords(t, BatchOptions{Compression: Compression{Codec: Zstd}, Producer: &Producer{ID: 1}, Transactional: true})
	before := bytes.Clone(b)
	b.SetMaxTimestamp(CreateTime, benchTime+5)
	if !bytes.Equal(b, before) {
		t.Error("a batch that has the timestamp was changed")
	}
	b.SetMaxTimestamp(LogAppendTime, 42)
	if b.TimestampType() != LogAppendTime || b.MaxTimestamp() != 42 || b.CheckCRC() != nil {
		t.Errorf("%+v, %v", b.Header(), b.CheckCRC())
	}
	if a := b.Attributes(); a.Codec() != Zstd || !a.IsTransactional() || a.IsControl() {
		t.Errorf("attributes %b", a)
	}
	b.SetMaxTimestamp(CreateTime, benchTime+5)
	if !bytes.Equal(b, before) {
		t.Error("the way back gives another batch")
	}
}

func TestUnknownAttributesGoWhenABatchIsStamped(t *testing.T) {
	b := changed(threeRecords(t, BatchOptions{}), func(b Batch) { b[posAttributes], b[posAttributes+1] = 0x80, 0x80 })
	before := bytes.Clone(b)
	if b.SetMaxTimestamp(CreateTime, benchTime+5); !bytes.Equal(b, before) {
		t.Error("nothing was to be stamped, but the batch changed")
	}
	if b.SetMaxTimestamp(CreateTime, benchTime+6); b.Attributes() != 0 || b.CheckCRC() != nil {
		t.Errorf("attributes %b, %v", b.Attributes(), b.CheckCRC())
	}
}

func TestSequenceNumbersWrap(t *testing.T) {
	for _, c := range []struct{ base, delta, want int32 }{
		{0, 0, 0}, {5, 3, 8}, {1<<31 - 1, 0, 1<<31 - 1}, {1<<31 - 1, 1, 0}, {1<<31 - 2, 3, 1}, {NoSequence, 9, NoSequence},
	} {
		if got := lastSequence(c.base, c.delta); got != c.want {
			t.Errorf("%d + %d = %d, want %d", c.base, c.delta, got, c.want)
		}
	}
}

func TestVerifyFindsEveryFlippedBit(t *testing.T) {
	b := threeRecords(t, BatchOptions{Compression: Compression{Codec: LZ4}})
	if err := Verify(b); err != nil {
		t.Fatal(err)
	}
	for i := posCRC; i < len(b); i++ {
		for bit := range 8 {
			b[i] ^= 1 << bit
			if err := Verify(b); !errors.Is(err, ErrBadCRC) {
				t.Fatalf("byte %d, bit %d: %v", i, bit, err)
			}
			b[i] ^= 1 << bit
		}
	}
	if err := Verify(append(bytes.Clone(b), 0)); !errors.Is(err, ErrBadLength) {
		t.Errorf("a byte too many: %v", err)
	}
}

func TestEmptyBatchOfCompaction(t *testing.T) {
	b := NewBuilder(BatchOptions{BaseOffset: 10, LastOffset: 14, AppendTime: 99, Producer: &Producer{ID: 3, Epoch: 1, BaseSequence: 20}})
	batch, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	want := Header{BaseOffset: 10, Size: HeaderSize, Magic: 2, CRC: batch.CRC(), LastOffsetDelta: 4, BaseTimestamp: kafka.NoTimestamp, MaxTimestamp: 99,
		ProducerID: 3, ProducerEpoch: 1, BaseSequence: 20}
	if got := batch.Header(); got != want {
		t.Errorf("%+v", got)
	}
	var it Iterator
	if it.Reset(batch); it.Next() || it.Err() != nil {
		t.Errorf("a record in an empty batch, or %v", it.Err())
	}
}

func TestBuilderRefusesWhatCannotBe(t *testing.T) {
	for name, build := range map[string]func(b *Builder){
		"offset goes back":      func(b *Builder) { b.AppendAt(Record{Offset: 5}); b.AppendAt(Record{Offset: 5}) },
		"offset below the base": func(b *Builder) { b.AppendAt(Record{Offset: -1}) },
		"offset out of reach":   func(b *Builder) { b.AppendAt(Record{Offset: 1 << 31}) },
		"unknown codec":         func(b *Builder) { b.Reset(BatchOptions{Compression: Compression{Codec: 6}}); b.Append(Record{}) },
		"transaction of no one": func(b *Builder) { b.Reset(BatchOptions{Transactional: true}); b.Append(Record{}) },
		"last offset too far":   func(b *Builder) { b.Reset(BatchOptions{LastOffset: 1 << 31}); b.Append(Record{}) },
		"used after Build": func(b *Builder) {
			if _, err := b.Build(); err != nil {
				t.Error(err)
			}
		},
	} {
		b := NewBuilder(BatchOptions{})
		build(b)
		if _, err := b.Build(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestBuilderLeavesEarlierBatchesAlone(t *testing.T) {
	b := NewBuilder(BatchOptions{})
	b.Append(Record{Value: []byte("first")})
	first, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	before := bytes.Clone(first)
	b.Reset(BatchOptions{BaseOffset: 9})
	b.Append(Record{Value: []byte("second, and longer")})
	if _, err := b.Build(); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, before) {
		t.Error("the first batch changed")
	}
}

func TestControlKeys(t *testing.T) {
	for c := ControlAbort; c <= ControlKRaftVoters; c++ {
		if got, err := ParseControlKey(ControlKey(c)); err != nil || got != c {
			t.Errorf("%v: %v, %v", c, got, err)
		}
	}
	if got, err := ParseControlKey([]byte{0, 9, 0, 77, 1, 2}); err != nil || got != 77 || got.String() != "UNKNOWN" {
		t.Errorf("newer version, unknown type: %v, %v", got, err)
	}
	for _, key := range [][]byte{nil, {0, 0, 0}, {0xff, 0xff, 0, 1}} {
		if _, err := ParseControlKey(key); !errors.Is(err, ErrCorrupt) {
			t.Errorf("key %x: %v", key, err)
		}
	}
	key := ControlKey(ControlCommit)
	for _, value := range [][]byte{nil, {0, 0, 0, 0, 1}, {0xff, 0xff, 0, 0, 0, 1}} {
		if _, err := ParseEndTxnMarker(key, value); !errors.Is(err, ErrCorrupt) {
			t.Errorf("marker %x: %v", value, err)
		}
	}
	if _, err := ParseEndTxnMarker(ControlKey(ControlLeaderChange), make([]byte, 6)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("marker of another type: %v", err)
	}
	m, err := ParseEndTxnMarker(key, []byte{0, 1, 0, 0, 0, 9, 5})
	if err != nil || m != (EndTxnMarker{Commit: true, CoordinatorEpoch: 9}) {
		t.Errorf("newer marker: %+v, %v", m, err)
	}
}
