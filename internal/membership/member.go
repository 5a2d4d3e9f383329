package membership

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"barnabas/internal/base/serial"
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Controller is where the broker registers. Each call answers by done, once, from
// any goroutine, also before it returns; an error means that there was no answer.
// A call keeps a deadline of its own.
type Controller interface {
	RegisterBroker(*kmsg.BrokerRegistrationRequest, func(*kmsg.BrokerRegistrationResponse, error))
	BrokerHeartbeat(*kmsg.BrokerHeartbeatRequest, func(*kmsg.BrokerHeartbeatResponse, error))
}

// Clock is the time and a way to be called later; f runs on any goroutine.
type Clock interface {
	Now() time.Time
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

// Options say who this broker is.
type Options struct {
	ID          kafka.BrokerID
	ClusterID   string
	Incarnation kafka.UUID // drawn anew at each start of the process
	Rack        *string
	Listeners   []kmsg.BrokerRegistrationRequestListener
	Features    []kmsg.BrokerRegistrationRequestFeature
	LogDirs     []kafka.UUID // directory ids that are available
	// CordonedLogDirs are those of LogDirs that shall get no new replicas.
	CordonedLogDirs []kafka.UUID
	// PreviousEpoch is the epoch in the clean-shutdown marks of all directories,
	// or NoBrokerEpoch if the last stop was not clean.
	PreviousEpoch kafka.BrokerEpoch

	HeartbeatInterval          time.Duration
	InitialRegistrationTimeout time.Duration
	DirFailureTimeout          time.Duration
	ControlledShutdown         bool // controlled.shutdown.enable

	Controller Controller
	Clock      Clock
	Log        *slog.Logger
}

// Member is this broker's membership. Its methods may be called by many at once.
type Member struct {
	o    Options
	exec *serial.Executor

	// owned by the executor
	core    *core
	timer   func() bool // stops the pending wake-up; nil: none
	timerAt time.Time

	// metadata is the newest told; read by the executor. listening says that
	// the core wants to hear of it at once.
	mu        sync.Mutex
	metadata  Metadata // guarded by mu
	listening atomic.Bool

	state    atomic.Uint32
	epoch    atomic.Int64
	caughtUp chan struct{}
	unfenced chan struct{}
	stopped  chan struct{}
	failure  atomic.Pointer[string]
}

// New returns a member that has not begun. It can be told of metadata already, so
// that nothing is missed between the registration and its commit.
func New(o Options) *Member {
	m := &Member{
		o: o, exec: serial.New(serial.Options{}), core: newCore(o), metadata: Metadata{Offset: kafka.NoOffset},
		caughtUp: make(chan struct{}), unfenced: make(chan struct{}), stopped: make(chan struct{}),
	}
	m.epoch.Store(int64(kafka.NoBrokerEpoch))
	return m
}

// Start begins to register. It is called once.
func (m *Member) Start() {
	m.input(func(now time.Time) {
		m.core.onStart(now)
		m.o.Log.Debug("registering", "broker", m.o.ID, "incarnation", m.o.Incarnation, "previous_epoch", m.o.PreviousEpoch)
	})
}

// CaughtUp closes when this broker's metadata has its own registration: its logs
// can be loaded then.
func (m *Member) CaughtUp() <-chan struct{} { return m.caughtUp }

// Unfenced closes when the broker may serve.
func (m *Member) Unfenced() <-chan struct{} { return m.unfenced }

// Stopped closes when the broker may close its logs: after the controlled
// shutdown, or when membership has failed (see Failure).
func (m *Member) Stopped() <-chan struct{} { return m.stopped }

// Failure is why membership ended without being asked to, or "".
func (m *Member) Failure() string {
	if p := m.failure.Load(); p != nil {
		return *p
	}
	return ""
}

// State is how far the broker has come.
func (m *Member) State() State { return State(m.state.Load()) }

// Epoch is the broker epoch of the registration, or NoBrokerEpoch. It is written
// into the clean-shutdown marks.
func (m *Member) Epoch() kafka.BrokerEpoch { return kafka.BrokerEpoch(m.epoch.Load()) }

// MetadataApplied tells how far the metadata has come. It is cheap: it is called
// for each batch by the one who publishes images, also before Start.
func (m *Member) MetadataApplied(to Metadata) {
	m.mu.Lock()
	versionChanged := m.metadata.Version != to.Version
	m.metadata = to
	m.mu.Unlock()
	if m.listening.Load() || versionChanged && m.Epoch() != kafka.NoBrokerEpoch {
		m.input(func(time.Time) {})
	}
}

// Ready asks for the broker to be unfenced: its logs are loaded.
func (m *Member) Ready() { m.input(func(time.Time) { m.core.onReady() }) }

// DirectoryFailed tells of a log directory that went offline.
func (m *Member) DirectoryFailed(id kafka.UUID) {
	m.input(func(now time.Time) { m.core.onDirOffline(now, id) })
}

// Cordon sets the log directories that shall get no new replicas.
func (m *Member) Cordon(ids []kafka.UUID) { m.input(func(time.Time) { m.core.onCordoned(ids) }) }

// Shutdown asks for a controlled shutdown; Stopped closes when it is granted, at
// deadline at the latest.
func (m *Member) Shutdown(deadline time.Time) {
	m.input(func(time.Time) { m.core.onShutdown(deadline) })
}

// Close ends membership without asking anyone, and waits until nothing of it
// runs. An answer that comes later is dropped.
func (m *Member) Close() {
	m.input(func(time.Time) { m.core.state = Stopped })
	m.exec.Close()
}

// input runs a change of the core and then what follows from it. When the
// executor is closed or full (a thousand inputs behind: a heartbeat will follow
// anyway) the change is dropped.
func (m *Member) input(change func(now time.Time)) { m.run(m.exec.Submit, change) }

func (m *Member) run(submit func(func()) error, change func(now time.Time)) {
	err := submit(func() {
		now := m.o.Clock.Now()
		change(now)
		m.act(now)
	})
	if err != nil && m.State() != Stopped {
		m.o.Log.Error("membership input dropped", "error", err)
	}
}

// act sends what the core wants sent, sets the timer and publishes the state.
func (m *Member) act(now time.Time) {
	m.mu.Lock()
	metadata := m.metadata
	m.mu.Unlock()
	m.core.onMetadata(metadata)
	request, wakeAt := m.core.next(now)
	m.publish()
	m.wake(now, wakeAt)
	switch r := request.(type) {
	case *kmsg.BrokerRegistrationRequest:
		m.o.Controller.RegisterBroker(r, m.registered)
	case *kmsg.BrokerHeartbeatRequest:
		m.o.Controller.BrokerHeartbeat(r, m.heartbeatAnswered)
	}
}

func (m *Member) registered(a *kmsg.BrokerRegistrationResponse, err error) {
	m.run(m.exec.Callback, func(now time.Time) {
		if err != nil {
			m.o.Log.Warn("registration got no answer", "error", err)
			m.core.onFailed(now)
			return
		}
		if code := kafka.ErrorCode(a.ErrorCode); code != kafka.ErrNone {
			m.o.Log.Warn("registration refused", "error", code)
		}
		m.core.onRegistered(now, kafka.ErrorCode(a.ErrorCode), kafka.BrokerEpoch(a.BrokerEpoch))
	})
}

func (m *Member) heartbeatAnswered(a *kmsg.BrokerHeartbeatResponse, err error) {
	m.run(m.exec.Callback, func(now time.Time) {
		if err != nil {
			m.o.Log.Warn("heartbeat got no answer", "error", err)
			m.core.onFailed(now)
			return
		}
		if code := kafka.ErrorCode(a.ErrorCode); code != kafka.ErrNone {
			m.o.Log.Warn("heartbeat refused", "error", code)
		}
		m.core.onHeartbeat(now, a)
	})
}

// publish makes the core's state visible and closes the channels it has reached.
func (m *Member) publish() {
	c := m.core
	before := State(m.state.Swap(uint32(c.state)))
	m.epoch.Store(int64(c.epoch))
	m.listening.Store(c.awaitsMetadata())
	if before == c.state {
		return
	}
	m.o.Log.Info("state of this broker", "from", before.String(), "to", c.state.String())
	if c.failure != "" {
		m.failure.Store(&c.failure)
	}
	if before < Recovery && c.state >= Recovery && c.state < Stopped {
		close(m.caughtUp)
	}
	if before < Running && c.state >= Running && c.state < Stopped {
		close(m.unfenced)
	}
	if c.state == Stopped {
		close(m.stopped)
	}
}

// wake sets the timer for the core's next moment.
func (m *Member) wake(now, at time.Time) {
	if m.timer != nil && m.timerAt.Equal(at) {
		return
	}
	if m.timer != nil {
		m.timer()
		m.timer = nil
	}
	if at.IsZero() {
		return
	}
	m.timerAt = at
	m.timer = m.o.Clock.AfterFunc(max(at.Sub(now), 0), func() {
		m.run(m.exec.Timer, func(time.Time) { m.timer = nil })
	})
}
