package server

import (
	"fmt"
	"math"
	"net/netip"
	"sync"
	"time"
)

// quota counts connections and says how many more there may be.
type quota struct {
	sockets int // how many connections leave enough descriptors for files

	mu     sync.Mutex
	limits Limits // guarded by mu, as is all below
	total  int
	perIP  map[netip.Addr]int
	rate   pace
	freed  chan struct{} // closed and replaced when a connection ends or limits change
}

func newQuota(l Limits, descriptors int) *quota {
	return &quota{sockets: socketsOf(descriptors), limits: l, perIP: map[netip.Addr]int{}, freed: make(chan struct{})}
}

// socketsOf is how many of the process's descriptors connections may take: a quarter
// is for log segments (vfs.Cache), and some are for files that are opened for a
// moment, listeners and the runtime.
func socketsOf(descriptors int) int {
	return max(1, descriptors-descriptors/4-max(64, descriptors/16))
}

// enter counts a connection, or says why it is refused.
func (q *quota) enter(ip netip.Addr, l *listener) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	limit := q.limits.MaxConnectionsPerIP
	if n, ok := q.limits.PerIP[ip]; ok {
		limit = n
	}
	if q.perIP[ip] >= limit {
		return fmt.Errorf("%s has the maximum of %d connections (max.connections.per.ip)", ip, limit)
	}
	q.perIP[ip]++
	q.total++
	l.connections++
	return nil
}

// leave takes a connection off the counts.
func (q *quota) leave(ip netip.Addr, l *listener) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.total--
	l.connections--
	if q.perIP[ip]--; q.perIP[ip] == 0 {
		delete(q.perIP, ip)
	}
	q.wakeLocked()
}

func (q *quota) wakeLocked() {
	close(q.freed)
	q.freed = make(chan struct{})
}

func (q *quota) setLimits(l Limits) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.limits = l
	q.wakeLocked()
}

// full says whether a connection that was counted is one too many, by the limit
// of its listener or that of all; freed tells when to ask again.
func (q *quota) full(l *listener) (own, all bool, freed <-chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	most := q.ofLocked(l).MaxConnections
	own = most > 0 && l.connections > most
	return own, q.total > min(q.limits.MaxConnections, q.sockets), q.freed
}

// ofLocked are the limits of one listener.
func (q *quota) ofLocked(l *listener) ListenerLimits {
	if own, ok := q.limits.Listeners[l.options.Name]; ok {
		return own
	}
	return ListenerLimits{l.options.MaxConnections, l.options.CreationRate}
}

// outOfSockets says whether it is the process's limit that stands in the way.
func (q *quota) outOfSockets() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.total > q.sockets
}

// delay is how long the next connection must wait so that they do not come faster
// than the rates allow.
func (q *quota) delay(l *listener, at time.Time) time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	return max(q.rate.next(q.limits.CreationRate, at), l.rate.next(q.ofLocked(l).CreationRate, at))
}

// pace spaces events evenly, after a burst of one second's worth.
type pace struct{ due time.Time }

// next notes an event and says how long it must wait.
func (p *pace) next(perSecond int, at time.Time) time.Duration {
	if perSecond <= 0 || perSecond >= math.MaxInt32 {
		return 0
	}
	if p.due.Before(at) {
		p.due = at
	}
	p.due = p.due.Add(time.Second / time.Duration(perSecond))
	return max(0, p.due.Sub(at)-time.Second)
}
