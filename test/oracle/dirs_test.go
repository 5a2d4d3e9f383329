package oracle

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"barnabas/test/kit"
)

// dirPartitions is how many partitions are spread over two log directories.
const dirPartitions = 6

// TestMetadataNamesTheDirectories runs both servers with two log directories and reads
// what their metadata logs say of where partitions lie (KIP-858): for a new one nothing
// at first, then the directory that the broker has chosen, and another one after its
// folder was moved while the broker was down.
func TestMetadataNamesTheDirectories(t *testing.T) {
	binary, apache := buildBarnabas(t), installApache(t)
	histories := map[string][]string{}
	for name, s := range map[string]kit.Server{"apache": apache, "ours": binary} {
		n, dirs := twoDirs(t, s)
		start(t, n)
		createEach(t.Context(), t, n.Address(), dirPartitions, map[string]map[string]*string{"spread": nil})
		awaitDirectories(t, apache, n, dirs)
		stop(t, n)
		moveOne(t, dirs)
		start(t, n)
		histories[name] = awaitDirectories(t, apache, n, dirs)
		stop(t, n)
	}
	same(t, "what the metadata logs say", histories["ours"], histories["apache"])
}

// twoDirs is a node with two log directories.
func twoDirs(t *testing.T, s kit.Server) (n *kit.Node, dirs []string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "node")
	dirs = []string{filepath.Join(dir, "data"), filepath.Join(dir, "more")}
	n, err := kit.NewNode(s, dir, "log.dirs="+strings.Join(dirs, ","))
	if err != nil {
		t.Fatal(err)
	}
	return n, dirs
}

// moveOne moves the folder of a partition from the first directory to the second.
func moveOne(t *testing.T, dirs []string) {
	t.Helper()
	in, err := filepath.Glob(filepath.Join(dirs[0], "spread-*"))
	if err != nil || len(in) != dirPartitions/2 {
		t.Fatal(in, err)
	}
	if err := os.Rename(in[0], filepath.Join(dirs[1], filepath.Base(in[0]))); err != nil {
		t.Fatal(err)
	}
}

// awaitDirectories waits until the metadata log has each partition in the directory in
// which its folder lies. It returns what the records of each partition said of that, in
// order, with the directories named by their place.
func awaitDirectories(t *testing.T, apache *kit.Apache, n *kit.Node, dirs []string) (histories []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		histories = nil
		wrong := ""
		said := directoriesSaid(t, apache, n, dirs)
		for p := range int32(dirPartitions) {
			lies := ""
			for i, dir := range dirs {
				if _, err := os.Stat(filepath.Join(dir, fmt.Sprintf("spread-%d", p))); err == nil {
					lies = fmt.Sprintf("directory %d", i)
				}
			}
			history := said[p]
			if len(history) == 0 || history[len(history)-1] != lies {
				wrong += fmt.Sprintf("partition %d lies in %s, the records say %v\n", p, lies, history)
			}
			// Which of the two directories comes first is each server's choice.
			histories = append(histories, strings.NewReplacer("directory 0", "a directory", "directory 1", "a directory").Replace(strings.Join(history, ", then ")))
		}
		if wrong == "" {
			slices.Sort(histories)
			return histories
		}
		select {
		case <-ctx.Done():
			t.Fatalf("after a minute:\n%s", wrong)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// directoriesSaid is what the records of each partition say of its directory.
func directoriesSaid(t *testing.T, apache *kit.Apache, n *kit.Node, dirs []string) map[int32][]string {
	t.Helper()
	names := map[string]string{"AAAAAAAAAAAAAAAAAAAAAA": "migrating", "AAAAAAAAAAAAAAAAAAAAAQ": "unassigned"}
	for i, dir := range dirs {
		text, err := os.ReadFile(filepath.Join(dir, "meta.properties"))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if id, ok := strings.CutPrefix(strings.TrimSpace(line), "directory.id="); ok {
				names[id] = fmt.Sprintf("directory %d", i)
			}
		}
	}
	logs, err := filepath.Glob(filepath.Join(n.DataDir(), "__cluster_metadata-0", "*.log"))
	if err != nil {
		t.Fatal(err)
	}
	dump, err := apache.Tool("dump-log", "--cluster-metadata-decoder", "--files", strings.Join(logs, ","))
	if err != nil {
		t.Fatal(err)
	}
	out := map[int32][]string{}
	for line := range strings.Lines(dump.Stdout) {
		_, payload, ok := strings.Cut(line, "payload: ")
		if !ok {
			continue
		}
		var record struct {
			Type string
			Data struct {
				PartitionID int32
				Directories []string
			}
		}
		if err := json.Unmarshal([]byte(payload), &record); err != nil {
			continue // not of the kind that is looked for
		}
		for _, d := range record.Data.Directories {
			out[record.Data.PartitionID] = append(out[record.Data.PartitionID], names[d])
		}
	}
	return out
}
