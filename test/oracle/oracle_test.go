package oracle

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"barnabas/test/kit"
)

// Flags for working on sequences.
var (
	onlyApache = flag.Bool("only-apache", false, "run against Apache Kafka alone and print the transcripts")
	prebuilt   = flag.String("barnabas", "", "a binary to run in the place of one built from the tree")
	keep       = flag.String("keep", "", "folder in which the transcripts are kept")
)

// sequence is a named function that talks to a server.
type sequence struct {
	name string
	run  func(*Session)
}

// serverProperties is what both servers run with beside the kit's lines.
var serverProperties = []string{
	"auto.create.topics.enable=true",
	"num.partitions=1",
	"transaction.abort.timed.out.transaction.cleanup.interval.ms=200",
	// Records of the sequences are of 2023; none is deleted in the middle of one.
	"log.retention.check.interval.ms=86400000",
	// So that no answer about a consumer group depends on time.
	"group.consumer.assignment.interval.ms=0",
	"group.consumer.min.session.timeout.ms=1000",
	"group.consumer.min.heartbeat.interval.ms=100",
}

func startApache(t *testing.T) *kit.Node {
	t.Helper()
	apache, err := kit.InstallApache()
	if err != nil {
		t.Fatal(err)
	}
	return startNode(t, apache)
}

func startNode(t *testing.T, s kit.Server) *kit.Node {
	t.Helper()
	n, err := kit.NewNode(s, filepath.Join(t.TempDir(), "node"), serverProperties...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { endNode(t, n) })
	if err := n.Start(); err != nil {
		t.Fatal(err)
	}
	return n
}

// endNode kills a server. If it has ended by itself, its last words are told.
func endNode(t *testing.T, n *kit.Node) {
	select {
	case <-n.Ended():
		b, _ := os.ReadFile(n.LogFile())
		t.Errorf("the server has ended, %s:\n%s", n.LogFile(), lastBytes(b, 8000))
	default:
	}
	if err := n.Kill(); err != nil {
		t.Error(err)
	}
}

func lastBytes(b []byte, n int) []byte { return b[max(0, len(b)-n):] }

func runSequence(n *kit.Node, s sequence) (tr *Transcript, err error) {
	tr = newTranscript()
	tr.ports[int64(n.Port)], tr.ports[int64(n.Controller)] = "<port>", "<controller port>"
	tr.texts = strings.NewReplacer(n.Dir, "<folder>", fmt.Sprint(n.Port), "<port>", fmt.Sprint(n.Controller), "<controller port>")
	session := &Session{
		address: n.Address(), controller: fmt.Sprintf("127.0.0.1:%d", n.Controller),
		Name: topicPrefix(s.name), out: tr,
	}
	defer session.close()
	defer func() {
		if r := recover(); r != nil {
			f, ok := r.(failure)
			if !ok {
				panic(r)
			}
			err = f.err
		}
	}()
	s.run(session)
	return tr, nil
}

// topicPrefix turns a sequence's name into something topics may be called.
func topicPrefix(name string) string {
	return strings.NewReplacer("/", "-", " ", "-").Replace(name)
}

func TestAnswersEqualApaches(t *testing.T) {
	known, err := parseKnown(knownText)
	if err != nil {
		t.Fatal(err)
	}
	apache := startApache(t)
	if *onlyApache {
		for _, s := range sequences() {
			t.Run(s.name, func(t *testing.T) {
				tr, err := runSequence(apache, s)
				if err != nil {
					t.Error(err)
				}
				t.Log("\n" + strings.Join(tr.Lines, "\n"))
			})
		}
		return
	}
	binary := &kit.Barnabas{Binary: *prebuilt}
	if *prebuilt == "" {
		if binary, err = kit.BuildBarnabas(t.TempDir()); err != nil {
			t.Fatal(err)
		}
	}
	ours := startNode(t, binary)
	for _, s := range sequences() {
		t.Run(s.name, func(t *testing.T) { compare(t, s, apache, ours, known) })
	}
	for _, k := range known {
		if !k.used && !partialRun() {
			t.Errorf("known difference of %s is no longer one", k.sequence)
		}
	}
}

// partialRun says whether -run selects some sequences only.
func partialRun() bool {
	f := flag.Lookup("test.run")
	return f != nil && strings.Contains(f.Value.String(), "/")
}

func compare(t *testing.T, s sequence, apache, ours *kit.Node, known []*knownDifference) {
	differences := unexplained(t, s.name, s, apache, ours, known)
	if len(differences) > 0 {
		// A machine under load makes either server late once in a while. What is
		// different in earnest is so again, with topics of its own.
		t.Logf("%d steps differ; once more", len(differences))
		differences = unexplained(t, s.name, sequence{s.name + "/again", s.run}, apache, ours, known)
	}
	for _, d := range differences {
		t.Errorf("step %d %s\n  apache: %s\n  ours:   %s", d.Step, d.Request,
			strings.Join(d.Apache, "\n          "), strings.Join(d.Ours, "\n          "))
	}
}

// unexplained runs s against both and returns the differences that are not known
// for a sequence of that name.
func unexplained(t *testing.T, name string, s sequence, apache, ours *kit.Node, known []*knownDifference) (out []Difference) {
	var a, o *Transcript
	var errA, errO error
	var both sync.WaitGroup
	begin := time.Now()
	var tookA, tookO time.Duration
	both.Go(func() { a, errA = runSequence(apache, s); tookA = time.Since(begin) })
	both.Go(func() { o, errO = runSequence(ours, s); tookO = time.Since(begin) })
	both.Wait()
	t.Logf("Apache took %v, we %v", tookA.Round(time.Millisecond), tookO.Round(time.Millisecond))
	if errA != nil || errO != nil {
		t.Fatalf("Apache: %v; ours: %v\nours so far:\n%s", errA, errO, strings.Join(o.Lines, "\n"))
	}
	if *keep != "" {
		keepTranscript(t, s.name+".apache", a)
		keepTranscript(t, s.name+".ours", o)
	}
next:
	for _, d := range Diff(a.Lines, o.Lines) {
		for _, k := range known {
			if k.explains(name, d) {
				k.used = true
				continue next
			}
		}
		out = append(out, d)
	}
	return out
}

func keepTranscript(t *testing.T, name string, tr *Transcript) {
	file := filepath.Join(*keep, topicPrefix(name)+".txt")
	if err := os.WriteFile(file, []byte(strings.Join(tr.Lines, "\n")+"\n"), 0o644); err != nil {
		t.Error(err)
	}
}
