package config

import (
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"

	"barnabas/internal/kafka"
)

// Listener is one endpoint.
type Listener struct {
	Name     string // upper case
	Host     string // "" is every address
	Port     int
	Protocol kafka.SecurityProtocol
	// Controller says that the listener's name is in controller.listener.names.
	Controller bool

	// Limits of this listener alone, from listener.name.<name>. keys; the
	// largest int is no limit.
	MaxConnections            int
	MaxConnectionCreationRate int
}

// String is the form of the key listeners.
func (l Listener) String() string {
	return l.Name + "://" + net.JoinHostPort(l.Host, strconv.Itoa(l.Port))
}

// wildcard says whether host stands for every address.
func wildcard(host string) bool { return host == "" || host == "0.0.0.0" || host == "::" }

var endpoint = regexp.MustCompile(`^(.*)://\[?([0-9a-zA-Z\-%._:]*)\]?:(-?[0-9]+)$`)

// parseListeners reads the items of listeners or advertised.listeners.
func parseListeners(items []string, protocols map[string]kafka.SecurityProtocol) ([]Listener, error) {
	fail := func(why string) error {
		return fmt.Errorf("Error creating broker listeners from '%s': %s", javaString(items), why)
	}
	var out []Listener
	for _, item := range items {
		m := endpoint.FindStringSubmatch(item)
		if m == nil {
			return nil, fail("Unable to parse " + item + " to a broker endpoint")
		}
		name := strings.ToUpper(m[1])
		protocol, ok := protocols[name]
		if !ok {
			return nil, fail("No security protocol defined for listener " + name)
		}
		port, err := strconv.Atoi(m[3])
		if err != nil || port < 0 || port > 65535 {
			return nil, fail("the port of " + item + " is not between 0 and 65535")
		}
		out = append(out, Listener{Name: name, Host: m[2], Port: port, Protocol: protocol, MaxConnections: maxInt32, MaxConnectionCreationRate: maxInt32})
	}
	return out, nil
}

const maxInt32 = 1<<31 - 1

// checkDistinct refuses two listeners of one name, and where ports is set two on
// one port, but for a port of an IPv4 and an IPv6 address.
func checkDistinct(items []string, listeners []Listener, ports bool) error {
	names := map[string]bool{}
	byPort := map[int][]Listener{}
	for _, l := range listeners {
		if names[l.Name] {
			return fmt.Errorf("Error creating broker listeners from '%s': Each listener must have a different name, listeners: %s", javaString(items), javaString(items))
		}
		names[l.Name] = true
		if l.Port != 0 {
			byPort[l.Port] = append(byPort[l.Port], l)
		}
	}
	for _, same := range byPort {
		if ports && len(same) > 1 && !(len(same) == 2 && twoFamilies(same[0].Host, same[1].Host)) {
			return fmt.Errorf("Error creating broker listeners from '%s': Each listener must have a different port, listeners: %s", javaString(items), javaString(items))
		}
	}
	return nil
}

func twoFamilies(a, b string) bool {
	ipA, ipB := net.ParseIP(a), net.ParseIP(b)
	return ipA != nil && ipB != nil && (ipA.To4() == nil) != (ipB.To4() == nil)
}

// parseProtocolMap reads listener.security.protocol.map.
func parseProtocolMap(text string) (map[string]kafka.SecurityProtocol, error) {
	const key = "listener.security.protocol.map"
	out := map[string]kafka.SecurityProtocol{}
	for _, item := range parseList(strings.TrimSpace(text)) {
		i := strings.LastIndexByte(item, ':')
		if i < 0 {
			return nil, fmt.Errorf("Error parsing configuration property '%s': %q is not of the form LISTENER:PROTOCOL", key, item)
		}
		name, protocol := strings.ToUpper(strings.TrimSpace(item[:i])), strings.TrimSpace(item[i+1:])
		p, ok := kafka.ParseSecurityProtocol(strings.ToUpper(protocol))
		if !ok {
			return nil, fmt.Errorf("Invalid security protocol `%s` defined in %s", protocol, key)
		}
		out[name] = p
	}
	return out, nil
}

var voter = regexp.MustCompile(`^([^@]*)@(.*)$`)

// parseVoters reads controller.quorum.voters.
func parseVoters(items []string) ([]Voter, error) {
	const key, form = "controller.quorum.voters", "Each entry should be in the form `{id}@{host}:{port}`."
	var out []Voter
	for _, item := range items {
		m := voter.FindStringSubmatch(item)
		if m == nil {
			return nil, fmt.Errorf("Invalid configuration value for %s. %s", key, form)
		}
		id, err := strconv.ParseInt(m[1], 10, 32)
		if err != nil {
			return nil, fmt.Errorf("Failed to parse voter ID as an integer from %s", m[1])
		}
		host, port, ok := splitHostPort(m[2])
		if !ok {
			return nil, fmt.Errorf("Failed to parse host name from entry %s for the configuration %s. %s", item, key, form)
		}
		if host == "0.0.0.0" {
			return nil, fmt.Errorf("Host string (%s) is not routeable", host)
		}
		out = append(out, Voter{kafka.BrokerID(id), host, port})
	}
	return out, nil
}

// parseHostPorts reads controller.quorum.bootstrap.servers.
func parseHostPorts(key string, items []string) ([]HostPort, error) {
	var out []HostPort
	for _, item := range items {
		host, port, ok := splitHostPort(item)
		if !ok {
			return nil, fmt.Errorf("Failed to parse host name from %s for the configuration %s. Each entry should be in the form \"{host}:{port}\"", item, key)
		}
		if port > 65535 {
			return nil, fmt.Errorf("port out of range:%d", port)
		}
		out = append(out, HostPort{host, port})
	}
	return out, nil
}

var hostPort = regexp.MustCompile(`^(?:.*?//)?\[?([0-9a-zA-Z\-%._:]*)\]?:([0-9]+)$`) // Utils.HOST_PORT_PATTERN

func splitHostPort(s string) (host string, port int, ok bool) {
	m := hostPort.FindStringSubmatch(s)
	if m == nil {
		return "", 0, false
	}
	port, err := strconv.Atoi(m[2])
	return m[1], port, err == nil
}

// parseOverridesPerIP reads max.connections.per.ip.overrides.
func parseOverridesPerIP(text string) (map[string]int, error) {
	const key = "max.connections.per.ip.overrides"
	out := map[string]int{}
	for _, item := range parseList(strings.TrimSpace(text)) {
		i := strings.LastIndexByte(item, ':')
		if i < 0 {
			return nil, fmt.Errorf("Error parsing configuration property '%s': %q is not of the form HOST:LIMIT", key, item)
		}
		limit, err := strconv.ParseInt(strings.TrimSpace(item[i+1:]), 10, 32)
		if err != nil {
			return nil, fmt.Errorf("Error parsing configuration property '%s': %q is not a number", key, item[i+1:])
		}
		out[strings.TrimSpace(item[:i])] = int(limit)
	}
	return out, nil
}
