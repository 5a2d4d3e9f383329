package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
)

// Level says for whom a dynamic configuration of brokers holds.
type Level uint8

// The levels.
const (
	ThisBroker Level = iota // the resource broker "<id>"
	AllBrokers              // the resource broker ""
)

// onlyAtStart are keys that Apache takes on a running node. Here listeners are
// bound once.
var onlyAtStart = map[string]bool{"listeners": true, "listener.security.protocol.map": true}

// OnlyAtStart says that a running node does not take the key, though Apache's does.
func (k *Key) OnlyAtStart() bool { return onlyAtStart[k.Name] }

// perListener are the keys that a running node takes with the prefix of a
// listener alone (class DynamicSecurityConfigs).
func perListener(name string) bool {
	return strings.HasPrefix(name, "ssl.keystore.") || strings.HasPrefix(name, "ssl.truststore.") || name == "ssl.key.password"
}

// DynamicValues are those of the values of the metadata log that a running node
// takes: what a change is made to.
func (b *Broker) DynamicValues(set map[string]string) map[string]string {
	values, _ := usable("", set, nil)
	return values
}

// ValidateDynamic checks the whole set of values that a client wants a level of
// dynamic configuration to have; b is what the node runs with. Errors have
// Apache's texts (class DynamicBrokerConfig), and the first rule that is broken
// counts. Keys that nobody knows pass, since they may be a plugin's.
func (b *Broker) ValidateDynamic(level Level, wanted map[string]string) error {
	names := slices.Sorted(maps.Keys(wanted))
	refuse := func(why string, which func(name string, k *Key) bool) error {
		var found []string
		for _, name := range names {
			if k, _ := known(name); k != nil && which(name, k) {
				found = append(found, name)
			}
		}
		if len(found) == 0 {
			return nil
		}
		return fmt.Errorf("%s: [%s]", why, strings.Join(found, ", "))
	}
	own := func(name string, k *Key) bool { return k.Name == name && !undeclared(name) }
	err := refuse("Cannot update these configs dynamically", func(name string, k *Key) bool { return own(name, k) && k.Update == ReadOnly })
	if err == nil {
		err = refuse("These security configs can be dynamically updated only per-listener using the listener prefix",
			func(name string, k *Key) bool { return own(name, k) && perListener(name) && k.Update == PerBroker })
	}
	if err == nil {
		err = parseDynamic(wanted)
	}
	if err == nil && level == AllBrokers {
		err = refuse("Cannot update these configs at default cluster level, broker id must be specified", func(_ string, k *Key) bool { return k.Update == PerBroker })
	}
	if err == nil {
		err = refuseUnsupported(wanted)
	}
	if err == nil {
		err = b.validateResult(level, wanted)
	}
	if err == nil {
		err = refuse("Not supported by this release, listeners are bound when the node starts", func(name string, _ *Key) bool { return onlyAtStart[name] })
	}
	return err
}

// parseDynamic checks each value by itself, in the order of the registry.
func parseDynamic(wanted map[string]string) error {
	texts := map[string][]string{} // by the key that the prefix stands before
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		k, _ := known(name)
		if k != nil && !undeclared(k.Name) {
			texts[k.Name] = append(texts[k.Name], wanted[name])
		}
	}
	for _, set := range []*Set{brokerSet(), otherSet()} {
		for i := range set.keys {
			k := &set.keys[i]
			for _, text := range texts[k.Name] {
				if _, err := k.parse(text); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// refuseUnsupported refuses what also stops a node that starts: keys whose silent
// absence would open a door. With the prefix of a listener those of TLS and SASL
// pass: all listeners are PLAINTEXT, so that they mean nothing to Apache either.
func refuseUnsupported(wanted map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		k, _ := known(name)
		if k != nil && !undeclared(k.Name) && k.Status.Refused() && !(k.Name != name && secures(k.Name)) && !k.isDefault(wanted[name]) {
			return fmt.Errorf("%s is not supported by this release: %s", name, k.Status.Reason())
		}
	}
	return nil
}

// secures says whether a key is one of TLS or SASL.
func secures(name string) bool {
	return strings.HasPrefix(name, "ssl.") || strings.HasPrefix(name, "sasl.")
}

// validateResult checks the node's configuration as the change would make it.
func (b *Broker) validateResult(level Level, wanted map[string]string) error {
	l := layers{static: b.layers.static, broker: b.layers.broker, cluster: b.layers.cluster}
	if level == ThisBroker {
		l.broker = wanted
	} else {
		l.cluster = wanted
	}
	next, err := buildFrom(l)
	if err != nil {
		return firstCause(err)
	}
	if err := b.validateStep(next); err != nil {
		// The words are those of Java's ConfigException around another.
		return fmt.Errorf("Invalid value org.apache.kafka.common.config.ConfigException: %w for configuration Invalid dynamic configuration", err)
	}
	return nil
}

// firstCause is the first of the errors of buildFrom, without the place where a
// setting was written.
func firstCause(err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		err = joined.Unwrap()[0]
	}
	var at *located
	if errors.As(err, &at) {
		err = at.err
	}
	var broken brokenRule
	if errors.As(err, &broken) {
		return fmt.Errorf("requirement failed: %w", err)
	}
	return err
}

// threadPools are the keys that may at most double or halve at a time. There are
// no pools behind them here; the rule is kept for scripts that rely on it.
var threadPools = []string{
	"num.io.threads", "num.network.threads", "num.replica.fetchers", "num.recovery.threads.per.data.dir", "background.threads",
	"remote.log.reader.threads", "remote.log.manager.copier.thread.pool.size", "remote.log.manager.expiration.thread.pool.size",
	"remote.log.manager.follower.thread.pool.size",
}

// validateStep checks the way from b to next.
func (b *Broker) validateStep(next *Broker) error {
	if now, then := b.values.int("log.cleaner.threads"), next.values.int("log.cleaner.threads"); then < 1 {
		return fmt.Errorf("Log cleaner threads cannot be reduced to %d on a running node", then)
	} else if then < now/2 {
		return fmt.Errorf("Log cleaner threads cannot be reduced to less than half the current value %d", now)
	} else if then > now*2 {
		return fmt.Errorf("Log cleaner threads cannot be increased to more than double the current value %d", now)
	}
	for _, key := range threadPools {
		if err := checkPool(key, b.values.int(key), next.values.int(key)); err != nil {
			return err
		}
	}
	for _, name := range next.listenerSettings("num.network.threads") {
		if n, err := lookupNode("num.network.threads").parse(next.layers.text(name)); err == nil {
			if err := checkPool("num.network.threads", b.values.int("num.network.threads"), n.(int64)); err != nil {
				return err
			}
		}
	}
	if next.Network.MaxConnections <= 0 {
		return fmt.Errorf("Invalid max.connections %d", next.Network.MaxConnections)
	}
	for _, l := range next.Network.Listeners {
		if l.MaxConnections <= 0 {
			return fmt.Errorf("Invalid max.connections %d", l.MaxConnections)
		}
	}
	return next.validateLocalRetention()
}

func checkPool(key string, now, then int64) error {
	const failed = "Dynamic thread count update validation failed for %s=%d, value should "
	switch {
	case then == now:
	case then <= 0:
		return fmt.Errorf(failed+"be at least 1", key, then)
	case then < now/2:
		return fmt.Errorf(failed+"be at least half the current value %d", key, then, now)
	case then > now*2:
		return fmt.Errorf(failed+"not be greater than double the current value %d", key, then, now)
	}
	return nil
}

// validateLocalRetention holds the limits of tiered storage against those of
// retention (class DynamicLogConfig).
func (b *Broker) validateLocalRetention() error {
	keys := topicSet()
	limit := func(topicKey string) int64 { return b.linked(keys.Lookup(topicKey)).(int64) }
	for _, c := range []struct{ local, whole, localKey, wholeKey string }{
		{"local.retention.ms", "retention.ms", "log.local.retention.ms", "log.retention.ms"},
		{"local.retention.bytes", "retention.bytes", "log.local.retention.bytes", "log.retention.bytes"},
	} {
		local, whole := limit(c.local), limit(c.whole)
		switch {
		case whole < 0 || local == -2:
		case local == -1:
			return fmt.Errorf("Invalid value %d for configuration %s: Value must not be -1 as %s value is set as %d.", local, c.localKey, c.wholeKey, whole)
		case local > whole:
			return fmt.Errorf("Invalid value %d for configuration %s: Value must not be more than %s property value: %d", local, c.localKey, c.wholeKey, whole)
		}
	}
	for _, c := range []struct{ lag, local, whole, lagKey, localKey string }{
		{"remote.copy.lag.ms", "local.retention.ms", "retention.ms", "log.remote.copy.lag.ms", "log.local.retention.ms"},
		{"remote.copy.lag.bytes", "local.retention.bytes", "retention.bytes", "log.remote.copy.lag.bytes", "log.local.retention.bytes"},
	} {
		effective := limit(c.local)
		if effective == -2 {
			effective = limit(c.whole)
		}
		if lag := limit(c.lag); effective >= 0 && lag > effective {
			return fmt.Errorf("Invalid value %d for configuration %s: Value must not exceed %s (effective value: %d)", lag, c.lagKey, c.localKey, effective)
		}
	}
	return nil
}

// DynamicList is the list that APPEND and SUBTRACT start from while nothing is set
// on the resource: what the node's own files say, else the default. ok is false
// where the key is none of that kind of resource, or no list.
func (b *Broker) DynamicList(set *Set, name string) (base string, ok bool) {
	k := set.Lookup(name)
	if k == nil || k.Type != List {
		return "", false
	}
	for _, l := range append([]Link{{Name: name}}, k.Links...) {
		if s, ok := b.layers.static[l.Name]; ok {
			return s.value, true
		}
	}
	if k.HasDefault() {
		base = k.Default
	}
	return base, true
}

// listenerSettings are the settings of a key with the prefix of a listener.
func (b *Broker) listenerSettings(key string) []string {
	var out []string
	for _, l := range b.Network.Listeners {
		name := listenerPrefix + strings.ToLower(l.Name) + "." + key
		if _, _, ok := b.layers.lookup(name); ok {
			out = append(out, name)
		}
	}
	return out
}

func (l *layers) text(name string) string {
	text, _, _ := l.lookup(name)
	return text
}

// usable returns the settings that a running node takes; the rest is left out.
// What nobody knows and what belongs to a listener stays, to be shown.
func usable(where string, set map[string]string, problems []error) (map[string]string, []error) {
	out := make(map[string]string, len(set))
	names := slices.Collect(maps.Keys(set))
	sort.Strings(names)
	for _, name := range names {
		if onlyAtStart[name] {
			continue
		}
		if k, _ := known(name); k != nil && !undeclared(k.Name) {
			if k.Name == name && k.Update == ReadOnly {
				continue
			}
			if _, err := k.parse(set[name]); err != nil {
				problems = append(problems, fmt.Errorf("dynamic configuration of %s: %w", where, err))
				continue
			}
		}
		out[name] = set[name]
	}
	return out, problems
}

// undeclared says whether a key is a plugin's: for a running node it is one that
// nobody knows.
func undeclared(name string) bool {
	return slices.ContainsFunc(pluginKeys(), func(k Key) bool { return k.Name == name })
}
