package compat

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"barnabas/test/kit"
)

// notServed are the tests of franz-go's package kgo that skip themselves or are left
// out, with what they need. Everything else has to pass.
var notServed = map[string]string{
	"Test848RegexBrokerResolves":               "the consumer group protocol (KIP-848)",
	"TestConsumeRegexShareSkipsInternal":       "share groups",
	"TestShareGroup":                           "share groups",
	"TestShareGroupAckOnClose":                 "share groups",
	"TestShareGroupETL":                        "share groups",
	"TestShareGroupOffsetsAdmin":               "share groups",
	"TestOAuthAuth":                            "a cluster with OAUTHBEARER",
	"TestSCRAMAuth":                            "a cluster with SCRAM",
	"TestSCRAMAuthBadCredentials":              "a cluster with SCRAM",
	"TestIssueProduceBrokerTooOldFailsRecords": "a broker that is too old",
}

// TestFranzGoOwnTests runs the tests of the client's own package against the node.
func TestFranzGoOwnTests(t *testing.T) {
	var apache *kit.Apache
	if *server == "apache" {
		var err error
		if apache, err = kit.InstallApache(); err != nil {
			t.Fatal(err)
		}
	}
	node := startServer(t, apache)
	binary := filepath.Join(t.TempDir(), "kgo.test")
	if out, err := exec.Command("go", "test", "-c", "-o", binary, "github.com/twmb/franz-go/pkg/kgo").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/twmb/franz-go/pkg/kgo").Output()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), binary, "-test.v", "-test.timeout=10m")
	cmd.Dir = strings.TrimSpace(string(dir))
	cmd.Env = append(os.Environ(), "KGO_SEEDS="+node.Address(), "KGO_TEST_RF=1", "KGO_TEST_RECORDS=20000")
	out, runErr := cmd.CombinedOutput()
	passed := 0
	for name, result := range results(out) {
		_, listed := notServed[name]
		switch {
		case result == "PASS":
			passed++
		case result == "SKIP" && listed:
		default:
			t.Errorf("%s: %s", name, result)
		}
	}
	if runErr != nil {
		t.Errorf("%v\n%s", runErr, out[max(0, len(out)-20_000):])
	}
	if passed < 140 {
		t.Errorf("only %d tests have passed", passed)
	}
	t.Logf("%d tests passed", passed)
}

var resultLine = regexp.MustCompile(`^--- (PASS|SKIP|FAIL): (\w+)`)

// results finds what became of each test in the output of -test.v.
func results(out []byte) map[string]string {
	found := map[string]string{}
	for line := range bytes.Lines(out) {
		if m := resultLine.FindSubmatch(line); m != nil {
			found[string(m[2])] = string(m[1])
		}
	}
	return found
}
