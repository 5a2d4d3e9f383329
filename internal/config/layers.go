package config

import (
	"errors"
	"fmt"
)

// Dynamic is the part of the metadata log's configuration that concerns a node:
// the config resources broker "<id>" and broker "".
type Dynamic struct {
	Broker  map[string]string
	Default map[string]string
}

// layers holds the texts that a Broker is resolved from, strongest first.
type layers struct {
	broker  map[string]string // dynamic, of this node
	cluster map[string]string // dynamic, of all nodes
	static  settings
}

// lookup returns the strongest text that is set for a broker key.
func (l *layers) lookup(name string) (text string, source Source, ok bool) {
	if v, ok := l.broker[name]; ok {
		return v, SourceDynamicBroker, true
	}
	if v, ok := l.cluster[name]; ok {
		return v, SourceDynamicDefaultBroker, true
	}
	if v, ok := l.static[name]; ok {
		return v.value, SourceStaticBroker, true
	}
	return "", SourceDefault, false
}

// IsSet says whether the user gave a value for a key of the node, in one of the
// sources or in the metadata log; where it is false the default holds.
func (b *Broker) IsSet(key string) bool {
	_, _, ok := b.layers.lookup(key)
	return ok
}

// values holds the parsed value of every key of a node.
type values map[string]any

// resolve parses what is set and the defaults of the rest. It goes on after an
// error, so that a user sees all of them.
func (l *layers) resolve() (values, error) {
	out := values{}
	var errs []error
	for _, set := range []*Set{brokerSet(), otherSet()} {
		for i := range set.keys {
			k := &set.keys[i]
			v, err := l.value(k)
			if err != nil {
				errs = append(errs, l.static.at(k.Name, err))
			}
			out[k.Name] = v
		}
	}
	return out, errors.Join(errs...)
}

func (l *layers) value(k *Key) (any, error) {
	text, _, ok := l.lookup(k.Name)
	switch {
	case ok:
		return k.parse(text)
	case k.Required():
		return nil, fmt.Errorf("Missing required configuration %q which has no default value.", k.Name)
	case !k.HasDefault():
		return nil, nil
	}
	return k.parse(k.Default)
}

// With returns b with the dynamic configuration of the metadata log applied.
// A value that breaks a rule is left out and named in problems; if the whole
// breaks a rule, b itself is returned. Keys that cannot change on a running node
// are left out without a word, as Apache does.
func (b *Broker) With(d Dynamic) (with *Broker, problems []error) {
	l := layers{static: b.layers.static}
	l.broker, problems = usable("broker", d.Broker, problems)
	l.cluster, problems = usable("cluster default", d.Default, problems)
	with, err := buildFrom(l)
	if err != nil {
		return b, append(problems, err)
	}
	with.Node.FromDefaults = b.Node.FromDefaults
	return with, problems
}
