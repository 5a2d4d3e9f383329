package script

import (
	"os"
	"path/filepath"
	"testing"
)

const example = `# adds up
add 1 2 carry=yes
two
lines
----
3 "two\nlines\n"

nothing
----

`

func TestCommandsAreReadAndAnswersCompared(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.txt")
	if err := os.WriteFile(path, []byte(example), 0o644); err != nil {
		t.Fatal(err)
	}
	var seen []Command
	Run(t, path, func(c Command) string {
		seen = append(seen, c)
		if c.Name == "add" {
			return "3 \"two\\nlines\\n\"\n"
		}
		return ""
	})
	if len(seen) != 2 {
		t.Fatalf("%d commands, want 2", len(seen))
	}
	add := seen[0]
	if add.Word(0) != "1" || add.Word(1) != "2" || add.Word(2) != "" || add.Args["carry"] != "yes" || add.Input != "two\nlines\n" {
		t.Fatalf("read %+v", add)
	}
	if !add.Has("2") || add.Has("3") || add.Int("absent", 7) != 7 {
		t.Fatalf("accessors of %+v", add)
	}
	blocks, tail := parse(example)
	if len(blocks) != 2 || blocks[1].want != "" || tail != "" {
		t.Fatalf("parsed %+v and %q", blocks, tail)
	}
}
