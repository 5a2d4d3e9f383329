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
			key, raw, _ = parseField(raw) // MakeHeaders or checkHeaders has been there
			value, raw, _ = parseField(raw)
			if !yield(key, value) {
				return
			}
		}
	}
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
	var ok bool
	if r.Key, rest, ok = parseField(rest); !ok {
		return errBody("key ends after the record")
	}
	if r.Value, rest, ok = parseField(rest); !ok {
		return errBody("value ends after the record")
	}
	count, n := varint32(rest)
	if n <= 0 || count < 0 {
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

// passField passes over a length and as many bytes. Every negative length is
// null, and given as -1.
func passField(b []byte) (size int32, rest []byte, ok bool) {
	u, n := uvarint32(b)
	if n <= 0 {
		return 0, nil, false
	}
	b = b[n:]
	if size = unzigzag32(u); size < 0 {
		return -1, b, true
	}
	if int(size) > len(b) {
		return 0, nil, false
	}
	return size, b[size:], true
}

// parseField is passField for those who want the bytes.
func parseField(b []byte) (field, rest []byte, ok bool) {
	size, rest, ok := passField(b)
	if size < 0 || !ok {
		return nil, rest, ok
	}
	end := len(b) - len(rest)
	return b[end-int(size) : end : end], rest, true
}

// checkHeaders checks that b is exactly count headers.
func checkHeaders(b []byte, count int32) error {
	for range count {
		keySize, rest, ok := passField(b)
		if !ok {
			return errBody("header ends after the record")
		}
		if keySize < 0 {
			return errBody("null header key")
		}
		if _, b, ok = passField(rest); !ok {
			return errBody("header ends after the record")
		}
	}
	if len(b) > 0 {
		return errBody("record longer than its fields")
	}
	return nil
}
