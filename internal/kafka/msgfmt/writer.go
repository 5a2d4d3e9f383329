package msgfmt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// ErrUnsupported says that a version has no room for what a field holds.
var ErrUnsupported = errors.New("not supported in this version")

// Writer encodes one message onto the end of a buffer.
type Writer struct {
	buf      []byte
	err      error
	flexible bool
}

// NewWriter returns a writer that appends to dst. Flexible says whether the
// message's version uses compact forms and tagged fields.
func NewWriter(dst []byte, flexible bool) Writer { return Writer{buf: dst, flexible: flexible} }

// Finish returns the buffer, or the first error. What names the message in the
// error.
func (w *Writer) Finish(what string, version int16) ([]byte, error) {
	if w.err != nil {
		return nil, fmt.Errorf("%s version %d: %w", what, version, w.err)
	}
	return w.buf, nil
}

// Unsupported records that field holds a value for which the version has no
// room.
func (w *Writer) Unsupported(field string) {
	if w.err == nil {
		w.err = fmt.Errorf("field %s: %w", field, ErrUnsupported)
	}
}

// Bool writes one byte.
func (w *Writer) Bool(v bool) {
	if v {
		w.buf = append(w.buf, 1)
	} else {
		w.buf = append(w.buf, 0)
	}
}

// Int8 writes one byte.
func (w *Writer) Int8(v int8) { w.buf = append(w.buf, byte(v)) }

// Int16 writes two bytes.
func (w *Writer) Int16(v int16) { w.Uint16(uint16(v)) }

// Uint16 writes two bytes.
func (w *Writer) Uint16(v uint16) { w.buf = binary.BigEndian.AppendUint16(w.buf, v) }

// Int32 writes four bytes.
func (w *Writer) Int32(v int32) { w.buf = binary.BigEndian.AppendUint32(w.buf, uint32(v)) }

// Int64 writes eight bytes.
func (w *Writer) Int64(v int64) { w.buf = binary.BigEndian.AppendUint64(w.buf, uint64(v)) }

// Float64 writes eight bytes.
func (w *Writer) Float64(v float64) { w.Int64(int64(math.Float64bits(v))) }

// UUID writes sixteen bytes.
func (w *Writer) UUID(v [16]byte) { w.buf = append(w.buf, v[:]...) }

// Uvarint writes an unsigned number, 7 bits a byte.
func (w *Writer) Uvarint(v uint32) { w.buf = binary.AppendUvarint(w.buf, uint64(v)) }

// length writes the length of a string, byte array or array; -1 is null.
func (w *Writer) length(n, width int) {
	switch {
	case w.flexible:
		w.Uvarint(uint32(n + 1))
	case width == 2:
		w.Int16(int16(n))
	default:
		w.Int32(int32(n))
	}
}

// String writes a string. Kafka's strings have at most 32767 bytes.
func (w *Writer) String(s string) {
	if len(s) > math.MaxInt16 {
		if w.err == nil {
			w.err = fmt.Errorf("a string of %d bytes is longer than %d", len(s), math.MaxInt16)
		}
		return
	}
	w.length(len(s), 2)
	w.buf = append(w.buf, s...)
}

// NullString writes a string or null.
func (w *Writer) NullString(s *string) {
	if s == nil {
		w.length(-1, 2)
		return
	}
	w.String(*s)
}

// Bytes writes bytes.
func (w *Writer) Bytes(b []byte) {
	w.length(len(b), 4)
	w.buf = append(w.buf, b...)
}

// ArrayLen writes the length of an array; -1 is null.
func (w *Writer) ArrayLen(n int) {
	if n > MaxElements && w.err == nil {
		w.err = fmt.Errorf("an array of %d elements is longer than %d", n, MaxElements)
	}
	w.length(n, 4)
}

// NullArrayLen writes the length of s, where nil is null.
func NullArrayLen[T any](w *Writer, s []T) {
	if s == nil {
		w.ArrayLen(-1)
		return
	}
	w.ArrayLen(len(s))
}
