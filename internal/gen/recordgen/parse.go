package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// parser reads a definition file line by line.
type parser struct {
	file  *file
	block *block
	doc   []string
}

// parse turns the text of a definition file into data.
func parse(text string) (*file, error) {
	p := parser{file: &file{structs: map[string]*block{}}}
	for i, line := range strings.Split(text, "\n") {
		if err := p.line(line); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	return p.file, nil
}

func (p *parser) line(line string) error {
	code, comment, commented := strings.Cut(line, "#")
	words := strings.Fields(code)
	comment = strings.TrimSpace(comment)
	switch {
	case len(words) == 0 && commented:
		p.doc = append(p.doc, comment)
		return nil
	case len(words) == 0:
		p.doc = nil
		return nil
	case comment != "":
		p.doc = append(p.doc, comment)
	}
	doc := p.doc
	p.doc = nil
	if code[0] != ' ' {
		return p.header(words, doc)
	}
	if p.block == nil {
		return fmt.Errorf("a field outside a block")
	}
	f, err := p.field(words)
	if err != nil {
		return fmt.Errorf("%s.%s: %w", p.block.name, words[0], err)
	}
	f.doc = doc
	p.block.fields = append(p.block.fields, f)
	return nil
}

// header reads the first line of a block, or a directive.
func (p *parser) header(words, doc []string) error {
	if len(words) < 2 {
		return fmt.Errorf("%q stands alone", words[0])
	}
	b := &block{name: words[1], doc: doc, id: -1, versions: all, flexible: all}
	switch words[0] {
	case "registry":
		p.file.registry = words[1]
		return nil
	case "struct":
		p.file.structs[b.name] = b
	case "message":
		b.message = true
		if err := b.attributes(words[2:]); err != nil {
			return fmt.Errorf("%s: %w", b.name, err)
		}
	default:
		return fmt.Errorf("a block %q", words[0])
	}
	p.block = b
	p.file.blocks = append(p.file.blocks, b)
	return nil
}

// attributes reads "id 3 versions 0-2 flexible 0+".
func (b *block) attributes(words []string) error {
	if len(words)%2 != 0 {
		return fmt.Errorf("an attribute without a value")
	}
	b.versions, b.flexible = none, none
	for i := 0; i < len(words); i += 2 {
		var err error
		switch words[i] {
		case "id":
			b.id, err = strconv.Atoi(words[i+1])
		case "versions":
			b.versions, err = parseSpan(words[i+1])
		case "flexible":
			b.flexible, err = parseSpan(words[i+1])
		default:
			err = fmt.Errorf("an attribute %q", words[i])
		}
		if err != nil {
			return err
		}
	}
	if b.versions.to < b.versions.from {
		return fmt.Errorf("no versions")
	}
	return nil
}

var (
	spanForm = regexp.MustCompile(`^\d+(\+|-\d+)?$`)
	typeForm = regexp.MustCompile(`^(\[\])?([A-Za-z0-9]+)(:[A-Z][A-Za-z]*)?$`)
)

// parseSpan reads "0+", "0-3", "2" or "none".
func parseSpan(s string) (span, error) {
	switch {
	case s == "none":
		return none, nil
	case !spanForm.MatchString(s):
		return none, fmt.Errorf("versions %q", s)
	}
	open := strings.HasSuffix(s, "+")
	first, second, closed := strings.Cut(strings.TrimSuffix(s, "+"), "-")
	from, err := strconv.Atoi(first)
	if err != nil {
		return none, err
	}
	switch {
	case open:
		return span{from, all.to}, nil
	case !closed:
		return span{from, from}, nil
	}
	to, err := strconv.Atoi(second)
	return span{from, to}, err
}

// field reads "Name type [versions] [tag N] [null] [ignorable] [= default]".
func (p *parser) field(words []string) (*field, error) {
	if len(words) < 2 {
		return nil, fmt.Errorf("no type")
	}
	f := &field{name: words[0], versions: all, tag: -1}
	var err error
	if f.typ, err = p.typ(words[1]); err != nil {
		return nil, err
	}
	for i := 2; i < len(words); i++ {
		value := ""
		if i+1 < len(words) {
			value = words[i+1]
		}
		switch w := words[i]; {
		case w == "null":
			f.null = true
		case w == "ignorable":
			f.ignorable = true
		case w == "tag":
			f.tag, err = strconv.Atoi(value)
			i++
		case w == "=":
			f.def = value
			i++
		default:
			f.versions, err = parseSpan(w)
		}
		if err != nil {
			return nil, err
		}
	}
	if f.null && !f.typ.array && f.typ.strukt == nil && f.typ.base != "string" {
		return nil, fmt.Errorf("%s cannot be null here", f.typ.base)
	}
	return f, nil
}

func (p *parser) typ(word string) (typ, error) {
	m := typeForm.FindStringSubmatch(word)
	if m == nil {
		return typ{}, fmt.Errorf("type %q", word)
	}
	t := typ{array: m[1] != "", base: m[2], domain: strings.TrimPrefix(m[3], ":")}
	if _, ok := primitives[t.base]; !ok {
		if t.strukt, ok = p.file.structs[t.base]; !ok {
			return typ{}, fmt.Errorf("type %q is not known above", word)
		}
	}
	return t, nil
}
