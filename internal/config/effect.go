package config

import (
	"maps"
	"slices"
)

// withoutEffect says why a value of the key has no effect in this release, or "".
func (k *Key) withoutEffect() string {
	if k.Status != Honoured && !k.Status.Refused() {
		return "has no effect: " + k.Status.Reason()
	}
	return ""
}

// Told remembers of which keys it was told that they have no effect. It is not safe for
// use by many.
type Told map[string]bool

// New are the warnings of keys that were not told yet; from now on they are.
func (t Told) New(warnings []Warning) (out []Warning) {
	for _, w := range warnings {
		if !t[w.Key] {
			t[w.Key] = true
			out = append(out, w)
		}
	}
	return out
}

// TopicWithoutEffect names what is set on a topic and has no effect in this
// release.
func TopicWithoutEffect(overrides map[string]string) []Warning {
	var out []Warning
	for _, name := range slices.Sorted(maps.Keys(overrides)) {
		if k := TopicKeys().Lookup(name); k != nil {
			if why := k.withoutEffect(); why != "" {
				out = append(out, Warning{Key: name, Text: why})
			}
		}
	}
	return out
}

// WithoutEffect names what is set on a running node and has no effect in this
// release.
func (d Dynamic) WithoutEffect() []Warning {
	var out []Warning
	for _, layer := range []map[string]string{d.Broker, d.Default} {
		for _, name := range slices.Sorted(maps.Keys(layer)) {
			k, nested := known(name)
			switch {
			case nested:
			case k == nil || undeclared(k.Name):
				out = append(out, Warning{Key: name, Text: "is not a known key and has no effect"})
			default:
				if why := k.withoutEffect(); why != "" {
					out = append(out, Warning{Key: name, Text: why})
				}
			}
		}
	}
	return out
}
