package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"barnabas/internal/kafka"
)

// buildNetwork works out the listeners by Kafka's rules (KafkaConfig,
// validateValues).
func (b *Broker) buildNetwork(v values, static settings) error {
	n := &b.Network
	var err error
	for _, name := range v.list("controller.listener.names") {
		n.ControllerListenerNames = append(n.ControllerListenerNames, strings.ToUpper(name))
	}
	if n.MaxConnectionsPerIPOverrides, err = parseOverridesPerIP(v.text("max.connections.per.ip.overrides")); err != nil {
		return static.at("max.connections.per.ip.overrides", err)
	}
	protocols, err := b.protocols(v, static)
	if err != nil {
		return static.at("listener.security.protocol.map", err)
	}
	if err := b.buildListeners(v, static, protocols); err != nil {
		return err
	}
	if err := b.buildAdvertised(v, protocols); err != nil {
		return static.at("advertised.listeners", err)
	}
	if err := b.checkRoles(); err != nil {
		return brokenRule{err}
	}
	return b.buildInterBroker(v, static, protocols)
}

// protocols is listener.security.protocol.map; where it is not set, controller
// listeners without a protocol's name are PLAINTEXT, unless a listener is named
// like a secure protocol.
func (b *Broker) protocols(v values, static settings) (map[string]kafka.SecurityProtocol, error) {
	protocols, err := parseProtocolMap(v.text("listener.security.protocol.map"))
	if err != nil {
		return nil, err
	}
	if _, set := static["listener.security.protocol.map"]; set {
		return protocols, nil
	}
	names := slices.Clone(b.Network.ControllerListenerNames)
	for _, item := range v.list("listeners") {
		name, _, _ := strings.Cut(item, "://")
		names = append(names, strings.ToUpper(name))
	}
	for _, name := range names {
		if p, ok := protocols[name]; ok && p != kafka.Plaintext {
			return protocols, nil
		}
	}
	for _, name := range b.Network.ControllerListenerNames {
		if _, ok := protocols[name]; !ok {
			protocols[name] = kafka.Plaintext
		}
	}
	return protocols, nil
}

func (b *Broker) buildListeners(v values, static settings, protocols map[string]kafka.SecurityProtocol) error {
	n := &b.Network
	items := v.list("listeners")
	listeners, err := parseListeners(items, protocols)
	if err != nil {
		return err
	}
	if err := checkDistinct(items, listeners, true); err != nil {
		return err
	}
	for i := range listeners {
		l := &listeners[i]
		l.Controller = slices.Contains(n.ControllerListenerNames, l.Name)
		if err := l.readLimits(&b.layers); err != nil {
			return err
		}
	}
	n.Listeners = listeners
	return nil
}

// readLimits reads the keys with the prefix listener.name.<name>.
func (l *Listener) readLimits(set *layers) error {
	for key, dst := range map[string]*int{
		"max.connections":              &l.MaxConnections,
		"max.connection.creation.rate": &l.MaxConnectionCreationRate,
	} {
		full := listenerPrefix + strings.ToLower(l.Name) + "." + key
		text, _, ok := set.lookup(full)
		if !ok {
			continue
		}
		value, err := lookupNode(key).parse(text)
		if err != nil {
			return set.static.at(full, err)
		}
		*dst = int(value.(int64))
	}
	return nil
}

func (b *Broker) buildAdvertised(v values, protocols map[string]kafka.SecurityProtocol) error {
	n := &b.Network
	items := v.list("advertised.listeners")
	n.AdvertisedSet = items != nil
	if !n.AdvertisedSet {
		for _, l := range n.Listeners {
			if l.Controller {
				continue
			}
			if wildcard(l.Host) {
				l.Host = ""
			}
			n.Advertised = append(n.Advertised, l)
		}
		return nil
	}
	advertised, err := parseListeners(items, protocols)
	if err != nil {
		return err
	}
	if err := checkDistinct(items, advertised, false); err != nil {
		return err
	}
	for i := range advertised {
		advertised[i].Controller = slices.Contains(n.ControllerListenerNames, advertised[i].Name)
		if advertised[i].Host == "0.0.0.0" {
			return errors.New("advertised.listeners cannot use the nonroutable meta-address 0.0.0.0. Use a routable IP address.")
		}
	}
	n.Advertised = advertised
	return nil
}

// checkRoles holds the listeners against process.roles.
func (b *Broker) checkRoles() error {
	n := &b.Network
	own := func(name string) bool {
		return slices.ContainsFunc(n.Listeners, func(l Listener) bool { return l.Name == name })
	}
	if !b.Node.IsController {
		if slices.ContainsFunc(n.ControllerListenerNames, own) {
			return errors.New("controller.listener.names must not contain a value appearing in the 'listeners' configuration when running KRaft with just the broker role")
		}
	} else {
		if !slices.ContainsFunc(n.ControllerListenerNames, own) {
			return errors.New("controller.listener.names must contain at least one value appearing in the 'listeners' configuration when running the KRaft controller role")
		}
		for _, name := range n.ControllerListenerNames {
			if !own(name) {
				return errors.New("controller.listener.names must only contain values appearing in the 'listeners' configuration when running the KRaft controller role")
			}
		}
	}
	broker := func(l Listener) bool { return !l.Controller }
	if !b.Node.IsBroker {
		if slices.ContainsFunc(n.Listeners, broker) {
			return errors.New("The listeners config must only contain KRaft controller listeners from controller.listener.names when process.roles=controller")
		}
		return nil
	}
	if !slices.ContainsFunc(n.Advertised, broker) {
		return errors.New("There must be at least one broker advertised listener. Perhaps all listeners appear in controller.listener.names?")
	}
	return nil
}

func (b *Broker) buildInterBroker(v values, static settings, protocols map[string]kafka.SecurityProtocol) error {
	n := &b.Network
	name := strings.ToUpper(v.text("inter.broker.listener.name"))
	if _, set := static["inter.broker.listener.name"]; set {
		if _, both := static["security.inter.broker.protocol"]; both {
			return errors.New("Only one of inter.broker.listener.name and security.inter.broker.protocol should be set.")
		}
		if name == "" {
			return static.at("inter.broker.listener.name", errors.New("The provided listener name is null or empty string"))
		}
		if _, ok := protocols[name]; !ok {
			return static.at("inter.broker.listener.name", fmt.Errorf("Listener with name %s defined in inter.broker.listener.name not found in listener.security.protocol.map.", name))
		}
	} else {
		name = v.text("security.inter.broker.protocol")
	}
	n.InterBrokerListenerName = name
	if !b.Node.IsBroker {
		return nil
	}
	var valid []string
	for _, l := range n.Advertised {
		if l.Controller {
			continue
		}
		valid = append(valid, l.Name)
		if l.Name == name {
			return nil
		}
	}
	return fmt.Errorf("inter.broker.listener.name must be a listener name defined in advertised.listeners. The valid options based on currently configured listeners are %s", strings.Join(valid, ","))
}
