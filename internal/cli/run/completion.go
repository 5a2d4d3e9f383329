package run

import "barnabas/internal/cli/completion"

// Completion are the flags of the server, which reads them itself.
func Completion() completion.Command {
	return completion.Command{Flags: []completion.Flag{
		{Text: "--override", Value: true}, {Text: "--auto-format"}, {Text: "--memory", Value: true}, {Text: "--help"}, {Text: "--version"},
	}}
}
