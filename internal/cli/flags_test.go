package cli

import (
	"os"
	"slices"
	"strings"
	"testing"

	"barnabas/internal/cli/completion"
)

// ours are flags that Apache's tools do not have.
var ours = map[string]bool{"-o": true, "--output": true}

// TestFlagsAreApaches holds the tables of all tools against those of Apache Kafka
// 4.4.0, of which testdata/apache-flags.tsv is a list: tool, sub-command, flags,
// and whether a value follows.
func TestFlagsAreApaches(t *testing.T) {
	text, err := os.ReadFile("testdata/apache-flags.tsv")
	if err != nil {
		t.Fatal(err)
	}
	apache := map[string][]string{} // by tool and sub-command
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		fields := strings.Split(line, "\t")
		if i == 0 {
			continue
		}
		for flag := range strings.SplitSeq(fields[2], ",") {
			if strings.HasPrefix(flag, "--") {
				key := strings.TrimSpace(fields[0] + " " + fields[1])
				apache[key] = append(apache[key], flag)
			}
		}
	}
	compare := func(name string, c completion.Command) {
		want, got := apache[name], []string{}
		for _, f := range c.Flags {
			if !ours[f.Text] {
				got = append(got, f.Text)
			}
		}
		for _, f := range want {
			if !slices.Contains(got, f) {
				t.Errorf("%s has no flag %s", name, f)
			}
		}
		for _, f := range got {
			if !slices.Contains(want, f) {
				t.Errorf("%s: Apache's has no flag %s", name, f)
			}
		}
	}
	for _, c := range completions() {
		if c.Name == "server" || c.Name == "completion" {
			continue
		}
		compare(c.Name, c)
		for _, sub := range c.Commands {
			if sub.Name == "why" {
				continue // a command that Apache's tools do not have
			}
			compare(c.Name+" "+sub.Name, sub)
		}
	}
}
