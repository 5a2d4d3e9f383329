package record

import (
	"fmt"
	"iter"

	"barnabas/internal/kafka"
)

// Record is one record. Nil and empty keys and values are different things.
type Record struct {
	Offset    kafka.Offset
	Timestamp kafka.TimestampMs
	Key       []byte
	Value     []byte
	Headers   Headers
}

// RecordHeader is one header of a record. The key is never null, the value may
// be nil.
type RecordHeader struct {
	Key   []byte
	Value []byte
}

// Headers are the headers of a record in their encoded form, which has been
// checked. The zero value is none.
type Headers struct {
	count int
	raw   []byte
}

// MakeHeaders encodes headers.
func MakeHeaders(headers ...RecordHeader) Headers {
	var raw []byte
	for _, h := range headers {
		raw = appendVarint(raw, int64(len(h.Key)))
		raw = append(raw, h.Key...)
		raw = appendBytes(raw, h.Value)
	}
	return Headers{count: len(headers), raw: raw}
}

// Len is the number of headers.
func (h Headers) Len() int { return h.count }

// All ranges over keys and values.
func (h Headers) All() iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		raw := h.raw
		for range h.count {
			var key, value []byte
			key, raw = cutBytes(raw)
			value, raw = cutBytes(raw)
			if !yield(key, value) {
				return
			}
		}
	}
}

// cutBytes cuts a length and its bytes off b, which has been checked before.
func cutBytes(b []byte) (field, rest []byte) {
	size, n := varint32(b)
	b = b[n:]
	if size < 0 {
		return nil, b
	}
	return b[:size:size], b[size:]
}

// appendBytes appends a length, -1 for nil, and the bytes.
func appendBytes(b, field []byte) []byte {
	if field == nil {
		return appendVarint(b, -1)
	}
	b = appendVarint(b, int64(len(field)))
	return append(b, field...)
}

func sizeBytes(field []byte) int {
	if field == nil {
		return sizeVarint(-1)
	}
	return sizeVarint(int64(len(field))) + len(field)
}

// bodySize is the size of the record without its length field.
func (r *Record) bodySize(offsetDelta int32, timestampDelta int64) int {
	return 1 + sizeVarint(timestampDelta) + sizeVarint(int64(offsetDelta)) + sizeBytes(r.Key) + sizeBytes(r.Value) +
		sizeVarint(int64(r.Headers.count)) + len(r.Headers.raw)
}

// appendTo appends the whole record.
func (r *Record) appendTo(b []byte, offsetDelta int32, timestampDelta int64) []byte {
	b = appendVarint(b, int64(r.bodySize(offsetDelta, timestampDelta)))
	b = append(b, 0) // attributes: none are in use
	b = appendVarint(b, timestampDelta)
	b = appendVarint(b, int64(offsetDelta))
	b = appendBytes(b, r.Key)
	b = appendBytes(b, r.Value)
	b = appendVarint(b, int64(r.Headers.count))
	return append(b, r.Headers.raw...)
}

// bodyFields are the fields of a record body that need no memory.
type bodyFields struct {
	timestampDelta int64
	offsetDelta    int32
	keySize        int32 // negative for null
	valueSize      int32
}

// errBody is made where a record body does not hold what a record holds.
func errBody(what string) error { return fmt.Errorf("%w: %s", ErrCorrupt, what) }

// parseBody takes a whole record body apart. Key, value and headers of r alias b.
func parseBody(b []byte, f *bodyFields, r *Record) error {
	if len(b) == 0 {
		return errBody("empty record")
	}
	rest, err := parseDeltas(b[1:], f)
	if err != nil {
		return err
	}
	if r.Key, f.keySize, rest, err = parseBytes(rest); err != nil {
		return err
	}
	if r.Value, f.valueSize, rest, err = parseBytes(rest); err != nil {
		return err
	}
	count, n := varint32(rest)
	if n <= 0 || count < 0 || int(count) > len(rest)-n {
		return errBody("impossible number of headers")
	}
	r.Headers = Headers{count: int(count), raw: rest[n:]}
	return checkHeaders(rest[n:], count)
}

func parseDeltas(b []byte, f *bodyFields) (rest []byte, err error) {
	ts, n := varint64(b)
	if n <= 0 {
		return nil, errBody("bad timestamp delta")
	}
	b = b[n:]
	off, n := varint32(b)
	if n <= 0 {
		return nil, errBody("bad offset delta")
	}
	f.timestampDelta, f.offsetDelta = ts, off
	return b[n:], nil
}

// parseBytes reads a length and its bytes; every negative length is null.
func parseBytes(b []byte) (field []byte, size int32, rest []byte, err error) {
	size, n := varint32(b)
	if n <= 0 {
		return nil, 0, nil, errBody("bad field length")
	}
	b = b[n:]
	if size < 0 {
		return nil, -1, b, nil
	}
	if int(size) > len(b) {
		return nil, 0, nil, errBody("field ends after the record")
	}
	return b[:size:size], size, b[size:], nil
}

// checkHeaders checks that b is exactly count headers.
func checkHeaders(b []byte, count int32) error {
	for range count {
		key, _, rest, err := parseBytes(b)
		if err != nil {
			return err
		}
		if key == nil {
			return errBody("null header key")
		}
		if _, _, b, err = parseBytes(rest); err != nil {
			return err
		}
	}
	if len(b) > 0 {
		return errBody("record longer than its fields")
	}
	return nil
}
