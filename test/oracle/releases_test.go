package oracle

import (
	"flag"
	"path/filepath"
	"strings"
	"testing"

	"barnabas/test/kit"
)

var allReleases = flag.Bool("all-releases", false, "open folders of every metadata.version, not of some")

// TestFoldersOfOlderReleasesAreOpened lets Apache Kafka format a folder at an
// older metadata.version and write to it; ours must read the same and write on.
func TestFoldersOfOlderReleasesAreOpened(t *testing.T) {
	verify, binary, apache := buildVerify(t), buildBarnabas(t), installApache(t)
	releases := []string{"3.3-IV3", "3.6-IV1", "3.9-IV0", "4.1"}
	if *allReleases {
		releases = []string{"3.3-IV3", "3.4", "3.5-IV0", "3.5", "3.6-IV0", "3.6-IV1", "3.6", "3.7-IV0", "3.7-IV2", "3.7", "3.8", "3.9", "4.0-IV0",
			"4.0-IV1", "4.0", "4.1", "4.2", "4.3", "4.4-IV0", "4.4"}
	}
	for _, release := range releases {
		t.Run(release, func(t *testing.T) {
			n := nodeOfRelease(t, apache, release)
			start(t, n)
			writeLoad(t, n.Address())
			captured := captureFolder(t, verify, n)
			stop(t, n)
			ours := n.As(binary)
			start(t, ours)
			verifyFolder(t, verify, ours, captured, "captured", "cluster,topics,offsets,records,committed,seeks,times")
			stop(t, ours)
		})
	}
}

// nodeOfRelease is formatted by Apache Kafka at a metadata.version: with the
// voters in the configuration where kraft.version 1 does not exist yet.
func nodeOfRelease(t *testing.T, apache *kit.Apache, release string) *kit.Node {
	t.Helper()
	n, err := kit.PrepareNode(apache, filepath.Join(t.TempDir(), "node"))
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"format", "-t", kit.ClusterID, "-c", n.Properties(), "--release-version", release}
	if strings.HasPrefix(release, "3.") && release != "3.9" && release != "3.9-IV0" {
		if err := n.UseStaticVoter(); err != nil {
			t.Fatal(err)
		}
	} else {
		args = append(args, "--standalone")
	}
	out, err := apache.Tool("storage", args...)
	if err != nil || out.Exit != 0 {
		t.Fatalf("format at %s: %v %+v", release, err, out)
	}
	return n
}
