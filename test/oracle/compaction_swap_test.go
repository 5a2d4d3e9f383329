package oracle

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"barnabas/test/kit"
)

// swapState is how far the putting in place of a cleaned segment had come when the
// process was killed.
type swapState struct {
	// suffixes of the new files, by their kind: log, index, timeindex, txnindex.
	log, rest string
	oldGone   bool // the old files have the suffix ".deleted"
	ends      bool // whoever opens the folder ends it; else it is undone
}

// swapStates are the states of one topic each.
var swapStates = map[string]swapState{
	"c-plain": {log: ".cleaned", rest: ".cleaned"},
	"c-gone":  {log: ".swap", rest: ".cleaned"},
	"c-txn":   {log: ".swap", rest: ".swap", ends: true},
	"c-codec": {log: ".swap", rest: ".swap", oldGone: true, ends: true},
	"c-time":  {log: "", rest: ".swap", oldGone: true, ends: true},
}

// finishesHalfDone makes folders in which a compaction of one server was killed while
// it put segments in place, from what there was before and what it left when nobody
// killed it. Both servers open them, and make the same of them.
func finishesHalfDone(t *testing.T, source *kit.Node, cleaned map[string]*kit.Node, servers map[string]kit.Server) {
	for _, writer := range []string{"apache", "ours"} {
		t.Run("half done by "+writer, func(t *testing.T) {
			left, read := map[string]*kit.Node{}, map[string][]string{}
			for _, finisher := range []string{"apache", "ours"} {
				dir := t.TempDir()
				if err := os.CopyFS(dir, os.DirFS(source.Dir)); err != nil {
					t.Fatal(err)
				}
				n, err := kit.AdoptNode(servers[finisher], dir)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.Remove(filepath.Join(n.DataDir(), ".kafka_cleanshutdown")); err != nil {
					t.Fatal(err)
				}
				for topic, state := range swapStates {
					killSwap(t, n, cleaned[writer], topic, state)
				}
				start(t, n)
				read[finisher] = consumeCompacted(t, n.Address())
				stop(t, n)
				left[finisher] = n
			}
			same(t, "what consumers read", read["ours"], read["apache"])
			for topic, state := range swapStates {
				same(t, topic, batchesOf(t, left["ours"], topic), batchesOf(t, left["apache"], topic))
				checkSwapped(t, left["ours"], source, cleaned[writer], topic, state)
			}
		})
	}
}

// run is a cleaned segment and the old ones in whose place it is.
type run struct {
	base string
	old  []string
}

// firstRun finds the first cleaned segment of a topic that takes the place of several;
// if none does, the first.
func firstRun(t *testing.T, before, after *kit.Node, topic string) (first run) {
	t.Helper()
	bases := func(n *kit.Node) (out []string) {
		for _, file := range segmentsOf(t, n, topic) {
			out = append(out, strings.TrimSuffix(filepath.Base(file), ".log"))
		}
		return out
	}
	old, left := bases(before), bases(after)
	for i, base := range left[:len(left)-1] {
		r := run{base: base}
		for _, o := range old {
			if o >= base && o < left[i+1] {
				r.old = append(r.old, o)
			}
		}
		if i == 0 || len(r.old) > len(first.old) {
			first = r
		}
	}
	t.Logf("%s: segment %s in the place of %d", topic, first.base, len(first.old))
	return first
}

// killSwap brings a topic of a node into a state.
func killSwap(t *testing.T, n, cleaned *kit.Node, topic string, state swapState) {
	t.Helper()
	r := firstRun(t, n, cleaned, topic)
	folder := filepath.Join(n.DataDir(), topic+"-0")
	for _, base := range r.old {
		for _, kind := range []string{".log", ".index", ".timeindex", ".txnindex"} {
			file := filepath.Join(folder, base+kind)
			if err := os.Rename(file, file+".deleted"); state.oldGone && err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			} else if !state.oldGone && err == nil {
				if err := os.Rename(file+".deleted", file); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for _, kind := range []string{".log", ".index", ".timeindex", ".txnindex"} {
		b, err := os.ReadFile(filepath.Join(cleaned.DataDir(), topic+"-0", r.base+kind))
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		suffix := state.rest
		if kind == ".log" {
			suffix = state.log
		}
		if err := os.WriteFile(filepath.Join(folder, r.base+kind+suffix), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// checkSwapped checks that the new segment is in the place of the old ones, or that
// nothing of it is left, and no other file with it.
func checkSwapped(t *testing.T, n, source, cleaned *kit.Node, topic string, state swapState) {
	t.Helper()
	r := firstRun(t, source, cleaned, topic) // as killSwap chose it
	folder := filepath.Join(n.DataDir(), topic+"-0")
	want, from := r.old, source
	if state.ends {
		want, from = []string{r.base}, cleaned
	}
	for _, base := range r.old {
		got, err := os.ReadFile(filepath.Join(folder, base+".log"))
		if !slices.Contains(want, base) {
			if !os.IsNotExist(err) {
				t.Errorf("%s: segment %s is there, %v", topic, base, err)
			}
			continue
		}
		expected, expectErr := os.ReadFile(filepath.Join(from.DataDir(), topic+"-0", base+".log"))
		if err != nil || expectErr != nil || !bytes.Equal(got, expected) {
			t.Errorf("%s: segment %s is not what it should be: %v %v", topic, base, err, expectErr)
		}
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		base, _, _ := strings.Cut(e.Name(), ".")
		if _, err := strconv.ParseUint(base, 10, 63); err == nil && slices.Contains([]string{".cleaned", ".swap", ".deleted"}, filepath.Ext(e.Name())) {
			t.Errorf("%s: left over: %s", topic, e.Name())
		}
	}
}
