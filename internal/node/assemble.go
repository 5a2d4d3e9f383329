package node

import (
	"crypto/rand"
	"fmt"
	mathrand "math/rand/v2"
	"net"
	"net/netip"
	"time"

	"barnabas/internal/api"
	"barnabas/internal/base/budget"
	"barnabas/internal/base/clock"
	"barnabas/internal/base/vfs"
	"barnabas/internal/base/wheel"
	"barnabas/internal/config"
	"barnabas/internal/controller"
	"barnabas/internal/kafka"
	"barnabas/internal/membership"
	"barnabas/internal/metadata/loader"
	"barnabas/internal/producerid"
	"barnabas/internal/quorum"
	"barnabas/internal/replica"
	"barnabas/internal/server"
	"barnabas/internal/telemetry"
	"barnabas/internal/wire"
)

const (
	// openFiles bounds the descriptors of log segments; the usual limit of a
	// process is 20,000 or more, and connections need theirs.
	openFiles = 10_000
	// controllerBudget is the memory for requests of controller listeners, apart
	// from that of clients, so that clients cannot starve the cluster.
	controllerBudget = 32 << 20
	wheelTick        = time.Millisecond
)

// assemble makes all parts and has them know each other. What fails is left to
// the caller to close.
func (n *Node) assemble() error {
	c := n.config
	metadataDir := n.dirs.find(c.Node.MetadataLogDir)
	var err error
	n.quorum, err = quorum.Open(quorum.Options{
		FS: metadataDir.fs, Dir: metadataDir.path, NodeID: c.Node.ID, DirectoryID: metadataDir.meta.DirectoryID,
		Endpoints:    quorum.ControllerEndpoints(c.Network, hostName()),
		StaticVoters: quorum.StaticVoters(c.Quorum, c.Network.ControllerListenerNames[0]),
		SegmentBytes: c.MetadataLog.SegmentBytes, SegmentAge: c.MetadataLog.Segment,
		MaxRetentionBytes: c.MetadataLog.MaxRetentionBytes, MaxRetention: c.MetadataLog.MaxRetention,
		Now: time.Now, Fatal: n.fatal, Logger: n.log.With("part", "quorum"),
	})
	if err != nil {
		return err
	}
	if err := n.openReplicas(); err != nil {
		return err
	}
	n.makeController()
	n.producerIDs = producerid.New(producerid.Options{Allocate: n.allocateProducerIDs, Now: time.Now, Log: n.log.With("part", "producer ids")})
	if err := n.makeGroups(); err != nil {
		return err
	}
	n.makeTransactions()
	n.watch = newGroupWatch()
	n.telemetry = telemetry.New(telemetry.Options{
		Resources: n.telemetryResources, NewID: func() (kafka.UUID, error) { return kafka.RandomUUID(rand.Reader) },
		MaxBytes: func() int { return int(n.effective.Load().Telemetry.MaxBytes) },
	})
	n.assignments = membership.NewAssignments(membership.AssignmentOptions{
		ID: c.Node.ID, Epoch: n.brokerEpoch, Controller: ownController{n.controller},
		Valid: n.validAssignment, Clock: clock.System{}, Log: n.log.With("part", "membership"),
	})
	if err := n.listen(); err != nil {
		return err
	}
	n.controllerRegistration = *n.controllerRecord()
	n.loader = loader.New(loader.Options{
		Publishers: n.publishers(),
		CaughtUp: func(next kafka.Offset) bool {
			hw := n.quorum.Status().HighWatermark
			return hw != kafka.NoOffset && next >= hw
		},
		CreateSnapshot: createSnapshot(n.quorum),
		SnapshotBytes:  c.MetadataLog.MaxRecordBytesBetweenSnapshot, SnapshotAge: c.MetadataLog.MaxSnapshotInterval,
		Now: time.Now, Logger: n.log.With("part", "metadata"),
	})
	return nil
}

func (n *Node) openReplicas() error {
	c := n.config
	n.wheel = wheel.New(wheelTick, time.Now())
	closeFailed := func(err error) { n.log.Error("closing a file failed", "error", err) }
	o := replica.Options{
		ID: c.Node.ID, Config: c, Files: vfs.NewCache(openFiles, closeFailed), Wheel: n.wheel, Now: time.Now,
		Random: rand.Reader, Log: n.log.With("part", "replicas"), BrokerEpoch: n.brokerEpoch,
		Controller: lateController{n}, Membership: replicaMembership{n}, Transactions: enlister{n}, Fatal: n.fatal,
		MetadataCuts: n.quorum.Cuts(),
		Flushed:      n.meters.flushes.Observe,
	}
	for _, path := range c.Node.LogDirs {
		d := n.dirs.find(path)
		o.Dirs = append(o.Dirs, replica.DirOptions{Path: d.path, ID: d.meta.DirectoryID, FS: d.fs, Metadata: path == c.Node.MetadataLogDir, Failed: d.failed})
	}
	var err error
	n.replicas, err = replica.Open(o)
	return err
}

func (n *Node) makeController() {
	n.controller = controller.New(controller.Options{
		ID: n.config.Node.ID, ClusterID: n.dirs.clusterID, Self: &n.controllerRegistration, Config: n.config,
		Bootstrap:    func() (controller.Bootstrap, error) { return bootstrapRecords(n.quorum) },
		KRaftVersion: n.kraftVersion,
		Log:          controllerLog{n.quorum}, Clock: clock.System{},
		Random:  mathrand.New(mathrand.NewPCG(mathrand.Uint64(), mathrand.Uint64())),
		Entropy: rand.Reader, Logger: n.log.With("part", "controller"), Fatal: n.fatal,
	})
}

func (n *Node) kraftVersion() int16 { return n.quorum.Status().KRaftVersion }

// listen binds all listeners. Connections are accepted later.
func (n *Node) listen() error {
	c := n.config
	o := api.Options{
		NodeID: c.Node.ID, ClusterID: n.dirs.clusterID, Config: c, Effective: n.effective.Load, Image: n.Image,
		KRaftVersion: n.kraftVersion, Quorum: n.quorum.Status, Authorizer: n.authorizer, Controller: n.controller, Log: n.log.With("part", "api"),
		Replicas: n.replicas, ProducerIDs: n.producerIDs, Groups: n.groups, GroupSettings: &n.groupRules, Transactions: n.transactions, Markers: localMarkers{n}, Telemetry: n.telemetry, Errors: n.meters.errors, Loggers: n.loggers,
		Ports: func(name string) int { return int(n.server.Addr(name).Port()) },
	}
	clients, controllers := api.NewBroker(o), api.NewController(o)
	l := limits(c)
	so := server.Options{
		Limits: &l, MaxFrame: c.Network.SocketRequestMaxBytes, IdleTimeout: c.Network.ConnectionsMaxIdle,
		SendBuffer:    explicitBuffer(c, "socket.send.buffer.bytes", c.Network.SocketSendBufferBytes),
		ReceiveBuffer: explicitBuffer(c, "socket.receive.buffer.bytes", c.Network.SocketReceiveBufferBytes),
		AcceptBacklog: c.Network.SocketListenBacklogSize,
		Logger:        n.log.With("part", "server"),
		Budget:        n.pool("clients", clientBudget(c)),
		Observe: func(o server.Observation) {
			n.meters.requests.Observe(o.Connection, o.Key, o.Queue, o.Serve, o.Send)
		},
	}
	controllerPool := n.pool("controllers", controllerBudget)
	for _, cl := range c.Network.Listeners {
		sl := server.Listener{Name: cl.Name, Address: net.JoinHostPort(cl.Host, fmt.Sprint(cl.Port)), Protocol: cl.Protocol,
			Scope: wire.Broker, Handler: clients, Served: clients.Served(),
			MaxConnections: limit(cl.MaxConnections), CreationRate: limit(cl.MaxConnectionCreationRate),
			Protected: cl.Name == c.Network.InterBrokerListenerName}
		if cl.Controller {
			sl.Scope, sl.Handler, sl.Served = wire.Controller, controllers, controllers.Served()
			sl.Budget = controllerPool
		}
		so.Listeners = append(so.Listeners, sl)
	}
	var err error
	n.server, err = server.Listen(so)
	return err
}

// clientBudget is the memory for requests of clients.
func clientBudget(c *config.Broker) int64 {
	if q := c.Network.QueuedMaxRequestBytes; q > 0 {
		return q
	}
	return server.DefaultBudget()
}

// pool makes a budget that the metrics know.
func (n *Node) pool(name string, size int64) *budget.Budget {
	b := server.NewBudget(size)
	n.meters.pools = append(n.meters.pools, pool{name, b})
	return b
}

// limit turns Kafka's "no limit" into the server's.
func limit(v int) int {
	if v >= 1<<31-1 {
		return 0
	}
	return v
}

// explicitBuffer is the size of a socket buffer where the operator chose one: left
// alone, the operating system does better than Kafka's default.
func explicitBuffer(c *config.Broker, key string, value int) int {
	if !c.IsSet(key) || value < 0 {
		return 0
	}
	return value
}

// addresses are the addresses of a host, or none.
func addresses(host string) []netip.Addr {
	if ip, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{ip.Unmap()}
	}
	var out []netip.Addr
	found, err := net.LookupIP(host)
	if err != nil {
		return nil
	}
	for _, ip := range found {
		if a, ok := netip.AddrFromSlice(ip); ok {
			out = append(out, a.Unmap())
		}
	}
	return out
}
