package record

import (
	"bytes"
	"errors"
	"os"
	"testing"

	"barnabas/internal/kafka"
)

// seeds are the entries of all golden logs.
func seeds(f *testing.F) [][]byte {
	var out [][]byte
	logs := goldenLogs(f)
	for name, log := range legacyLogs(f) {
		logs[name] = log
	}
	for _, name := range []string{"compacted.log", "compacted-txn.log"} {
		log, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		logs[name] = log
	}
	for _, log := range logs {
		out = append(out, splitAny(f, log)...)
	}
	return out
}

// known says whether an error is one that callers can act on.
func known(err error) bool {
	for _, e := range []error{ErrShort, ErrBadLength, ErrBadMagic, ErrBadCRC, ErrCorrupt, ErrBadCodec, ErrTooLarge} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// FuzzSplit: Next and ParseHeader agree, and give nothing back that is not there.
func FuzzSplit(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		h, headerErr := ParseHeader(b)
		batch, rest, err := Next(b)
		switch {
		case err != nil && (!known(err) || len(rest) != len(b)):
			t.Fatal(err)
		case headerErr != nil && !known(headerErr):
			t.Fatal(headerErr)
		case err == nil && (headerErr != nil || h != batch.Header() || h.Size != len(batch) || len(batch)+len(rest) != len(b)):
			t.Fatalf("%+v, %v", h, headerErr)
		case err == nil && (batch.CheckCRC() == nil) != (Verify(batch) == nil):
			t.Fatal("two opinions of the checksum")
		}
	})
}

// FuzzRead: any entry is read to its end or to an error, by both readers alike.
func FuzzRead(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, entry []byte) {
		it, w := Iterator{MaxRecordSize: 1 << 20}, Walker{MaxRecordSize: 1 << 20}
		defer it.Close()
		defer w.Close()
		w.Reset(entry)
		size := 0
		for it.Reset(entry); it.Next(); {
			r := it.Record()
			if !w.Next() || w.Offset() != r.Offset || w.Timestamp() != r.Timestamp || w.KeySize() != int(fieldSize(r.Key)) {
				t.Fatalf("the walk differs: %v", w.Err())
			}
			n := 0
			for k, v := range r.Headers.All() {
				n++
				size += len(k) + len(v)
			}
			if n != r.Headers.Len() {
				t.Fatalf("%d headers of %d", n, r.Headers.Len())
			}
			// Ten bytes of zstd may unpack to a gigabyte of records.
			if size += len(r.Key) + len(r.Value); size > 8<<20 {
				return
			}
		}
		if err := it.Err(); err != nil && !known(err) {
			t.Fatal(err)
		}
		if w.Next() || (w.Err() == nil) != (it.Err() == nil) {
			t.Fatalf("the walk ends with %v, the iteration with %v", w.Err(), it.Err())
		}
	})
}

// FuzzValidate: what is taken can be read, is sound, and is taken again.
func FuzzValidate(f *testing.F) {
	for i, s := range seeds(f) {
		f.Add(s, uint8(i), uint8(i/5))
	}
	f.Fuzz(func(t *testing.T, raw []byte, target, rules uint8) {
		if len(raw) > 1<<16 {
			return
		}
		raw = bytes.Clone(raw)
		// Few inputs have the right checksum by chance.
		if size, magic, err := entrySize(raw); err == nil && magic == MagicV2 && size <= len(raw) && rules&1 == 0 {
			b := Batch(raw[:size])
			b.SetBaseOffset(0)
			b.setCRC()
		}
		o := ruled(func(o *ValidateOptions) {
			o.MaxRecordSize, o.MaxMessageBytes, o.TimestampAfterMaxMs = 1<<20, 1<<20, 1<<60
			o.Compacted = rules&2 != 0
			if rules&4 != 0 {
				o.TimestampType = LogAppendTime
			}
			if rules&8 != 0 {
				o.Recompress = &Compression{Codec: Codec(target % 5)}
			}
			if rules&16 != 0 {
				o.Origin = OriginCoordinator
			}
		})
		v, r := Validate(raw, o)
		if r != nil {
			if r.Code == kafka.ErrNone || r.Reason == "" {
				t.Fatalf("%+v", r)
			}
			return
		}
		if err := Verify(v.Batch); err != nil {
			t.Fatal(err)
		}
		var w Walker
		defer w.Close()
		w.MaxRecordSize = 1 << 20
		n := kafka.Offset(0)
		for w.Reset(v.Batch); w.Next(); n++ {
			if w.Offset() != v.Batch.BaseOffset()+n && o.Origin == OriginClient {
				t.Fatalf("record %d has offset %d", n, w.Offset())
			}
		}
		if w.Err() != nil || kafka.Offset(v.Batch.Count()) != n {
			t.Fatalf("%d records of %d, %v", n, v.Batch.Count(), w.Err())
		}
	})
}

// fuzzDecoder: a stream ends or is refused, and what our encoder makes of the
// bytes comes back.
func fuzzDecoder(f *testing.F, c Codec) {
	for _, s := range seeds(f) {
		if b := Batch(s); b[posMagic] == MagicV2 && b.Codec() == c {
			f.Add([]byte(b.Payload()), int8(2))
		}
	}
	f.Add(pack(f, Compression{Codec: c}, make([]byte, 100_000), 1<<20), int8(0))
	f.Fuzz(func(t *testing.T, src []byte, magic int8) {
		if got, err := unpack(c, src, magic, 4<<20); err != nil && !known(err) {
			t.Fatalf("%d bytes, %v", len(got), err)
		}
		packed := pack(t, Compression{Codec: c, Level: int(magic)}, src, 1000)
		if got, err := unpack(c, packed, MagicV2, len(src)); err != nil || !bytes.Equal(got, src) {
			t.Fatalf("round trip: %v", err)
		}
	})
}

func FuzzGzip(f *testing.F)   { fuzzDecoder(f, Gzip) }
func FuzzSnappy(f *testing.F) { fuzzDecoder(f, Snappy) }
func FuzzLZ4(f *testing.F)    { fuzzDecoder(f, LZ4) }
func FuzzZstd(f *testing.F)   { fuzzDecoder(f, Zstd) }

// FuzzControl: control records are read or refused.
func FuzzControl(f *testing.F) {
	f.Add(ControlKey(ControlCommit), []byte{0, 0, 0, 0, 0, 1})
	f.Fuzz(func(t *testing.T, key, value []byte) {
		if _, err := ParseControlKey(key); err != nil && !known(err) {
			t.Fatal(err)
		}
		if m, err := ParseEndTxnMarker(key, value); err == nil {
			again := m.Record(0)
			if got, err := ParseEndTxnMarker(again.Key, again.Value); err != nil || got != m {
				t.Fatalf("%+v, %v", got, err)
			}
		} else if !known(err) {
			t.Fatal(err)
		}
	})
}
