package wire

import (
	"fmt"
	"strconv"
	"strings"
)

// The notation of a body: fields in wire order, "name:type", where type is
//
//	i8 i16 i32 i64 u16 u32 f64 bool uuid str bytes records   primitives
//	[type]                                                   array
//	{field field ...}                                        struct
//
// and may be followed, in this order and without spaces, by
//
//	?        null is allowed in all versions of the field; ?3+ or ?2-7 in these
//	@3+      the versions that have the field (@2-7, @4); all, if left out
//	#0       the field is tagged, with this number
//
// So "topics:[{name:str@0-9 id:uuid@10+}]?1+" is an array that may be null from
// version 1 on, of structs with a name up to version 9 and an id from then on.

type kind uint8

const (
	fixed kind = iota // a number, bool or uuid
	text
	binaryBytes
	array
	structure
)

// versions is a range; the empty one has from > to.
type versions struct{ from, to int16 }

func (v versions) has(version int16) bool { return v.from <= version && version <= v.to }

var (
	noVersions  = versions{1, 0}
	allVersions = versions{0, never}
)

type field struct {
	name     string
	kind     kind
	size     int // bytes on the wire of a fixed field
	versions versions
	nullable versions
	tag      int    // -1: not tagged
	elem     *field // of an array
	fields   []field

	memory  int64 // size of one such value in kmsg's struct
	pointee int64 // and of what it points to, when null is allowed
}

// shape is the compiled body of a request.
type shape struct {
	fields []field
	memory int64 // size of kmsg's struct
}

type primitive struct {
	kind   kind
	size   int
	memory int64
}

func primitiveOf(name string) (primitive, bool) {
	switch name {
	case "i8", "bool":
		return primitive{fixed, 1, 1}, true
	case "i16", "u16":
		return primitive{fixed, 2, 2}, true
	case "i32", "u32":
		return primitive{fixed, 4, 4}, true
	case "i64", "f64":
		return primitive{fixed, 8, 8}, true
	case "uuid":
		return primitive{fixed, 16, 16}, true
	case "str":
		return primitive{text, 0, 16}, true
	case "bytes", "records":
		return primitive{binaryBytes, 0, 24}, true
	}
	return primitive{}, false
}

// mustCompile reads the body of a row. The table is part of the program, and a
// test compiles all of it.
func mustCompile(a *API) *shape {
	p := parser{text: a.body}
	if a.FlexibleFrom != never {
		p.unknownTags = 8
	}
	fields := p.fields()
	if p.pos != len(p.text) {
		p.fail("end of the body")
	}
	return &shape{fields: fields, memory: allocated(p.structMemory(fields) + 16)}
}

// structMemory is the size of a struct of kmsg with these fields.
func (p *parser) structMemory(fields []field) int64 {
	size := p.unknownTags
	for i := range fields {
		f := &fields[i]
		align := min(f.memory, 8)
		if f.kind == fixed && f.size == 16 {
			align = 1
		}
		size = (size+align-1)/align*align + f.memory
	}
	return (size + 7) / 8 * 8
}

type parser struct {
	text        string
	pos         int
	unknownTags int64 // the size of each struct's unknown tags, a pointer
}

func (p *parser) fail(want string) {
	panic(fmt.Sprintf("BUG: wire: table: want %s at %q", want, p.text[p.pos:]))
}

func (p *parser) accept(c byte) bool {
	if p.pos < len(p.text) && p.text[p.pos] == c {
		p.pos++
		return true
	}
	return false
}

func (p *parser) expect(c byte) {
	if !p.accept(c) {
		p.fail(string(c))
	}
}

func (p *parser) word() string {
	n := strings.IndexFunc(p.text[p.pos:], func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	})
	if n < 0 {
		n = len(p.text) - p.pos
	}
	w := p.text[p.pos : p.pos+n]
	p.pos += n
	return w
}

func (p *parser) fields() []field {
	var list []field
	for p.pos < len(p.text) && p.text[p.pos] != '}' {
		name := p.word()
		p.expect(':')
		f := p.typed()
		f.name, f.tag, f.versions, f.nullable = name, -1, allVersions, noVersions
		if p.accept('?') {
			f.nullable = p.versions()
			switch f.kind {
			case structure:
				f.pointee, f.memory = f.memory, 8
			case text:
				f.pointee, f.memory = 16, 8
			}
		}
		if p.accept('@') {
			f.versions = p.versions()
		}
		if p.accept('#') {
			f.tag = int(p.number())
		}
		list = append(list, f)
		p.accept(' ')
	}
	return list
}

func (p *parser) typed() field {
	switch {
	case p.accept('['):
		elem := p.typed()
		elem.name, elem.tag, elem.versions, elem.nullable = "element", -1, allVersions, noVersions
		p.expect(']')
		return field{kind: array, elem: &elem, memory: 24}
	case p.accept('{'):
		fields := p.fields()
		p.expect('}')
		return field{kind: structure, fields: fields, memory: p.structMemory(fields)}
	}
	prim, ok := primitiveOf(p.word())
	if !ok {
		p.fail("a type")
	}
	return field{kind: prim.kind, size: prim.size, memory: prim.memory}
}

// versions reads "3+", "2-7", "4" or nothing.
func (p *parser) versions() versions {
	if p.pos == len(p.text) || p.text[p.pos] < '0' || p.text[p.pos] > '9' {
		return allVersions
	}
	from := p.number()
	switch {
	case p.accept('+'):
		return versions{from, never}
	case p.accept('-'):
		return versions{from, p.number()}
	}
	return versions{from, from}
}

func (p *parser) number() int16 {
	end := p.pos
	for end < len(p.text) && p.text[end] >= '0' && p.text[end] <= '9' {
		end++
	}
	n, err := strconv.ParseInt(p.text[p.pos:end], 10, 16)
	if err != nil {
		p.fail("a number")
	}
	p.pos = end
	return int16(n)
}
