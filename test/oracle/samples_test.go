package oracle

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"barnabas/test/kit"
)

// scene is a fresh node of ours and the files of samples that are played on it,
// in the order in which Apache's were made: what one leaves behind, the next finds.
type scene struct {
	name       string
	properties []string
	before     []string // commands that come first, such as "topics --create --topic x"
	files      []string
	stopped    bool // the node is formatted, but not started
	// prepare holds what happens before a sample, by the sample's name, such as a
	// file that it finds in /DIR.
	prepare map[string]func(t *testing.T, st stage)
}

// writes makes a file in /DIR.
func writes(name, text string) func(*testing.T, stage) {
	return func(t *testing.T, st stage) {
		t.Helper()
		file := filepath.Join(st.dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
}

// scenes lists what is played. A file of samples goes to testdata/samples, its
// name here, and what can't be equal to testdata/samples/treatment.txt.
var scenes = []scene{
	{
		name:   "one node",
		before: []string{"topics --create --topic fresh"},
		files: []string{"topics.txt", "console-producer.txt", "console-consumer.txt", "get-offsets.txt", "broker-api-versions.txt",
			"cluster.txt", "metadata-quorum.txt", "features.txt", "perf.txt", "verifiable.txt", "delete-records.txt", "log-dirs.txt"},
		prepare: map[string]func(*testing.T, stage){
			"console-consumer.txt 1": recordsOfTheSamples,
			"features.txt 1":         levelsOfTheSamples,
			"delete-records.txt 1":   deletionsOfTheSamples,
			"delete-records.txt 2":   writes("dr.json", `{"partitions":[{"topic":"t1","partition":0,"offset":9999},{"topic":"nosuch","partition":0,"offset":1}],"version":1}`),
			"delete-records.txt 3":   writes("dr.json", `{"bad":1}`),
		},
	},
	{
		name:    "configurations",
		before:  []string{"topics --create --topic cf --config retention.ms=60000"},
		files:   []string{"client-metrics.txt", "configs.txt"},
		prepare: map[string]func(*testing.T, stage){"configs.txt 13": writes("add.properties", "retention.bytes=1000000\nsegment.bytes=2000000\n")},
	},
	groupsScene,
	storageScene,
}

// The ports that stand in the samples, for clients and for controllers.
const (
	samplePort       = "21010"
	sampleController = "21011"
)

// interruptAfter is how long a tool runs that Apache's kit had to interrupt: long
// enough to connect, and nothing depends on more.
const interruptAfter = 2 * time.Second

// TestToolsPrintWhatTheSamplesSay runs our tools, by Kafka's names, against our
// node, and compares with what Apache's tools printed of Apache's.
func TestToolsPrintWhatTheSamplesSay(t *testing.T) {
	treatments := readTreatments(t)
	bin := linkTools(t, buildBarnabas(t))
	for _, s := range scenes {
		t.Run(s.name, func(t *testing.T) { playScene(t, s, bin, treatments) })
	}
	for _, tr := range treatments.list {
		if !tr.used && !partialRun() && len(tr.numbers) > 0 {
			t.Errorf("treatment.txt: no sample is called %s %s", tr.file, tr.text)
		}
	}
}

// linkTools gives the binary the names of all tools that samples call.
func linkTools(t *testing.T, b *kit.Barnabas) string {
	t.Helper()
	bin := t.TempDir()
	for _, s := range scenes {
		for _, file := range s.files {
			for _, one := range readSamples(t, file) {
				err := os.Symlink(b.Binary, filepath.Join(bin, one.args[0]))
				if err != nil && !os.IsExist(err) {
					t.Fatal(err)
				}
			}
		}
	}
	if err := os.Symlink(b.Binary, filepath.Join(bin, "barnabas")); err != nil {
		t.Fatal(err)
	}
	return bin
}

func readSamples(t *testing.T, file string) []sample {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "samples", file))
	if err != nil {
		t.Fatal(err)
	}
	samples, err := parseSamples(file, string(text))
	if err != nil {
		t.Fatal(err)
	}
	return samples
}

// stage is where a scene is played: a node, and the names of its ports and folder.
type stage struct {
	node     *kit.Node
	bin, dir string
	real     *strings.Replacer // what stands in samples to what is here
	sampled  *strings.Replacer // and back
}

func playScene(t *testing.T, s scene, bin string, treatments *treatments) {
	dir := t.TempDir()
	n, err := kit.NewNode(&kit.Barnabas{Binary: filepath.Join(bin, "barnabas")}, filepath.Join(dir, "n1"), s.properties...)
	if err != nil {
		t.Fatal(err)
	}
	if !s.stopped {
		t.Cleanup(func() { endNode(t, n) })
		if err := n.Start(); err != nil {
			t.Fatal(err)
		}
	}
	port, controller := fmt.Sprint(n.Port), fmt.Sprint(n.Controller)
	st := stage{node: n, bin: bin, dir: dir, real: strings.NewReplacer(samplePort, port, sampleController, controller, "/DIR", dir),
		sampled: strings.NewReplacer(port, samplePort, controller, sampleController, dir, "/DIR")}
	for _, line := range s.before {
		words := strings.Fields(line)
		out := st.run(t, sample{args: append([]string{"barnabas", words[0], "--bootstrap-server", n.Address()}, words[1:]...)})
		if out.Exit != 0 {
			t.Fatalf("%s: exit %d\n%s%s", line, out.Exit, out.Stdout, out.Stderr)
		}
	}
	for _, file := range s.files {
		for _, one := range readSamples(t, file) {
			if prepare := s.prepare[one.name()]; prepare != nil {
				prepare(t, st)
			}
			how := treatments.of(one)
			if how == leftOut {
				continue
			}
			t.Run(one.name(), func(t *testing.T) { st.play(t, one, how) })
		}
	}
}

// run runs a sample's command; one that Apache's kit had to interrupt is
// interrupted here too.
func (st stage) run(t *testing.T, s sample) kit.Output {
	t.Helper()
	args := make([]string, len(s.args))
	for i, a := range s.args {
		args[i] = st.real.Replace(a)
	}
	limit := 2 * time.Minute
	if s.exit == interruptedExit {
		limit = interruptAfter
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(st.bin, args[0]), args[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	cmd.WaitDelay = 30 * time.Second
	cmd.Dir, cmd.Stdin = st.dir, strings.NewReader(s.stdin)
	out, err := kit.Run(cmd)
	if err != nil && ctx.Err() == nil {
		t.Fatal(err)
	}
	return out
}

// play compares one sample.
func (st stage) play(t *testing.T, s sample, how string) {
	out := st.run(t, s)
	name := func(text string) string { return nameWhatVaries(st.sampled.Replace(text)) }
	want, got := name(s.stdout), name(out.Stdout)
	exit := s.exit
	if exit == interruptedExit {
		exit = 130 // the kit that made the samples said 124 for the shell's 130
	}
	switch how {
	case runOnly:
		return
	case anyOrder:
		want, got = inAnyOrder(want), inAnyOrder(got)
	case byShape:
		want, got = shapeOf(want), shapeOf(got)
	case byEnds:
		want, got = shapeOf(endsOf(want)), shapeOf(endsOf(got))
	}
	if how == byExit {
		if exit != out.Exit {
			t.Errorf("$ %s\nApache: exit %d, ours: exit %d\n%s%s", strings.Join(s.args, " "), exit, out.Exit, got, out.Stderr)
		}
		return
	}
	if want != got || exit != out.Exit {
		t.Errorf("$ %s\nApache: exit %d\n%s[stderr]\n%s\nours: exit %d\n%s[stderr]\n%s\n", strings.Join(s.args, " "), exit, want, s.stderr, out.Exit, got, out.Stderr)
		return
	}
	wantErr, gotErr := stderrCore(name(s.stderr)), stderrCore(name(out.Stderr))
	if how == byShape || how == byEnds {
		wantErr, gotErr = shapeOf(wantErr), shapeOf(gotErr)
	}
	if wantErr != gotErr {
		t.Errorf("$ %s\nstandard error, Apache:\n%s\nours:\n%s", strings.Join(s.args, " "), wantErr, gotErr)
	}
	for _, message := range exceptionTexts(s.stderr) {
		if said := name(out.Stdout + out.Stderr); !strings.Contains(said, name(message)) {
			t.Errorf("$ %s\nApache's exception says %q, ours:\n%s", strings.Join(s.args, " "), message, said)
		}
	}
}

// How a sample is compared when not byte by byte.
const (
	leftOut  = "left-out"      // not run
	runOnly  = "run-only"      // run for what it does, not compared
	anyOrder = "any-order"     // lines are sorted first
	byShape  = "by-shape"      // numbers stand for any number
	byExit   = "by-exit"       // exit code alone
	byEnds   = "by-shape-ends" // as by-shape, but of lines between the first and the last none counts
)

// treatment is a line of treatment.txt.
type treatment struct {
	file, text string
	numbers    []int // empty for all samples of the file
	how        string
	used       bool
}

type treatments struct{ list []*treatment }

// readTreatments reads testdata/samples/treatment.txt, whose head says its form.
func readTreatments(t *testing.T) *treatments {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "samples", "treatment.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var out treatments
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.SplitN(line, " | ", 4)
		if len(fields) != 4 {
			t.Fatalf("treatment.txt: %q has not four parts", line)
		}
		numbers, err := sampleNumbers(strings.TrimSpace(fields[1]))
		if err != nil {
			t.Fatalf("treatment.txt: %q: %v", line, err)
		}
		how := strings.TrimSpace(fields[2])
		if !slices.Contains([]string{leftOut, runOnly, anyOrder, byShape, byEnds, byExit}, how) {
			t.Fatalf("treatment.txt: %q is no treatment", how)
		}
		out.list = append(out.list, &treatment{file: strings.TrimSpace(fields[0]), text: strings.TrimSpace(fields[1]), numbers: numbers, how: how})
	}
	return &out
}

// sampleNumbers reads "all", or numbers and ranges such as "1,4-6".
func sampleNumbers(text string) ([]int, error) {
	if text == "all" {
		return nil, nil
	}
	var out []int
	for part := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		low, err := strconv.Atoi(first)
		if err != nil {
			return nil, err
		}
		high, err := strconv.Atoi(last)
		if err != nil {
			return nil, err
		}
		for n := low; n <= high; n++ {
			out = append(out, n)
		}
	}
	return out, nil
}

// of is how a sample is treated, "" for an exact comparison.
func (ts *treatments) of(s sample) string {
	for _, tr := range ts.list {
		if tr.file == s.file && (len(tr.numbers) == 0 || slices.Contains(tr.numbers, s.number)) {
			tr.used = true
			return tr.how
		}
	}
	return ""
}

// TestAllSampleFilesHaveAPlace holds that a file of samples is played.
func TestAllSampleFilesHaveAPlace(t *testing.T) {
	var played []string
	for _, s := range scenes {
		played = append(played, s.files...)
	}
	files, err := filepath.Glob(filepath.Join("testdata", "samples", "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if name := filepath.Base(f); name != "treatment.txt" && !slices.Contains(played, name) {
			t.Errorf("%s is in no scene", name)
		}
	}
}
