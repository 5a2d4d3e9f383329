package api

import (
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/image"
	"barnabas/internal/server"
)

// address is where a client reaches a node.
type address struct {
	host string
	port int32
}

// endpoint is the address of a broker on the listener that the client uses, or
// false if the broker has no such listener. Where this node has nothing advertised
// for a listener on every address, clients are told the address at which they
// reached it: it works for them.
func (o *Options) endpoint(b *image.Broker, c *server.Conn) (address, bool) {
	e, ok := b.Endpoint(c.Listener())
	if !ok {
		return address{}, false
	}
	if b.ID == o.NodeID && o.advertisesNothing(c.Listener()) {
		return address{host: c.LocalAddr().Addr().Unmap().WithZone("").String(), port: int32(o.Ports(c.Listener()))}, true
	}
	return address{host: e.Host, port: int32(e.Port)}, true
}

// advertisesNothing says whether the listener is bound to every address and
// advertised.listeners does not name it.
func (o *Options) advertisesNothing(listener string) bool {
	for _, l := range o.Config.Network.Advertised {
		if l.Name == listener {
			return l.Host == ""
		}
	}
	return false
}

// alive are the brokers that a client can use: unfenced, with its listener.
func (o *Options) alive(img *image.Image, c *server.Conn, visit func(*image.Broker, address)) {
	for _, b := range img.Cluster.Brokers.All() {
		if b.Fenced {
			continue
		}
		if at, ok := o.endpoint(b, c); ok {
			visit(b, at)
		}
	}
}

// leaderEndpoint is the address of a leader for the NodeEndpoints of an answer
// (KIP-951).
func (o *Options) leaderEndpoint(img *image.Image, id kafka.BrokerID, c *server.Conn) (b *image.Broker, at address, ok bool) {
	if b = img.Cluster.Broker(id); b == nil || b.Fenced {
		return nil, address{}, false
	}
	at, ok = o.endpoint(b, c)
	return b, at, ok
}
