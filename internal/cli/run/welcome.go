package run

import (
	"fmt"
	"strings"
	"time"

	"barnabas/internal/config"
	"barnabas/internal/node"
)

// welcome says in plain words where the node listens, what it tells clients, where
// its data lies, and what to try next.
func welcome(n *node.Node, c *config.Broker, took time.Duration) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Barnabas is ready after %d ms: node %d of cluster %s.\n", took.Milliseconds(), c.Node.ID, n.ClusterID())
	first := ""
	for _, l := range c.Network.Listeners {
		at := n.Address(l.Name)
		what := "clients"
		if l.Controller {
			what = "controllers"
		}
		fmt.Fprintf(&b, "  %-12s %s (%s, %s)", what, at, l.Name, l.Protocol)
		if !l.Controller {
			fmt.Fprintf(&b, ", %s", told(c, l.Name))
			if first == "" {
				first = fmt.Sprintf("localhost:%d", at.Port())
				if l.Host != "" && l.Host != "0.0.0.0" && l.Host != "::" {
					first = at.String()
				}
			}
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "  %-12s %s\n", "data", strings.Join(c.Node.LogDirs, ", "))
	if first != "" {
		fmt.Fprintf(&b, "  %-12s barnabas topics --bootstrap-server %s --create --topic hello\n", "try", first)
	}
	return b.String()
}

// told says which address clients are told of a listener.
func told(c *config.Broker, listener string) string {
	for _, l := range c.Network.Advertised {
		if l.Name == listener && l.Host != "" {
			return fmt.Sprintf("clients are told %s:%d", l.Host, l.Port)
		}
	}
	return "clients are told the address at which they reached it"
}
