// Package script runs behaviour tests that are written as text: commands, a line
// "----", and what came out. It is used by tests only.
//
//	# words about the case
//	fetch from=2 offset=10
//	----
//	hw=10
//
// Each command line of a block is run in order; their outputs together are
// compared with the text up to the next empty line. With -rewrite the files are
// written anew: reading the diff is the review.
package script

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the expected output of scripts anew")

// Command is one line of a script: a verb and key=value arguments.
type Command struct {
	Verb string
	args map[string]string
	t    *testing.T
}

// Has says whether the argument is given.
func (c Command) Has(key string) bool { _, ok := c.args[key]; return ok }

// Text is an argument as text, or "".
func (c Command) Text(key string) string { return c.args[key] }

// Int is an argument as a number, or def.
func (c Command) Int(key string, def int64) int64 {
	s, ok := c.args[key]
	if !ok {
		return def
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		c.t.Fatalf("%s %s=%s: %v", c.Verb, key, s, err)
	}
	return n
}

// Ints is an argument that is a list of numbers divided by commas.
func (c Command) Ints(key string) []int64 {
	var out []int64
	for s := range strings.SplitSeq(c.args[key], ",") {
		if s == "" {
			continue
		}
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			c.t.Fatalf("%s %s: %v", c.Verb, key, err)
		}
		out = append(out, n)
	}
	return out
}

// RunAll runs every script that the pattern finds; begin gives a fresh runner
// for each.
func RunAll(t *testing.T, pattern string, begin func(t *testing.T) func(Command) string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts at %s (%v)", pattern, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)), func(t *testing.T) {
			runFile(t, file, begin(t))
		})
	}
}

func runFile(t *testing.T, file string, run func(Command) string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	for i := 0; i < len(lines); {
		if lines[i] == "" || lines[i][0] == '#' {
			out.WriteString(lines[i] + "\n")
			i++
			continue
		}
		first := i
		var got strings.Builder
		for ; i < len(lines) && lines[i] != "----" && lines[i] != ""; i++ {
			out.WriteString(lines[i] + "\n")
			got.WriteString(run(parse(t, lines[i])))
		}
		var want strings.Builder
		if i < len(lines) && lines[i] == "----" {
			for i++; i < len(lines) && lines[i] != ""; i++ {
				want.WriteString(lines[i] + "\n")
			}
		}
		if g := got.String(); g != "" {
			out.WriteString("----\n" + g)
		}
		if !*rewrite && got.String() != want.String() {
			t.Errorf("%s:%d: %s\ngot:\n%swant:\n%s", file, first+1, lines[first], got.String(), want.String())
		}
	}
	if *rewrite {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func parse(t *testing.T, line string) Command {
	words := strings.Fields(line)
	c := Command{Verb: words[0], args: map[string]string{}, t: t}
	for _, w := range words[1:] {
		key, value, _ := strings.Cut(w, "=")
		c.args[key] = value
	}
	return c
}
