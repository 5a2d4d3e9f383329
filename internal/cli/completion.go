package cli

import (
	"context"
	"fmt"
	"strings"

	"barnabas/internal/cli/client"
	"barnabas/internal/cli/completion"
	"barnabas/internal/cli/offline/dumplog"
	"barnabas/internal/cli/offline/storage"
	"barnabas/internal/cli/run"
)

// completionCommand prints the completion of a shell.
func completionCommand(_ context.Context, args []string, s Streams) int {
	shells := strings.Join(completion.Shells(), ", ")
	if len(args) == 1 && (args[0] == "--help" || args[0] == "-h") {
		fmt.Fprintf(s.Stdout, "Usage: barnabas completion SHELL\n\nSHELL is one of %s. For bash: source <(barnabas completion bash)\n", shells)
		return 0
	}
	if len(args) != 1 || !completion.Write(s.Stdout, args[0], completions()) {
		fmt.Fprintf(s.Stderr, "Usage: barnabas completion SHELL, where SHELL is one of %s\n", shells)
		return 1
	}
	return 0
}

// completions are what may be completed of each command.
func completions() []completion.Command {
	tables := client.Completion()
	tables["storage"] = completion.OfTool(storage.Tool())
	tables["dump-log"] = completion.OfSet(dumplog.Options())
	tables["server"] = run.Completion()
	var shells completion.Command
	for _, name := range completion.Shells() {
		shells.Commands = append(shells.Commands, completion.Command{Name: name})
	}
	tables["completion"] = shells
	var out []completion.Command
	for _, c := range commands() {
		one := tables[c.name]
		one.Name, one.Script, one.About = c.name, c.script, c.about
		out = append(out, one)
	}
	return out
}
