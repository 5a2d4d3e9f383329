package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"barnabas/internal/kafka"
)

func build(set settings) (*Broker, error) { return buildFrom(layers{static: set}) }

// buildFrom resolves all keys, checks Kafka's rules that span several, and works
// out the fields that have no tag.
func buildFrom(l layers) (*Broker, error) {
	l.static = l.static.named("node.id", "broker.id")
	v, err := l.resolve()
	if err != nil {
		return nil, err
	}
	if l.static = l.static.named("broker.id", "node.id"); v.int("broker.id") == -1 {
		v["broker.id"] = v["node.id"]
	}
	b := &Broker{layers: l, values: v}
	fill(b, v)
	var errs []error
	add := func(key string, err error) {
		if err != nil {
			errs = append(errs, l.static.at(key, err))
		}
	}
	add("process.roles", b.buildNode(v, l.static))
	add("listeners", b.buildNetwork(v, l.static))
	add("controller.quorum.voters", b.buildQuorum(v, l.static))
	add("barnabas.admin.listener", b.buildAdmin(v, l.static))
	errs = append(errs, b.checkNumbers(v, l.static)...)
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return b, nil
}

// brokenRule is an error about a rule of the node's whole configuration. On a running
// node Apache tells of it with Scala's words before it.
type brokenRule struct{ error }

func (r brokenRule) Unwrap() error { return r.error }

func (v values) text(key string) string {
	s, _ := v[key].(string)
	return s
}

func (v values) list(key string) []string {
	l, _ := v[key].([]string)
	return l
}

func (v values) int(key string) int64 {
	n, _ := v[key].(int64)
	return n
}

func (b *Broker) buildNode(v values, static settings) error {
	n := &b.Node
	n.IsBroker = slices.Contains(v.list("process.roles"), "broker")
	n.IsController = slices.Contains(v.list("process.roles"), "controller")
	if v.int("broker.id") != int64(n.ID) {
		return static.at("broker.id", errors.New("`node.id` and `broker.id` must be set to the same value. `broker.id` is deprecated, please use `node.id` instead."))
	}
	n.LogDirs = v.list("log.dirs")
	if n.LogDirs == nil {
		n.LogDirs = v.list("log.dir")
	}
	n.MetadataLogDir = v.text("metadata.log.dir")
	if n.MetadataLogDir == "" {
		n.MetadataLogDir = n.LogDirs[0]
	}
	b.MetadataLog.SegmentBytes = int(v.int("metadata.log.segment.bytes"))
	if small := v.int("internal.metadata.log.segment.bytes"); small != 0 {
		b.MetadataLog.SegmentBytes = int(small)
	}
	if slices.Contains(n.CordonedLogDirs, "*") {
		if len(n.CordonedLogDirs) > 1 {
			return static.at("cordoned.log.dirs", brokenRule{errors.New("When cordoned.log.dirs is set to *, it must not contain other values")})
		}
		return nil
	}
	var missing []string
	for _, dir := range n.CordonedLogDirs {
		if !slices.Contains(n.LogDirs, dir) {
			missing = append(missing, dir)
		}
	}
	if len(missing) > 0 {
		return static.at("cordoned.log.dirs", brokenRule{fmt.Errorf("All entries in cordoned.log.dirs must be present in log.dirs or log.dir. Missing entries : %s", strings.Join(missing, ", "))})
	}
	return nil
}

func (b *Broker) buildQuorum(v values, static settings) error {
	var err error
	q := &b.Quorum
	if q.Voters, err = parseVoters(v.list("controller.quorum.voters")); err != nil {
		return err
	}
	if q.BootstrapServers, err = parseHostPorts("controller.quorum.bootstrap.servers", v.list("controller.quorum.bootstrap.servers")); err != nil {
		return err
	}
	if len(q.Voters) == 0 && len(q.BootstrapServers) == 0 {
		if server, ok := b.ownController(); ok && static["process.roles"].origin.name == "product default" {
			q.BootstrapServers = []HostPort{server}
			return nil
		}
		return errors.New("If using process.roles, either controller.quorum.bootstrap.servers must contain the set of bootstrap controllers or controller.quorum.voters must contain a parseable set of controllers.")
	}
	if b.Node.IsController && len(q.Voters) > 0 && !slices.ContainsFunc(q.Voters, func(w Voter) bool { return w.ID == b.Node.ID }) {
		return fmt.Errorf("If process.roles contains the 'controller' role, the node id %d must be included in the set of voters controller.quorum.voters=Set(%s)", b.Node.ID, voterIDs(q.Voters))
	}
	return nil
}

// ownController is the address of this node's first controller listener.
func (b *Broker) ownController() (HostPort, bool) {
	for _, l := range b.Network.Listeners {
		if l.Controller && wildcard(l.Host) {
			return HostPort{"127.0.0.1", l.Port}, true
		}
		if l.Controller {
			return HostPort{l.Host, l.Port}, true
		}
	}
	return HostPort{}, false
}

func voterIDs(voters []Voter) string {
	ids := make([]string, 0, len(voters))
	for _, v := range voters {
		ids = append(ids, strconv.Itoa(int(v.ID)))
	}
	return strings.Join(ids, ", ")
}

// buildAdmin reads barnabas.admin.listener: host:port, or "none".
func (b *Broker) buildAdmin(v values, static settings) error {
	_, b.Admin.Configured = static["barnabas.admin.listener"]
	text := strings.TrimSpace(v.text("barnabas.admin.listener"))
	if text == "none" {
		return nil
	}
	host, port, ok := splitHostPort(text)
	if !ok || port > 65535 {
		return fmt.Errorf("barnabas.admin.listener: %q must be host:port, or none", text)
	}
	b.Admin.Address = HostPort{host, port}.String()
	return nil
}

// unsupported names what Kafka allows and this release cannot serve.
func (b *Broker) unsupported(set settings) error {
	var errs []error
	refuse := func(key, format string, args ...any) {
		errs = append(errs, set.at(key, fmt.Errorf(key+": not supported by this release: "+format, args...)))
	}
	if !b.Node.IsBroker || !b.Node.IsController {
		refuse("process.roles", "a node is broker and controller together; set process.roles=broker,controller")
	}
	for _, l := range slices.Concat(b.Network.Listeners, b.Network.Advertised) {
		if l.Protocol != kafka.Plaintext {
			refuse("listeners", "listener %s uses %s, and there is only PLAINTEXT", l.Name, l.Protocol)
		}
	}
	if len(b.Quorum.Voters) > 1 {
		refuse("controller.quorum.voters", "the quorum has one voter, and %d are named", len(b.Quorum.Voters))
	}
	return errors.Join(errs...)
}
