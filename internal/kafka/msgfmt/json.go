package msgfmt

import (
	"encoding/base64"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// JSON appends one JSON value as Apache Kafka's converters print it: fields in
// order, no blanks, bytes in base64 with padding, ids in Kafka's text form,
// doubles as Java prints them.
type JSON struct {
	buf []byte
}

// NewJSON returns a JSON that appends to dst.
func NewJSON(dst []byte) JSON { return JSON{buf: dst} }

// Finish returns the buffer.
func (j *JSON) Finish() []byte { return j.buf }

// separate puts a comma before what follows a value.
func (j *JSON) separate() {
	if n := len(j.buf); n > 0 {
		switch j.buf[n-1] {
		case '{', '[', ':', ',':
		default:
			j.buf = append(j.buf, ',')
		}
	}
}

// BeginObject opens an object that is the value of a field or stands alone.
func (j *JSON) BeginObject() { j.buf = append(j.buf, '{') }

// BeginElement opens an object that is an element of an array.
func (j *JSON) BeginElement() {
	j.separate()
	j.buf = append(j.buf, '{')
}

// EndObject closes an object.
func (j *JSON) EndObject() { j.buf = append(j.buf, '}') }

// BeginArray opens an array.
func (j *JSON) BeginArray() { j.buf = append(j.buf, '[') }

// Element goes before each element of an array that is no object.
func (j *JSON) Element() { j.separate() }

// EndArray closes an array.
func (j *JSON) EndArray() { j.buf = append(j.buf, ']') }

// Field writes the name of a field.
func (j *JSON) Field(name string) {
	j.separate()
	j.buf = append(j.buf, '"')
	j.buf = append(j.buf, name...)
	j.buf = append(j.buf, '"', ':')
}

// Null writes null.
func (j *JSON) Null() { j.buf = append(j.buf, "null"...) }

// Bool writes true or false.
func (j *JSON) Bool(v bool) { j.buf = strconv.AppendBool(j.buf, v) }

// Int writes a number.
func (j *JSON) Int(v int64) { j.buf = strconv.AppendInt(j.buf, v, 10) }

// Float64 writes a number as Java's Double.toString does; what JSON cannot say is
// a string.
func (j *JSON) Float64(v float64) {
	text := JavaDouble(v)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		text = `"` + text + `"`
	}
	j.buf = append(j.buf, text...)
}

// UUID writes an id in Kafka's text form.
func (j *JSON) UUID(v [16]byte) {
	j.buf = append(j.buf, '"')
	j.buf = base64.RawURLEncoding.AppendEncode(j.buf, v[:])
	j.buf = append(j.buf, '"')
}

// Bytes writes base64.
func (j *JSON) Bytes(v []byte) {
	j.buf = append(j.buf, '"')
	j.buf = base64.StdEncoding.AppendEncode(j.buf, v)
	j.buf = append(j.buf, '"')
}

// NullString writes a string or null.
func (j *JSON) NullString(v *string) {
	if v == nil {
		j.Null()
		return
	}
	j.String(*v)
}

// String writes a string. As Java does when it decodes UTF-8, each bad sequence
// becomes a replacement character.
func (j *JSON) String(v string) {
	const hex = "0123456789ABCDEF"
	j.buf = append(j.buf, '"')
	for _, c := range v {
		switch {
		case c == '"' || c == '\\':
			j.buf = append(j.buf, '\\', byte(c))
		case c >= 0x20:
			j.buf = utf8.AppendRune(j.buf, c)
		default:
			if i := strings.IndexRune("\b\t\n\f\r", c); i >= 0 {
				j.buf = append(j.buf, '\\', "btnfr"[i])
			} else {
				j.buf = append(j.buf, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			}
		}
	}
	j.buf = append(j.buf, '"')
}

// JavaDouble prints v as Java's Double.toString does: plain between 0.001 and
// 10,000,000, else with an exponent, always with a digit behind the point.
func JavaDouble(v float64) string {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 1):
		return "Infinity"
	case math.IsInf(v, -1):
		return "-Infinity"
	}
	if a := math.Abs(v); a == 0 || a >= 1e-3 && a < 1e7 {
		text := strconv.FormatFloat(v, 'f', -1, 64)
		if !strings.Contains(text, ".") {
			text += ".0"
		}
		return text
	}
	text := strconv.FormatFloat(v, 'e', -1, 64)
	mantissa, exponent, _ := strings.Cut(text, "e")
	if !strings.Contains(mantissa, ".") {
		mantissa += ".0"
	}
	sign := strings.HasPrefix(exponent, "-")
	exponent = strings.TrimLeft(exponent, "+-0")
	if sign {
		exponent = "-" + exponent
	}
	return mantissa + "E" + exponent
}
