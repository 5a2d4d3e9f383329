package run

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"barnabas/internal/config"
	"barnabas/internal/kafka"
	"barnabas/internal/node"
)

// greeting is what the start line tells.
type greeting struct {
	took      time.Duration
	node      kafka.BrokerID
	cluster   string
	listeners []greetedListener
	admin     netip.AddrPort // not valid: off
	dirs      []string
	// logs of the start and how many of them are open.
	logs, logsOpen int64
}

// greetedListener is a listener with what clients are told of it.
type greetedListener struct {
	config.Listener
	at   netip.AddrPort
	told string // "" is the address at which a client reached the node
}

// greetingOf asks a node that has just let clients in.
func greetingOf(n *node.Node, c *config.Broker, took time.Duration) greeting {
	g := greeting{took: took, node: c.Node.ID, cluster: n.ClusterID(), admin: n.AdminAddress(), dirs: c.Node.LogDirs}
	for _, l := range c.Network.Listeners {
		g.listeners = append(g.listeners, greetedListener{l, n.Address(l.Name), told(c, l.Name, n.Address(l.Name).Port())})
	}
	g.logsOpen, g.logs = n.LogsOpen()
	return g
}

// told is the address that clients are told of a listener, or "".
func told(c *config.Broker, listener string, port uint16) string {
	for _, l := range c.Network.Advertised {
		if l.Name == listener && l.Host != "" {
			if l.Port != 0 {
				port = uint16(l.Port)
			}
			return config.HostPort{Host: l.Host, Port: int(port)}.String()
		}
	}
	return ""
}

// String says in plain words where the node listens, what it tells clients, where
// its data lies, and what to try next.
func (g greeting) String() string {
	var b strings.Builder
	line := func(what, format string, args ...any) {
		fmt.Fprintf(&b, "  %-12s "+format+"\n", append([]any{what}, args...)...)
	}
	fmt.Fprintf(&b, "Barnabas is ready after %d ms: node %d of cluster %s.\n", g.took.Milliseconds(), g.node, g.cluster)
	for _, l := range g.listeners {
		switch {
		case l.Controller:
			line("controllers", "%s (%s)", l.at, l.named())
		case l.told == "":
			line("clients", "%s (%s); each is told the address at which it reached this node", l.at, l.named())
		default:
			line("clients", "%s (%s); all are told %s", l.at, l.named(), l.told)
		}
	}
	if g.admin.IsValid() {
		line("operators", "http://%s (/metrics, /readyz, /livez, /loglevel, /debug/pprof/)", g.admin)
	} else {
		line("operators", "no admin listener: no metrics, no health")
	}
	line("data", "%s", strings.Join(g.dirs, ", "))
	if g.logsOpen < g.logs {
		line("recovery", "%d of %d logs are open and served, the others follow", g.logsOpen, g.logs)
	}
	if at := g.nearest(); at != "" {
		line("try", "barnabas topics --bootstrap-server %s --create --topic hello", at)
	}
	return b.String()
}

// named is the listener's name, and its protocol where that is another word.
func (l greetedListener) named() string {
	if p := l.Protocol.String(); p != l.Name {
		return l.Name + ", " + p
	}
	return l.Name
}

// nearest is the address for clients on this machine, or "".
func (g greeting) nearest() string {
	for _, l := range g.listeners {
		switch {
		case l.Controller:
		case l.at.Addr().IsUnspecified():
			return fmt.Sprintf("localhost:%d", l.at.Port())
		default:
			return l.at.String()
		}
	}
	return ""
}
