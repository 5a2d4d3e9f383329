package node

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"barnabas/internal/admin"
	"barnabas/internal/base/clock"
	"barnabas/internal/base/loglevel"
	"barnabas/internal/base/vfs"
	"barnabas/internal/base/wheel"
	"barnabas/internal/config"
	"barnabas/internal/controller"
	"barnabas/internal/coordinator/group"
	"barnabas/internal/coordinator/runtime"
	"barnabas/internal/coordinator/transactions"
	"barnabas/internal/kafka"
	"barnabas/internal/membership"
	"barnabas/internal/metadata/image"
	"barnabas/internal/metadata/loader"
	"barnabas/internal/metadata/metarec"
	"barnabas/internal/producerid"
	"barnabas/internal/quorum"
	"barnabas/internal/replica"
	"barnabas/internal/security"
	"barnabas/internal/server"
	"barnabas/internal/telemetry"
)

// Options are what a node is started with.
type Options struct {
	Config *config.Broker
	// AutoFormat allows a node whose directories were never formatted to do so.
	AutoFormat bool
	Log        *slog.Logger
	// Level is the level of lines that no logger has its own for; the admin listener
	// and the root logger of broker-loggers change it. Nil: INFO.
	Level *slog.LevelVar
	// Authorizer says what clients may do; nil allows everything.
	Authorizer security.Authorizer

	// NewFS makes the file system of one log directory, or of a format; nil is that
	// of the operating system with a gate for each. A node on a file system in memory
	// is one that a test throws away.
	NewFS func() vfs.FS
}

// Node is a running node.
type Node struct {
	config      *config.Broker
	authorizer  security.Authorizer
	log         *slog.Logger
	loggers     *loglevel.Loggers
	incarnation kafka.UUID

	dirs         *directories
	quorum       *quorum.Quorum
	replicas     *replica.Manager
	controller   *controller.Controller
	loader       *loader.Loader
	producerIDs  *producerid.Manager
	groups       *runtime.Runtime[*group.Core]
	transactions *transactions.Coordinator
	// transactionLevel is the finalized level of transaction.version; written by the loader.
	transactionLevel atomic.Int32
	telemetry        *telemetry.Manager
	watch            *groupWatch
	groupRules       group.Settings        // what the coordinators of groups go by
	resolutions      chan group.Resolution // what consumer groups ask; taken by resolve
	assignments      *membership.Assignments
	server           *server.Server
	admin            *admin.Server // nil: off
	meters           *meters
	wheel            *wheel.Wheel

	controllerRegistration metarec.RegisterControllerRecord

	image     atomic.Pointer[image.Image]   // as requests see it
	effective atomic.Pointer[config.Broker] // config with what the metadata log says
	member    atomic.Pointer[membership.Member]
	topics    atomic.Pointer[groupTopics] // as consumer groups see them; written by the publishing goroutine
	dynamic   config.Dynamic              // owned by the publishing goroutine
	told      config.Told                 // keys without effect that were named; owned by the publishing goroutine
	assigned  []assigned                  // not handed to assignments yet; owned by the publishing goroutine

	serving   chan struct{} // closed when clients are let in
	failed    chan struct{} // closed by fatal
	failure   error         // written before failed is closed
	failOnce  sync.Once
	stopping  atomic.Bool
	stop      chan struct{} // ends the background goroutines
	tasks     sync.WaitGroup
	stopOnce  sync.Once
	stopError error
}

// Start starts a node. It returns when everything is under way; Serving says when
// clients are let in.
func Start(o Options) (*Node, error) {
	if o.Level == nil {
		o.Level = new(slog.LevelVar)
	}
	loggers := loglevel.New(o.Level)
	n := &Node{
		config: o.Config, authorizer: o.Authorizer, log: slog.New(loggers.Handler(o.Log.Handler())), loggers: loggers, meters: newMeters(),
		told:        config.Told{},
		resolutions: make(chan group.Resolution, maxResolutions),
		serving:     make(chan struct{}), failed: make(chan struct{}), stop: make(chan struct{}),
	}
	if n.authorizer == nil {
		n.authorizer = security.AllowAll{}
	}
	n.image.Store(image.Empty())
	n.effective.Store(o.Config)
	var err error
	if n.incarnation, err = kafka.RandomUUID(rand.Reader); err != nil {
		return nil, err
	}
	if o.NewFS == nil {
		o.NewFS = ownFS
	}
	if n.dirs, err = openDirectories(o.Config, o.AutoFormat, o.NewFS, n.log); err != nil {
		return nil, err
	}
	if err := n.listenAdmin(o.Level); err != nil {
		return nil, errors.Join(err, n.disassemble())
	}
	if err := n.assemble(); err != nil {
		return nil, errors.Join(err, n.disassemble())
	}
	if n.admin != nil {
		n.admin.Start()
	}
	n.tasks.Go(func() { n.wheel.Run(time.Now, n.stop) })
	n.loader.Start()
	n.quorum.Start(follower{n.loader, n.controller})
	n.tasks.Go(n.limitStart)
	n.tasks.Go(n.watchGroups)
	n.tasks.Go(n.resolve)
	for _, l := range o.Config.Network.Listeners {
		if l.Controller {
			n.server.Start(l.Name)
		}
	}
	return n, nil
}

// limitStart ends a node that takes longer to start than it may.
func (n *Node) limitStart() {
	timer := time.NewTimer(n.config.Lifecycle.MaxStartupTime)
	defer timer.Stop()
	select {
	case <-n.serving:
	case <-n.stop:
	case <-timer.C:
		n.fatal(fmt.Errorf("the node was not ready within server.max.startup.time.ms (%v)", n.config.Lifecycle.MaxStartupTime))
	}
}

// disassemble closes what assemble has made before it failed.
func (n *Node) disassemble() error {
	var errs []error
	if n.server != nil {
		errs = append(errs, n.server.Close())
	}
	if n.controller != nil {
		n.controller.Close()
	}
	if n.transactions != nil {
		n.transactions.Close()
	}
	if n.groups != nil {
		n.groups.Close()
	}
	if n.replicas != nil {
		n.replicas.Close(kafka.NoBrokerEpoch)
	}
	if n.quorum != nil {
		errs = append(errs, n.quorum.Close())
	}
	if n.admin != nil {
		errs = append(errs, n.admin.Close())
	}
	return errors.Join(append(errs, n.dirs.release(false))...)
}

// startMembership begins to register, with the first image.
func (n *Node) startMembership(at membership.Metadata) {
	c := n.config
	all, cordoned := n.brokerDirectories()
	m := membership.New(membership.Options{
		ID: c.Node.ID, ClusterID: n.dirs.clusterID, Incarnation: n.incarnation, Rack: rack(c.Node.Rack),
		Listeners: n.brokerListeners(), Features: brokerFeatures(), LogDirs: all, CordonedLogDirs: cordoned,
		PreviousEpoch:     n.replicas.PreviousEpoch(),
		HeartbeatInterval: c.Lifecycle.HeartbeatInterval, InitialRegistrationTimeout: c.Lifecycle.InitialRegistrationTimeout,
		DirFailureTimeout: c.Logs.DirFailureTimeout, ControlledShutdown: c.Lifecycle.ControlledShutdownEnable,
		Controller: ownController{n.controller}, Clock: clock.System{}, Log: n.log.With("part", "membership"),
	})
	m.MetadataApplied(at)
	n.member.Store(m)
	// Those that have failed since their ids were taken found no member to tell.
	for _, d := range n.replicas.Dirs() {
		if !d.Online() && slices.Contains(all, d.ID()) {
			m.DirectoryFailed(d.ID())
		}
	}
	m.Start()
	n.tasks.Go(func() { n.join(m) })
}

// join has the broker unfenced as soon as its metadata has its registration:
// partitions answer when their logs are open, each for itself.
func (n *Node) join(m *membership.Member) {
	for _, step := range []struct {
		reached <-chan struct{}
		then    func()
	}{
		{m.CaughtUp(), m.Ready},
		{m.Unfenced(), n.letClientsIn},
	} {
		select {
		case <-step.reached:
			step.then()
		case <-m.Stopped():
			if why := m.Failure(); why != "" {
				n.fatal(errors.New(why))
			}
			return
		case <-n.stop:
			return
		}
	}
	select {
	case <-m.Stopped():
		if why := m.Failure(); why != "" {
			n.fatal(errors.New(why))
		}
	case <-n.stop:
	}
}

func (n *Node) letClientsIn() {
	n.producerIDs.Prefetch()
	n.server.Start()
	close(n.serving)
}

func rack(name string) *string {
	if name == "" {
		return nil
	}
	return &name
}

// Image is the metadata that requests are answered from.
func (n *Node) Image() *image.Image { return n.image.Load() }

// Serving closes when clients are let in.
func (n *Node) Serving() <-chan struct{} { return n.serving }

// Failed closes when the node cannot go on; Failure says why then.
func (n *Node) Failed() <-chan struct{} { return n.failed }

// Failure is why the node cannot go on. It is to be asked when Failed has closed.
func (n *Node) Failure() error { return n.failure }

// Address is the address that a listener is bound to.
func (n *Node) Address(listener string) netip.AddrPort { return n.server.Addr(listener) }

// ClusterID is the id of the cluster.
func (n *Node) ClusterID() string { return n.dirs.clusterID }

// brokerEpoch is the epoch of this broker's registration.
func (n *Node) brokerEpoch() kafka.BrokerEpoch {
	if m := n.member.Load(); m != nil {
		return m.Epoch()
	}
	return kafka.NoBrokerEpoch
}

// fatal says that the node must stop.
func (n *Node) fatal(err error) {
	n.failOnce.Do(func() {
		n.failure = err
		n.log.Error("the node cannot go on", "error", err)
		close(n.failed)
	})
}

// answersTimeout bounds how long a stop waits for answers to leave.
const answersTimeout = 5 * time.Second

// Stop stops the node in order. When ctx ends, the controlled shutdown is cut
// short. It may be called again.
func (n *Node) Stop(ctx context.Context) error {
	n.stopOnce.Do(func() { n.stopError = n.stopInOrder(ctx) })
	return n.stopError
}

func (n *Node) stopInOrder(ctx context.Context) error {
	n.stopping.Store(true)
	n.log.Info("stopping")
	clean := n.leave(ctx)
	epoch := n.brokerEpoch()
	// Members that wait for a rebalance are answered before their answers are waited
	// for.
	n.transactions.Close()
	n.groups.Close()
	answers, cancel := context.WithTimeout(context.Background(), answersTimeout)
	defer cancel()
	var errs []error
	if err := n.server.Shutdown(answers); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		errs = append(errs, err)
	}
	n.assignments.Close()
	// The loader is the one who calls the replicas; it stops first.
	n.loader.Close()
	n.replicas.Close(epoch)
	n.producerIDs.Close()
	if m := n.member.Load(); m != nil {
		m.Close()
	}
	n.controller.Close()
	errs = append(errs, n.quorum.Close())
	close(n.stop)
	n.tasks.Wait()
	if n.admin != nil {
		errs = append(errs, n.admin.Close())
	}
	for _, d := range n.replicas.Dirs() {
		n.dirs.find(d.Path()).failed = !d.Online()
	}
	errs = append(errs, n.dirs.release(clean))
	n.log.Info("stopped", "clean", clean)
	return errors.Join(errs...)
}

// leave is the controlled shutdown. It is false where the node has failed: what
// is on disk is left as it is then.
func (n *Node) leave(ctx context.Context) (clean bool) {
	select {
	case <-n.failed:
		return false
	default:
	}
	m := n.member.Load()
	if m == nil {
		return true
	}
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Now().Add(5 * time.Minute)
	}
	m.Shutdown(deadline)
	select {
	case <-m.Stopped():
	case <-n.failed:
		return false
	case <-ctx.Done():
		n.log.Warn("the controlled shutdown was cut short")
	}
	return true
}
