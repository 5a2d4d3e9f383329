package node

import (
	"maps"
	"net/netip"
	"strconv"

	"barnabas/internal/config"
	"barnabas/internal/kafka"
	"barnabas/internal/membership"
	"barnabas/internal/metadata/image"
	"barnabas/internal/metadata/loader"
	"barnabas/internal/server"
)

// publishers are told of each new image, in this order.
func (n *Node) publishers() []loader.Publisher {
	return []loader.Publisher{
		{Name: "configuration", Publish: n.publishConfig},
		{Name: "replicas", Publish: n.replicas.Apply},
		{Name: "groups", Publish: n.publishGroups},
		{Name: "transactions", Publish: n.publishTransactions},
		{Name: "image", Publish: func(d *image.Delta) { n.image.Store(d.New) }},
		{Name: "directories", Publish: n.publishAssigned},
		{Name: "membership", Publish: n.publishMembership},
		{Name: "controller", Publish: func(d *image.Delta) { n.controller.Committed(d.New.Position.Offset, d.New) }},
	}
}

// publishConfig applies the dynamic configuration of this broker and of all.
func (n *Node) publishConfig(d *image.Delta) {
	next := dynamicConfig(d.New, n.config.Node.ID)
	if maps.Equal(next.Broker, n.dynamic.Broker) && maps.Equal(next.Default, n.dynamic.Default) {
		return
	}
	n.dynamic = next
	c, problems := n.config.With(next)
	for _, p := range problems {
		n.log.Error("dynamic configuration ignored", "error", p)
	}
	for _, w := range n.told.New(next.WithoutEffect()) {
		n.log.Warn("a setting of the running node has no effect in this release", "key", w.Key, "reason", w.Text)
	}
	n.effective.Store(c)
	n.server.SetLimits(limits(c))
	n.replicas.SetConfig(c)
	if m := n.member.Load(); m != nil {
		_, cordoned := n.brokerDirectories()
		m.Cordon(cordoned)
	}
}

func dynamicConfig(img *image.Image, id kafka.BrokerID) config.Dynamic {
	values := func(name string) map[string]string {
		out := map[string]string{}
		for k, v := range img.Configs.Of(image.ConfigResource{Type: image.BrokerResource, Name: name}).All() {
			out[k] = v
		}
		return out
	}
	return config.Dynamic{Broker: values(strconv.Itoa(int(id))), Default: values("")}
}

// limits are the limits of connections. An override for a host that is no address
// is for the addresses it had at the start.
func limits(c *config.Broker) server.Limits {
	l := server.Limits{
		MaxConnections: c.Network.MaxConnections, MaxConnectionsPerIP: c.Network.MaxConnectionsPerIP,
		CreationRate: c.Network.MaxConnectionCreationRate, PerIP: map[netip.Addr]int{},
		Listeners: map[string]server.ListenerLimits{},
	}
	for _, own := range c.Network.Listeners {
		l.Listeners[own.Name] = server.ListenerLimits{MaxConnections: limit(own.MaxConnections), CreationRate: limit(own.MaxConnectionCreationRate)}
	}
	for host, most := range c.Network.MaxConnectionsPerIPOverrides {
		for _, ip := range addresses(host) {
			l.PerIP[ip] = most
		}
	}
	return l
}

// publishMembership tells membership how far the metadata is. The first image
// starts it: the controller leads by then.
func (n *Node) publishMembership(d *image.Delta) {
	at := membership.Metadata{Offset: d.New.Position.Offset, Version: d.New.Features.MetadataVersion}
	if m := n.member.Load(); m != nil {
		m.MetadataApplied(at)
		return
	}
	n.startMembership(at)
}
