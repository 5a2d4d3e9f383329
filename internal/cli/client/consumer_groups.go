package client

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"barnabas/internal/cli/options"
)

func consumerGroupsOptions() *options.Set {
	return options.New(
		options.Option{Name: "bootstrap-server", Argument: options.Required, Value: "server to connect to", Help: "The servers to connect to."},
		options.Option{Name: "command-config", Argument: options.Required, Value: "command config property file", Help: "Properties for the admin client."},
		options.Option{Name: "list", Help: "List all consumer groups."},
		options.Option{Name: "describe", Help: "Print the offsets, members or state of groups."},
		options.Option{Name: "delete", Help: "Delete groups with all of their offsets."},
		options.Option{Name: "reset-offsets", Help: "Set the offsets of groups without members: with --dry-run show them, with --execute commit them."},
		options.Option{Name: "delete-offsets", Help: "Delete the offsets of topics from a group."},
		options.Option{Name: "validate-regex", Argument: options.Required, Value: "regex", Help: "Say whether a regular expression is one that a group can subscribe to (RE2)."},
		options.Option{Name: "group", Argument: options.Required, Many: true, Value: "group id", Help: "The group."},
		options.Option{Name: "all-groups", Help: "All consumer groups."},
		options.Option{Name: "topic", Argument: options.Required, Many: true, Value: "topic", Help: "The topic; with partitions as topic:0,1,2."},
		options.Option{Name: "all-topics", Help: "All topics of which the group has offsets."},
		options.Option{Name: "members", Help: "With --describe: the members."},
		options.Option{Name: "offsets", Help: "With --describe: offsets and lag, which is the default."},
		options.Option{Name: "state", Argument: options.Optional, Value: "states", Help: "With --describe: the state of groups. With --list: print states, or only groups in such states."},
		options.Option{Name: "type", Argument: options.Optional, Value: "types", Help: "With --list: print types, or only groups of such types: classic, consumer."},
		options.Option{Name: "verbose", Help: "With --describe: more columns."},
		options.Option{Name: "timeout", Argument: options.Required, Value: "timeout (ms)", Default: "30000", Help: "How long the tool may wait for the cluster."},
		options.Option{Name: "dry-run", Help: "With --reset-offsets: only show the new offsets."},
		options.Option{Name: "execute", Help: "With --reset-offsets: commit the new offsets."},
		options.Option{Name: "export", Help: "With --reset-offsets: print the new offsets as CSV."},
		options.Option{Name: "to-offset", Argument: options.Required, Value: "offset", Help: "Reset to this offset."},
		options.Option{Name: "from-file", Argument: options.Required, Value: "path to CSV file", Help: "Reset to the offsets of a file, as --export prints it."},
		options.Option{Name: "to-datetime", Argument: options.Required, Value: "datetime", Help: "Reset to the first record from then on. Format: YYYY-MM-DDThh:mm:ss.sss"},
		options.Option{Name: "by-duration", Argument: options.Required, Value: "duration", Help: "Reset to the first record that is not older. Format: PnDTnHnMnS"},
		options.Option{Name: "to-earliest", Help: "Reset to the earliest offsets."},
		options.Option{Name: "to-latest", Help: "Reset to the latest offsets."},
		options.Option{Name: "to-current", Help: "Reset to the committed offsets."},
		options.Option{Name: "shift-by", Argument: options.Required, Value: "number-of-offsets", Help: "Reset to the committed offsets and so many more, or less."},
		outputOption,
	)
}

// groupActions are the options of which exactly one is given.
var groupActions = []string{"list", "describe", "delete", "reset-offsets", "delete-offsets", "validate-regex"}

// resetScenarios are the options that say what offsets are reset to.
var resetScenarios = []string{"to-offset", "to-datetime", "by-duration", "to-earliest", "to-latest", "to-current", "shift-by", "from-file"}

// ConsumerGroups is kafka-consumer-groups. Like Apache's tool it ends with exit
// code 0 when the cluster refused what was asked, but for -o json, which Apache's has
// not: then it is 1, also if one of several groups or partitions was refused.
func ConsumerGroups(args []string, o IO) int {
	set := consumerGroupsOptions()
	if done, exit := parse(set, args, o, ""); done {
		return exit
	}
	action, err := checkConsumerGroupsOptions(set, o)
	if err != nil {
		return usageExit(set, o, err)
	}
	if action == "validate-regex" {
		validateRegex(set.Get("validate-regex"), o)
		return 0
	}
	t := &groupsTool{set: set, o: o}
	if t.asJSON, err = wantsJSON(set.Get("o"), set.Has("o")); err != nil {
		return toldExit(o, err)
	}
	err = t.run(action)
	var usage *usageError
	switch {
	case errors.As(err, &usage):
		return usageExit(set, o, err)
	case errors.Is(err, errRefused):
		return 1
	case t.asJSON:
		var inExecution *executionError
		if errors.As(err, &inExecution) {
			err = inExecution.err
		}
		return toldExit(o, err)
	case err != nil:
		printGroupsError(o, "Executing consumer group command failed due to "+err.Error())
		printJavaError(o, err)
	}
	return 0
}

// errRefused ends a tool whose document tells what was refused.
var errRefused = errors.New("refused")

// usageError is a mistake on the command line that is found after parsing.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func printGroupsError(o IO, text string) { fmt.Fprintf(o.Stdout, "\nError: %s\n", text) }

// printJavaError writes what is left of a Java stack without its frames.
func printJavaError(o IO, err error) {
	var inRuntime *runtimeError
	var inExecution *executionError
	if errors.As(err, &inRuntime) {
		fmt.Fprintf(o.Stderr, "java.lang.RuntimeException: %s\nCaused by: %s\n", err, err)
		err = inRuntime.err
	} else if errors.As(err, &inExecution) {
		fmt.Fprintf(o.Stderr, "java.util.concurrent.ExecutionException: %s\n", err)
	} else {
		fmt.Fprintf(o.Stderr, "%s: %s\n", exception(err), err)
		if exception(err) != runtimeException {
			return
		}
	}
	fmt.Fprintf(o.Stderr, "Caused by: %s\n", err)
}

// runtimeException is the class of exceptions that only carry another one.
const runtimeException = "java.lang.RuntimeException"

// executionError is an error as Apache's tools print it that waited for an answer:
// with the name of its class.
type executionError struct{ err error }

func (e *executionError) Error() string { return exception(e.err) + ": " + e.err.Error() }
func (e *executionError) Unwrap() error { return e.err }

func checkConsumerGroupsOptions(set *options.Set, o IO) (action string, err error) {
	action, _ = set.OneOf(groupActions...)
	if !set.Has("validate-regex") && !set.Has("bootstrap-server") {
		return "", missingArgument(set, "bootstrap-server")
	}
	for _, check := range []func(*options.Set, IO) error{checkGroupsAvailable, checkDescribeGroups, checkDeleteGroups, checkResetOffsets, checkGroupsScope} {
		if err := check(set, o); err != nil {
			return "", err
		}
	}
	if action == "" {
		return "", errors.New("Command must include exactly one action: --" + strings.Join(groupActions, ", --"))
	}
	return action, nil
}

func checkGroupsAvailable(set *options.Set, _ IO) error {
	for name, with := range map[string][]string{"members": {"describe"}, "offsets": {"describe"}, "verbose": {"describe"}, "state": {"describe", "list"}, "type": {"list"}, "o": {"describe", "list", "delete", "reset-offsets", "delete-offsets"}} {
		if set.Has(name) && !set.HasAny(with...) {
			return fmt.Errorf("Option(s) [%s] are unavailable given other options on the command line", name)
		}
	}
	return nil
}

func checkDescribeGroups(set *options.Set, _ IO) error {
	switch {
	case !set.Has("describe"):
	case !set.HasAny("group", "all-groups"):
		return errors.New("Option [describe] takes one of these options: [group], [all-groups]")
	case set.Has("members") && set.HasAny("offsets", "state"), set.Has("offsets") && set.Has("state"):
		return errors.New("Option [describe] takes at most one of these options: [members], [offsets], [state]")
	case set.Get("state") != "":
		return errors.New("Option [describe] does not take a value for [state]")
	}
	return nil
}

func checkDeleteGroups(set *options.Set, _ IO) error {
	switch {
	case set.Has("delete") && !set.HasAny("group", "all-groups"):
		return errors.New("Option [delete] takes one of these options: [group], [all-groups]")
	case set.Has("delete") && set.Has("topic"):
		return errors.New("The consumer does not support topic-specific offset deletion from a consumer group.")
	case set.Has("delete-offsets") && !(set.Has("group") && set.Has("topic")):
		return errors.New("Option [delete-offsets] takes the following options: [topic], [group]")
	}
	return nil
}

func checkResetOffsets(set *options.Set, o IO) error {
	if !set.Has("reset-offsets") {
		return nil
	}
	if set.Has("dry-run") && set.Has("execute") {
		return errors.New("Option [reset-offsets] only accepts one of [execute] and [dry-run]")
	}
	if !set.HasAny("dry-run", "execute") {
		fmt.Fprintln(o.Stderr, "WARN: No action will be performed as the --execute option is missing. In version 5.0, this command will require either --dry-run or --execute to be specified. You should add the --dry-run option explicitly if you are scripting this command and want to keep the current default behavior without prompting.")
	}
	if !set.HasAny("group", "all-groups") {
		return errors.New("Option [reset-offsets] takes one of these options: [group], [all-groups]")
	}
	if set.Has("export") && set.Has("o") {
		return errors.New("Option [export] prints CSV and can't be used with option [o]")
	}
	for _, one := range resetScenarios {
		if err := excludes(set, one, resetScenarios...); err != nil {
			return err
		}
	}
	return nil
}

func checkGroupsScope(set *options.Set, _ IO) error {
	if err := excludes(set, "group", "all-groups", "list"); err != nil {
		return err
	}
	return excludes(set, "topic", "list", "describe")
}

// excludes says that option one can't be used with the others.
func excludes(set *options.Set, one string, others ...string) error {
	for _, other := range others {
		if other != one && set.Has(one) && set.Has(other) {
			return fmt.Errorf(`Option "[%s]" can't be used with option "[%s]"`, one, other)
		}
	}
	return nil
}

// validateRegex says whether groups can subscribe to the pattern. Brokers read it
// as RE2, which is Go's syntax.
func validateRegex(pattern string, o IO) {
	_, err := regexp.Compile(pattern)
	var bad *syntax.Error
	if errors.As(err, &bad) {
		fmt.Fprintf(o.Stdout, "The regular expression `%s` is invalid: %s.\n", pattern, bad.Code)
		return
	}
	fmt.Fprintf(o.Stdout, "The regular expression `%s` is valid.\n", pattern)
}

// groupsTool is one run of the tool.
type groupsTool struct {
	ctx context.Context
	cl  *kgo.Client
	set *options.Set
	o   IO

	asJSON bool
}

func (t *groupsTool) run(action string) error {
	for _, name := range []string{"timeout", "to-offset", "shift-by"} {
		if _, _, err := t.set.Int(name, 64); err != nil {
			return err
		}
	}
	milliseconds, _, err := t.set.Int("timeout", 64)
	if err != nil {
		return err
	}
	var done func()
	if t.ctx, t.cl, done, err = connectAdmin(t.set, t.o, time.Duration(milliseconds)*time.Millisecond); err != nil {
		return err
	}
	defer done()
	switch action {
	case "list":
		return t.list()
	case "describe":
		return t.describe()
	case "delete":
		return t.delete()
	case "reset-offsets":
		return t.resetOffsets()
	}
	return t.deleteOffsets()
}

// groups are the groups of the command line, without repetitions.
func (t *groupsTool) groups() ([]string, error) {
	if !t.set.Has("all-groups") {
		return distinct(t.set.All("group")), nil
	}
	ids, err := groupIDs(t.ctx, t.cl, groupFilter{types: consumerGroupTypes, protocols: consumerProtocols})
	if err != nil {
		return nil, &executionError{err}
	}
	return ids, nil
}

func distinct(words []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, w := range words {
		if !seen[w] {
			out = append(out, w)
		}
		seen[w] = true
	}
	return out
}
