package admin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"
)

// Options say where the listener is and what it tells. All are needed.
type Options struct {
	Address string // host:port; port 0 is a free one
	Metrics http.Handler
	// Failure is why the process is not worth keeping, or nil.
	Failure func() error
	Ready   func() Readiness
	// TopicsWhy says why old records of a topic are still there, and GroupsWhy what
	// became of a group lately; both as something that becomes JSON. An Absent is the
	// answer that there is no such thing here; any other error that it cannot be told
	// now.
	TopicsWhy func(topic string) (answer any, err error)
	GroupsWhy func(group string) (answer any, err error)
	// Level is the level of the log.
	Level *slog.LevelVar
	Log   *slog.Logger
}

// Absent says in words for people that what was asked for is not here.
type Absent string

func (a Absent) Error() string { return string(a) }

// Limits of one request. A profile takes as long as its client asks for, so that
// writing has the longest.
const (
	headerTimeout  = 5 * time.Second
	readTimeout    = 10 * time.Second
	writeTimeout   = 5 * time.Minute
	idleTimeout    = time.Minute
	maxHeaderBytes = 16 << 10
	closeTimeout   = 200 * time.Millisecond
)

// Server is the admin listener of a node.
type Server struct {
	options  Options
	socket   net.Listener
	http     *http.Server
	started  bool // owned by who calls Start and Close
	closing  sync.Once
	closeErr error
	running  sync.WaitGroup // the accepting goroutine and all handlers

	mu     sync.Mutex
	closed bool // no handler begins any more; guarded by mu
}

// Listen binds the listener. Clients may connect from now on, but are answered
// only after Start.
func Listen(o Options) (*Server, error) {
	socket, err := net.Listen("tcp", o.Address)
	if err != nil {
		return nil, err
	}
	s := &Server{options: o, socket: socket}
	s.http = &http.Server{
		Handler:           s.counted(s.ownHost(s.pages())),
		ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeaderBytes,
		ErrorLog:       slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
	}
	return s, nil
}

// Addr is the address that the listener is bound to.
func (s *Server) Addr() netip.AddrPort {
	a := s.socket.Addr().(*net.TCPAddr).AddrPort()
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}

// Start begins to answer.
func (s *Server) Start() {
	s.started = true
	s.running.Go(func() {
		if err := s.http.Serve(s.socket); !errors.Is(err, http.ErrServerClosed) {
			s.options.Log.Error("the admin listener has ended", "error", err)
		}
	})
}

// counted lets Close wait for handlers, which the HTTP server does not.
func (s *Server) counted(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.begin() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		defer s.running.Done()
		h.ServeHTTP(w, r)
	})
}

// ownHost refuses, on a loopback address, what was sent to the name of another host. A
// page in a browser can have its own name resolve to 127.0.0.1 and then read what is
// answered there (DNS rebinding): profiles, above all.
func (s *Server) ownHost(h http.Handler) http.Handler {
	if !s.Addr().Addr().IsLoopback() {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = strings.Trim(r.Host, "[]")
		}
		if _, err := netip.ParseAddr(host); err != nil && !strings.EqualFold(host, "localhost") {
			s.text(w, http.StatusForbidden, fmt.Sprintf("the name %q is not of this host: ask by its address or as localhost\n", host))
			return
		}
		h.ServeHTTP(w, r)
	})
}

func (s *Server) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.running.Add(1)
	}
	return !s.closed
}

// Close stops answering: what can be answered in a moment is, profiles are cut
// short. When it returns no handler runs. It may be called again.
func (s *Server) Close() error {
	s.closing.Do(func() { s.closeErr = s.close() })
	return s.closeErr
}

func (s *Server) close() error {
	if !s.started {
		return s.socket.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.http.Close()
	}
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.running.Wait()
	if err != nil {
		return fmt.Errorf("admin listener: %w", err)
	}
	return nil
}
