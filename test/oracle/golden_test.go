package oracle

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"barnabas/test/kit"
)

// goldenSections are the parts of a golden folder that a node without the newer groups,
// transactions and security can answer for.
const goldenSections = "cluster,features,topics,offsets,records,committed,seeks,times,producers,configs,groups"

// noSecurity drops the keys of the golden folder's configuration that a node
// without an authorizer refuses.
var noSecurity = []string{"authorizer.class.name", "super.users"}

func TestGoldenFoldersReadTheSameInOurs(t *testing.T) {
	verify := buildVerify(t)
	binary := buildBarnabas(t)
	for _, variant := range []string{"clean", "killed"} {
		t.Run(variant, func(t *testing.T) {
			n := unpackGolden(t, binary, variant)
			start(t, n)
			verifyFolder(t, verify, n, "testdata/golden/expect.json", variant, goldenSections, notCleaned)
			stop(t, n)
		})
	}
}

// notCleaned is the topic that Apache Kafka went on cleaning when it opened the
// killed folder, before the expected content was taken down. Ours cleans it too, but
// some time after the start; see TestInterruptedCleaningReadsTheSame.
const notCleaned = "load-compacted"

// TestInterruptedCleaningReadsTheSame compares the folder whose cleaning was
// killed with what Apache Kafka reads in it while its cleaner is off.
func TestInterruptedCleaningReadsTheSame(t *testing.T) {
	verify, binary, apache := buildVerify(t), buildBarnabas(t), installApache(t)
	a := unpackGolden(t, apache, "killed")
	withoutCleaner(t, a)
	start(t, a)
	captured := captureFolder(t, verify, a)
	stop(t, a)
	n := unpackGolden(t, binary, "killed")
	withoutCleaner(t, n)
	start(t, n)
	verifyFolder(t, verify, n, captured, "captured", "offsets,records,seeks,times")
	stop(t, n)
}

// withoutCleaner sets log.cleaner.enable=false in a node's properties.
func withoutCleaner(t *testing.T, n *kit.Node) {
	t.Helper()
	f, err := os.OpenFile(n.Properties(), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("log.cleaner.enable=false\n"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestGoldenFolderGoesToOursAndBack lets Apache Kafka read what ours left of
// Apache's folder; Apache's checks include everything that ours does not serve.
func TestGoldenFolderGoesToOursAndBack(t *testing.T) {
	verify, binary, apache := buildVerify(t), buildBarnabas(t), installApache(t)
	for _, variant := range []string{"clean", "killed"} {
		t.Run(variant, func(t *testing.T) {
			n := unpackGolden(t, binary, variant)
			start(t, n)
			stop(t, n)
			back := n.As(apache)
			start(t, back)
			verifyFolder(t, verify, back, "testdata/golden/expect.json", variant, goldenSections+",share,transactions,quotas,scram")
			stop(t, back)
		})
	}
}

func buildBarnabas(t *testing.T) *kit.Barnabas {
	t.Helper()
	b, err := kit.BuildBarnabas(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func installApache(t *testing.T) *kit.Apache {
	t.Helper()
	a, err := kit.InstallApache()
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func buildVerify(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "verify")
	if out, err := exec.Command("go", "build", "-o", file, "./verify").CombinedOutput(); err != nil {
		t.Fatalf("build verify: %v\n%s", err, out)
	}
	return file
}

// captureFolder has verify write down what a node serves, for verifyFolder with the
// variant "captured".
func captureFolder(t *testing.T, verify string, n *kit.Node) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "captured.json")
	if out, err := exec.Command(verify, "-capture", file, n.Address()).CombinedOutput(); err != nil {
		t.Fatalf("capture: %v\n%s", err, out)
	}
	return file
}

func verifyFolder(t *testing.T, verify string, n *kit.Node, expect, variant, sections string, without ...string) {
	t.Helper()
	out, err := exec.Command(verify, "-expect", expect, "-variant", variant, "-strict", "-only", sections,
		"-without", strings.Join(without, ","), n.Address()).CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v\n%s", variant, err, out)
		return
	}
	t.Logf("%s: %s", variant, strings.TrimSpace(string(out)))
}

// unpackGolden is a stopped node of s on a fresh copy of a golden folder.
func unpackGolden(t *testing.T, s kit.Server, variant string) *kit.Node {
	t.Helper()
	dir := t.TempDir()
	if err := kit.Untar(filepath.Join("testdata", "golden", variant+".tar.gz"), dir); err != nil {
		t.Fatal(err)
	}
	n, err := kit.AdoptNode(s, dir, noSecurity...)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// start starts a node and prints its log if the test fails.
func start(t *testing.T, n *kit.Node) {
	t.Helper()
	n.EndWith(t)
	if err := n.Start(); err != nil {
		t.Fatal(err)
	}
}

func stop(t *testing.T, n *kit.Node) {
	t.Helper()
	if err := n.Stop(); err != nil {
		t.Fatal(err)
	}
}
