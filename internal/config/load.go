package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// Options says where a node's configuration comes from. What is named later goes
// before: File, Environ (KAFKA_, then BARNABAS_), Overrides.
type Options struct {
	File      string   // "" is none: the product's defaults hold
	Environ   []string // as os.Environ gives it
	Overrides []string // "key=value"

	// Tool leaves out what only a running node needs: that this release can
	// serve what is configured. Kafka's own rules hold all the same.
	Tool bool
}

// Warning is a line for the log about one setting.
type Warning struct {
	Origin string // "server.properties:12"
	Key    string
	Text   string
}

func (w Warning) String() string { return w.Origin + ": " + w.Key + ": " + w.Text }

// Load reads the configuration of a node. The error names every wrong setting,
// a line each, with the place where it was written.
func Load(o Options) (*Broker, []Warning, error) {
	set := settings{}
	if o.File != "" {
		if err := set.readFile(o.File); err != nil {
			return nil, nil, err
		}
	}
	set.readEnvironment(o.Environ)
	if err := set.readOverrides(o.Overrides); err != nil {
		return nil, nil, err
	}
	if err := set.resolveProviders(o.Environ); err != nil {
		return nil, nil, err
	}
	if o.File == "" {
		if err := set.addProductDefaults(o.Environ); err != nil {
			return nil, nil, err
		}
	}
	b, err := build(set)
	if err != nil {
		return nil, nil, err
	}
	b.Node.FromDefaults = o.File == ""
	var warnings []Warning
	if !o.Tool {
		warnings = set.warnings()
		err = errors.Join(set.refused(), b.unsupported(set))
	}
	if err != nil {
		return nil, warnings, err
	}
	return b, warnings, nil
}

// addProductDefaults sets what is not set, for a node without a file: one broker
// and controller for the clients of this machine and its network.
func (s settings) addProductDefaults(environ []string) error {
	product := origin{name: "product default"}
	add := func(key, value string) {
		if _, ok := s[key]; !ok {
			s[key] = setting{value, product}
		}
	}
	_, named := s["controller.listener.names"]
	add("process.roles", "broker,controller")
	add("node.id", "1")
	add("controller.listener.names", "CONTROLLER")
	add("listeners", "PLAINTEXT://:9092")
	if l := s["listeners"]; !named && !strings.Contains(strings.ToUpper(l.value), "CONTROLLER://") {
		s["listeners"] = setting{l.value + ",CONTROLLER://127.0.0.1:9093", l.origin}
	}
	for _, key := range []string{
		"offsets.topic.replication.factor",
		"transaction.state.log.replication.factor", "transaction.state.log.min.isr",
		"share.coordinator.state.topic.replication.factor", "share.coordinator.state.topic.min.isr",
	} {
		add(key, "1")
	}
	_, dir := s["log.dir"]
	_, dirs := s["log.dirs"]
	if dir || dirs {
		return nil
	}
	for _, pair := range environ {
		if home, ok := strings.CutPrefix(pair, "HOME="); ok && home != "" {
			add("log.dirs", filepath.Join(home, ".local", "share", "barnabas"))
			return nil
		}
	}
	return errors.New("there is no home folder to keep data in (HOME is not set): name a folder by log.dirs")
}

const listenerPrefix = "listener.name."

// listenerKey splits listener.name.<listener>.<key>. Mechanism prefixes of SASL
// stay in the key.
func listenerKey(name string) (listener, key string, ok bool) {
	rest, ok := strings.CutPrefix(name, listenerPrefix)
	if !ok {
		return "", "", false
	}
	listener, key, ok = strings.Cut(rest, ".")
	return strings.ToUpper(listener), key, ok
}

// known returns what is known of a key that is set: the key itself, or the one
// that a prefix is put before. nested says that the key is part of a plugin's or
// provider's settings, about which nothing is to be said.
func known(name string) (k *Key, nested bool) {
	if k := lookupNode(name); k != nil {
		return k, false
	}
	for _, prefix := range []string{"config.providers.", "rsm.config.", "rlmm.config."} {
		if strings.HasPrefix(name, prefix) {
			return nil, true
		}
	}
	_, key, ok := listenerKey(name)
	if !ok {
		return nil, false
	}
	if k := lookupNode(key); k != nil {
		return k, false
	}
	_, key, _ = strings.Cut(key, ".") // the mechanism
	return lookupNode(key), false
}

// warnings gives a line for each setting that is unknown or has no effect.
func (s settings) warnings() []Warning {
	var out []Warning
	for _, name := range s.names() {
		k, nested := known(name)
		switch {
		case nested:
		case k == nil:
			out = append(out, Warning{s[name].origin.String(), name, "is not a known key and has no effect"})
		default:
			if why := k.withoutEffect(); why != "" {
				out = append(out, Warning{s[name].origin.String(), name, why})
			}
		}
	}
	return out
}

// refused names each setting that this release must not pass over.
func (s settings) refused() error {
	var errs []error
	for _, name := range s.names() {
		k, _ := known(name)
		if k == nil || !k.Status.Refused() || k.isDefault(s[name].value) {
			continue
		}
		errs = append(errs, s.at(name, fmt.Errorf("%s is not supported by this release: %s", name, k.Status.Reason())))
	}
	return errors.Join(errs...)
}

// isDefault says whether text means what holds when the key is not set.
func (k *Key) isDefault(text string) bool {
	if !k.HasDefault() {
		return false
	}
	v, err := parseType(k.Name, k.Type, text)
	if err != nil {
		return false
	}
	d, err := parseType(k.Name, k.Type, k.Default)
	return err == nil && javaString(v) == javaString(d)
}
