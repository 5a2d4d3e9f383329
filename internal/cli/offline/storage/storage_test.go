package storage

import (
	"bytes"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"barnabas/internal/base/vfs"
	"barnabas/internal/cli/argparse"
)

var rewrite = flag.Bool("rewrite", false, "write the answers into the transcripts")

// TestTranscripts runs the commands in testdata and compares all they print. The
// answers were held against those of Apache Kafka 4.4.0 (see doc.go for the
// differences). In a transcript /DIR is a folder that holds the files of
// testdata/files; "! reset" removes the log directories d1 and d2 in it, "! write
// NAME" gives the file NAME the lines that follow, "! remove NAME" removes one.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { runTranscript(t, file) })
	}
}

func runTranscript(t *testing.T, file string) {
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := newStage(t)
	var got strings.Builder
	for _, block := range splitTranscript(string(want)) {
		head, body, _ := strings.Cut(block, "\n")
		switch {
		case strings.HasPrefix(head, "$ "):
			got.WriteString(head + "\n" + s.command(t, strings.TrimPrefix(head, "$ kafka-storage.sh")))
		case strings.HasPrefix(head, "! "):
			s.prepare(t, strings.Fields(head)[1:], body)
			got.WriteString(block)
		default:
			got.WriteString(block)
		}
	}
	if got.String() == string(want) {
		return
	}
	if *rewrite {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("%s: the answers are\n%s", file, got.String())
}

// splitTranscript divides before each line that begins with "$ ", "! " or "# ".
func splitTranscript(text string) []string {
	var blocks []string
	for line := range strings.Lines(text) {
		if len(blocks) == 0 || strings.HasPrefix(line, "$ ") || strings.HasPrefix(line, "! ") || strings.HasPrefix(line, "# ") {
			blocks = append(blocks, "")
		}
		blocks[len(blocks)-1] += line
	}
	return blocks
}

// stage is a folder with the configuration files, a clock that stands still and a
// random source that is always the same.
type stage struct {
	dir    string
	random *rand.ChaCha8
}

func newStage(t *testing.T) *stage {
	s := &stage{dir: t.TempDir(), random: rand.NewChaCha8([32]byte{1})}
	files, err := filepath.Glob("testdata/files/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s.write(t, filepath.Base(file), strings.ReplaceAll(string(text), "/DIR", s.dir))
	}
	return s
}

func (s *stage) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (s *stage) prepare(t *testing.T, words []string, body string) {
	t.Helper()
	switch words[0] {
	case "reset":
		for _, d := range []string{"d1", "d2"} {
			if err := os.RemoveAll(filepath.Join(s.dir, d)); err != nil {
				t.Fatal(err)
			}
		}
	case "write":
		s.write(t, words[1], strings.TrimSuffix(body, "\n"))
	case "remove":
		if err := os.Remove(filepath.Join(s.dir, words[1])); err != nil {
			t.Fatal(err)
		}
	default:
		t.Fatalf("unknown preparation %q", words)
	}
}

func (s *stage) command(t *testing.T, line string) string {
	t.Helper()
	args, err := splitArgs(strings.ReplaceAll(line, "/DIR", s.dir))
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	var stdout, stderr bytes.Buffer
	now := func() time.Time { return time.UnixMilli(1795961430452).UTC() }
	r := &run{stdout: &stdout, fsys: vfs.NewOS(vfs.NewGate(4)), now: now, random: s.random}
	exit := r.main(args, &stderr)
	text := fmt.Sprintf("[stdout]\n%s[stderr]\n%s[exit %d]\n\n", stdout.String(), stderr.String(), exit)
	return strings.ReplaceAll(text, s.dir, "/DIR")
}

// splitArgs divides at blanks outside of single quotes.
func splitArgs(line string) (args []string, err error) {
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			args = append(args, part)
		} else {
			args = append(args, strings.Fields(part)...)
		}
	}
	if strings.Count(line, "'")%2 == 1 {
		err = errors.New("unbalanced quotes")
	}
	return args, err
}

// What format writes has the sizes of what Apache Kafka writes for the same
// arguments.
func TestFilesOfAFormat(t *testing.T) {
	levels := " -f group.version=1 -f share.version=2 -f streams.version=1 -f transaction.version=2"
	for _, c := range []struct {
		args     string
		size     int64
		metadata string
	}{
		{"-c /DIR/dyn.properties -s", 494, "d1"},
		{"-c /DIR/dyn.properties -N", 427, "d1"},
		{"-c /DIR/static.properties", 411, "d1"},
		{"-c /DIR/apart.properties -s", 494, "d2"},
		{"-c /DIR/dyn.properties -s -S SCRAM-SHA-256=[name=alice,password=alice-secret]", 611, "d1"},
	} {
		s := newStage(t)
		if got := s.command(t, "format -t y50IjLHk7grxWcnPZLw_Cg "+c.args+levels); !strings.HasSuffix(got, "[exit 0]\n\n") {
			t.Errorf("%s: %s", c.args, got)
			continue
		}
		checkpoint := filepath.Join(c.metadata, "__cluster_metadata-0", "00000000000000000000-0000000000.checkpoint")
		info, err := os.Stat(filepath.Join(s.dir, checkpoint))
		if err != nil || info.Mode() != 0o400 {
			t.Errorf("%s: %v, %v", c.args, info, err)
			continue
		}
		// The host "localhost" of apart.properties is as long as "127.0.0.1"; a salt
		// has 24 to 26 characters.
		if d := info.Size() - c.size; d < -2 || d > 2 || d != 0 && !strings.Contains(c.args, "SCRAM") {
			t.Errorf("%s: %d bytes, want %d", c.args, info.Size(), c.size)
		}
		for _, d := range []string{"d1", "d2"} {
			if info, err := os.Stat(filepath.Join(s.dir, d, "meta.properties")); err != nil || info.Size() != 122 || info.Mode() != 0o644 {
				t.Errorf("%s: %s: %v, %v", c.args, d, info, err)
			}
		}
	}
	s := newStage(t)
	s.command(t, "format -t x -c /DIR/broker.properties")
	if entries, err := os.ReadDir(filepath.Join(s.dir, "d1")); err != nil || len(entries) != 1 {
		t.Errorf("a broker's directory holds %v, %v", entries, err)
	}
}

// The keys are those that Apache Kafka worked out.
func TestScramKeys(t *testing.T) {
	for _, c := range []struct{ arg, stored string }{
		{`SCRAM-SHA-512=[name=alice,iterations=8192,salt="N3E=",saltedpassword="YCE="]`, "cXajSfkesuEdmelXMIE1FvL2RXPfwlrmGKyq6ai/1mw="},
		{`SCRAM-SHA-512=[name=alice,iterations=8192,salt="N3E=",password=xy]`, "I6J7DdbVf7/UVhE7axGxOxN8SF3pR6jruU//VziNEas="},
	} {
		r, err := parseScram(c.arg, nil)
		if err != nil {
			t.Fatal(err)
		}
		// The first half of the key is enough to know it.
		if got := base64.StdEncoding.EncodeToString(r.StoredKey[:32]); got != c.stored {
			t.Errorf("%s: stored key %s, want %s", c.arg, got, c.stored)
		}
	}
}

func TestEveryOptionOfApacheIsThere(t *testing.T) {
	for command, names := range map[string]string{
		"format":               "--config --cluster-id --add-scram --ignore-formatted --release-version --feature --standalone --no-initial-controllers --initial-controllers",
		"info":                 "--config",
		"version-mapping":      "--release-version",
		"feature-dependencies": "--feature",
		"random-uuid":          "",
	} {
		found := false
		for _, c := range tool().Commands {
			if c.Name != command {
				continue
			}
			found = true
			for _, name := range strings.Fields(names) {
				if !hasOption(c, name) || !strings.Contains(c.Help, name) || !strings.Contains(c.Usage, name) {
					t.Errorf("%s: %s is missing", command, name)
				}
			}
		}
		if !found {
			t.Errorf("no command %s", command)
		}
	}
}

func hasOption(c argparse.Command, name string) bool {
	for _, o := range c.Options {
		if o.Long == name {
			return true
		}
	}
	return false
}
