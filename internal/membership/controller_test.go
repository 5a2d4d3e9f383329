package membership

import (
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"barnabas/internal/base/clock"
	"barnabas/internal/config"
	"barnabas/internal/controller"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/image"
	"barnabas/internal/metadata/metarec"
	"barnabas/internal/producerid"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// node is a controller, its log and this broker in one process, wired as a
// combined node wires them. Appends commit at once.
type node struct {
	t       *testing.T
	clock   *clock.Manual
	c       *controller.Controller
	m       *Member
	next    kafka.Offset
	stream  *image.Stream
	appends int
	proof   bool
}

func (n *node) Append(r controller.Records) (kafka.Offset, error) {
	b := image.Batch{BaseOffset: n.next, LastOffset: n.next + kafka.Offset(len(r.Frames)) - 1, Epoch: r.Epoch}
	for _, frame := range r.Frames {
		m, _, err := metarec.Decode(frame)
		if err != nil {
			n.t.Fatal(err)
		}
		b.Records = append(b.Records, m)
	}
	n.next, n.appends = b.LastOffset+1, n.appends+1
	if _, err := n.stream.Apply(b); err != nil {
		n.t.Fatal(err)
	}
	img := n.stream.Shown()
	if n.m != nil {
		n.m.MetadataApplied(Metadata{Offset: img.Position.Offset, Version: img.Features.MetadataVersion})
	}
	n.c.Committed(b.LastOffset, img)
	return b.LastOffset, nil
}

func (n *node) RegisterBroker(r *kmsg.BrokerRegistrationRequest, done func(*kmsg.BrokerRegistrationResponse, error)) {
	n.c.RegisterBroker(controller.Context{}, r, controller.Registration{HoldsDirectories: n.proof}, func(a *kmsg.BrokerRegistrationResponse) { done(a, nil) })
}

func (n *node) BrokerHeartbeat(r *kmsg.BrokerHeartbeatRequest, done func(*kmsg.BrokerHeartbeatResponse, error)) {
	n.c.BrokerHeartbeat(controller.Context{Received: n.clock.Now()}, r, func(a *kmsg.BrokerHeartbeatResponse) { done(a, nil) })
}

// start is a new process on the log.
func (n *node) start(incarnation byte, previous kafka.BrokerEpoch) {
	b, _, err := config.Load(config.Options{Overrides: []string{"log.dirs=/nowhere"}})
	if err != nil {
		n.t.Fatal(err)
	}
	features := []metarec.Message{&metarec.FeatureLevelRecord{Name: kafka.FeatureMetadataVersion, FeatureLevel: int16(kafka.LatestMetadataVersion)}, &metarec.FeatureLevelRecord{Name: kafka.FeatureELR, FeatureLevel: 1}}
	n.c = controller.New(controller.Options{
		ID: 1, ClusterID: "c", Self: metarec.NewRegisterControllerRecord(), Config: b,
		Bootstrap:    func() (controller.Bootstrap, error) { return controller.Bootstrap{Records: features}, nil },
		KRaftVersion: func() int16 { return 0 },
		Log:          n, Clock: n.clock, Random: rand.New(rand.NewPCG(1, uint64(incarnation))), Entropy: rand.NewChaCha8([32]byte{incarnation}),
		Logger: slog.New(slog.DiscardHandler), Fatal: func(err error) { n.t.Fatal(err) },
	})
	n.next++
	n.c.BecomeLeader(controller.Leadership{Epoch: kafka.LeaderEpoch(incarnation), Next: n.next, Committed: n.stream.Shown()})
	img := n.stream.Shown()
	n.m = New(Options{
		ID: 1, ClusterID: "c", Incarnation: kafka.UUID{0: 0xff, 1: incarnation}, LogDirs: []kafka.UUID{{0: 0xff, 1: 0xd1}}, PreviousEpoch: previous,
		Features: []kmsg.BrokerRegistrationRequestFeature{
			{Name: kafka.FeatureMetadataVersion, MinSupportedVersion: 7, MaxSupportedVersion: 33}, {Name: kafka.FeatureELR, MaxSupportedVersion: 1}},
		HeartbeatInterval: b.Lifecycle.HeartbeatInterval, InitialRegistrationTimeout: b.Lifecycle.InitialRegistrationTimeout,
		DirFailureTimeout: b.Logs.DirFailureTimeout, ControlledShutdown: true,
		Controller: n, Clock: n.clock, Log: slog.New(slog.DiscardHandler),
	})
	n.m.MetadataApplied(Metadata{Offset: img.Position.Offset, Version: img.Features.MetadataVersion})
	n.m.Start()
}

func (n *node) stop() {
	n.m.Close()
	n.c.Close()
}

func (n *node) leader(topic string) (kafka.BrokerID, kafka.LeaderRecoveryState) {
	p := n.stream.Shown().Topics.ByName(topic).Partition(0)
	return p.Leader, p.RecoveryState
}

// TestLifeOfACombinedNode: first start, clean stop, start, kill, start; nothing in
// it waits for a timer.
func TestLifeOfACombinedNode(t *testing.T) {
	n := &node{t: t, clock: clock.NewManual(time.Unix(1_000_000, 0)), stream: image.NewStream(image.Empty()), proof: true}
	n.start(1, kafka.NoBrokerEpoch)
	if !closed(n.m.CaughtUp()) {
		t.Fatalf("state %v after registration", n.m.State())
	}
	n.m.Ready()
	if !closed(n.m.Unfenced()) {
		t.Fatalf("state %v when ready", n.m.State())
	}
	// Bootstrap, controller, registration, cordoned directories, unfencing.
	if n.appends != 5 {
		t.Fatalf("%d appends for a start", n.appends)
	}
	n.createTopic()
	n.producerID()
	for range 20 { // the session lives by heartbeats
		n.clock.Advance(time.Second)
	}
	if b := n.stream.Shown().Cluster.Broker(1); b.Fenced {
		t.Fatal("a living broker was fenced")
	}
	n.m.Shutdown(n.clock.Now().Add(time.Hour))
	if !closed(n.m.Stopped()) || n.m.Failure() != "" {
		t.Fatalf("state %v after shutdown", n.m.State())
	}
	epoch := n.m.Epoch()
	n.stop()

	n.start(2, epoch)
	n.m.Ready()
	if leader, recovery := n.leader("t"); leader != 1 || recovery != kafka.Recovered {
		t.Fatalf("leader %d, recovery %d after a clean stop", leader, recovery)
	}
	n.stop() // as a kill: the controller is not told

	n.start(3, kafka.NoBrokerEpoch)
	n.m.Ready()
	if leader, recovery := n.leader("t"); leader != 1 || recovery != kafka.Recovering {
		t.Fatalf("leader %d, recovery %d after a kill", leader, recovery)
	}
	n.stop()

	// Without the proof the old session has to end first.
	n.proof = false
	n.start(4, kafka.NoBrokerEpoch)
	n.m.Ready()
	if closed(n.m.CaughtUp()) {
		t.Fatal("registered beside a living session")
	}
	for range 13 {
		n.clock.Advance(time.Second)
	}
	if !closed(n.m.Unfenced()) {
		t.Fatalf("state %v after the session of the old incarnation", n.m.State())
	}
	n.stop()
}

func (n *node) createTopic() {
	r := kmsg.NewCreateTopicsRequest()
	r.Version, r.TimeoutMillis = 7, 1000
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = "t", 1, 1
	r.Topics = append(r.Topics, topic)
	n.c.CreateTopics(controller.Context{}, &r, func(a *kmsg.CreateTopicsResponse) {
		if a.Topics[0].ErrorCode != 0 {
			n.t.Fatal(*a.Topics[0].ErrorMessage)
		}
	})
}

// producerID takes a first id through a block of the controller.
func (n *node) producerID() {
	ids := producerid.New(producerid.Options{
		Allocate: func(done func(producerid.Block, kafka.ErrorCode)) {
			r := kmsg.NewAllocateProducerIDsRequest()
			r.BrokerID, r.BrokerEpoch = 1, int64(n.m.Epoch())
			n.c.AllocateProducerIDs(controller.Context{}, &r, func(a *kmsg.AllocateProducerIDsResponse) {
				done(producerid.Block{First: kafka.ProducerID(a.ProducerIDStart), Len: a.ProducerIDLen}, kafka.ErrorCode(a.ErrorCode))
			})
		},
		Now: n.clock.Now, Log: slog.New(slog.DiscardHandler),
	})
	ids.Next(func(id kafka.ProducerID, code kafka.ErrorCode) {
		if id != 0 || code != kafka.ErrNone {
			n.t.Fatalf("first producer id %d, %v", id, code)
		}
	})
}
