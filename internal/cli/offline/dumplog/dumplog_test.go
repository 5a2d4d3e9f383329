package dumplog

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"barnabas/internal/kafka"
	"barnabas/internal/record"
)

// goldenCase is one call in testdata/cases.txt: the command line and what Apache
// Kafka 4.4.0's tool printed, called in testdata/files, which is /DIR in it.
type goldenCase struct {
	args                 []string
	stdout, stderr, exit string
}

func readCases(t *testing.T) []goldenCase {
	t.Helper()
	text, err := os.ReadFile("testdata/cases.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out []goldenCase
	var into *string
	for _, line := range strings.SplitAfter(string(text), "\n") {
		word := strings.TrimSuffix(line, "\n")
		var c *goldenCase
		if len(out) > 0 {
			c = &out[len(out)-1]
		}
		switch {
		case strings.HasPrefix(line, "$ "):
			out = append(out, goldenCase{args: strings.Fields(line[2:])})
		case word == "[stdout]":
			into = &c.stdout
		case word == "[stderr]":
			into = &c.stderr
		case word == "[no newline]":
			*into = strings.TrimSuffix(*into, "\n")
		case strings.HasPrefix(line, "[exit "):
			c.exit, into = word, nil
		case into != nil:
			*into += line
		}
	}
	return out
}

// nobody wants to know how far it is.
func nobody(string) {}

func TestDumpLogPrintsWhatApachesPrints(t *testing.T) {
	cases := readCases(t)
	if len(cases) < 40 {
		t.Fatalf("only %d cases", len(cases))
	}
	dir, err := filepath.Abs("testdata/files")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for _, c := range cases {
		var stdout, stderr bytes.Buffer
		exit := Run(t.Context(), c.args, &stdout, &stderr, nobody)
		compare(t, c.args, "stdout", stdout.String(), c.stdout)
		compare(t, c.args, "stderr", strings.ReplaceAll(stderr.String(), dir, "/DIR"), c.stderr)
		if got := fmt.Sprintf("[exit %d]", exit); got != c.exit {
			t.Errorf("%q: %s, want %s", c.args, got, c.exit)
		}
	}
}

// compare names the first line that differs.
func compare(t *testing.T, args []string, what, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := 0; i < max(len(g), len(w)); i++ {
		if i >= len(g) || i >= len(w) || g[i] != w[i] {
			t.Errorf("%q: %s differs at line %d\n got %q\nwant %q", args, what, i+1, strings.Join(g[min(i, len(g)):min(i+1, len(g))], ""), strings.Join(w[min(i, len(w)):min(i+1, len(w))], ""))
			return
		}
	}
}

func TestCommandLine(t *testing.T) {
	for _, c := range []struct {
		args         string
		out, err     string // how they begin
		exit         int
		optionsTable bool
	}{
		{args: "", err: about + "\nOption", exit: 1},
		{args: "--help", out: about + "\nOption"},
		{args: "--version", out: "4.4.0\n"},
		{args: "--print-data-log", err: "Missing required argument \"[files]\"\nOption", exit: 1},
		{args: "--nosuch", err: "Exception in thread \"main\" joptsimple.UnrecognizedOptionException: nosuch is not a recognized option\n", exit: 1},
		{args: "--file a.foo", err: "Exception in thread \"main\" joptsimple.UnrecognizedOptionException: file is not a recognized option\n", exit: 1},
		{args: "--files", err: "Exception in thread \"main\" joptsimple.OptionMissingRequiredArgumentException: Option files requires an argument\n", exit: 1},
		{args: "--files=a.foo extra", out: "Dumping a.foo\n", err: "Ignoring unknown file a.foo\n"},
		{args: "--files a.foo --files b.foo", err: "Exception in thread \"main\" joptsimple.MultipleArgumentsForOptionException: Found multiple arguments for option files, but you asked for only one\n", exit: 1},
		{args: "--files x.log --max-bytes foo", err: "Exception in thread \"main\" joptsimple.OptionArgumentConversionException: Cannot parse argument 'foo' of option max-bytes\n", exit: 1},
		{args: "--files x.log --share-group-state-decoder", err: "Exception in thread \"main\" java.lang.UnsupportedOperationException: --share-group-state-decoder is not supported by this release\n", exit: 1},
		{args: "--files x.log --value-decoder-class com.example.D", err: "Exception in thread \"main\" java.lang.RuntimeException: Failed to load decoder class com.example.D: there are", exit: 1},
	} {
		var stdout, stderr bytes.Buffer
		exit := Run(t.Context(), strings.Fields(c.args), &stdout, &stderr, nobody)
		if exit != c.exit || !strings.HasPrefix(stdout.String(), c.out) || !strings.HasPrefix(stderr.String(), c.err) || c.out == "" && stdout.Len() > 0 || c.err == "" && stderr.Len() > 0 {
			t.Errorf("%s: exit %d\nstdout %.200s\nstderr %.200s", c.args, exit, stdout.String(), stderr.String())
		}
	}
}

func TestDecoderClasses(t *testing.T) {
	for _, c := range []struct {
		class string
		in    []byte
		want  string
	}{
		{"StringDecoder", []byte("a\xffb\xe2\x82c\xf0\x9f\x98"), "a\ufffdb\ufffdc\ufffd"},
		{"StringDecoder", []byte("\xed\xa0\x80\xc0\xaf\xf5x"), "\ufffd\ufffd\ufffd\ufffdx"},
		{"IntegerDecoder", []byte{0xff, 0xff, 0xff, 0xfe}, "-2"},
		{"LongDecoder", []byte{0, 0, 0, 1, 0, 0, 0, 0}, "4294967296"},
		{"LongDecoder", nil, "null"},
		{"IntegerDecoder", []byte{1}, "org.apache.kafka.common.errors.SerializationException: Size of data received by IntegerDeserializer is not 4"},
	} {
		decode, err := classDecoder(decoders + c.class)
		if err != nil {
			t.Fatal(err)
		}
		got := "null"
		if s, err := decode(c.in); err != nil {
			got = err.Error()
		} else if s != nil {
			got = *s
		}
		if got != c.want {
			t.Errorf("%s of %q: %q, want %q", c.class, c.in, got, c.want)
		}
	}
}

func FuzzDumpLog(f *testing.F) {
	names, err := filepath.Glob("testdata/files/*/*")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err == nil {
			f.Add(filepath.Ext(name), b)
		}
	}
	f.Fuzz(func(t *testing.T, ext string, b []byte) {
		dir := t.TempDir()
		base := filepath.Join(dir, "00000000000000000000")
		for _, e := range []string{".log", ".index", ".timeindex", ".snapshot", ".txnindex"} {
			if err := os.WriteFile(base+e, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for _, decoder := range []string{"--print-data-log", "--cluster-metadata-decoder", "--offsets-decoder", "--transaction-log-decoder"} {
			var stdout, stderr bytes.Buffer
			for _, e := range []string{".log", ".index", ".timeindex", ".snapshot", ".txnindex"} {
				Run(t.Context(), []string{"--files", base + e, decoder}, &stdout, &stderr, nobody)
			}
		}
	})
}

// TestDumpEndsWithItsContext: of a file of many batches, no more than the next few
// megabytes are printed.
func TestDumpEndsWithItsContext(t *testing.T) {
	file := filepath.Join(t.TempDir(), "00000000000000000000.log")
	const count = 20
	var log []byte
	for i := range count {
		b := record.NewBuilder(record.BatchOptions{BaseOffset: kafka.Offset(i)})
		b.Append(record.Record{Value: make([]byte, 1<<20)})
		batch, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		log = append(log, batch...)
	}
	if err := os.WriteFile(file, log, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var told []string
	var stdout, stderr bytes.Buffer
	exit := Run(ctx, []string{"--files", file}, &stdout, &stderr, func(text string) { told = append(told, text); cancel() })
	if lines := strings.Count(stdout.String(), "baseOffset"); exit != 1 || stderr.Len() > 0 || lines == 0 || lines > count/2 {
		t.Errorf("exit %d, %d batches, %s", exit, lines, stderr.String())
	}
	if len(told) != 1 || told[0] != "00000000000000000000.log, 4 of 20 MB" {
		t.Errorf("%q", told)
	}
}
