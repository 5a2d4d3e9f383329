package record

import (
	"bytes"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"barnabas/internal/kafka"
)

// content is a record with memory of its own.
type content struct {
	offset    kafka.Offset
	timestamp kafka.TimestampMs
	key       []byte
	value     []byte
	headers   []RecordHeader
}

func contentOf(r *Record) content {
	c := content{offset: r.Offset, timestamp: r.Timestamp, key: bytes.Clone(r.Key), value: bytes.Clone(r.Value)}
	for k, v := range r.Headers.All() {
		c.headers = append(c.headers, RecordHeader{bytes.Clone(k), bytes.Clone(v)})
	}
	return c
}

func sameBytesOrNull(a, b []byte) bool { return bytes.Equal(a, b) && (a == nil) == (b == nil) }

func (c content) equal(o content) bool {
	if c.offset != o.offset || c.timestamp != o.timestamp || len(c.headers) != len(o.headers) ||
		!sameBytesOrNull(c.key, o.key) || !sameBytesOrNull(c.value, o.value) {
		return false
	}
	for i, h := range c.headers {
		if !bytes.Equal(h.Key, o.headers[i].Key) || !sameBytesOrNull(h.Value, o.headers[i].Value) {
			return false
		}
	}
	return true
}

// readAll reads an entry with an Iterator and with a Walker, which must agree.
func readAll(t rapid.TB, entry []byte) ([]content, error) {
	t.Helper()
	var it Iterator
	var w Walker
	defer it.Close()
	defer w.Close()
	var out []content
	w.Reset(entry)
	for it.Reset(entry); it.Next(); {
		r := it.Record()
		if !w.Next() {
			t.Fatalf("the walk ends before record %d: %v", len(out), w.Err())
		}
		if w.Offset() != r.Offset || w.Timestamp() != r.Timestamp || w.KeySize() != int(fieldSize(r.Key)) || w.ValueSize() != int(fieldSize(r.Value)) {
			t.Fatalf("the walk sees another record %d", len(out))
		}
		out = append(out, contentOf(r))
	}
	if w.Next() || (w.Err() == nil) != (it.Err() == nil) {
		t.Fatalf("the walk ends with %v, the iteration with %v", w.Err(), it.Err())
	}
	return out, it.Err()
}

// nullable draws bytes or null. Repetition gives codecs something to do, and
// sizes reach over the chunks of all of them.
func nullable(t *rapid.T, name string) []byte {
	switch rapid.IntRange(0, 9).Draw(t, name) {
	case 0:
		return nil
	case 1:
		return []byte{}
	case 2:
		return bytes.Repeat([]byte(name), rapid.IntRange(1, 20_000).Draw(t, "repeat"))
	}
	return rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "bytes")
}

func drawRecord(t *rapid.T, offset kafka.Offset) Record {
	r := Record{
		Offset:    offset,
		Timestamp: rapid.Int64Range(-1, 1<<45).Draw(t, "timestamp"),
		Key:       nullable(t, "key"),
		Value:     nullable(t, "value"),
	}
	var headers []RecordHeader
	for range rapid.IntRange(0, 3).Draw(t, "headers") {
		headers = append(headers, RecordHeader{Key: rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "header"), Value: nullable(t, "header value")})
	}
	r.Headers = MakeHeaders(headers...)
	return r
}

func drawOptions(t *rapid.T) BatchOptions {
	opts := BatchOptions{
		BaseOffset:  kafka.Offset(rapid.Int64Range(0, 1<<50).Draw(t, "base")),
		LeaderEpoch: kafka.LeaderEpoch(rapid.Int32Range(-1, 100).Draw(t, "epoch")),
		Compression: Compression{Codec: Codec(rapid.IntRange(0, 4).Draw(t, "codec")), Level: rapid.IntRange(-3, 22).Draw(t, "level")},
		Control:     rapid.Bool().Draw(t, "control"),
	}
	if rapid.Bool().Draw(t, "idempotent") {
		opts.Producer = &Producer{ID: 5, Epoch: 6, BaseSequence: rapid.Int32Min(0).Draw(t, "sequence")}
		opts.Transactional = rapid.Bool().Draw(t, "transactional")
	}
	if rapid.Bool().Draw(t, "append time") {
		opts.TimestampType, opts.AppendTime = LogAppendTime, rapid.Int64Min(0).Draw(t, "now")
	}
	if rapid.Bool().Draw(t, "horizon") {
		h := rapid.Int64Range(0, 1<<45).Draw(t, "delete horizon")
		opts.DeleteHorizon = &h
	}
	return opts
}

func TestWhatIsBuiltIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		opts := drawOptions(t)
		b := NewBuilder(opts)
		var want []content
		maxTimestamp := kafka.NoTimestamp
		offset := opts.BaseOffset
		for range rapid.IntRange(1, 10).Draw(t, "records") {
			offset += kafka.Offset(rapid.IntRange(0, 3).Draw(t, "gap"))
			r := drawRecord(t, offset)
			b.AppendAt(r)
			maxTimestamp = max(maxTimestamp, r.Timestamp)
			c := contentOf(&r)
			if opts.TimestampType == LogAppendTime {
				c.timestamp = opts.AppendTime
			}
			want = append(want, c)
			offset++
		}
		batch, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		if err := Verify(batch); err != nil {
			t.Fatal(err)
		}
		if opts.TimestampType == CreateTime && batch.MaxTimestamp() != maxTimestamp {
			t.Fatalf("max timestamp %d, want %d", batch.MaxTimestamp(), maxTimestamp)
		}
		if batch.LastOffset() != offset-1 || int(batch.Count()) != len(want) || batch.IsControl() != opts.Control || batch.IsTransactional() != opts.Transactional {
			t.Fatalf("header %+v", batch.Header())
		}
		got, err := readAll(t, batch)
		if err != nil || len(got) != len(want) {
			t.Fatalf("%d records of %d, %v", len(got), len(want), err)
		}
		for i := range want {
			if !got[i].equal(want[i]) {
				t.Fatalf("record %d is another: %v, want %v", i, got[i], want[i])
			}
		}
	})
}

// recordsOf makes a records section by hand.
func plainRecord(offsetDelta int64, value string) []byte {
	r := Record{Key: []byte("k"), Value: []byte(value)}
	return r.appendTo(nil, int32(offsetDelta), 0)
}

// withRecords is a batch with a records section made by hand.
func withRecords(t testing.TB, c Codec, count int32, section []byte) Batch {
	t.Helper()
	b := NewBuilder(BatchOptions{Compression: Compression{Codec: c}})
	if b.enc == nil {
		b.out.b = append(b.out.b, section...)
	} else if _, err := b.enc.Write(section); err != nil {
		t.Fatal(err)
	}
	b.count, b.lastOffset = count, kafka.Offset(count-1)
	batch, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return batch
}

func TestRecordsThatAreNotWhatTheHeaderSaysAreAnError(t *testing.T) {
	good := plainRecord(0, "v")
	body := func(fields ...[]byte) []byte {
		b := bytes.Join(fields, nil)
		return append(appendVarint(nil, int64(len(b))), b...)
	}
	num := func(n int64) []byte { return appendVarint(nil, n) }
	start, kv := []byte{0, 0, 0}, []byte{2, 'k', 2, 'v'}
	sections := map[string]struct {
		count   int32
		section []byte
	}{
		"nothing":                       {1, nil},
		"fewer":                         {2, good},
		"more":                          {1, append(bytes.Clone(good), good...)},
		"trailing byte":                 {1, append(bytes.Clone(good), 0)},
		"negative count":                {-1, good},
		"zero size":                     {1, []byte{0}},
		"negative size":                 {1, num(-5)},
		"size beyond the end":           {1, append(num(100), good[1:]...)},
		"size below the fields":         {1, append(num(5), good[1:]...)},
		"size above the fields":         {1, body(start, kv, num(0), []byte("zz"))},
		"key beyond the record":         {1, body(start, num(50), kv)},
		"key up to the end":             {1, body(start, num(4), kv)},
		"value beyond the record":       {1, append(body(start, []byte{2, 'k'}, num(50), []byte("v")), good...)},
		"ends at the key":               {1, body(start)},
		"ends at the value":             {1, body(start, num(-1))},
		"ends at the headers":           {1, body(start, kv)},
		"negative number of headers":    {1, body(start, kv, num(-1))},
		"missing header":                {1, body(start, kv, num(1))},
		"headers beyond the record":     {1, body(start, kv, num(1<<30))},
		"null header key":               {1, body(start, kv, num(1), num(-1), num(-1))},
		"header key beyond the record":  {1, body(start, kv, num(1), num(9), num(-1))},
		"header without a value":        {1, body(start, kv, num(1), num(0))},
		"six byte number":               {1, body([]byte{0, 0, 0x80, 0x80, 0x80, 0x80, 0x80, 0}, kv, num(0))},
		"eleven byte number":            {1, body([]byte{0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0, 0}, kv, num(0))},
		"number cut off":                {1, []byte{0x80}},
		"long record with a bad header": {1, body(start, num(-1), num(100_000), make([]byte, 100_000), num(1), num(-1), num(-1))},
		"long record, size too large":   {1, body(start, num(-1), num(100_000), make([]byte, 100_000), num(0), []byte{7})},
		"long record, field too large":  {1, append(append(num(100_000), append(bytes.Clone(start), num(100_001)...)...), make([]byte, 100_000)...)},
	}
	for name, s := range sections {
		for _, c := range codecs {
			batch := withRecords(t, c, s.count, s.section)
			if _, err := readAll(t, batch); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s, %s: %v", name, c, err)
			}
		}
	}
}

func TestOddRecordsThatApacheReadsAreRead(t *testing.T) {
	for name, section := range map[string][]byte{
		"attributes set":     {0x10, 7, 0, 0, 2, 'k', 2, 'v', 0},
		"any negative null":  {0x10, 0, 0, 0, 3, 5, 2, 0, 3}, // key -2, value -3, one header: empty key, value -2
		"longer number":      {0x18, 0, 0, 0x80, 0x80, 0x80, 0x80, 0, 2, 'k', 2, 'v', 0},
		"bits falling off":   {0x18, 0, 0, 0x80, 0x80, 0x80, 0x80, 0x70, 2, 'k', 2, 'v', 0},
		"negative timestamp": {0x10, 0, 9, 0, 2, 'k', 2, 'v', 0},
	} {
		for _, c := range codecs {
			if got, err := readAll(t, withRecords(t, c, 1, section)); err != nil || len(got) != 1 {
				t.Errorf("%s, %s: %v", name, c, err)
			}
		}
	}
}

func TestLargeCompressedRecordsAreRefusedBeforeTheyAreUnpacked(t *testing.T) {
	value := bytes.Repeat([]byte("x"), 1<<20)
	for _, c := range codecs {
		b := NewBuilder(BatchOptions{Compression: Compression{Codec: c}})
		b.Append(Record{Value: value})
		batch, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		size := (&Record{Value: value}).bodySize(0, 0)
		for limit, refused := range map[int]bool{size - 1: c != None, size: false, 0: false} {
			it, w := Iterator{MaxRecordSize: limit}, Walker{MaxRecordSize: limit}
			it.Reset(batch)
			w.Reset(batch)
			if it.Next() == refused || w.Next() == refused || errors.Is(it.Err(), ErrTooLarge) != refused || errors.Is(w.Err(), ErrTooLarge) != refused {
				t.Errorf("%s, limit %d: %v, %v", c, limit, it.Err(), w.Err())
			}
			if cap(it.c.carry) > 3*size || refused && cap(it.c.carry) > 0 {
				t.Errorf("%s, limit %d: %d bytes of memory", c, limit, cap(it.c.carry))
			}
			if cap(w.c.carry) > 2*lz4BlockSize+chunkSize {
				t.Errorf("%s: a walk took %d bytes of memory", c, cap(w.c.carry))
			}
			it.Close()
			w.Close()
		}
	}
}

func TestIteratorCanBeClosedAtAnyPoint(t *testing.T) {
	for _, c := range codecs {
		batch := benchBatch(t, c, 64<<10)
		var it Iterator
		for n := range 40 {
			it.Reset(batch)
			for range n {
				if !it.Next() {
					t.Fatal(it.Err())
				}
			}
			it.Close()
			if it.Next() {
				t.Fatal("a record after Close")
			}
			it.Close()
		}
	}
}

func TestWalksAndIterationsDoNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector drops pooled objects at random")
	}
	for _, c := range codecs {
		small, large := benchBatch(t, c, 16<<10), benchBatch(t, c, 200<<10)
		var w Walker
		var it Iterator
		opts := benchOptions()
		for name, run := range map[string]func(b Batch){
			"walk": func(b Batch) { countRecords(&w, b) },
			"iterate": func(b Batch) {
				it.Reset(b)
				for it.Next() {
					_ = it.Record()
				}
				it.Close()
			},
			"validate": func(b Batch) { _, _ = Validate(b, &opts) },
		} {
			for size, b := range map[string]Batch{"16 KB": small, "200 KB": large} {
				// A collection may empty the pools in between: a few are no record's.
				if n := testing.AllocsPerRun(50, func() { run(b) }); n > 2 {
					t.Errorf("%s, %s, %s: %v allocations for %d records", name, c, size, n, b.Count())
				}
			}
		}
	}
}

func countRecords(w *Walker, b Batch) (n int) {
	for w.Reset(b); w.Next(); {
		n++
	}
	w.Close()
	return n
}

func TestHeaderAccessDoesNotAllocate(t *testing.T) {
	b := benchBatch(t, None, 1<<10)
	if n := testing.AllocsPerRun(100, func() {
		h, err := ParseHeader(b)
		next, _, err2 := Next(b)
		if err != nil || err2 != nil || h.LastOffset() != next.LastOffset() || next.CheckCRC() != nil {
			t.Fatal(err, err2)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
