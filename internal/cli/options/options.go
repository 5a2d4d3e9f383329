package options

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// Argument says whether an option takes a value.
type Argument int

// The kinds of options.
const (
	None     Argument = iota // a switch
	Required                 // the value must be there
	Optional                 // the value may be there
)

// Option is one option of a tool.
type Option struct {
	Name       string // without the dashes
	Argument   Argument
	Value      string // what the help calls the value, such as "server to connect to"
	Default    string // used by Get when the option isn't given; "" for none
	Help       string
	Deprecated bool
}

// Set holds the options of a tool and, after Parse, what was given.
type Set struct {
	options []Option
	given   map[string][]string
	rest    []string
}

// New returns a set of options. "help" and "version" are added to each.
func New(options ...Option) *Set {
	options = append(options, Option{Name: "help", Help: "Print usage information."},
		Option{Name: "version", Help: "Display Kafka version."})
	return &Set{options: options, given: map[string][]string{}}
}

// UnrecognizedError says that a word of the command line is no option.
type UnrecognizedError struct{ Name string }

func (e *UnrecognizedError) Error() string { return e.Name + " is not a recognized option" }

// Parse reads a command line. The error has joptsimple's text.
func (s *Set) Parse(args []string) error {
	for len(args) > 0 {
		word := args[0]
		args = args[1:]
		if word == "--" {
			s.rest = append(s.rest, args...)
			return nil
		}
		if !strings.HasPrefix(word, "-") || word == "-" {
			s.rest = append(s.rest, word)
			continue
		}
		name, value, joined := strings.Cut(strings.TrimLeft(word, "-"), "=")
		o, err := s.find(name)
		if err != nil {
			return err
		}
		switch {
		case o.Argument == None && joined:
			return fmt.Errorf("Option %s does not take an argument", o.Name)
		case o.Argument == Required && !joined:
			if len(args) == 0 {
				return fmt.Errorf("Option %s requires an argument", o.Name)
			}
			value, args = args[0], args[1:]
		case o.Argument == Optional && !joined && len(args) > 0 && !strings.HasPrefix(args[0], "-"):
			value, args = args[0], args[1:]
		}
		s.given[o.Name] = append(s.given[o.Name], value)
	}
	return nil
}

// find returns the option called name, or the only one that begins with it.
func (s *Set) find(name string) (Option, error) {
	var hits []Option
	for _, o := range s.options {
		if o.Name == name {
			return o, nil
		}
		if name != "" && strings.HasPrefix(o.Name, name) {
			hits = append(hits, o)
		}
	}
	if len(hits) != 1 {
		return Option{}, &UnrecognizedError{Name: name}
	}
	return hits[0], nil
}

// Has says whether the option was given.
func (s *Set) Has(name string) bool {
	s.must(name)
	_, ok := s.given[name]
	return ok
}

// Get is the last value given, else the default.
func (s *Set) Get(name string) string {
	o := s.must(name)
	if v := s.given[name]; len(v) > 0 {
		return v[len(v)-1]
	}
	return o.Default
}

// All are the values given, in order.
func (s *Set) All(name string) []string {
	s.must(name)
	return s.given[name]
}

// Int is the value as a number of the given bits; ok is false if the option was
// not given and has no default.
func (s *Set) Int(name string, bits int) (n int64, ok bool, err error) {
	text := s.Get(name)
	if text == "" && !s.Has(name) {
		return 0, false, nil
	}
	n, err = strconv.ParseInt(text, 10, bits)
	if err != nil {
		return 0, true, fmt.Errorf("Cannot parse argument '%s' of option %s", text, name)
	}
	return n, true, nil
}

// Rest are the words that belong to no option.
func (s *Set) Rest() []string { return s.rest }

// Given are the names of all options that were given, in the set's order.
func (s *Set) Given() []string {
	var names []string
	for _, o := range s.options {
		if _, ok := s.given[o.Name]; ok {
			names = append(names, o.Name)
		}
	}
	return names
}

// must returns the option called name, which the tool itself has declared.
func (s *Set) must(name string) Option {
	i := slices.IndexFunc(s.options, func(o Option) bool { return o.Name == name })
	if i < 0 {
		panic("BUG: tool asks for undeclared option " + name)
	}
	return s.options[i]
}

// ErrNoAction is returned by OneOf when the number of actions isn't one.
var ErrNoAction = errors.New("not exactly one action")

// OneOf returns the one option of names that was given.
func (s *Set) OneOf(names ...string) (string, error) {
	var found []string
	for _, n := range names {
		if s.Has(n) {
			found = append(found, n)
		}
	}
	if len(found) != 1 {
		return "", ErrNoAction
	}
	return found[0], nil
}

// Usage writes the table of options, in order of name.
func (s *Set) Usage(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "Option\tDescription")
	fmt.Fprintln(t, "------\t-----------")
	for _, o := range slices.SortedFunc(slices.Values(s.options), func(a, b Option) int { return strings.Compare(a.Name, b.Name) }) {
		head := "--" + o.Name
		switch o.Argument {
		case Required:
			head += " <" + o.Value + ">"
		case Optional:
			head += " [" + o.Value + "]"
		}
		help := o.Help
		if o.Default != "" {
			help += " (default: " + o.Default + ")"
		}
		if o.Deprecated {
			help = "DEPRECATED: " + help
		}
		fmt.Fprintf(t, "%s\t%s\n", head, help)
	}
	t.Flush() // w is a terminal or a buffer; there is nobody to tell
}
