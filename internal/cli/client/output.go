package client

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"barnabas/internal/cli/argparse"
	"barnabas/internal/cli/options"
)

// outputOption is -o json of tools on joptsimple: output for programs. Kafka's
// tools have no such option.
var outputOption = options.Option{Name: "o", Argument: options.Required, Value: "format", Help: "json prints one JSON document in the place of lines for people."}

// outputArgument is the same for tools on argparse4j.
var outputArgument = argparse.Option{Long: "--output", Short: "-o"}

// wantsJSON says whether JSON is asked for: by the option that a command line has, or
// not.
func wantsJSON(format string, given bool) (asJSON bool, err error) {
	if given && format != "json" {
		return false, plain("-o %s is not supported: only json is", format)
	}
	return given, nil
}

// wantsJSONOf is wantsJSON for a tool of which only some sub-commands print JSON.
func wantsJSONOf(args *argparse.Args, commands ...string) (asJSON bool, err error) {
	asJSON, err = wantsJSON(args.Value("--output"))
	if asJSON && !slices.Contains(commands, args.Command) {
		return false, plain("-o json is not supported by %s: only %s can print it", args.Command, strings.Join(commands, ", "))
	}
	return asJSON, err
}

// printJSON writes one document, indented, with a line end.
func printJSON(o IO, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		panic("BUG: output that is no JSON: " + err.Error())
	}
	_, err = fmt.Fprintf(o.Stdout, "%s\n", text)
	return err
}

// topicPartition is how JSON names a partition.
type topicPartition struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
}

// partitionOffset is a partition with an offset.
type partitionOffset struct {
	topicPartition
	Offset int64 `json:"offset"`
}

// printTable writes rows in columns as wide as their longest cell, with a tab
// behind each, as Apache's ToolsUtils does.
func printTable(o IO, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len(cell))
		}
	}
	for _, row := range rows {
		for i, cell := range row {
			fmt.Fprint(o.Stdout, cell, strings.Repeat(" ", widths[i]-len(cell)), "\t")
		}
		fmt.Fprintln(o.Stdout)
	}
}
