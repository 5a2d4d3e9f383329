// Package script runs tests that are written as dialogues: a file holds commands
// and what each must print. Reading the file is reading the behaviour; after a
// change, "go test -rewrite" writes the new answers and their diff is the review.
//
//	# a comment stays with the command below it
//	heartbeat 1 offset=7
//	----
//	FENCED -> UNFENCED
//
// A command is one line, a name and words; lines between it and "----" are its
// input. Its answer ends at the first empty line. A file is one state: its
// commands run in order.
package script

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// rewrite is a test flag: it is set once, before any test runs.
var rewrite = flag.Bool("rewrite", false, "write the answers of scripts into their files")

// Command is one command of a script.
type Command struct {
	Name  string
	Words []string          // what follows the name, in order, key=value words left out
	Args  map[string]string // key=value words
	Input string            // lines between the command and its answer
}

// Word returns the word at index i or "".
func (c Command) Word(i int) string {
	if i < len(c.Words) {
		return c.Words[i]
	}
	return ""
}

// Int returns the number of a key=value word, or or when it is absent.
func (c Command) Int(key string, or int64) int64 {
	text, ok := c.Args[key]
	if !ok {
		return or
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic(fmt.Sprintf("script: %s=%s: %v", key, text, err))
	}
	return n
}

// Has says whether a bare word is there.
func (c Command) Has(word string) bool {
	for _, w := range c.Words {
		if w == word {
			return true
		}
	}
	return false
}

// block is a command with the text around it.
type block struct {
	comment string // comment and empty lines before the command
	line    string
	input   string
	want    string
	at      int // line number
}

// RunDir runs each file of a directory as a subtest; start makes a fresh state.
func RunDir(t *testing.T, dir string, start func(t *testing.T) func(Command) string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatalf("no scripts in %s", dir)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			Run(t, file, start(t))
		})
	}
}

// Run gives each command of the file to do and compares what it prints with what
// the file says.
func Run(t *testing.T, path string, do func(Command) string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	blocks, tail := parse(string(text))
	var out strings.Builder
	for _, b := range blocks {
		got := strings.TrimRight(do(command(b)), "\n")
		if got != b.want && !*rewrite {
			t.Errorf("%s:%d: %s\ngot:\n%s\nwant:\n%s", path, b.at, b.line, got, b.want)
		}
		fmt.Fprintf(&out, "%s%s\n%s----\n", b.comment, b.line, b.input)
		if got != "" {
			out.WriteString(got + "\n")
		}
		out.WriteString("\n")
	}
	out.WriteString(tail)
	if *rewrite {
		if err := os.WriteFile(path, []byte(strings.TrimRight(out.String(), "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func parse(text string) (blocks []block, tail string) {
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); {
		var b block
		for i < len(lines) && (strings.TrimSpace(lines[i]) == "" || lines[i][0] == '#') {
			if lines[i] != "" || b.comment != "" {
				b.comment += lines[i] + "\n"
			}
			i++
		}
		if i == len(lines) {
			return blocks, b.comment
		}
		b.line, b.at = lines[i], i+1
		for i++; i < len(lines) && lines[i] != "----"; i++ {
			b.input += lines[i] + "\n"
		}
		i++
		var want []string
		for ; i < len(lines) && lines[i] != ""; i++ {
			want = append(want, lines[i])
		}
		b.want = strings.Join(want, "\n")
		blocks = append(blocks, b)
	}
	return blocks, ""
}

func command(b block) Command {
	words := strings.Fields(b.line)
	c := Command{Name: words[0], Args: map[string]string{}, Input: b.input}
	for _, w := range words[1:] {
		if key, value, ok := strings.Cut(w, "="); ok {
			c.Args[key] = value
		} else {
			c.Words = append(c.Words, w)
		}
	}
	return c
}
