package main

import (
	"fmt"
	"math"
	"strings"
	"unicode"
)

// file is a definition file.
type file struct {
	registry string // "", "records" or "coordinator"
	blocks   []*block
	structs  map[string]*block
}

// block is a message or a struct.
type block struct {
	name     string
	doc      []string
	message  bool
	id       int // -1: none
	versions span
	flexible span // of a struct: all, for it follows its message
	fields   []*field
}

// field is one field of a block.
type field struct {
	name      string
	doc       []string
	typ       typ
	versions  span
	tag       int // -1: not tagged
	null      bool
	ignorable bool
	def       string // "" is the empty value; "null"
}

// typ is the type of a field.
type typ struct {
	array  bool
	base   string // a primitive of the format, or a struct
	domain string // type of package kafka that stands for the number, or ""
	strukt *block
}

// span is a range of versions, both ends included. An empty one has to < from.
type span struct{ from, to int }

var (
	all  = span{0, math.MaxInt16}
	none = span{0, -1}
)

func (s span) covers(o span) bool { return s.from <= o.from && s.to >= o.to }

// condition is the Go expression that says whether version is in s, given that it
// is in within; "" is always.
func (s span) condition(within span) string {
	var parts []string
	if s.from > within.from {
		parts = append(parts, fmt.Sprintf("version >= %d", s.from))
	}
	if s.to < within.to {
		parts = append(parts, fmt.Sprintf("version <= %d", s.to))
	}
	return strings.Join(parts, " && ")
}

// outside is the expression for the reverse of condition.
func (s span) outside(within span) string {
	var parts []string
	if s.from > within.from {
		parts = append(parts, fmt.Sprintf("version < %d", s.from))
	}
	if s.to < within.to {
		parts = append(parts, fmt.Sprintf("version > %d", s.to))
	}
	return strings.Join(parts, " || ")
}

// primitive says how a type of the format is named in Go, which methods of
// msgfmt move it and how many bytes it takes at least.
type primitive struct {
	goType string
	method string
	size   int
}

var primitives = map[string]primitive{
	"bool":    {"bool", "Bool", 1},
	"int8":    {"int8", "Int8", 1},
	"int16":   {"int16", "Int16", 2},
	"uint16":  {"uint16", "Uint16", 2},
	"int32":   {"int32", "Int32", 4},
	"int64":   {"int64", "Int64", 8},
	"float64": {"float64", "Float64", 8},
	"uuid":    {"kafka.UUID", "UUID", 16},
	"string":  {"string", "String", 1},
	"bytes":   {"[]byte", "Bytes", 1},
}

// element is the Go type of one element of an array, or of the field itself.
func (t typ) element() string {
	switch {
	case t.strukt != nil:
		return t.strukt.name
	case t.domain != "":
		return "kafka." + t.domain
	default:
		return primitives[t.base].goType
	}
}

// size is the least number of bytes that one element takes in any version.
func (t typ) size() int {
	if t.strukt == nil {
		return primitives[t.base].size
	}
	n := 0
	for _, f := range t.strukt.fields {
		switch {
		case f.tag >= 0 || f.versions != all:
		case f.typ.array || f.null:
			n++
		default:
			n += f.typ.size()
		}
	}
	return max(n, 1)
}

// goType is the Go type of the field.
func (f *field) goType() string {
	switch {
	case f.typ.array:
		return "[]" + f.typ.element()
	case f.null:
		return "*" + f.typ.element()
	default:
		return f.typ.element()
	}
}

// goName is the field's name in Go.
func (f *field) goName() string {
	var b strings.Builder
	runes := []rune(strings.ToUpper(f.name[:1]) + f.name[1:])
	for i := 0; i < len(runes); i++ {
		if runes[i] == 'I' && i+1 < len(runes) && runes[i+1] == 'd' && (i+2 == len(runes) || unicode.IsUpper(runes[i+2])) {
			b.WriteString("ID")
			i++
			continue
		}
		b.WriteRune(runes[i])
	}
	return b.String()
}

// jsonName is the field's name in JSON.
func (f *field) jsonName() string { return strings.ToLower(f.name[:1]) + f.name[1:] }

// defaultValue is the Go text of the default, or "" where Go's zero value is it.
func (f *field) defaultValue() string {
	switch {
	case f.null && f.def == "null":
		return ""
	case f.null && f.typ.array:
		return f.goType() + "{}"
	case f.null && f.typ.strukt != nil:
		return "&" + f.typ.element() + "{" + f.typ.strukt.defaults() + "}"
	case f.null: // a string: Kafka's default is the empty one, which Go code means by null
		return ""
	case f.typ.strukt != nil && !f.typ.array:
		if d := f.typ.strukt.defaults(); d != "" {
			return f.typ.element() + "{" + d + "}"
		}
	case f.def != "" && f.def != "0" && f.def != "false":
		return f.def
	}
	return ""
}

// defaults is the inside of a Go literal of the block with all defaults that are
// not zero.
func (b *block) defaults() string {
	var parts []string
	for _, f := range b.fields {
		if d := f.defaultValue(); d != "" {
			parts = append(parts, f.goName()+": "+d)
		}
	}
	return strings.Join(parts, ", ")
}

// changed is the Go expression that says whether the field of m differs from its
// default.
func (f *field) changed() string {
	name := "m." + f.goName()
	switch {
	case f.null && f.def == "null":
		return name + " != nil"
	case f.null && f.typ.array:
		return name + " == nil || len(" + name + ") > 0"
	case f.null && f.typ.strukt != nil:
		return name + " == nil || " + name + ".changed()"
	case f.null:
		return name + ` != nil && *` + name + ` != ""`
	case f.typ.array || f.typ.base == "bytes":
		return "len(" + name + ") > 0"
	case f.typ.strukt != nil:
		return name + ".changed()"
	case f.typ.base == "string":
		return name + ` != ""`
	case f.typ.base == "uuid":
		return "!" + name + ".IsZero()"
	case f.typ.base == "bool" && f.def == "true":
		return "!" + name
	case f.typ.base == "bool":
		return name
	case f.def == "":
		return name + " != 0"
	default:
		return name + " != " + f.def
	}
}

// tagged returns the tagged fields in order of tag.
func (b *block) tagged() []*field {
	var out []*field
	for tag := 0; tag < 64; tag++ {
		for _, f := range b.fields {
			if f.tag == tag {
				out = append(out, f)
			}
		}
	}
	return out
}

// keepsTags says whether some version of the block has a section of tagged fields.
func (b *block) keepsTags() bool { return b.flexible.to >= b.flexible.from }
