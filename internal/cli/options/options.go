package options

import (
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
	Many       bool // may be given several times
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

// Options are all options of the set, in order.
func (s *Set) Options() []Option { return slices.Clone(s.options) }

// Error is a mistake on a command line, with joptsimple's text.
type Error struct {
	Class string // of the exception that joptsimple throws
	Text  string
}

func (e *Error) Error() string { return e.Text }

func mistake(class, format string, args ...any) error {
	return &Error{"joptsimple." + class + "Exception", fmt.Sprintf(format, args...)}
}

// Parse reads a command line. The error is an *Error.
func (s *Set) Parse(args []string) error {
	for len(args) > 0 {
		word := args[0]
		args = args[1:]
		if word == "--" {
			s.rest = append(s.rest, args...)
			break
		}
		if !looksLikeOption(word) {
			s.rest = append(s.rest, word)
			continue
		}
		o, value, joined, err := s.find(word)
		if err != nil {
			return err
		}
		switch {
		case o.Argument == None:
			value = "" // one that is joined is passed over
		case o.Argument == Required && !joined:
			if len(args) == 0 {
				return mistake("OptionMissingRequiredArgument", "Option %s requires an argument", o.Name)
			}
			value, args = args[0], args[1:]
		case o.Argument == Optional && !joined && len(args) > 0 && !looksLikeOption(args[0]):
			value, args = args[0], args[1:]
		}
		s.given[o.Name] = append(s.given[o.Name], value)
	}
	return s.checkRepeated()
}

func looksLikeOption(word string) bool { return strings.HasPrefix(word, "-") && word != "-" }

// find returns the option that a word is, and a value that is joined to it. Words
// with one dash may be a name too, or else are letters, of which none is an option.
func (s *Set) find(word string) (o Option, value string, joined bool, err error) {
	text, long := strings.CutPrefix(word, "--")
	if !long {
		text = word[1:]
	}
	name, value, joined := strings.Cut(text, "=")
	i := slices.IndexFunc(s.options, func(o Option) bool { return o.Name == name })
	switch {
	case i >= 0:
		return s.options[i], value, joined, nil
	case !long:
		name = text[:1]
	}
	return o, "", false, mistake("UnrecognizedOption", "%s is not a recognized option", name)
}

// checkRepeated refuses a second value of an option that has one.
func (s *Set) checkRepeated() error {
	for _, o := range s.options {
		values := slices.DeleteFunc(slices.Clone(s.given[o.Name]), func(v string) bool { return v == "" })
		if len(values) > 1 && !o.Many {
			return mistake("MultipleArgumentsForOption", "Found multiple arguments for option %s, but you asked for only one", o.Name)
		}
	}
	return nil
}

// Rest are the words that belong to no option.
func (s *Set) Rest() []string { return s.rest }

// Has says whether the option was given.
func (s *Set) Has(name string) bool {
	s.must(name)
	_, ok := s.given[name]
	return ok
}

// HasAny says whether one of the options was given.
func (s *Set) HasAny(names ...string) bool { return slices.ContainsFunc(names, s.Has) }

// Get is the value given, else the default.
func (s *Set) Get(name string) string {
	o := s.must(name)
	if v := s.given[name]; len(v) > 0 {
		return v[len(v)-1]
	}
	return o.Default
}

// All are the values of an option that may be given several times, in order.
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
		return 0, true, mistake("OptionArgumentConversion", "Cannot parse argument '%s' of option %s", text, name)
	}
	return n, true, nil
}

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

// OneOf returns the one option of names that was given; ok is false for none and
// for several.
func (s *Set) OneOf(names ...string) (name string, ok bool) {
	given := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !s.Has(n) })
	if len(given) != 1 {
		return "", false
	}
	return given[0], true
}

// Dashed is how the option is written: a letter has one dash.
func (o Option) Dashed() string {
	if len(o.Name) == 1 {
		return "-" + o.Name
	}
	return "--" + o.Name
}

// Usage writes the table of options, in order of name.
func (s *Set) Usage(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "Option\tDescription")
	fmt.Fprintln(t, "------\t-----------")
	for _, o := range slices.SortedFunc(slices.Values(s.options), func(a, b Option) int { return strings.Compare(a.Name, b.Name) }) {
		head := o.Dashed()
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
