package node

import (
	"fmt"
	"log/slog"
	"net/netip"

	"barnabas/internal/admin"
	"barnabas/internal/metrics"
)

// listenAdmin binds the admin listener, unless it is off. Where nobody has asked
// for it, a port that is taken is no reason not to start.
func (n *Node) listenAdmin(level *slog.LevelVar) error {
	c := n.config.Admin
	if c.Address == "" {
		return nil
	}
	registry, err := metrics.NewRegistry(n.metricSources()...)
	if err != nil {
		return err
	}
	log := n.log.With("part", "admin")
	n.admin, err = admin.Listen(admin.Options{
		Address: c.Address, Metrics: registry.Handler(log), Failure: n.failureNow, Ready: n.readiness,
		Level: level, Log: log, TopicsWhy: n.topicsWhy, GroupsWhy: n.groupsWhy,
	})
	if err != nil && c.Configured {
		return fmt.Errorf("barnabas.admin.listener: %w", err)
	}
	if err != nil {
		log.Warn("no metrics and health: the admin listener cannot be bound; set barnabas.admin.listener to another address, or to none", "error", err)
	}
	return nil
}

// topicsWhy says why old records of a topic are still there.
func (n *Node) topicsWhy(topic string) (answer any, err error) {
	partitions := n.replicas.Why(topic)
	if len(partitions) == 0 {
		return nil, admin.Absent(fmt.Sprintf("no partition of topic %q lies on this node", topic))
	}
	return map[string]any{"topic": topic, "partitions": partitions}, nil
}

// AdminAddress is the address of the admin listener; not valid without one.
func (n *Node) AdminAddress() netip.AddrPort {
	if n.admin == nil {
		return netip.AddrPort{}
	}
	return n.admin.Addr()
}

// LogsOpen is how many of the logs that were there at the start are open.
func (n *Node) LogsOpen() (open, all int64) {
	p := n.replicas.Progress()
	return p.LogsOpen, p.Logs
}

// failureNow is why the node cannot go on, or nil.
func (n *Node) failureNow() error {
	if isClosed(n.failed) {
		return n.failure
	}
	return nil
}

// readiness is how far the node is.
func (n *Node) readiness() admin.Readiness {
	p := n.replicas.Progress()
	r := admin.Readiness{State: "starting", Recovery: admin.Recovery{
		Logs:     admin.Progress{Done: p.LogsOpen, Total: p.Logs},
		Segments: admin.Progress{Done: p.SegmentsDone, Total: p.Segments},
		Bytes:    admin.Progress{Done: p.BytesDone, Total: p.Bytes},
	}}
	st := n.groups.Stats()
	r.Groups = admin.Groups{
		Partitions: admin.Progress{Done: int64(st.Active), Total: int64(st.Active + st.Loading + st.Failed)},
		Loading:    admin.Progress{Done: st.LoadOffsetsDone, Total: st.LoadOffsets},
		Failed:     st.Failed,
	}
	for _, d := range n.replicas.Dirs() {
		if !d.Online() {
			r.OfflineDirectories = append(r.OfflineDirectories, d.Path())
		}
	}
	switch {
	case isClosed(n.failed):
		r.State = "failed"
	case n.stopping.Load():
		r.State = "stopping"
	case !isClosed(n.serving):
	case !isClosed(n.replicas.Recovered()):
		r.State = "recovering"
	default:
		r.State, r.Ready = "serving", true
	}
	return r
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
