package argparse

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func tool() *Tool {
	return &Tool{
		Name: "kafka-storage", Usage: "usage: kafka-storage", Help: "help",
		Commands: []Command{
			{Name: "info", Usage: "usage: info", Options: []Option{{Long: "--config", Short: "-c", Required: true}}},
			{Name: "format", Usage: "usage: format", Help: "help of format", Options: []Option{
				{Long: "--config", Short: "-c", Required: true},
				{Long: "--cluster-id", Short: "-t"},
				{Long: "--feature", Short: "-f", Many: true},
				{Long: "--ignore-formatted", Short: "-g", Flag: true},
				{Long: "--standalone", Short: "-s", Flag: true, Group: "voters"},
				{Long: "--no-initial-controllers", Short: "-N", Flag: true, Group: "voters"},
				{Long: "--initial-controllers", Short: "-I", Group: "voters"},
			}},
			{Name: "version-mapping"}, {Name: "feature-dependencies"}, {Name: "random-uuid"},
		},
	}
}

func TestWaysToWriteAnOption(t *testing.T) {
	for _, line := range []string{
		"format --config x --standalone", "format --config=x --standalone", "format -c x -s", "format -cx -s", "format -c=x -s",
		"format --conf x --stand", "format -sc x", "format -sgcx", "format -c y -c x -s",
	} {
		a, err := tool().Parse(strings.Fields(line))
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if v, ok := a.Value("--config"); !ok || v != "x" || !a.Has("--standalone") || a.Command != "format" {
			t.Errorf("%s: %+v", line, a)
		}
	}
	a, err := tool().Parse(strings.Fields("format -c -5 -f a=1 -f b=2"))
	if err != nil {
		t.Fatal(err)
	}
	if v, _ := a.Value("--config"); v != "-5" || strings.Join(a.Values("--feature"), " ") != "a=1 b=2" || a.Has("--cluster-id") {
		t.Errorf("%+v", a)
	}
}

// The complaints are those of the real tool, with its line breaks.
func TestComplaints(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"", "usage: kafka-storage\nkafka-storage: error: too few arguments"},
		{"-x", "usage: kafka-storage\nkafka-storage: error: unrecognized arguments: '-x'"},
		{"nope", "usage: kafka-storage\nkafka-storage:  error:  invalid   choice:   'nope'   (choose  from  'info',\n'format', 'version-mapping', 'feature-dependencies', 'random-uuid')"},
		{"info", "usage: info\nkafka-storage: error: argument --config/-c is required"},
		{"info -c", "usage: info\nkafka-storage: error: argument --config/-c: expected one argument"},
		{"format -t -c x", "usage: format\nkafka-storage: error: argument --cluster-id/-t: expected one argument"},
		{"format -c x -s --no-initial-controllers", "usage: format\nkafka-storage: error:  argument  --no-initial-controllers/-N:  not  allowed\nwith argument --standalone/-s"},
		{"format -c x --standalone=1", "usage: format\nkafka-storage: error: argument  --standalone/-s:  ignore  implicit argument\n'1'"},
		{"format -c x -I -1@h:1:A", "usage: format\nkafka-storage:  error:  argument   --initial-controllers/-I:  expected  one\nargument"},
		{"format -c x extra", "usage: format\nkafka-storage: error: unrecognized arguments: 'extra'"},
		{"format -c x -z", "usage: format\nkafka-storage: error: unrecognized arguments: '-z'"},
	} {
		_, err := tool().Parse(strings.Fields(c.line))
		var usage *UsageError
		if !errors.As(err, &usage) || err.Error() != c.want {
			t.Errorf("%q:\ngot:\n%v\nwant:\n%s", c.line, err, c.want)
		}
	}
}

func TestHelpAndFilesOfArguments(t *testing.T) {
	var help *HelpRequest
	if _, err := tool().Parse([]string{"format", "-c", "x", "--help"}); !errors.As(err, &help) || help.Text != "help of format" {
		t.Errorf("got %v", err)
	}
	if _, err := tool().Parse([]string{"-h"}); !errors.As(err, &help) || help.Text != "help" {
		t.Errorf("got %v", err)
	}
	path := filepath.Join(t.TempDir(), "args")
	if err := os.WriteFile(path, []byte("format\n-c\na b\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	a, err := tool().Parse([]string{"@" + path})
	if err != nil {
		t.Fatal(err)
	}
	if v, _ := a.Value("--config"); v != "a b" {
		t.Errorf("config is %q", v)
	}
	if _, err := tool().Parse([]string{"@" + path + ".missing"}); err == nil {
		t.Error("a missing file of arguments went unseen")
	}
}

func quorum() *Tool {
	return &Tool{
		Name: "q", Usage: "usage: q",
		Options: []Option{{Long: "--server", Group: "door", Required: true}, {Long: "--controller", Group: "door", Required: true}, {Long: "--config"}},
		Commands: []Command{{Name: "remove", Usage: "usage: remove", Options: []Option{
			{Long: "--id", Short: "-i", Required: true, Number: "Integer"}, {Long: "--directory", Short: "-d", Required: true},
			{Long: "--kind", Choices: []string{"a", "b"}, Default: "a"}, {Long: "--props", Plural: true, Many: true},
		}}},
	}
}

func TestOptionsBeforeTheCommand(t *testing.T) {
	a, err := quorum().Parse(strings.Fields("--server s remove -i 5 -d x --props a=1 b=2 --props c=3"))
	if err != nil {
		t.Fatal(err)
	}
	server, _ := a.Value("--server")
	id, given := a.Int("--id")
	kind, kindGiven := a.Value("--kind")
	if server != "s" || id != 5 || !given || kind != "a" || kindGiven || strings.Join(a.Values("--props"), " ") != "a=1 b=2 c=3" || a.Command != "remove" {
		t.Errorf("%+v", a)
	}
	for _, c := range []struct{ line, want string }{
		{"", "too few arguments"},
		{"--server s", "too few arguments"},
		{"--server s remove", "argument --directory/-d is required"},
		{"remove -i 1 -d x", "one of the arguments --server --controller is required"},
		{"--server s --controller c remove -i 1 -d x", "argument --controller: not allowed with argument --server"},
		{"--server s remove -i x -d x", `argument --id/-i: could not convert 'x' to Integer (For input string: "x")`},
		{"--server s remove -i 1 -d x --kind c", "argument --kind: invalid choice: 'c' (choose from {a,b})"},
	} {
		_, err := quorum().Parse(strings.Fields(c.line))
		var usage *UsageError
		if !errors.As(err, &usage) || usage.Message() != c.want {
			t.Errorf("%q: %v", c.line, err)
		}
	}
}
