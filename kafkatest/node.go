package kafkatest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"sync"
	"testing"
	"time"

	"barnabas/internal/base/vfs"
	"barnabas/internal/config"
	"barnabas/internal/node"
)

// patience bounds a start and a stop; both take milliseconds.
const patience = time.Minute

// memoryDir is where a node's data lies in its file system in memory.
const memoryDir = "/kafkatest"

// Node is a broker of this process.
type Node struct {
	options options
	client  netip.AddrPort // chosen by the system at the first start; it stays

	mu      sync.Mutex
	running *node.Node // nil when stopped; guarded by mu
}

// Start starts a node and waits until it serves clients. It is stopped when the
// test ends. What goes wrong ends the test.
func Start(t testing.TB, opts ...Option) *Node {
	t.Helper()
	kept := &tail{}
	n, err := Open(append([]Option{Logger(slog.New(slog.NewTextHandler(kept, nil)))}, opts...)...)
	if err != nil {
		t.Fatalf("kafkatest: %v", err)
	}
	t.Cleanup(func() {
		if err := n.Stop(); err != nil {
			t.Errorf("kafkatest: %v", err)
		}
		if text := kept.String(); t.Failed() && text != "" {
			t.Logf("log of the Kafka node:\n%s", text)
		}
	})
	return n
}

// Open is Start for what is no test, such as TestMain. Whoever calls it calls Stop.
func Open(opts ...Option) (*Node, error) {
	o := options{overrides: []string{
		"barnabas.admin.listener=none",
		"group.initial.rebalance.delay.ms=0",
		"offsets.topic.num.partitions=1", "transaction.state.log.num.partitions=1",
	}}
	for _, option := range opts {
		option(&o)
	}
	if o.log == nil {
		o.log = slog.New(slog.DiscardHandler)
	}
	if o.dir == "" {
		o.dir, o.memory = memoryDir, vfs.NewVolatile(time.Now)
	}
	n := &Node{options: o, client: netip.MustParseAddrPort("127.0.0.1:0")}
	if err := n.start(); err != nil {
		return nil, err
	}
	n.client = n.running.Address("PLAINTEXT")
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := createTopics(ctx, n.Addr(), o.topics); err != nil {
		return nil, errors.Join(err, n.Stop())
	}
	return n, nil
}

// start starts a node on n.client and waits until it lets clients in. It is called
// with mu held, or before anybody else knows the node.
func (n *Node) start() error {
	c, warnings, err := config.Load(config.Options{Overrides: append([]string{
		"log.dirs=" + n.options.dir, "listeners=PLAINTEXT://" + n.client.String() + ",CONTROLLER://127.0.0.1:0",
	}, n.options.overrides...)})
	for _, w := range warnings {
		n.options.log.Warn(w.Text, "key", w.Key)
	}
	if err != nil {
		return err
	}
	o := node.Options{Config: c, AutoFormat: true, Log: n.options.log}
	if m := n.options.memory; m != nil {
		o.NewFS = func() vfs.FS { return m }
	}
	if n.running, err = node.Start(o); err != nil {
		n.running = nil
		return err
	}
	limit := time.NewTimer(patience)
	defer limit.Stop()
	select {
	case <-n.running.Serving():
		return nil
	case <-n.running.Failed():
		return errors.Join(n.running.Failure(), n.stopLocked())
	case <-limit.C:
		return errors.Join(fmt.Errorf("not ready after %v", patience), n.stopLocked())
	}
}

// Addr is the bootstrap address, host:port. It stays the same across restarts.
func (n *Node) Addr() string { return n.client.String() }

// AdminAddr is the address of the admin listener with /metrics, or "" if it is off,
// as it is unless Config("barnabas.admin.listener", "127.0.0.1:0") was given.
func (n *Node) AdminAddr() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.running == nil || !n.running.AdminAddress().IsValid() {
		return ""
	}
	return n.running.AdminAddress().String()
}

// Stop stops the node cleanly and waits for its end. A node that is stopped may be
// stopped again.
func (n *Node) Stop() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.stopLocked()
}

func (n *Node) stopLocked() error {
	if n.running == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	err := n.running.Stop(ctx)
	n.running = nil
	return err
}

// Restart stops the node if it runs, and starts it on the same data and address: what
// clients see is a broker that was away for a moment.
func (n *Node) Restart() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.stopLocked(); err != nil {
		return err
	}
	return n.start()
}
