package server

import (
	"errors"
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// listener is a bound Listener.
type listener struct {
	options Listener
	server  *Server
	socket  *net.TCPListener
	stats   *ListenerStats
	backlog *backlog // shared by listeners of one budget

	started     bool // guarded by server.mu
	connections int  // guarded by server.quota.mu
	rate        pace // guarded by server.quota.mu
}

// acceptRetry is the pause after an error of accept, such as too many open files.
const acceptRetry = 100 * time.Millisecond

// accept is the listener's goroutine.
func (l *listener) accept() {
	for {
		conn, err := l.socket.AcceptTCP()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			l.server.log.Error("accepting a connection failed", "listener", l.options.Name, "error", err)
			if !l.server.sleep(acceptRetry) {
				return
			}
			continue
		}
		if err := l.admit(conn); err != nil {
			l.stats.Rejected.Add(1)
			l.server.clients.say("connection rejected", "listener", l.options.Name, "client", conn.RemoteAddr(), "reason", err)
			l.closeConn(conn)
		}
	}
}

// closeConn closes a socket that no connection was made for.
func (l *listener) closeConn(conn *net.TCPConn) {
	if err := conn.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		l.server.log.Debug("closing a connection failed", "error", err)
	}
}

// admit starts a connection, or waits with it until there is a place: meanwhile
// the system's backlog holds the others.
func (l *listener) admit(conn *net.TCPConn) error {
	s := l.server
	if wait := s.quota.delay(l, s.options.Now()); wait > 0 && !s.sleep(wait) {
		return net.ErrClosed
	}
	t, err := newTCP(conn)
	if err != nil {
		return err
	}
	if err := setOptions(conn, &s.options); err != nil {
		return err
	}
	ip := t.remote().Addr().WithZone("")
	if err := s.quota.enter(ip, l); err != nil {
		return err
	}
	for {
		own, all, freed := s.quota.full(l)
		if !own && (!all || l.options.Protected && s.closeIdlest(l)) {
			break
		}
		if s.quota.outOfSockets() {
			s.clients.say("connections wait for others to end: the process may not open more files (ulimit -n)", "listener", l.options.Name, "client", t.remote(), "open_files", s.options.Descriptors)
		}
		select {
		case <-freed:
		case <-s.closing:
			s.quota.leave(ip, l)
			return net.ErrClosed
		}
	}
	if !s.add(newConn(s, l, s.options.wrap(t), ip)) {
		s.quota.leave(ip, l)
		return net.ErrClosed
	}
	return nil
}

// setOptions sets what the operator asked for; otherwise the kernel sizes the
// buffers, which is faster than Kafka's defaults.
func setOptions(conn *net.TCPConn, o *Options) error {
	err := conn.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: -1, Interval: -1, Count: -1})
	if o.SendBuffer > 0 {
		err = errors.Join(err, conn.SetWriteBuffer(o.SendBuffer))
	}
	if o.ReceiveBuffer > 0 {
		err = errors.Join(err, conn.SetReadBuffer(o.ReceiveBuffer))
	}
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ECONNRESET) {
		return nil // the client has gone already; the first read will say so
	}
	return err
}

// setBacklog sets the length of the queue of connections not yet accepted.
func setBacklog(l *net.TCPListener, n int) error {
	raw, err := l.SyscallConn()
	if err != nil {
		return err
	}
	var listenErr error
	if err := raw.Control(func(fd uintptr) { listenErr = unix.Listen(int(fd), n) }); err != nil {
		return err
	}
	return listenErr
}
