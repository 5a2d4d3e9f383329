package chaos

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"barnabas/test/chaos/history"
	"barnabas/test/kit"
)

var (
	kills        = flag.Int("kills", 5, "how often the node is killed under load")
	transactions = flag.Int64("transactions", 3000, "how many transactions are to be committed at least")
	restarts     = flag.Int("restarts", 3, "how often the node is killed under Streams and Connect")
	ofJava       = flag.Int64("java-transactions", 1000, "how many Java is to commit with each group.protocol at least")
	apache       = flag.Bool("apache", false, "run against Apache Kafka instead of ours")
	seed         = flag.Uint64("seed", uint64(time.Now().UnixNano()), "seed of random moments")
	keep         = flag.String("history", "", "file to which the history is written if it has anomalies")
)

// TestTransformersAreExactlyOnce has clients consume, process and produce in
// transactions while the node is killed again and again.
func TestTransformersAreExactlyOnce(t *testing.T) {
	t.Logf("seed %d", *seed)
	rng := rand.New(rand.NewPCG(*seed, 0))
	node := newNode(t)
	w := &world{address: node.Address(), history: &history.History{}, began: time.Now()}
	createTopics(t, w.address, partitions, inputs, outputs)
	ctx, stop := context.WithCancel(context.Background())
	var clients sync.WaitGroup
	defer clients.Wait()
	defer stop()
	run := func(what string, do func(context.Context) error) {
		clients.Go(func() {
			if err := do(ctx); err != nil {
				t.Errorf("%s: %v", what, err)
				stop()
			}
		})
	}
	run("feeder", func(ctx context.Context) error { return w.feed(ctx, 2000) })
	run("observer", w.observe)
	for i := range partitions {
		tr := &transformer{world: w, name: fmt.Sprint("transformer-", i)}
		run(tr.name, tr.run)
	}
	for round := range *kills {
		until := *transactions * int64(round+1) / int64(*kills+1)
		waitFor(t, ctx, fmt.Sprintf("%d transactions", until), func() bool { return w.committed.Load() >= until })
		wait(ctx, time.Duration(rng.IntN(500))*time.Millisecond) // the random moment itself
		if err := node.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := node.Start(); err != nil {
			t.Fatal(err)
		}
	}
	waitFor(t, ctx, "all transactions", func() bool { return w.committed.Load() >= *transactions })
	stop()
	clients.Wait()
	auditing, done := context.WithTimeout(context.Background(), 2*time.Minute)
	defer done()
	if err := w.audit(auditing); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d transactions committed, %d aborted, %d ended unknown; %d inputs, %d consumed", w.committed.Load(), w.aborted.Load(), w.unknown.Load(), w.sent.Load(), w.consumed.Load())
	report(t, w.history)
}

// report fails the test for each anomaly.
func report(t *testing.T, h *history.History) {
	t.Helper()
	anomalies := history.Check(h.Events())
	for i, a := range anomalies {
		if i == 20 {
			t.Errorf("and %d more", len(anomalies)-i)
			break
		}
		t.Error(a)
	}
	if len(anomalies) == 0 || *keep == "" {
		return
	}
	f, err := os.Create(*keep)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := h.WriteJSON(f); err != nil {
		t.Fatal(err)
	}
}

// newNode starts the server that the flags say.
func newNode(t *testing.T) *kit.Node {
	t.Helper()
	var server kit.Server
	var err error
	if *apache {
		server, err = kit.InstallApache()
	} else {
		server, err = kit.BuildBarnabas(t.TempDir())
	}
	if err != nil {
		t.Fatal(err)
	}
	n, err := kit.NewNode(server, filepath.Join(t.TempDir(), "node"),
		"transaction.abort.timed.out.transaction.cleanup.interval.ms=1000", "group.initial.rebalance.delay.ms=0")
	if err != nil {
		t.Fatal(err)
	}
	n.EndWith(t)
	if err := n.Start(); err != nil {
		t.Fatal(err)
	}
	return n
}

func createTopics(t *testing.T, address string, partitions int32, names ...string) {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(address))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	ctx, done := context.WithTimeout(context.Background(), time.Minute)
	defer done()
	made, err := kadm.NewClient(cl).CreateTopics(ctx, partitions, 1, nil, names...)
	if err == nil {
		err = made.Error()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// waitFor waits for a condition that takes as long as the load does.
func waitFor(t *testing.T, ctx context.Context, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Minute); !done(); wait(ctx, 5*time.Millisecond) {
		if ctx.Err() != nil || time.Now().After(deadline) {
			t.Fatalf("waited for %s", what)
		}
	}
}
