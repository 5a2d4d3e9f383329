package membership

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"barnabas/internal/base/clock"
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeController answers registrations and heartbeats at once, as one in the same
// process does that has nothing else to do.
type fakeController struct {
	member     func() *Member
	registered int
	heartbeats int
	fenced     bool
	draining   int // heartbeats that are still refused to shut down
	code       kafka.ErrorCode
	err        error
}

func (c *fakeController) RegisterBroker(r *kmsg.BrokerRegistrationRequest, done func(*kmsg.BrokerRegistrationResponse, error)) {
	c.registered++
	a := kmsg.NewBrokerRegistrationResponse()
	a.BrokerEpoch = 10
	done(&a, c.err)
}

func (c *fakeController) BrokerHeartbeat(r *kmsg.BrokerHeartbeatRequest, done func(*kmsg.BrokerHeartbeatResponse, error)) {
	c.heartbeats++
	a := kmsg.NewBrokerHeartbeatResponse()
	a.IsCaughtUp = r.CurrentMetadataOffset >= 10
	if a.IsCaughtUp && !r.WantFence {
		c.fenced = false
	}
	a.IsFenced = c.fenced
	a.ErrorCode = int16(c.code)
	if r.WantShutdown {
		a.ShouldShutdown = c.draining == 0
		c.draining--
	}
	done(&a, c.err)
}

func closed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

func start(c *fakeController, cl *clock.Manual) *Member {
	m := New(Options{
		ID: 1, ClusterID: "c", LogDirs: []kafka.UUID{dirID(1)}, PreviousEpoch: kafka.NoBrokerEpoch,
		HeartbeatInterval: 2 * time.Second, InitialRegistrationTimeout: time.Minute, DirFailureTimeout: 30 * time.Second,
		ControlledShutdown: true, Controller: c, Clock: cl, Log: slog.New(slog.DiscardHandler),
	})
	m.Start()
	return m
}

func TestStartNeedsNoTimer(t *testing.T) {
	c, cl := &fakeController{fenced: true}, clock.NewManual(time.Unix(1_000_000, 0))
	m := start(c, cl)
	defer m.Close()
	m.Ready()
	if m.Epoch() != 10 || closed(m.CaughtUp()) {
		t.Fatalf("epoch %d, state %v", m.Epoch(), m.State())
	}
	m.MetadataApplied(Metadata{Offset: 9, Version: kafka.LatestMetadataVersion})
	m.MetadataApplied(Metadata{Offset: 10, Version: kafka.LatestMetadataVersion})
	if !closed(m.CaughtUp()) || !closed(m.Unfenced()) || m.State() != Running {
		t.Fatalf("state %v after the registration was applied", m.State())
	}
	before := c.heartbeats
	m.MetadataApplied(Metadata{Offset: 500, Version: kafka.LatestMetadataVersion})
	if c.heartbeats != before {
		t.Fatal("a running broker sends a heartbeat for each metadata batch")
	}
	cl.Advance(2 * time.Second)
	if c.heartbeats != before+1 {
		t.Fatalf("%d heartbeats after the interval, want %d", c.heartbeats, before+1)
	}
	c.draining = 1
	m.Shutdown(cl.Now().Add(time.Hour))
	if !closed(m.Stopped()) || m.Failure() != "" {
		t.Fatalf("state %v, failure %q after controlled shutdown", m.State(), m.Failure())
	}
}

// A controller that refuses at once is not asked again at once.
func TestRefusedHeartbeatsBackOff(t *testing.T) {
	c, cl := &fakeController{fenced: true, code: kafka.ErrNotController}, clock.NewManual(time.Unix(1_000_000, 0))
	m := start(c, cl)
	defer m.Close()
	m.Ready()
	for i := range 100 {
		m.MetadataApplied(Metadata{Offset: 10, Version: kafka.MetadataVersion(7 + i%27)})
	}
	if c.heartbeats > 3 {
		t.Fatalf("%d heartbeats at once", c.heartbeats)
	}
	c.code = kafka.ErrNone
	cl.Advance(time.Second)
	if !closed(m.Unfenced()) {
		t.Fatalf("state %v", m.State())
	}
}

func TestRegistrationTimeoutIsAFailure(t *testing.T) {
	c, cl := &fakeController{err: errors.New("nobody there")}, clock.NewManual(time.Unix(1_000_000, 0))
	m := start(c, cl)
	defer m.Close()
	for range 70 {
		cl.Advance(time.Second)
	}
	if !closed(m.Stopped()) || m.Failure() == "" || closed(m.Unfenced()) {
		t.Fatalf("state %v, failure %q", m.State(), m.Failure())
	}
	if c.registered < 30 {
		t.Fatalf("%d tries in a minute", c.registered)
	}
}

func TestCloseIsFinal(t *testing.T) {
	c, cl := &fakeController{fenced: true}, clock.NewManual(time.Unix(1_000_000, 0))
	m := start(c, cl)
	m.Close()
	m.Close()
	before := c.heartbeats
	m.Ready()
	m.MetadataApplied(Metadata{Offset: 99})
	cl.Advance(time.Hour)
	if c.heartbeats != before || !closed(m.Stopped()) {
		t.Fatal("heartbeats after Close")
	}
}

func TestShutdownBeforeStart(t *testing.T) {
	c := &fakeController{fenced: true}
	m := New(Options{Controller: c, Clock: clock.NewManual(time.Unix(1_000_000, 0)), Log: slog.New(slog.DiscardHandler)})
	m.Ready()
	m.Shutdown(time.Time{})
	if !closed(m.Stopped()) || c.registered != 0 {
		t.Fatalf("state %v, %d registrations", m.State(), c.registered)
	}
	m.Close()
}

func TestInputsFromManyGoroutines(t *testing.T) {
	c, cl := &fakeController{fenced: true}, clock.NewManual(time.Unix(1_000_000, 0))
	m := start(c, cl)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 200 {
				switch g % 4 {
				case 0:
					m.MetadataApplied(Metadata{Offset: kafka.Offset(i), Version: kafka.LatestMetadataVersion})
				case 1:
					m.Ready()
				case 2:
					m.Cordon([]kafka.UUID{dirID(byte(i))})
				case 3:
					_, _ = m.Epoch(), m.State()
				}
			}
		}()
	}
	wg.Wait()
	m.MetadataApplied(Metadata{Offset: 500, Version: kafka.LatestMetadataVersion})
	select {
	case <-m.Unfenced():
	case <-time.After(30 * time.Second):
		t.Fatalf("still %v", m.State())
	}
	if s := m.State(); s != Running {
		t.Errorf("unfenced, but %v", s)
	}
	m.Close()
}

// dirController remembers requests; the test answers them.
type dirController struct {
	requests []*kmsg.AssignReplicasToDirsRequest
	done     []func(*kmsg.AssignReplicasToDirsResponse, error)
}

func (c *dirController) AssignReplicasToDirs(r *kmsg.AssignReplicasToDirsRequest, done func(*kmsg.AssignReplicasToDirsResponse, error)) {
	c.requests, c.done = append(c.requests, r), append(c.done, done)
}

// answer confirms all partitions of the oldest request but those in refuse.
func (c *dirController) answer(err error, refuse map[int32]kafka.ErrorCode) {
	r, done := c.requests[0], c.done[0]
	c.requests, c.done = c.requests[1:], c.done[1:]
	a := kmsg.NewAssignReplicasToDirsResponse()
	for _, d := range r.Directories {
		ad := kmsg.NewAssignReplicasToDirsResponseDirectory()
		ad.ID = d.ID
		for _, t := range d.Topics {
			at := kmsg.NewAssignReplicasToDirsResponseDirectoryTopic()
			at.TopicID = t.TopicID
			for _, p := range t.Partitions {
				ap := kmsg.NewAssignReplicasToDirsResponseDirectoryTopicPartition()
				ap.Partition, ap.ErrorCode = p.Partition, int16(refuse[p.Partition])
				at.Partitions = append(at.Partitions, ap)
			}
			ad.Topics = append(ad.Topics, at)
		}
		a.Directories = append(a.Directories, ad)
	}
	done(&a, err)
}

func size(r *kmsg.AssignReplicasToDirsRequest) (n int) {
	for _, d := range r.Directories {
		for _, t := range d.Topics {
			n += len(t.Partitions)
		}
	}
	return n
}

func TestAssignmentsRideTogether(t *testing.T) {
	c, cl := &dirController{}, clock.NewManual(time.Unix(1_000_000, 0))
	valid := true
	epoch := kafka.NoBrokerEpoch
	a := NewAssignments(AssignmentOptions{ID: 1, Epoch: func() kafka.BrokerEpoch { return epoch }, Controller: c,
		Valid: func(Replica, kafka.UUID) bool { return valid }, Clock: cl, Log: slog.New(slog.DiscardHandler)})
	defer a.Close()
	confirmed := map[int32]int{}
	assign := func(p int32, dir byte) {
		a.Assign(Replica{kafka.UUID{15: 1}, p}, dirID(dir), func() { confirmed[p]++ })
	}
	for p := range int32(3000) {
		assign(p, byte(p%2))
	}
	if len(c.requests) != 0 || a.Pending() != 3000 {
		t.Fatal("told by a broker that is not registered")
	}
	epoch = 7
	cl.Advance(firstAssignRetry)
	if len(c.requests) != 1 || size(c.requests[0]) != maxAssignments || c.requests[0].BrokerEpoch != 7 {
		t.Fatalf("%d requests under way", len(c.requests))
	}
	c.answer(nil, nil)
	c.answer(nil, map[int32]kafka.ErrorCode{})
	if len(c.requests) != 0 || len(confirmed) != 3000 || a.Pending() != 0 {
		t.Fatalf("%d confirmed, %d pending", len(confirmed), a.Pending())
	}

	// A failed request, and a refused replica, are repeated after a wait.
	assign(1, 5)
	c.answer(errors.New("no answer"), nil)
	assign(2, 5)
	if len(c.requests) != 0 {
		t.Fatal("repeated at once")
	}
	cl.Advance(firstAssignRetry)
	c.answer(nil, map[int32]kafka.ErrorCode{2: kafka.ErrNotController})
	if a.Pending() != 1 || len(c.requests) != 0 {
		t.Fatalf("%d pending", a.Pending())
	}
	// Meanwhile it moved: the newer directory counts.
	assign(2, 6)
	cl.Advance(2 * firstAssignRetry)
	if got := fmt.Sprint(c.requests[0].Directories[0].ID[15]); got != "6" {
		t.Fatalf("told directory %s", got)
	}
	c.answer(nil, nil)

	// What no longer makes sense is not told.
	valid = false
	assign(3, 5)
	if len(c.requests) != 0 || a.Pending() != 0 {
		t.Fatal("an invalid assignment is told")
	}
}
