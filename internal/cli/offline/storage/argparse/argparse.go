// Package argparse reads command lines as the tools of Apache Kafka do that are
// built on argparse4j: sub-commands, options with a long and a short name, and the
// same complaints. Usage and help are texts of the caller's.
//
// An option may be given as --name value, --name=value, -n value, -n=value or
// -nvalue; short flags may be put together; a long name may be shortened as long
// as it stays unambiguous; an argument @FILE stands for the lines of that file.
package argparse

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// Option is one option of a command.
type Option struct {
	Long     string // with its two dashes
	Short    string // with its dash
	Flag     bool   // takes no value
	Many     bool   // may be repeated; else the last value counts
	Required bool
	// Group names options of which only one may be given; "" is none.
	Group string
}

func (o *Option) name() string { return o.Long + "/" + o.Short }

// Command is a sub-command.
type Command struct {
	Name    string
	Usage   string // without a line end
	Help    string // what --help prints, usage included
	Options []Option
}

// Tool is a program with sub-commands.
type Tool struct {
	Name     string
	Usage    string
	Help     string
	Commands []Command
}

// Args is a command line that was understood.
type Args struct {
	Command string
	values  map[string][]string // by long name
}

// Value returns the value of an option and whether it was given.
func (a *Args) Value(long string) (string, bool) {
	v := a.values[long]
	if len(v) == 0 {
		return "", false
	}
	return v[len(v)-1], true
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

// Parse reads the arguments behind the program's name.
func (t *Tool) Parse(args []string) (*Args, error) {
	args, err := expandFiles(args)
	if err != nil {
		return nil, err
	}
	complain := func(format string, a ...any) error {
		return &UsageError{t.Name, t.Usage, fmt.Sprintf(format, a...)}
	}
	if len(args) == 0 {
		return nil, complain("too few arguments")
	}
	switch name := args[0]; {
	case name == "-h" || name == "--help":
		return nil, &HelpRequest{t.Help}
	case looksLikeOption(name):
		return nil, complain("unrecognized arguments: '%s'", name)
	}
	for i := range t.Commands {
		if t.Commands[i].Name == args[0] {
			p := parser{tool: t.Name, command: &t.Commands[i], rest: args[1:], args: &Args{Command: args[0], values: map[string][]string{}}}
			return p.args, p.parse()
		}
	}
	names := make([]string, len(t.Commands))
	for i, c := range t.Commands {
		names[i] = "'" + c.Name + "'"
	}
	return nil, complain("invalid choice: '%s' (choose from %s)", args[0], strings.Join(names, ", "))
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

// parser reads the arguments of one sub-command.
type parser struct {
	tool    string
	command *Command
	rest    []string
	args    *Args
	given   []*Option // in order, each once
}

func (p *parser) complain(format string, a ...any) error {
	return &UsageError{p.tool, p.command.Usage, fmt.Sprintf(format, a...)}
}

func (p *parser) parse() error {
	for len(p.rest) > 0 {
		arg := p.rest[0]
		p.rest = p.rest[1:]
		var err error
		switch {
		case arg == "-h" || arg == "--help":
			return &HelpRequest{p.command.Help}
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
	for i := range p.command.Options {
		if o := &p.command.Options[i]; o.Required && !p.args.Has(o.Long) {
			return p.complain("argument %s is required", o.name())
		}
	}
	return nil
}

// long takes --name, --name=value or an unambiguous beginning of the name.
func (p *parser) long(arg string) error {
	name, value, hasValue := strings.Cut(arg, "=")
	var found []*Option
	for i := range p.command.Options {
		o := &p.command.Options[i]
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
		at := slices.IndexFunc(p.command.Options, func(o Option) bool { return o.Short == "-"+letters[:1] })
		if at < 0 {
			return p.complain("unrecognized arguments: '%s'", arg)
		}
		o := &p.command.Options[at]
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
	p.given = append(p.given, o)
	if !o.Many {
		p.args.values[o.Long] = nil
	}
	p.args.values[o.Long] = append(p.args.values[o.Long], value)
	return nil
}
