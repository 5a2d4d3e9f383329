package soak

import (
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"barnabas/test/kit"
)

var (
	kills = flag.Int("kills", 10, "how often the server is killed under load")
	seed  = flag.Uint64("seed", uint64(time.Now().UnixNano()), "seed of random moments and records")
)

// roundsPerFolder bounds how much has to be read again after each kill.
const roundsPerFolder = 10

func TestKilledServerKeepsWhatItAcknowledged(t *testing.T) {
	t.Logf("seed %d", *seed)
	apache, err := kit.InstallApache()
	if err != nil {
		t.Fatal(err)
	}
	binary := buildBarnabas(t)
	rng := rand.New(rand.NewPCG(*seed, 0))
	var node *kit.Node
	var book *ledger
	for round := range *kills {
		if round%roundsPerFolder == 0 {
			node, book = newSoakNode(t, binary, filepath.Join(t.TempDir(), "node")), newLedger()
			if err := createTopics(node.Address(), nil); err != nil {
				t.Fatal(err)
			}
		}
		killOnce(t, node, book, rng)
		checkWithApache(t, apache, node, book)
		if err := node.Start(); err != nil {
			t.Fatal(err)
		}
		if err := book.missing(node.Address()); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if round%roundsPerFolder == roundsPerFolder-1 || round == *kills-1 {
			t.Logf("round %d: %d acknowledged records, all there", round, book.len())
			if err := node.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// killOnce runs the load for a random time and kills the server in the middle.
func killOnce(t *testing.T, node *kit.Node, book *ledger, rng *rand.Rand) {
	t.Helper()
	before := book.len()
	ld, err := startLoad(node.Address(), book, rng.Uint64())
	if err != nil {
		t.Fatal(err)
	}
	defer ld.stop()
	waitUntil(t, "something is acknowledged", func() bool { return book.len() > before })
	<-time.After(time.Duration(rng.IntN(700)) * time.Millisecond) // the random moment itself
	if err := node.Kill(); err != nil {
		t.Fatal(err)
	}
}

// checkWithApache lets Apache Kafka open a copy of the folder.
func checkWithApache(t *testing.T, apache *kit.Apache, node *kit.Node, book *ledger) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(dir, os.DirFS(node.Dir)); err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	copied, err := kit.AdoptNode(apache, dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := copied.Start(); err != nil {
		t.Fatal(err)
	}
	defer copied.Kill()
	waitUntil(t, "Apache leads the partitions", func() bool { return leads(copied.Address()) })
	if err := book.missing(copied.Address()); err != nil {
		t.Fatalf("Apache on our folder: %v", err)
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

// newSoakNode formats and starts a node of ours; its log is printed when the
// test fails.
func newSoakNode(t *testing.T, binary *kit.Barnabas, dir string, properties ...string) *kit.Node {
	t.Helper()
	n, err := kit.NewNode(binary, dir, properties...)
	if err != nil {
		t.Fatal(err)
	}
	ports, err := kit.FreePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	n.Admin = address(ports[0])
	n.EndWith(t)
	if err := n.Start(); err != nil {
		t.Fatal(err)
	}
	return n
}
