package kit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// Node is one running or stopped server with a folder of its own: Dir/data is
// log.dirs, Dir/server.properties its configuration.
type Node struct {
	Dir        string
	Port       int    // clients
	Controller int    // controller listener
	Admin      string // admin listener of ours, host:port; "" for none
	flavor     flavor
	proc       *Process
}

// flavor starts one kind of server on a folder.
type flavor interface {
	format(n *Node, clusterID string) error
	start(n *Node) (*Process, error)
}

// Address is host and port for clients.
func (n *Node) Address() string { return fmt.Sprintf("127.0.0.1:%d", n.Port) }

// DataDir is the node's only log directory.
func (n *Node) DataDir() string { return filepath.Join(n.Dir, "data") }

// Properties is the path of the configuration file.
func (n *Node) Properties() string { return filepath.Join(n.Dir, "server.properties") }

// LogFile is the path of what the server printed.
func (n *Node) LogFile() string { return filepath.Join(n.Dir, "server.log") }

// PID is the process id of the running server.
func (n *Node) PID() int { return n.proc.PID() }

// Ended is closed when the running server's process has ended.
func (n *Node) Ended() <-chan struct{} { return n.proc.Ended() }

// Format formats the folder of a node that PrepareNode made.
func (n *Node) Format() error { return n.flavor.format(n, ClusterID) }

// Start starts the server and waits until it listens for clients.
func (n *Node) Start() error {
	p, err := n.flavor.start(n)
	if err != nil {
		return err
	}
	n.proc = p
	return p.waitPort(n.Address())
}

// Test is what a node needs of the test that it runs for.
type Test interface {
	Cleanup(func())
	Failed() bool
	Error(...any)
	Logf(string, ...any)
}

// shownOfLog is how much of its log a node shows when its test has failed.
const shownOfLog = 8000

// EndWith kills the server when the test ends, and shows the end of its log if the
// test has failed.
func (n *Node) EndWith(t Test) {
	t.Cleanup(func() {
		if err := n.Kill(); err != nil {
			t.Error(err)
		}
		if b, err := os.ReadFile(n.LogFile()); t.Failed() && err == nil {
			t.Logf("server log:\n%s", b[max(0, len(b)-shownOfLog):])
		}
	})
}

// Stop asks the server to end (SIGTERM) and waits.
func (n *Node) Stop() error { return n.signal(syscall.SIGTERM) }

// Kill ends the server without a chance to write anything (SIGKILL).
func (n *Node) Kill() error { return n.signal(syscall.SIGKILL) }

func (n *Node) signal(s syscall.Signal) error {
	if n.proc == nil {
		return nil
	}
	err := n.proc.Signal(s)
	n.proc = nil
	return err
}

// As returns a stopped node of the other flavor on the same folder and ports:
// a swap.
func (n *Node) As(s Server) *Node {
	return &Node{Dir: n.Dir, Port: n.Port, Controller: n.Controller, Admin: n.Admin, flavor: s.flavor()}
}

// Server is a kind of server: Apache or Barnabas.
type Server interface{ flavor() flavor }

// ClusterID is the id that every folder made by the kit carries.
const ClusterID = "kitkitkitkitkitkitkitA"

// NewNode makes dir, writes server.properties with the given further lines
// ("key=value"), and formats the folder. The server isn't started.
func NewNode(s Server, dir string, properties ...string) (*Node, error) {
	n, err := PrepareNode(s, dir, properties...)
	if err != nil {
		return nil, err
	}
	return n, n.flavor.format(n, ClusterID)
}

// PrepareNode is NewNode without the formatting.
func PrepareNode(s Server, dir string, properties ...string) (*Node, error) {
	ports, err := FreePorts(2)
	if err != nil {
		return nil, err
	}
	n := &Node{Dir: dir, Port: ports[0], Controller: ports[1], flavor: s.flavor()}
	if err := os.MkdirAll(n.DataDir(), 0o755); err != nil {
		return nil, err
	}
	text := fmt.Sprintf(`process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=127.0.0.1:%[2]d
listeners=PLAINTEXT://127.0.0.1:%[1]d,CONTROLLER://127.0.0.1:%[2]d
advertised.listeners=PLAINTEXT://127.0.0.1:%[1]d,CONTROLLER://127.0.0.1:%[2]d
controller.listener.names=CONTROLLER
log.dirs=%[3]s
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
`, n.Port, n.Controller, n.DataDir())
	for _, p := range properties {
		text += p + "\n"
	}
	return n, writeDurably(n.Properties(), []byte(text))
}

// UseStaticVoter names this node's controller in controller.quorum.voters, as
// clusters before KIP-853 are configured.
func (n *Node) UseStaticVoter() error {
	old, err := os.ReadFile(n.Properties())
	if err != nil {
		return err
	}
	text := rewriteProperties(old, nil, []string{"controller.quorum.bootstrap.servers"})
	text = fmt.Appendf(text, "controller.quorum.voters=1@127.0.0.1:%d\n", n.Controller)
	return writeDurably(n.Properties(), text)
}

// writeDurably writes a file so that it survives the power cuts of a test.
func writeDurably(file string, text []byte) error {
	if err := os.WriteFile(file, text, 0o644); err != nil {
		return err
	}
	for path := file; ; path = filepath.Dir(path) {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			return err
		}
		if path == filepath.Dir(filepath.Dir(file)) {
			return nil
		}
	}
}

// AdoptNode is a stopped node on a folder that holds data and server.properties
// already; listeners, quorum address and log.dirs are rewritten, and the keys in
// drop are taken out.
func AdoptNode(s Server, dir string, drop ...string) (*Node, error) {
	ports, err := FreePorts(2)
	if err != nil {
		return nil, err
	}
	n := &Node{Dir: dir, Port: ports[0], Controller: ports[1], flavor: s.flavor()}
	old, err := os.ReadFile(n.Properties())
	if err != nil {
		return nil, err
	}
	listeners := fmt.Sprintf("PLAINTEXT://127.0.0.1:%d,CONTROLLER://127.0.0.1:%d", n.Port, n.Controller)
	set := map[string]string{
		"listeners":                           listeners,
		"advertised.listeners":                listeners,
		"controller.quorum.bootstrap.servers": fmt.Sprintf("127.0.0.1:%d", n.Controller),
		"log.dirs":                            n.DataDir(),
	}
	return n, os.WriteFile(n.Properties(), rewriteProperties(old, set, drop), 0o644)
}
