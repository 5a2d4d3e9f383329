package node

import (
	"os"
	"slices"

	"barnabas/internal/api"
	"barnabas/internal/config"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/metarec"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// hostName is what others may call this machine where the configuration names no
// host.
func hostName() string {
	if name, err := os.Hostname(); err == nil && name != "" {
		return name
	}
	return "localhost"
}

// endpoint is a listener as it is registered: with a host, and the port that it is
// bound to.
func (n *Node) endpoint(l config.Listener) (host string, port uint16) {
	host, port = l.Host, uint16(l.Port)
	if host == "" {
		host = hostName()
	}
	if port == 0 {
		port = n.server.Addr(l.Name).Port()
	}
	return host, port
}

// brokerListeners are the endpoints of the broker's registration.
func (n *Node) brokerListeners() []kmsg.BrokerRegistrationRequestListener {
	var out []kmsg.BrokerRegistrationRequestListener
	for _, l := range n.config.Network.Advertised {
		if l.Controller {
			continue
		}
		e := kmsg.NewBrokerRegistrationRequestListener()
		e.Name, e.SecurityProtocol = l.Name, int16(l.Protocol)
		e.Host, e.Port = n.endpoint(l)
		out = append(out, e)
	}
	return out
}

// controllerRecord is the controller's registration.
func (n *Node) controllerRecord() *metarec.RegisterControllerRecord {
	r := &metarec.RegisterControllerRecord{ControllerID: n.config.Node.ID, IncarnationID: n.incarnation}
	for _, l := range n.config.Network.Listeners {
		if !l.Controller {
			continue
		}
		if at := slices.IndexFunc(n.config.Network.Advertised, func(a config.Listener) bool { return a.Name == l.Name }); at >= 0 {
			l = n.config.Network.Advertised[at]
		}
		host, port := n.endpoint(l)
		r.EndPoints = append(r.EndPoints, metarec.BrokerEndpoint{Name: l.Name, Host: host, Port: port, SecurityProtocol: l.Protocol})
	}
	for _, f := range api.SupportedFeatures() {
		r.Features = append(r.Features, metarec.SupportedFeature{Name: f.Name, MinSupportedVersion: f.Min, MaxSupportedVersion: f.Max})
	}
	return r
}

func brokerFeatures() []kmsg.BrokerRegistrationRequestFeature {
	var out []kmsg.BrokerRegistrationRequestFeature
	for _, f := range api.SupportedFeatures() {
		x := kmsg.NewBrokerRegistrationRequestFeature()
		x.Name, x.MinSupportedVersion, x.MaxSupportedVersion = f.Name, f.Min, f.Max
		out = append(out, x)
	}
	return out
}

// brokerDirectories are the ids of log.dirs that work, and of those that are cordoned
// now.
func (n *Node) brokerDirectories() (all, cordoned []kafka.UUID) {
	now := n.effective.Load().Node.CordonedLogDirs
	for _, d := range n.replicas.Dirs() {
		if !d.Online() {
			continue
		}
		all = append(all, d.ID())
		if slices.Contains(now, d.Path()) || slices.Contains(now, "*") {
			cordoned = append(cordoned, d.ID())
		}
	}
	return all, cordoned
}
