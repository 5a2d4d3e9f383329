package server

import (
	"fmt"
	"log/slog"
	"math"
	"net/netip"
	"runtime/debug"
	"time"

	"barnabas/internal/base/budget"
	"barnabas/internal/base/bufpool"
	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/wire"
)

// Handler answers requests. Serve is called on the connection's goroutine and
// should park rather than wait: a request may be answered later, by anyone. The
// slice is the server's again when Serve returns. A run has more than one request
// only where the API table says Batch.
type Handler interface {
	Serve(c *Conn, run []*Request)
}

// Authenticator finds out who a connection is. It answers the requests
// SaslHandshake and SaslAuthenticate of a connection that is not authenticated,
// and calls Conn.Authenticated, before it returns, when it knows.
type Authenticator interface {
	Authenticate(c *Conn, r *Request)
}

// Piece is a part of an answer.
type Piece = wire.Piece

// Listener says where and for whom connections are accepted.
type Listener struct {
	Name     string
	Address  string // host:port; an empty host is every address, port 0 a free one
	Protocol kafka.SecurityProtocol
	Scope    wire.Scope
	Handler  Handler
	Served   *wire.Served
	// Budget is the memory for requests of this listener; nil means the server's.
	// Listeners for traffic between nodes get one of their own.
	Budget *budget.Budget
	// Authenticator, if not nil, must let a connection pass before it is served.
	Authenticator Authenticator
	// MaxConnections and CreationRate (per second) are limits of this listener;
	// zero is no limit. When Protected, a connection beyond Limits.MaxConnections is
	// let in all the same, and the one that idles longest elsewhere is closed.
	MaxConnections int
	CreationRate   int
	Protected      bool
}

// Limits bound all listeners together and may change while the server runs. The
// numbers are Kafka's: 0 lets none in, math.MaxInt32 is no limit.
type Limits struct {
	MaxConnections      int                // max.connections
	MaxConnectionsPerIP int                // max.connections.per.ip
	PerIP               map[netip.Addr]int // max.connections.per.ip.overrides
	CreationRate        int                // max.connection.creation.rate, per second
	// Listeners are limits of single listeners, by name; they go before those that
	// the listener was made with.
	Listeners map[string]ListenerLimits
}

// ListenerLimits are the limits of one listener; zero is no limit.
type ListenerLimits struct {
	MaxConnections int // listener.name.<name>.max.connections
	CreationRate   int // listener.name.<name>.max.connection.creation.rate, per second
}

// NoLimits are Kafka's defaults.
func NoLimits() Limits {
	return Limits{MaxConnections: math.MaxInt32, MaxConnectionsPerIP: math.MaxInt32, CreationRate: math.MaxInt32}
}

// Options configure a server. Zero values are defaults, where they are named.
type Options struct {
	Listeners []Listener
	Limits    *Limits // nil is NoLimits

	MaxFrame       int           // socket.request.max.bytes; 100 MiB
	MaxFrameAuth   int           // sasl.server.max.receive.size; 512 KiB
	IdleTimeout    time.Duration // connections.max.idle.ms; 10 min, negative: never
	SendBuffer     int           // socket.send.buffer.bytes, where the operator set it
	ReceiveBuffer  int           // socket.receive.buffer.bytes, likewise
	AcceptBacklog  int           // socket.listen.backlog.size, likewise
	StallTimeout   time.Duration // for a frame in arrival that holds up others; 10 s
	DrainOnceBytes int           // the most that one read takes; 256 KiB

	// Descriptors is how many files and sockets the process may have open;
	// vfs.DescriptorLimit. Connections beyond what leaves enough for files wait, as
	// they do beyond Limits.MaxConnections: a checkpoint that cannot be opened would
	// take a log directory offline.
	Descriptors int

	Budget *budget.Budget // of all listeners without one; DefaultBudget
	Pool   *bufpool.Pool  // a new one
	Logger *slog.Logger   // required
	Now    func() time.Time

	// Observe, if not nil, is told of each request whose answer has been written.
	Observe func(Observation)

	// for tests
	wrapTransport func(transport) transport // nil otherwise
	sleepAfter    time.Duration             // how long a connection is quiet before it sleeps
}

func (o *Options) wrap(t transport) transport {
	if o.wrapTransport != nil {
		return o.wrapTransport(t)
	}
	return t
}

const (
	defaultMaxFrame     = 100 << 20
	defaultMaxFrameAuth = 512 << 10
	defaultIdle         = 10 * time.Minute
	defaultStall        = 10 * time.Second
	defaultDrain        = 256 << 10
	defaultSleepAfter   = time.Second
	defaultBudget       = 256 << 20
)

// NewBudget is a budget of a listener's requests: small ones have a reserve of an
// eighth of it, so that they are served while large ones wait for memory.
func NewBudget(size int64) *budget.Budget { return budget.NewReserved(size, size/8, smallShare) }

// smallShare is what a connection may hold to be served from the reserve: a short
// read, and what decoding and answering a small request take. The second buffer of a
// larger frame is beyond it.
const smallShare = 16 << 10

// DefaultBudget is the size of the request memory where queued.max.request.bytes
// is -1: a quarter of the process's memory limit, else 256 MiB.
func DefaultBudget() int64 {
	if limit := debug.SetMemoryLimit(-1); limit < math.MaxInt64 {
		return limit / 4
	}
	return defaultBudget
}

// withDefaults fills in what was left out, and checks the rest.
func (o Options) withDefaults() (Options, error) {
	orDefault := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	orDefault(&o.MaxFrame, defaultMaxFrame)
	orDefault(&o.MaxFrameAuth, defaultMaxFrameAuth)
	orDefault(&o.DrainOnceBytes, defaultDrain)
	if o.IdleTimeout == 0 {
		o.IdleTimeout = defaultIdle
	}
	if o.StallTimeout == 0 {
		o.StallTimeout = defaultStall
	}
	if o.sleepAfter == 0 {
		o.sleepAfter = defaultSleepAfter
	}
	orDefault(&o.Descriptors, vfs.DescriptorLimit())
	if o.Limits == nil {
		l := NoLimits()
		o.Limits = &l
	}
	if o.Budget == nil {
		o.Budget = NewBudget(DefaultBudget())
	}
	if o.Pool == nil {
		o.Pool = &bufpool.Pool{}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		return o, fmt.Errorf("server: no logger")
	}
	names := map[string]bool{}
	for i := range o.Listeners {
		l := &o.Listeners[i]
		switch {
		case l.Handler == nil || l.Served == nil:
			return o, fmt.Errorf("listener %s: no handler or no served requests", l.Name)
		case l.Protocol != kafka.Plaintext:
			return o, fmt.Errorf("listener %s: security protocol %s is not supported, only %s is", l.Name, l.Protocol, kafka.Plaintext)
		case names[l.Name]:
			return o, fmt.Errorf("listener %s is defined twice", l.Name)
		}
		names[l.Name] = true
		if l.Budget == nil {
			l.Budget = o.Budget
		}
	}
	return o, nil
}
