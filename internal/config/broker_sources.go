package config

import "sort"

// DescribeBroker is the node's configuration as DescribeConfigs answers it for a
// broker: parsed values, with the candidates. What is set and not known is shown
// too, without its value, since it may be a secret.
func (b *Broker) DescribeBroker() []Entry {
	var out []Entry
	shown := map[string]bool{}
	show := func(e Entry) {
		shown[e.Name] = true
		out = append(out, e)
	}
	for _, set := range []*Set{brokerSet(), newSet(ownKeys())} {
		for i := range set.keys {
			if k := &set.keys[i]; !k.Internal {
				show(b.entry(k.Name, k, []string{k.Name}))
			}
		}
	}
	for _, layer := range []map[string]string{b.layers.broker, b.layers.cluster, b.layers.static.values()} {
		for name := range layer {
			if k := lookupNode(name); !shown[name] && (k == nil || !k.Internal) {
				show(b.extra(name))
			}
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// DescribeClusterDefault is what is set as the default of all brokers.
func (b *Broker) DescribeClusterDefault() []Entry {
	out := make([]Entry, 0, len(b.layers.cluster))
	for name, text := range b.layers.cluster {
		e := Entry{Name: name, Value: &text, Source: SourceDynamicDefaultBroker, ReadOnly: true, Sensitive: true}
		if k, _ := known(name); k != nil && !undeclared(k.Name) {
			e.Type, e.ReadOnly, e.Sensitive, e.Doc = k.Type, k.Name != name, k.Sensitive(), k.Doc()
		}
		e.Synonyms = []Synonym{{name, text, SourceDynamicDefaultBroker}}
		out = append(out, e.masked())
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// entry describes a key of the node; names are the settings that count for it.
func (b *Broker) entry(name string, k *Key, names []string) Entry {
	e := Entry{Name: name, Value: formatValue(b.values[name]), Source: SourceDefault, Type: k.Type, ReadOnly: k.Update == ReadOnly, Sensitive: k.Sensitive(), Doc: k.Doc()}
	e.Synonyms = b.synonyms(names...)
	if len(e.Synonyms) > 0 {
		e.Source = e.Synonyms[0].Source
	}
	return e.masked()
}

// extra describes a setting that is no key of Apache's broker: one of another
// set, one with a prefix, or an unknown one.
func (b *Broker) extra(name string) Entry {
	text, _, _ := b.layers.lookup(name)
	k, _ := known(name)
	switch {
	case k == nil || undeclared(k.Name):
		e := Entry{Name: name, ReadOnly: true, Sensitive: true, Synonyms: b.synonyms(name)}
		e.Source = e.Synonyms[0].Source
		return e.masked()
	case k.Name == name:
		e := b.entry(name, k, []string{name})
		if n := len(e.Synonyms); n > 1 && e.Synonyms[n-1].Source == SourceDefault {
			e.Synonyms = e.Synonyms[:n-1] // Apache declares no default for these
		}
		return e
	}
	e := b.entry(name, k, []string{name, k.Name})
	e.Value, e.ReadOnly = &text, true
	return e.masked()
}

// masked takes the values of a secret away.
func (e Entry) masked() Entry {
	if !e.Sensitive {
		return e
	}
	e.Value = nil
	masked := make([]Synonym, len(e.Synonyms))
	for i, s := range e.Synonyms {
		masked[i] = Synonym{Name: s.Name, Source: s.Source}
	}
	e.Synonyms = masked
	return e
}

// weaker are the keys that count where a key is not set, strongest first.
func weaker(name string) []string {
	switch name {
	case "log.retention.ms":
		return []string{"log.retention.minutes", "log.retention.hours"}
	case "log.retention.minutes":
		return []string{"log.retention.hours"}
	case "log.roll.ms":
		return []string{"log.roll.hours"}
	case "log.roll.jitter.ms":
		return []string{"log.roll.jitter.hours"}
	case "log.flush.interval.ms":
		return []string{"log.flush.scheduler.interval.ms"}
	}
	return nil
}

// synonyms lists the candidates for the value of names[0], strongest first: what
// is set for it, for the other names and for weaker keys, then the defaults. It
// lists none if nothing is set or known for names[0] itself.
func (b *Broker) synonyms(names ...string) []Synonym {
	names = append(names, weaker(names[0])...)
	var out []Synonym
	add := func(name, value string, source Source) {
		if len(out) > 0 || name == names[0] {
			out = append(out, Synonym{name, value, source})
		}
	}
	for _, layer := range []struct {
		set    map[string]string
		source Source
	}{{b.layers.broker, SourceDynamicBroker}, {b.layers.cluster, SourceDynamicDefaultBroker}} {
		for _, name := range names {
			if text, ok := layer.set[name]; ok {
				add(name, text, layer.source)
			}
		}
	}
	for _, name := range names {
		if set, ok := b.layers.static[name]; ok {
			add(name, set.value, SourceStaticBroker)
		}
	}
	for _, name := range names {
		if k := lookupNode(name); k != nil && k.HasDefault() {
			add(name, k.Default, SourceDefault)
		}
	}
	return out
}
