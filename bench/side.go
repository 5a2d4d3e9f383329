package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"syscall"

	"barnabas/test/kit"
)

// startScript is what Apache's own start script gives the virtual machine beside
// a heap of 1 GB.
var startScript = []string{"-server", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20",
	"-XX:InitiatingHeapOccupancyPercent=35", "-XX:+ExplicitGCInvokesConcurrent"}

// tuned is what fits a small machine better than Apache's defaults: buffers that
// the kernel sizes, and no more threads than can run.
func tuned() []string {
	n := runtime.NumCPU()
	return []string{"socket.send.buffer.bytes=-1", "socket.receive.buffer.bytes=-1",
		fmt.Sprintf("num.network.threads=%d", n), fmt.Sprintf("num.io.threads=%d", n)}
}

// side is one of the two servers.
type side struct {
	flags
	name     string
	server   kit.Server
	ours     bool
	settings []string  // properties beside the kit's
	root     string    // nodes are folders in here
	template string    // log directory of a node that was formatted and never started
	nodes    int       // how many were made
	topics   int       // how many were named
	workload string    // the one that runs
	noisy    bool      // it was disturbed
	node     *kit.Node // the one that lives

	mu   sync.Mutex
	pid  int  // guarded by mu; of the node that runs
	gone bool // guarded by mu; interrupted
}

// newSides installs, builds and formats; what ours is compared with comes first.
func newSides(root string, f flags) (both [2]*side, err error) {
	theirs, err := rival(root, f)
	if err != nil {
		return both, err
	}
	ours := &side{flags: f, name: "Barnabas", server: &kit.Barnabas{Binary: f.binary}, root: filepath.Join(root, "ours"), ours: true}
	if f.binary == "" {
		logf("building Barnabas")
		if ours.server, err = kit.BuildBarnabas(root); err != nil {
			return both, err
		}
	}
	both = [2]*side{theirs, ours}
	for _, s := range both {
		n, err := kit.NewNode(s.server, filepath.Join(s.root, "template"))
		if err != nil {
			return both, err
		}
		s.template = n.DataDir()
	}
	return both, nil
}

// rival is Apache Kafka, or another build of ours if that was asked for.
func rival(root string, f flags) (*side, error) {
	s := &side{flags: f, root: filepath.Join(root, "theirs")}
	s.profile = "" // of ours only
	if f.against != "" {
		s.name, s.server, s.ours = "other build", &kit.Barnabas{Binary: f.against}, true
		return s, nil
	}
	logf("installing Apache Kafka %s", kit.ApacheVersion)
	apache, err := kit.InstallApache()
	if err != nil {
		return nil, err
	}
	apache.Heap, apache.JVM = "1g", startScript
	s.name, s.server = "Apache", apache
	if f.tuned {
		s.name, s.settings = "Apache, tuned", tuned()
	}
	return s, nil
}

// runGroup runs workloads in one life of the server.
func (s *side) runGroup(ctx context.Context, group []workload, pair int) ([]outcome, error) {
	var outcomes []outcome
	for _, w := range group {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		logf("pair %d/%d: %s on %s", pair+1, s.pairs, w.name, s.name)
		s.workload, s.noisy = w.name, false
		o, err := w.run(s)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s on %s: %w", w.name, s.name, err), s.end())
		}
		o.noisy = s.noisy
		outcomes = append(outcomes, o)
	}
	return outcomes, s.end()
}

// prepare is a stopped node with a fresh folder that isn't formatted.
func (s *side) prepare(settings ...string) (*kit.Node, error) {
	s.nodes++
	n, err := kit.PrepareNode(s.server, filepath.Join(s.root, strconv.Itoa(s.nodes)), slices.Concat(s.settings, settings)...)
	if err != nil {
		return nil, err
	}
	return n, s.setAdmin(n)
}

// setAdmin gives ours the admin listener that it has by default, on a free port.
func (s *side) setAdmin(n *kit.Node) error {
	if !s.ours {
		return nil
	}
	ports, err := kit.FreePorts(1)
	if err != nil {
		return err
	}
	n.Admin = fmt.Sprintf("127.0.0.1:%d", ports[0])
	return nil
}

// running is the node of this life; the first call starts it on a fresh folder.
func (s *side) running() (*kit.Node, error) {
	if s.node != nil {
		return s.node, nil
	}
	return s.runningWith()
}

// runningWith begins a life with settings beside the side's own.
func (s *side) runningWith(settings ...string) (*kit.Node, error) {
	n, err := s.prepare(settings...)
	if err != nil {
		return nil, err
	}
	if err := copyDir(s.template, n.DataDir()); err != nil {
		return nil, err
	}
	return n, s.start(n)
}

// start starts n and makes it the node of this life.
func (s *side) start(n *kit.Node) error {
	s.node = n
	if err := n.Start(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pid = n.PID()
	if s.gone {
		return errors.New("interrupted")
	}
	return nil
}

// end stops the node of this life, if there is one, and removes its folder.
func (s *side) end() error {
	s.mu.Lock()
	s.pid = 0
	s.mu.Unlock()
	n := s.node
	s.node = nil
	if n == nil {
		return nil
	}
	return errors.Join(n.Stop(), os.RemoveAll(n.Dir))
}

// interrupt kills the node of this life, which makes the workload fail; none is
// started any more.
func (s *side) interrupt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = true
	if s.pid != 0 {
		if err := syscall.Kill(s.pid, syscall.SIGKILL); err != nil {
			logf("%v", err)
		}
	}
}

// topicName is a name that this life's node has not seen.
func (s *side) topicName() string {
	s.topics++
	return fmt.Sprintf("bench-%d", s.topics)
}

// pick chooses an amount.
func (s *side) pick(full, quick int) int {
	if s.quick {
		return quick
	}
	return full
}
