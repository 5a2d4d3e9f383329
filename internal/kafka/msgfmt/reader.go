package msgfmt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// MaxElements is the most elements of an array, as in Apache Kafka 4.4.
const MaxElements = 1_000_000

// Errors of a Reader; they are wrapped with more detail.
var (
	ErrShort   = errors.New("message ends too early")
	ErrInvalid = errors.New("message is not valid")
	ErrVersion = errors.New("unknown version")
)

// Reader decodes one message. The zero value with a source set by NewReader is
// ready.
type Reader struct {
	src      []byte
	err      error
	flexible bool
}

// NewReader returns a reader of src. Flexible says whether the message's version
// uses compact forms and tagged fields.
func NewReader(src []byte, flexible bool) Reader { return Reader{src: src, flexible: flexible} }

// Finish returns the bytes that were not read, or the first error. What names the
// message in the error.
func (r *Reader) Finish(what string, version int16) (rest []byte, err error) {
	if r.err != nil {
		return nil, fmt.Errorf("%s version %d: %w", what, version, r.err)
	}
	return r.src, nil
}

// CheckVersion returns an error when version is not between lowest and highest.
func CheckVersion(what string, version, lowest, highest int16) error {
	if version < lowest || version > highest {
		return fmt.Errorf("%s: %w: version %d, known are %d to %d", what, ErrVersion, version, lowest, highest)
	}
	return nil
}

func (r *Reader) fail(err error) {
	if r.err == nil {
		r.err = err
		r.src = nil
	}
}

// Invalid records that the message breaks a rule.
func (r *Reader) Invalid(format string, args ...any) {
	r.fail(fmt.Errorf("%w: %s", ErrInvalid, fmt.Sprintf(format, args...)))
}

// take returns the next n bytes of the source itself, or nil after an error.
func (r *Reader) take(n int) []byte {
	if n > len(r.src) {
		r.fail(fmt.Errorf("%w: %d bytes wanted, %d left", ErrShort, n, len(r.src)))
		return nil
	}
	b := r.src[:n:n]
	r.src = r.src[n:]
	return b
}

// Bool reads one byte; anything but 0 is true.
func (r *Reader) Bool() bool { return r.Int8() != 0 }

// Int8 reads one byte.
func (r *Reader) Int8() int8 {
	if b := r.take(1); b != nil {
		return int8(b[0])
	}
	return 0
}

// Int16 reads two bytes.
func (r *Reader) Int16() int16 { return int16(r.Uint16()) }

// Uint16 reads two bytes.
func (r *Reader) Uint16() uint16 {
	if b := r.take(2); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

// Int32 reads four bytes.
func (r *Reader) Int32() int32 {
	if b := r.take(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

// Int64 reads eight bytes.
func (r *Reader) Int64() int64 {
	if b := r.take(8); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

// Float64 reads eight bytes.
func (r *Reader) Float64() float64 { return math.Float64frombits(uint64(r.Int64())) }

// UUID reads sixteen bytes.
func (r *Reader) UUID() (u [16]byte) {
	copy(u[:], r.take(len(u)))
	return u
}

// Uvarint reads an unsigned number of at most 32 bits, 7 bits a byte.
func (r *Reader) Uvarint() uint32 {
	var v uint32
	for i := range r.src {
		b := r.src[i]
		if i == 4 && b > 0x0f {
			r.Invalid("a number has more than 32 bits")
			return 0
		}
		v |= uint32(b&0x7f) << (7 * i)
		if b < 0x80 {
			r.src = r.src[i+1:]
			return v
		}
	}
	r.fail(fmt.Errorf("%w: inside a number", ErrShort))
	return 0
}

// length reads the length of a string or byte array: -1 is null.
func (r *Reader) length(width int) int {
	switch {
	case r.flexible:
		return int(r.Uvarint()) - 1
	case width == 2:
		return int(r.Int16())
	default:
		return int(r.Int32())
	}
}

// String reads a string that may not be null.
func (r *Reader) String() string {
	n := r.length(2)
	if n < 0 {
		if r.err == nil {
			r.Invalid("a string is null")
		}
		return ""
	}
	if n > math.MaxInt16 {
		r.Invalid("a string of %d bytes", n)
		return ""
	}
	return string(r.take(n))
}

// NullString reads a string that may be null.
func (r *Reader) NullString() *string {
	n := r.length(2)
	if n < 0 || r.err != nil {
		return nil
	}
	if n > math.MaxInt16 {
		r.Invalid("a string of %d bytes", n)
		return nil
	}
	s := string(r.take(n))
	return &s
}

// Bytes reads bytes that may not be null. No bytes are nil.
func (r *Reader) Bytes() []byte {
	n := r.length(4)
	if n < 0 {
		if r.err == nil {
			r.Invalid("bytes are null")
		}
		return nil
	}
	return append([]byte(nil), r.take(n)...)
}

// ArrayLen reads the length of an array whose elements take at least minSize
// bytes each. Null is -1.
func (r *Reader) ArrayLen(minSize int) int {
	n := r.length(4)
	if r.err != nil {
		return 0
	}
	if n < 0 {
		return -1
	}
	if n > MaxElements {
		r.Invalid("an array of %d elements", n)
		return 0
	}
	if n > len(r.src)/minSize {
		r.fail(fmt.Errorf("%w: an array of %d elements, %d bytes left", ErrShort, n, len(r.src)))
		return 0
	}
	return n
}

// Elements reads an array that may not be null, one element by read each. An
// empty array is nil.
func Elements[T any](r *Reader, minSize int, read func(*Reader) T) []T {
	n := r.ArrayLen(minSize)
	if n < 0 {
		r.Invalid("an array is null")
	}
	if n <= 0 {
		return nil
	}
	return elements(r, n, read)
}

// NullElements reads an array that may be null. Null is nil, an empty array is
// not.
func NullElements[T any](r *Reader, minSize int, read func(*Reader) T) []T {
	n := r.ArrayLen(minSize)
	if n < 0 || r.err != nil {
		return nil
	}
	return elements(r, n, read)
}

func elements[T any](r *Reader, n int, read func(*Reader) T) []T {
	out := make([]T, n)
	for i := range out {
		out[i] = read(r)
		if r.err != nil {
			return nil
		}
	}
	return out
}
