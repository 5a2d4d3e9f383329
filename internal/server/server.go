package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"slices"
	"sync"
	"time"

	"barnabas/internal/base/budget"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Server owns listeners and their connections.
type Server struct {
	options   Options
	log       *slog.Logger
	clients   complaints // lines about what clients do
	stats     Stats
	quota     *quota
	listeners []*listener
	closing   chan struct{}  // closed when the server stops accepting
	running   sync.WaitGroup // connections, and goroutines that are not theirs
	sentinel  *sentinel      // nil where there is none

	expectations [kmsg.MaxKey + 1]expectation // by key of a request

	mu      sync.Mutex
	conns   map[uint64]*Conn // by id, guarded by mu
	lastID  uint64           // guarded by mu
	swept   bool             // the janitor runs, guarded by mu
	stopped bool             // guarded by mu
}

// Listen binds all listeners. Clients may connect from now on, but are accepted
// only after Start. The server must be closed.
func Listen(o Options) (*Server, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Server{options: o, log: o.Logger, quota: newQuota(*o.Limits, o.Descriptors), closing: make(chan struct{}), conns: map[uint64]*Conn{}}
	s.clients.log, s.clients.now = o.Logger, o.Now
	if s.sentinel, err = newSentinel(s.wake); err != nil {
		return nil, err
	}
	backlogs := map[*budget.Budget]*backlog{}
	for _, lo := range o.Listeners {
		l, err := s.bind(lo)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("listener %s: %w", lo.Name, err), s.Close())
		}
		if backlogs[lo.Budget] == nil {
			backlogs[lo.Budget] = newBacklog(lo.Budget.Limit() / unreadShare)
		}
		l.backlog = backlogs[lo.Budget]
		s.listeners = append(s.listeners, l)
		s.stats.Listeners = append(s.stats.Listeners, l.stats)
	}
	return s, nil
}

func (s *Server) bind(lo Listener) (*listener, error) {
	config := net.ListenConfig{KeepAlive: -1} // set per connection
	bound, err := config.Listen(context.Background(), "tcp", lo.Address)
	if err != nil {
		return nil, err
	}
	l := &listener{options: lo, server: s, socket: bound.(*net.TCPListener), stats: &ListenerStats{Name: lo.Name}}
	if s.options.AcceptBacklog > 0 {
		if err := setBacklog(l.socket, s.options.AcceptBacklog); err != nil {
			return nil, errors.Join(err, l.socket.Close())
		}
	}
	return l, nil
}

// Addr is the address that a listener is bound to; the zero value if there is no
// such listener.
func (s *Server) Addr(name string) netip.AddrPort {
	for _, l := range s.listeners {
		if l.options.Name == name {
			return addrPort(l.socket.Addr())
		}
	}
	return netip.AddrPort{}
}

// Stats are the server's counters.
func (s *Server) Stats() *Stats { return &s.stats }

// SetLimits replaces the limits. Connections that are there stay.
func (s *Server) SetLimits(l Limits) { s.quota.setLimits(l) }

// Start begins to accept on the named listeners, or on all that have not been
// started when none is named.
func (s *Server) Start(names ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return
	}
	if !s.swept {
		s.swept = true
		s.running.Go(s.sweep)
	}
	for _, l := range s.listeners {
		if !l.started && (len(names) == 0 || slices.Contains(names, l.options.Name)) {
			l.started = true
			s.running.Go(l.accept)
		}
	}
}

// Shutdown stops accepting and reading, lets the requests that were read be
// answered, and ends each connection after that; when ctx ends, it ends them all.
// It returns when no goroutine of the server is left.
func (s *Server) Shutdown(ctx context.Context) error {
	conns, err := s.stopAccepting()
	for _, c := range conns {
		c.stop(nil)
	}
	done := make(chan struct{})
	go func() {
		s.running.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		for _, c := range s.connections() {
			c.close()
		}
		<-done
		err = errors.Join(err, ctx.Err())
	}
	return errors.Join(err, s.closeSentinel())
}

func (s *Server) closeSentinel() error {
	if s.sentinel == nil {
		return nil
	}
	if err := s.sentinel.close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

// Close ends all connections at once.
func (s *Server) Close() error {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Shutdown(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

func (s *Server) stopAccepting() ([]*Conn, error) {
	s.mu.Lock()
	first := !s.stopped
	s.stopped = true
	s.mu.Unlock()
	var errs []error
	if first {
		close(s.closing)
		for _, l := range s.listeners {
			if err := l.socket.Close(); err != nil {
				errs = append(errs, fmt.Errorf("listener %s: %w", l.options.Name, err))
			}
		}
	}
	return s.connections(), errors.Join(errs...)
}

func (s *Server) connections() []*Conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]*Conn, 0, len(s.conns))
	for _, c := range s.conns {
		list = append(list, c)
	}
	return list
}

// add starts a connection's goroutine; false if the server has stopped.
func (s *Server) add(c *Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		if err := c.transport.close(); err != nil {
			s.log.Debug("closing a connection failed", "error", err)
		}
		return false
	}
	s.lastID++
	c.id = s.lastID
	s.conns[c.id] = c
	c.listener.stats.Accepted.Add(1)
	c.listener.stats.Open.Add(1)
	s.running.Add(1)
	go c.serve()
	return true
}

// forget ends a connection's part in the server.
func (s *Server) forget(c *Conn) {
	s.mu.Lock()
	delete(s.conns, c.id)
	s.mu.Unlock()
	c.listener.stats.Open.Add(-1)
	s.quota.leave(c.clientIP, c.listener)
	s.running.Done()
}

// sleep waits, and returns false if the server stopped meanwhile.
func (s *Server) sleep(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-s.closing:
		return false
	}
}

// sweep is the janitor: it ends connections that do nothing and sends quiet ones
// to sleep. One goroutine that looks at all of them now and then is cheaper than
// a timer for each.
func (s *Server) sweep() {
	interval := min(s.options.StallTimeout, 8*s.options.sleepAfter)
	if s.options.IdleTimeout > 0 {
		interval = min(interval, s.options.IdleTimeout)
	}
	interval = min(max(interval/8, 5*time.Millisecond), time.Second)
	for s.sleep(interval) {
		at := s.options.Now()
		for _, c := range s.connections() {
			c.inspect(at)
			c.inspectMemory(at, interval)
		}
	}
}

// inspect does what is due to a connection that has moved no byte for some time.
func (c *Conn) inspect(at time.Time) {
	o := &c.server.options
	quiet := at.Sub(time.Unix(0, c.lastActive.Load()))
	memory := c.memory.Load()
	c.mu.Lock()
	waitsForUs := !c.writing && (c.head != nil || !c.parked || memory == starved)
	stalls := c.parked && memory == favoured && quiet > o.StallTimeout
	idles := o.IdleTimeout > 0 && quiet > o.IdleTimeout && !waitsForUs
	dozes := quiet > o.sleepAfter && c.mayDozeLocked()
	c.mu.Unlock()
	switch {
	case stalls:
		c.setReason(fmt.Errorf("no byte of a request came for %v while others wait for memory", o.StallTimeout))
		c.close()
	case idles:
		c.close()
	case dozes && c.server.sentinel != nil:
		if err := c.transport.interrupt(); err != nil && !errors.Is(err, net.ErrClosed) {
			c.server.log.Debug("a connection cannot be sent to sleep", "client", c.RemoteAddr(), "error", err)
		}
	}
}

// leastRate is how many bytes a second a client must move while it keeps memory that
// others wait for.
const leastRate = 16 << 10

// hungryTimes is how many times longer a connection may hold memory while it waits
// for more itself: 30 seconds, after which clients have given up the request.
const hungryTimes = 3

// inspectMemory ends the connection if it has kept memory for StallTimeout, moved next
// to nothing, and others wait for memory. It is told how long ago it looked last.
func (c *Conn) inspectMemory(at time.Time, since time.Duration) {
	o := &c.server.options
	moved := c.moved.Load()
	quick := float64(moved-c.seen) >= leastRate*since.Seconds()
	c.seen = moved
	hungry := c.memory.Load() == starved
	c.mu.Lock()
	unread := c.stalled || c.writing
	unsent := c.parked && c.head == nil
	c.mu.Unlock()
	if quick || !(hungry || unread || unsent) || c.account.Balance() == 0 {
		c.slow = at
		return
	}
	limit := o.StallTimeout
	if hungry && !unread {
		limit *= hungryTimes
	}
	if at.Sub(c.slow) <= limit || c.listener.options.Budget.Waiting() == 0 {
		return
	}
	what := "the rest of a request has not come"
	switch {
	case unread:
		what = "answers were not read"
	case hungry:
		what = "there was no memory for the rest of a request"
	}
	c.setReason(fmt.Errorf("%s for %v while others wait for memory", what, limit))
	c.close()
}

// closeIdlest ends the connection that has been quiet for the longest time on a
// listener that is not protected; false if there is none.
func (s *Server) closeIdlest(except *listener) bool {
	var idlest *Conn
	for _, c := range s.connections() {
		if c.listener == except || c.listener.options.Protected {
			continue
		}
		if idlest == nil || c.lastActive.Load() < idlest.lastActive.Load() {
			idlest = c
		}
	}
	if idlest == nil {
		return false
	}
	idlest.setReason(errors.New("closed for a connection between nodes (max.connections)"))
	idlest.close()
	return true
}
