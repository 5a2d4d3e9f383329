package msgfmt

import (
	"encoding/binary"
	"math"
)

// MaxTags is the most tagged fields of one section, as in Apache Kafka 4.4.
const MaxTags = 10_000

// Tag is a tagged field that its message does not know.
type Tag struct {
	Tag  uint32
	Data []byte
}

// Tags reads a section of tagged fields. known decodes the field of that tag from
// a reader of just its bytes and says whether the tag is one of the message's; the
// others are returned. A message without tagged fields passes nil.
func (r *Reader) Tags(known func(r *Reader, tag uint32) bool) []Tag {
	if !r.flexible {
		return nil
	}
	n := r.Uvarint()
	if n > MaxTags {
		r.Invalid("%d tagged fields", n)
		return nil
	}
	var unknown []Tag
	for range n {
		tag := r.Uvarint()
		size := r.Uvarint()
		if size > math.MaxInt32 {
			r.Invalid("a tagged field of %d bytes", size)
		}
		data := r.take(int(size))
		if r.err != nil {
			return nil
		}
		field := Reader{src: data, flexible: true}
		if known == nil || !known(&field, tag) {
			unknown = append(unknown, Tag{Tag: tag, Data: append([]byte(nil), data...)})
			continue
		}
		if field.err == nil && len(field.src) > 0 {
			field.Invalid("tagged field %d has %d bytes too many", tag, len(field.src))
		}
		if field.err != nil {
			r.fail(field.err)
			return nil
		}
	}
	return unknown
}

// TagNotInVersion records that a known tag stands in a version that lacks it.
func (r *Reader) TagNotInVersion(tag uint32, version int16) {
	r.Invalid("tag %d is not valid for version %d", tag, version)
}

// Tags writes a section that has no known fields.
func (w *Writer) Tags(unknown []Tag) {
	if !w.flexible {
		if len(unknown) > 0 {
			w.Unsupported("UnknownTags")
		}
		return
	}
	t := w.BeginTags(unknown)
	t.Close()
}

// TagSection writes the tagged fields of one structure: Begin and End around each
// known field in order of tag, Close at the end.
type TagSection struct {
	w       *Writer
	start   int // where the count stands
	field   int // where the size of the open field stands
	count   uint32
	unknown []Tag // in order of tag; not written yet
}

// BeginTags opens the section of a structure that keeps unknown.
func (w *Writer) BeginTags(unknown []Tag) TagSection {
	t := TagSection{w: w, start: len(w.buf), unknown: unknown}
	w.buf = append(w.buf, 0)
	return t
}

// Begin opens the known field tag.
func (t *TagSection) Begin(tag uint32) {
	t.writeUnknown(uint64(tag))
	t.w.Uvarint(tag)
	t.field = len(t.w.buf)
	t.w.buf = append(t.w.buf, 0)
	t.count++
}

// End closes the field that Begin opened.
func (t *TagSection) End() {
	t.w.patch(t.field, uint32(len(t.w.buf)-t.field-1))
}

// Close ends the section.
func (t *TagSection) Close() {
	t.writeUnknown(1 << 32)
	t.w.patch(t.start, t.count)
}

// writeUnknown writes the unknown fields whose tags are below next.
func (t *TagSection) writeUnknown(next uint64) {
	for len(t.unknown) > 0 && uint64(t.unknown[0].Tag) < next {
		t.w.Uvarint(t.unknown[0].Tag)
		t.w.Uvarint(uint32(len(t.unknown[0].Data)))
		t.w.buf = append(t.w.buf, t.unknown[0].Data...)
		t.unknown = t.unknown[1:]
		t.count++
	}
}

// patch puts v in place of the one byte at position at, making room where v needs
// more.
func (w *Writer) patch(at int, v uint32) {
	var b [binary.MaxVarintLen32]byte
	n := binary.PutUvarint(b[:], uint64(v))
	if n > 1 {
		w.buf = append(w.buf, b[1:n]...) // grows by n-1; the content moves next
		copy(w.buf[at+n:], w.buf[at+1:])
	}
	copy(w.buf[at:], b[:n])
}
