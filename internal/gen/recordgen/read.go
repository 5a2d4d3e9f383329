package main

import "fmt"

// reader writes the decoder of a block.
func (e *emitter) reader(b *block) {
	e.p("func (m *%s) read(r *msgfmt.Reader, version int16) {", b.name)
	e.p("*m = %s{%s}", b.name, b.defaults())
	for _, f := range b.fields {
		if f.tag >= 0 {
			continue
		}
		inside := f.versions.condition(b.versions)
		if inside != "" {
			e.p("if %s {", inside)
		}
		e.get(f)
		if inside != "" {
			e.p("}")
		}
	}
	e.readTags(b)
	e.p("}\n")
}

func (e *emitter) readTags(b *block) {
	if !b.keepsTags() {
		return
	}
	tagged := b.tagged()
	if len(tagged) == 0 {
		e.p("m.UnknownTags = r.Tags(nil)")
		return
	}
	e.p("m.UnknownTags = r.Tags(func(r *msgfmt.Reader, tag uint32) bool {\nswitch tag {")
	for _, f := range tagged {
		e.p("case %d:", f.tag)
		if outside := f.versions.outside(b.versions); outside != "" {
			e.p("if %s { r.TagNotInVersion(tag, version) }", outside)
		}
		e.get(f)
	}
	e.p("default: return false\n}\nreturn true\n})")
}

// get reads the value of a field.
func (e *emitter) get(f *field) {
	name := "m." + f.goName()
	switch {
	case f.typ.array:
		function := "Elements"
		if f.null {
			function = "NullElements"
		}
		body := "return " + f.typ.getValue()
		if f.typ.strukt != nil {
			body = "v.read(r, version)\nreturn v"
		}
		e.p("%s = msgfmt.%s(r, %d, func(r *msgfmt.Reader) (v %s) { %s })", name, function, f.typ.size(), f.typ.element(), body)
	case f.typ.strukt != nil && f.null:
		present := "r.Int8() >= 0"
		if f.tag >= 0 {
			present = "r.Uvarint() > 0"
		}
		e.p("if %s = nil; %s {\n%s = new(%s)\n%s.read(r, version)\n}", name, present, name, f.typ.element(), name)
	case f.typ.strukt != nil:
		e.p("%s.read(r, version)", name)
	case f.null:
		e.p("%s = r.NullString()", name)
	default:
		e.p("%s = %s", name, f.typ.getValue())
	}
}

// getValue is the expression that reads one primitive value.
func (t typ) getValue() string {
	p := primitives[t.base]
	if t.domain != "" || t.base == "uuid" {
		return fmt.Sprintf("%s(r.%s())", t.element(), p.method)
	}
	return fmt.Sprintf("r.%s()", p.method)
}
