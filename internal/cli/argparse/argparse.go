// Package argparse reads command lines as the tools of Apache Kafka do that are
// built on argparse4j: sub-commands, options with a long and a short name, and the
// same complaints. Usage and help are texts of the caller's.
//
// Options of the tool stand before the sub-command; a tool may have none of one or
// of the other. An option may be given as --name value, --name=value, -n value, -n=value or
// -nvalue; short flags may be put together; a long name may be shortened as long
// as it stays unambiguous; an argument @FILE stands for the lines of that file.
package argparse

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Option is one option of a command.
type Option struct {
	Long     string // with its two dashes
	Short    string // with its dash; "" is none
	Flag     bool   // takes no value
	Many     bool   // may be repeated; else the last value counts
	Plural   bool   // takes the words up to the next option as values, at least one
	Required bool
	// Group names options of which only one may be given; "" is none. With
	// Required, one of them must be.
	Group string
	// Number says what the value has to be: "Integer", "Long" or "Double", as Java
	// calls it; "" is anything.
	Number string
	// Choices are the values that are taken; nil is any.
	Choices []string
	// Default is what Value says if the option isn't given; "" is nothing.
	Default string
}

func (o *Option) name() string {
	if o.Short == "" {
		return o.Long
	}
	return o.Long + "/" + o.Short
}

// Command is a sub-command.
type Command struct {
	Name    string
	Usage   string // without a line end
	Help    string // what --help prints, usage included
	Options []Option
}

// Tool is a program, mostly one with sub-commands.
type Tool struct {
	Name     string
	Usage    string
	Help     string
	Options  []Option // of the tool itself
	Commands []Command
	// HelpIfEmpty: a call without arguments asks for help.
	HelpIfEmpty bool
}

// Args is a command line that was understood.
type Args struct {
	Command string
	values  map[string][]string // by long name
	options []Option            // of the tool and of the command
}

// Value returns the value of an option, or its default, and whether it was given.
func (a *Args) Value(long string) (string, bool) {
	v := a.values[long]
	if len(v) > 0 {
		return v[len(v)-1], true
	}
	if i := slices.IndexFunc(a.options, func(o Option) bool { return o.Long == long }); i >= 0 {
		return a.options[i].Default, false
	}
	return "", false
}

// Int is the value of an option whose Number is Integer or Long.
func (a *Args) Int(long string) (n int64, given bool) {
	text, given := a.Value(long)
	n, _ = strconv.ParseInt(text, 10, 64) // checked by Parse; no value is 0
	return n, given
}

// Float is the value of an option whose Number is Double.
func (a *Args) Float(long string) float64 {
	text, _ := a.Value(long)
	f, _ := strconv.ParseFloat(text, 64) // checked by Parse; no value is 0
	return f
}

// Values returns all values of an option that may be repeated.
func (a *Args) Values(long string) []string { return a.values[long] }

// Has says whether an option was given.
func (a *Args) Has(long string) bool { return len(a.values[long]) > 0 }

// HelpRequest is the error of Parse when help was asked for.
type HelpRequest struct{ Text string }

func (h *HelpRequest) Error() string { return h.Text }

// UsageError is the error of Parse for a command line that makes no sense. Its
// text is what the tool prints on standard error.
type UsageError struct {
	tool, usage, message string
}

func (e *UsageError) Error() string {
	return e.usage + "\n" + wrap(e.tool+": error: "+e.message)
}

// Message is what is wrong, without the usage.
func (e *UsageError) Message() string { return e.message }

// Complain is the error of a tool that finds fault with its arguments itself.
func (t *Tool) Complain(format string, a ...any) error {
	return &UsageError{t.Name, t.Usage, fmt.Sprintf(format, a...)}
}

// Parse reads the arguments behind the program's name.
func (t *Tool) Parse(args []string) (*Args, error) {
	args, err := expandFiles(args)
	if err != nil {
		return nil, err
	}
	if len(args) == 0 && t.HelpIfEmpty {
		return nil, &HelpRequest{t.Help}
	}
	own := parser{tool: t, usage: t.Usage, help: t.Help, options: t.Options, rest: args,
		args: &Args{values: map[string][]string{}, options: t.Options}, stopAtWord: len(t.Commands) > 0}
	if err := own.read(); err != nil {
		return nil, err
	}
	if len(t.Commands) == 0 {
		return own.args, own.checkRequired()
	}
	if len(own.rest) == 0 {
		return nil, t.Complain("too few arguments")
	}
	at := slices.IndexFunc(t.Commands, func(c Command) bool { return c.Name == own.rest[0] })
	if at < 0 {
		return nil, t.Complain("invalid choice: '%s' (choose from %s)", own.rest[0], t.choices())
	}
	command := &t.Commands[at]
	args = own.rest[1:]
	own.args.Command = command.Name
	own.args.options = append(slices.Clone(t.Options), command.Options...)
	sub := parser{tool: t, usage: command.Usage, help: command.Help, options: command.Options, rest: args, args: own.args}
	if err := sub.read(); err != nil {
		return nil, err
	}
	if err := sub.checkRequired(); err != nil {
		return nil, err
	}
	return own.args, own.checkRequired()
}

func (t *Tool) choices() string {
	names := make([]string, len(t.Commands))
	for i, c := range t.Commands {
		names[i] = "'" + c.Name + "'"
	}
	return strings.Join(names, ", ")
}

// expandFiles puts the lines of FILE in the place of @FILE.
func expandFiles(args []string) ([]string, error) {
	var out []string
	for _, a := range args {
		path, isFile := strings.CutPrefix(a, "@")
		if !isFile {
			out = append(out, a)
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("arguments in %s: %w", path, err)
		}
		if lines := strings.TrimSuffix(string(text), "\n"); lines != "" {
			out = append(out, strings.Split(lines, "\n")...)
		}
	}
	return out, nil
}

// looksLikeOption says whether an argument is an option and not a value. Negative
// numbers are values.
func looksLikeOption(arg string) bool {
	if len(arg) < 2 || arg[0] != '-' {
		return false
	}
	return strings.Trim(arg[1:], "0123456789.") != "" || arg == "-."
}

// parser reads the options of a tool or of one sub-command.
type parser struct {
	tool        *Tool
	usage, help string
	options     []Option
	rest        []string
	args        *Args
	given       []*Option // in order, each once
	stopAtWord  bool      // the first word is the sub-command
}

func (p *parser) complain(format string, a ...any) error {
	return &UsageError{p.tool.Name, p.usage, fmt.Sprintf(format, a...)}
}

func (p *parser) read() error {
	for len(p.rest) > 0 {
		arg := p.rest[0]
		if p.stopAtWord && !looksLikeOption(arg) {
			return nil
		}
		p.rest = p.rest[1:]
		var err error
		switch {
		case arg == "-h" || arg == "--help":
			return &HelpRequest{p.help}
		case strings.HasPrefix(arg, "--"):
			err = p.long(arg)
		case looksLikeOption(arg):
			err = p.short(arg)
		default:
			err = p.complain("unrecognized arguments: '%s'", arg)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkRequired names the last of the options that are missed, then a group of
// which one is missed.
func (p *parser) checkRequired() error {
	for i := len(p.options) - 1; i >= 0; i-- {
		if o := &p.options[i]; o.Required && o.Group == "" && !p.args.Has(o.Long) {
			return p.complain("argument %s is required", o.name())
		}
	}
	for _, o := range p.options {
		if !o.Required || o.Group == "" {
			continue
		}
		var names []string
		found := false
		for _, other := range p.options {
			if other.Group == o.Group {
				names = append(names, other.name())
				found = found || p.args.Has(other.Long)
			}
		}
		if !found {
			return p.complain("one of the arguments %s is required", strings.Join(names, " "))
		}
	}
	return nil
}

// long takes --name, --name=value or an unambiguous beginning of the name.
func (p *parser) long(arg string) error {
	name, value, hasValue := strings.Cut(arg, "=")
	var found []*Option
	for i := range p.options {
		o := &p.options[i]
		if o.Long == name {
			found = []*Option{o}
			break
		}
		if strings.HasPrefix(o.Long, name) {
			found = append(found, o)
		}
	}
	switch len(found) {
	case 0:
		return p.complain("unrecognized arguments: '%s'", arg)
	case 1:
		return p.take(found[0], value, hasValue)
	}
	names := make([]string, len(found))
	for i, o := range found {
		names[i] = o.Long
	}
	return p.complain("ambiguous option: %s could match %s", name, strings.Join(names, ", "))
}

// short takes -n, -nvalue, -n=value and flags put together.
func (p *parser) short(arg string) error {
	for letters := arg[1:]; letters != ""; {
		at := slices.IndexFunc(p.options, func(o Option) bool { return o.Short == "-"+letters[:1] })
		if at < 0 {
			return p.complain("unrecognized arguments: '%s'", arg)
		}
		o := &p.options[at]
		letters = letters[1:]
		if o.Flag && letters != "" && letters[0] != '=' {
			if err := p.take(o, "", false); err != nil {
				return err
			}
			continue
		}
		value, equals := strings.CutPrefix(letters, "=")
		return p.take(o, value, equals || letters != "")
	}
	return nil
}

// take notes an option; its value is the next argument if it came with none.
func (p *parser) take(o *Option, value string, hasValue bool) error {
	for _, g := range p.given {
		if o.Group != "" && g.Group == o.Group && g != o {
			return p.complain("argument %s: not allowed with argument %s", o.name(), g.name())
		}
	}
	switch {
	case o.Flag && hasValue:
		return p.complain("argument %s: ignore implicit argument '%s'", o.name(), value)
	case !o.Flag && !hasValue:
		if len(p.rest) == 0 || looksLikeOption(p.rest[0]) {
			return p.complain("argument %s: expected one argument", o.name())
		}
		value, p.rest = p.rest[0], p.rest[1:]
	}
	if err := p.checkValue(o, value); err != nil {
		return err
	}
	p.given = append(p.given, o)
	if !o.Many {
		p.args.values[o.Long] = nil
	}
	p.args.values[o.Long] = append(p.args.values[o.Long], value)
	for o.Plural && len(p.rest) > 0 && !looksLikeOption(p.rest[0]) {
		p.args.values[o.Long] = append(p.args.values[o.Long], p.rest[0])
		p.rest = p.rest[1:]
	}
	return nil
}

// checkValue refuses a value that is not of the kind that the option takes.
func (p *parser) checkValue(o *Option, value string) error {
	if o.Choices != nil && !slices.Contains(o.Choices, value) {
		return p.complain("argument %s: invalid choice: '%s' (choose from {%s})", o.name(), value, strings.Join(o.Choices, ","))
	}
	var err error
	switch o.Number {
	case "Integer":
		_, err = strconv.ParseInt(value, 10, 32)
	case "Long":
		_, err = strconv.ParseInt(value, 10, 64)
	case "Double":
		_, err = strconv.ParseFloat(value, 64)
	}
	if err != nil {
		return p.complain("argument %s: could not convert '%s' to %s (For input string: \"%s\")", o.name(), value, o.Number, value)
	}
	return nil
}
