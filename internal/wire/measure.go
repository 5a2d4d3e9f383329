package wire

import (
	"encoding/binary"
	"fmt"
)

// Limits of Apache Kafka 4.4 on counts in a request.
const (
	MaxElements = 1_000_000 // of one array
	MaxTags     = 10_000    // of one section of tagged fields
)

// maxText is the length of the longest string, in bytes. Old versions cannot say more;
// of newer ones Apache Kafka takes no more either, and no record has room for it.
const maxText = 1<<15 - 1

// Measured is what Measure found out about a body.
type Measured struct {
	// Memory is what decoding will allocate, in bytes; it may be more than that,
	// never less.
	Memory int64
	// Elements is how many elements all arrays have. Each is answered, so what
	// serving a request takes follows this number.
	Elements int64
	// Aliases says that the decoded form will share memory with the body.
	Aliases bool
}

// Measure walks a body without allocating. An error wraps ErrMalformed or
// ErrTooMany. The key must be served. For ApiVersions of a version that is not
// served the body is not looked at.
func (s *Served) Measure(h *RequestHeader, body []byte) (Measured, error) {
	e := s.entry(h.Key)
	if e == nil {
		return Measured{}, fmt.Errorf("%w: %d", ErrUnknownKey, h.Key)
	}
	if !e.Serves(h.Version) {
		return Measured{Memory: e.shape.memory}, nil
	}
	sc := scanner{src: body, version: h.Version, flexible: e.Flexible(h.Version), memory: e.shape.memory}
	sc.structure(e.shape.fields)
	if sc.err != nil {
		return Measured{}, fmt.Errorf("%s %d: %w", e.Name, h.Version, sc.err)
	}
	return Measured{Memory: sc.memory, Elements: sc.elements, Aliases: sc.aliases}, nil
}

// scanner reads a body. After an error all reads give nothing.
type scanner struct {
	src      []byte
	version  int16
	flexible bool
	memory   int64
	elements int64
	aliases  bool
	err      error
}

func (s *scanner) fail(base error, format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf("%w: "+format, append([]any{base}, args...)...)
	}
	s.src = nil
}

// skip passes n bytes.
func (s *scanner) skip(n int, what string) {
	if n < 0 || n > len(s.src) {
		s.fail(ErrMalformed, "%s of %d bytes, %d are left", what, n, len(s.src))
		return
	}
	s.src = s.src[n:]
}

// uvarint reads up to five bytes of seven bits.
func (s *scanner) uvarint(what string) int {
	var v uint64
	for i := 0; i < 5 && i < len(s.src); i++ {
		c := s.src[i]
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			if v > 1<<31-1 {
				break
			}
			s.src = s.src[i+1:]
			return int(v)
		}
	}
	s.fail(ErrMalformed, "bad length of %s", what)
	return 0
}

// length reads the length of a string (two bytes in old versions), bytes or an
// array (four); negative means null.
func (s *scanner) length(k kind, what string) int {
	switch {
	case s.flexible:
		return s.uvarint(what) - 1
	case k == text && len(s.src) >= 2:
		n := int(int16(binary.BigEndian.Uint16(s.src)))
		s.src = s.src[2:]
		return n
	case k != text && len(s.src) >= 4:
		n := int(int32(binary.BigEndian.Uint32(s.src)))
		s.src = s.src[4:]
		return n
	}
	s.fail(ErrMalformed, "no length of %s", what)
	return 0
}

// structure reads the fields of a struct and its tagged fields.
func (s *scanner) structure(fields []field) {
	tagged := false
	for i := range fields {
		f := &fields[i]
		switch {
		case f.tag >= 0:
			tagged = true
		case f.versions.has(s.version):
			s.value(f)
		}
	}
	if !s.flexible {
		return
	}
	if !tagged {
		fields = nil
	}
	s.tags(fields)
}

// value reads one field.
func (s *scanner) value(f *field) {
	switch f.kind {
	case fixed:
		s.skip(f.size, f.name)
		return
	case structure:
		s.nested(f)
		return
	}
	n := s.length(f.kind, f.name)
	if n < 0 {
		if !f.nullable.has(s.version) {
			s.fail(ErrMalformed, "%s is null", f.name)
		}
		return
	}
	switch f.kind {
	case text:
		if n > maxText {
			s.fail(ErrMalformed, "%s of %d bytes, %d are allowed", f.name, n, maxText)
			return
		}
		s.memory += allocated(int64(n)) + allocated(f.pointee)
		s.skip(n, f.name)
	case binaryBytes:
		s.aliases = s.aliases || n > 0
		s.skip(n, f.name)
	case array:
		s.array(f, n)
	}
}

// nested reads a struct in a struct; a nullable one has a mark before it.
func (s *scanner) nested(f *field) {
	if f.nullable.has(s.version) {
		if len(s.src) == 0 {
			s.fail(ErrMalformed, "no mark of %s", f.name)
			return
		}
		mark := int8(s.src[0])
		s.src = s.src[1:]
		switch {
		case mark == -1:
			return
		case mark < -1: // Apache Kafka says null, the codec does not; nobody writes it
			s.fail(ErrMalformed, "mark %d of %s", mark, f.name)
			return
		}
		s.memory += allocated(f.pointee)
	}
	s.structure(f.fields)
}

// array reads n elements of an array.
func (s *scanner) array(f *field, n int) {
	switch {
	case n > MaxElements:
		s.fail(ErrTooMany, "%d in %s, %d are allowed", n, f.name, MaxElements)
		return
	case n > len(s.src):
		s.fail(ErrMalformed, "%d elements of %s in %d bytes", n, f.name, len(s.src))
		return
	}
	s.memory += allocated(int64(n) * f.elem.memory)
	s.elements += int64(n)
	if f.elem.kind == fixed {
		s.skip(n*f.elem.size, f.name)
		return
	}
	for i := 0; i < n && s.err == nil; i++ {
		if f.elem.kind == structure {
			s.structure(f.elem.fields)
		} else {
			s.value(f.elem)
		}
	}
}

// tags reads a section of tagged fields. Known ones are read as what they are
// and may not reach beyond their size; unknown ones are kept by kmsg in a map.
func (s *scanner) tags(fields []field) {
	if len(s.src) > 0 && s.src[0] == 0 { // as almost always
		s.src = s.src[1:]
		return
	}
	n := s.uvarint("tagged fields")
	if n > MaxTags {
		s.fail(ErrTooMany, "%d tagged fields, %d are allowed", n, MaxTags)
		return
	}
	unknown := 0
	for i := 0; i < n && s.err == nil; i++ {
		tag := s.uvarint("tag")
		size := s.uvarint("tagged field")
		if s.err != nil || size > len(s.src) {
			s.fail(ErrMalformed, "tagged field of %d bytes, %d are left", size, len(s.src))
			return
		}
		f := known(fields, tag)
		if f == nil {
			unknown++
			s.src = s.src[size:]
			continue
		}
		if !f.versions.has(s.version) { // the codec would read it all the same
			s.fail(ErrMalformed, "tag %d is not valid in version %d", tag, s.version)
			return
		}
		rest := s.src[size:]
		s.src = s.src[:size]
		s.value(f)
		if s.err == nil {
			s.src = rest
		}
	}
	if unknown > 0 {
		s.aliases = true
		s.memory += tagMemory(int64(unknown))
	}
}

func known(fields []field, tag int) *field {
	for i := range fields {
		if f := &fields[i]; f.tag == tag {
			return f
		}
	}
	return nil
}

// allocated is what the allocator takes for n bytes, at most: small sizes have
// classes, large ones are pages.
func allocated(n int64) int64 {
	switch {
	case n == 0:
		return 0
	case n > 32<<10:
		return n + 8<<10
	}
	return n + n/6 + 16
}

// tagMemory is what a map of n unknown tags takes while it grows, at most.
func tagMemory(n int64) int64 {
	switch {
	case n <= 8:
		return 352
	case n <= 14:
		return 1000
	}
	return 180 * n
}
