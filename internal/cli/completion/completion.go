// Package completion writes what a shell needs to complete the program's commands
// and their options: for bash, zsh and fish, from the tables by which the tools read
// their command lines.
package completion

import (
	"fmt"
	"io"
	"strings"

	"barnabas/internal/cli/argparse"
	"barnabas/internal/cli/options"
)

// Flag is an option as it is typed.
type Flag struct {
	Text  string // with its dashes
	About string // "" if nothing is known
	Value bool   // something follows
}

// Command is a tool, or a sub-command of one.
type Command struct {
	Name, Script, About string // Script is Kafka's name for a tool
	Flags               []Flag
	Commands            []Command
}

// OfSet are the flags of a tool on joptsimple.
func OfSet(s *options.Set) Command {
	var c Command
	for _, o := range s.Options() {
		c.Flags = append(c.Flags, Flag{o.Dashed(), o.Help, o.Argument == options.Required})
	}
	return c
}

// OfTool are the flags and sub-commands of a tool on argparse4j.
func OfTool(t *argparse.Tool) Command {
	c := Command{Flags: flags(t.Options)}
	for _, sub := range t.Commands {
		c.Commands = append(c.Commands, Command{Name: sub.Name, Flags: flags(sub.Options)})
	}
	return c
}

func flags(list []argparse.Option) []Flag {
	out := []Flag{{Text: "--help"}}
	for _, o := range list {
		out = append(out, Flag{Text: o.Long, Value: !o.Flag})
	}
	return out
}

// Shells are those that Write knows.
func Shells() []string { return []string{"bash", "zsh", "fish"} }

// Write writes the completion of a shell; ok is false for one that is not known.
func Write(w io.Writer, shell string, commands []Command) (ok bool) {
	switch shell {
	case "bash":
		fmt.Fprintln(w, "# Completion of barnabas for bash: source <(barnabas completion bash)")
		writeBash(w, commands)
	case "zsh":
		fmt.Fprintln(w, "# Completion of barnabas for zsh: source <(barnabas completion zsh)")
		fmt.Fprintln(w, "autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit")
		writeBash(w, commands)
	case "fish":
		fmt.Fprintln(w, "# Completion of barnabas for fish: barnabas completion fish | source")
		writeFish(w, commands)
	default:
		return false
	}
	return true
}

// writeBash writes one function that finds the tool in the program's name or in
// the first word, and a sub-command in the words after it.
func writeBash(w io.Writer, commands []Command) {
	var names []string
	for _, c := range commands {
		names = append(names, c.Name)
	}
	fmt.Fprintf(w, `_barnabas() {
  local cur="${COMP_WORDS[COMP_CWORD]}" tool="${COMP_WORDS[0]##*/}" first=1 words= word i
  tool="${tool%%.sh}"
  if [ "$tool" = barnabas ]; then
    if [ "$COMP_CWORD" -le 1 ]; then
      COMPREPLY=($(compgen -W "help %s" -- "$cur"))
      return
    fi
    tool="${COMP_WORDS[1]}" first=2
  fi
  case "$tool" in
`, strings.Join(names, " "))
	for _, c := range commands {
		pattern := c.Name
		if c.Script != "" {
			pattern += "|" + c.Script
		}
		fmt.Fprintf(w, "  %s)\n    words=\"%s\"\n", pattern, wordList(c))
		if len(c.Commands) > 0 {
			fmt.Fprint(w, "    for ((i = first; i < COMP_CWORD; i++)); do\n      case \"${COMP_WORDS[i]}\" in\n")
			for _, sub := range c.Commands {
				fmt.Fprintf(w, "      %s) words=\"%s\" ;;\n", sub.Name, wordList(sub))
			}
			fmt.Fprint(w, "      esac\n    done\n")
		}
		fmt.Fprint(w, "    ;;\n")
	}
	fmt.Fprint(w, "  esac\n  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n}\ncomplete -o default -F _barnabas barnabas")
	for _, c := range commands {
		if c.Script != "" {
			fmt.Fprintf(w, " %s %s.sh", c.Script, c.Script)
		}
	}
	fmt.Fprintln(w)
}

// wordList are the words that may follow a command.
func wordList(c Command) string {
	var words []string
	for _, sub := range c.Commands {
		words = append(words, sub.Name)
	}
	for _, f := range c.Flags {
		words = append(words, f.Text)
	}
	return strings.Join(words, " ")
}

func writeFish(w io.Writer, commands []Command) {
	for _, c := range commands {
		fmt.Fprintf(w, "complete -c barnabas -n __fish_use_subcommand -a %s -d %s\n", c.Name, quoted(c.About))
		in := "__fish_seen_subcommand_from " + c.Name
		for _, sub := range c.Commands {
			fmt.Fprintf(w, "complete -c barnabas -n '%s' -a %s\n", in, sub.Name)
			fishFlags(w, in+"; and __fish_seen_subcommand_from "+sub.Name, sub.Flags)
		}
		fishFlags(w, in, c.Flags)
	}
}

func fishFlags(w io.Writer, condition string, flags []Flag) {
	for _, f := range flags {
		long, ok := strings.CutPrefix(f.Text, "--")
		kind := "-l " + long
		if !ok {
			kind = "-s " + strings.TrimPrefix(f.Text, "-")
		}
		if f.Value {
			kind += " -r"
		}
		if f.About != "" {
			kind += " -d " + quoted(f.About)
		}
		fmt.Fprintf(w, "complete -c barnabas -n '%s' %s\n", condition, kind)
	}
}

// quoted is text in single quotes as fish reads them.
func quoted(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) + "'"
}
