package main

import "fmt"

// writer writes the encoder of a block.
func (e *emitter) writer(b *block) {
	e.p("func (m *%s) write(w *msgfmt.Writer, version int16) {", b.name)
	for _, f := range b.fields {
		e.writeField(b, f)
	}
	e.writeTags(b)
	e.p("}\n")
}

// writeField writes an untagged field, or for any field what happens where the
// version lacks it.
func (e *emitter) writeField(b *block, f *field) {
	inside, outside := f.versions.condition(b.versions), f.versions.outside(b.versions)
	if f.tag < 0 {
		if inside != "" {
			e.p("if %s {", inside)
		}
		e.put(f)
		if inside != "" {
			e.p("}")
		}
	}
	if outside != "" && !f.ignorable {
		e.p("if (%s) && (%s) { w.Unsupported(%q) }", outside, f.changed(), f.name)
	}
}

// writeTags writes the section of tagged fields.
func (e *emitter) writeTags(b *block) {
	if !b.keepsTags() {
		return
	}
	tagged := b.tagged()
	if len(tagged) == 0 {
		e.p("w.Tags(m.UnknownTags)")
		return
	}
	flexible := b.flexibleExpr()
	if b.message && flexible != "true" {
		e.p("if %s {", flexible)
	}
	e.p("tags := w.BeginTags(m.UnknownTags)")
	for _, f := range tagged {
		within := span{max(b.versions.from, b.flexible.from), min(b.versions.to, b.flexible.to)}
		condition := f.changed()
		if inside := f.versions.condition(within); inside != "" {
			condition = inside + " && (" + condition + ")"
		}
		e.p("if %s {\ntags.Begin(%d)", condition, f.tag)
		e.put(f)
		e.p("tags.End()\n}")
	}
	e.p("tags.Close()")
	if b.message && flexible != "true" {
		e.p("} else { w.Tags(m.UnknownTags) }")
	}
}

// put writes the value of a field.
func (e *emitter) put(f *field) {
	name := "m." + f.goName()
	switch {
	case f.typ.array:
		if f.null {
			e.p("msgfmt.NullArrayLen(w, %s)", name)
		} else {
			e.p("w.ArrayLen(len(%s))", name)
		}
		if f.typ.strukt != nil {
			e.p("for i := range %s { %s[i].write(w, version) }", name, name)
		} else {
			e.p("for _, v := range %s { %s }", name, f.typ.putValue("v"))
		}
	case f.typ.strukt != nil && f.null:
		present, absent := "w.Int8(1)", "w.Int8(-1)"
		if f.tag >= 0 {
			present, absent = "w.Uvarint(1)", "w.Uvarint(0)"
		}
		e.p("if %s == nil { %s } else {\n%s\n%s.write(w, version)\n}", name, absent, present, name)
	case f.typ.strukt != nil:
		e.p("%s.write(w, version)", name)
	case f.null:
		e.p("w.NullString(%s)", name)
	default:
		e.p("%s", f.typ.putValue(name))
	}
}

// putValue is the statement that writes one primitive value.
func (t typ) putValue(v string) string {
	p := primitives[t.base]
	if t.domain != "" {
		v = p.goType + "(" + v + ")"
	}
	return fmt.Sprintf("w.%s(%s)", p.method, v)
}
