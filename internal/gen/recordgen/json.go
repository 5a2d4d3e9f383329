package main

import "fmt"

// json writes the method that prints a block as JSON: untagged fields of the
// version always, tagged ones when they are not at their default.
func (e *emitter) json(b *block) {
	e.p("func (m *%s) json(j *msgfmt.JSON, version int16) {", b.name)
	if b.message {
		e.p("j.BeginObject()")
	}
	for _, f := range b.fields {
		condition := f.versions.condition(b.versions)
		if f.tag >= 0 && condition != "" {
			condition += " && (" + f.changed() + ")"
		} else if f.tag >= 0 {
			condition = f.changed()
		}
		if condition != "" {
			e.p("if %s {", condition)
		}
		e.p("j.Field(%q)", f.jsonName())
		e.print(f)
		if condition != "" {
			e.p("}")
		}
	}
	if b.message {
		e.p("j.EndObject()")
	}
	e.p("}\n")
}

// print prints the value of a field.
func (e *emitter) print(f *field) {
	name := "m." + f.goName()
	nullable := f.null && (f.typ.array || f.typ.strukt != nil)
	if nullable {
		e.p("if %s == nil { j.Null() } else {", name)
	}
	switch {
	case f.typ.array:
		e.p("j.BeginArray()")
		if f.typ.strukt != nil {
			e.p("for i := range %s {\nj.BeginElement()\n%s[i].json(j, version)\nj.EndObject()\n}", name, name)
		} else {
			e.p("for _, v := range %s {\nj.Element()\n%s\n}", name, f.typ.printValue("v"))
		}
		e.p("j.EndArray()")
	case f.typ.strukt != nil:
		e.p("j.BeginObject()\n%s.json(j, version)\nj.EndObject()", name)
	case f.null:
		e.p("j.NullString(%s)", name)
	default:
		e.p("%s", f.typ.printValue(name))
	}
	if nullable {
		e.p("}")
	}
}

// printValue is the statement that prints one primitive value.
func (t typ) printValue(v string) string {
	switch p := primitives[t.base]; p.method {
	case "Int8", "Int16", "Uint16", "Int32", "Int64":
		return fmt.Sprintf("j.Int(int64(%s))", v)
	default:
		return fmt.Sprintf("j.%s(%s)", p.method, v)
	}
}
