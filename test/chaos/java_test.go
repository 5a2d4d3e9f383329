package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/test/chaos/history"
	"barnabas/test/kit"
)

// TestJavaTransformersAreExactlyOnce has Apache's Java clients consume, process and
// produce under kills, in groups of both protocols, with transactions of version 1 in
// the first half and of version 2 in the second.
func TestJavaTransformersAreExactlyOnce(t *testing.T) {
	install, err := kit.InstallApache()
	if err != nil {
		t.Fatal(err)
	}
	for _, protocol := range []string{"classic", "consumer"} {
		t.Run(protocol, func(t *testing.T) { transformInJava(t, install, protocol) })
	}
}

func transformInJava(t *testing.T, install *kit.Apache, protocol string) {
	t.Logf("seed %d", *seed)
	rng := rand.New(rand.NewPCG(*seed, 0))
	node := newNode(t)
	w := &world{address: node.Address(), history: &history.History{}, began: time.Now()}
	createTopics(t, w.address, partitions, inputs, outputs)
	setTransactionVersion(t, w.address, 1)
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
	run("transformers in Java", func(ctx context.Context) error {
		return w.runJava(ctx, newJavaProgram(t, install.Program("256m", "java/Transform.java", w.address, protocol, strconv.Itoa(partitions), strconv.FormatInt(w.began.UnixNano(), 10))))
	})
	for round := range *kills {
		if round == *kills/2 {
			setTransactionVersion(t, w.address, 2)
		}
		until := *ofJava * int64(round+1) / int64(*kills+1)
		waitFor(t, ctx, fmt.Sprintf("%d transactions", until), func() bool { return w.committed.Load() >= until })
		wait(ctx, time.Duration(rng.IntN(500))*time.Millisecond) // the random moment itself
		restart(t, node)
		t.Logf("restarted after %v and %d transactions", time.Since(w.began).Round(time.Millisecond), w.committed.Load())
	}
	waitFor(t, ctx, "all transactions", func() bool { return w.committed.Load() >= *ofJava })
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

// restart kills our node and starts it again. Apache Kafka 4.4 is stopped: killed, its
// transaction coordinator leaves out markers of partitions whose leaders it does not
// know yet when it loads, and loses what a transaction wrote there.
func restart(t *testing.T, node *kit.Node) {
	t.Helper()
	end := node.Kill
	if *apache {
		end = node.Stop
	}
	if err := errors.Join(end(), node.Start()); err != nil {
		t.Fatal(err)
	}
}

// setTransactionVersion changes the feature of the whole cluster.
func setTransactionVersion(t *testing.T, address string, level int16) {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(address))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	req := kmsg.NewPtrUpdateFeaturesRequest()
	update := kmsg.NewUpdateFeaturesRequestFeatureUpdate()
	update.Feature, update.MaxVersionLevel, update.UpgradeType = "transaction.version", level, 1
	if level == 1 { // fresh folders have the newest
		update.UpgradeType = 2
	}
	req.FeatureUpdates = append(req.FeatureUpdates, update)
	ctx, done := context.WithTimeout(context.Background(), time.Minute)
	defer done()
	// A node that was just started may not have its controller yet.
	for {
		resp, err := req.RequestWith(ctx, cl)
		if err == nil && resp.ErrorCode == 0 {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("transaction.version %d: %v %+v", level, err, resp)
		}
		wait(ctx, 100*time.Millisecond)
	}
}

// runJava runs a program that writes events, until the context ends.
func (w *world) runJava(ctx context.Context, program *javaProgram) error {
	if err := program.start(w.addEvent(map[string]int64{})); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
	case <-program.ended:
		return fmt.Errorf("it ended before it was told to: %w", program.end())
	}
	return program.end()
}

// addEvent adds an event to the history as it is written, and counts; inputs are those
// of the transaction that a client has begun.
func (w *world) addEvent(inputs map[string]int64) func(line []byte) error {
	return func(line []byte) error {
		var e history.Event
		if err := json.Unmarshal(line, &e); err != nil {
			return err
		}
		w.history.Add(e)
		switch {
		case e.Kind == history.Poll:
			inputs[e.Client] = int64(len(e.Records))
		case e.Kind != history.End:
		case e.Outcome != history.OK:
			w.unknown.Add(1)
		case e.Commit:
			w.committed.Add(1)
			w.consumed.Add(inputs[e.Client])
		default:
			w.aborted.Add(1)
		}
		return nil
	}
}
