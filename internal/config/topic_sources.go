package config

import (
	"sort"
	"strconv"
)

// Source says where a value comes from, by the protocol's numbers (ConfigSource).
type Source int8

// The sources.
const (
	SourceDynamicTopic         Source = 1
	SourceDynamicBroker        Source = 2
	SourceDynamicDefaultBroker Source = 3
	SourceStaticBroker         Source = 4
	SourceDefault              Source = 5
	SourceLogger               Source = 6
	SourceClientMetrics        Source = 7
	SourceGroup                Source = 8
)

// Entry is one resolved key as CreateTopics and DescribeConfigs answer it.
type Entry struct {
	Name     string
	Value    *string // nil is null
	Source   Source
	Type     Type
	Synonyms []Synonym // strongest first
	Doc      string    // what the key is for

	ReadOnly  bool // cannot change on a running node
	Sensitive bool // a secret: Value is nil, the synonyms have none
}

// Synonym is one candidate for a key's value.
type Synonym struct {
	Name   string
	Value  string
	Source Source
}

// TopicSources is a topic's configuration as CreateTopics answers it (class
// KafkaConfigSchema): by name, the texts as they were set.
func (b *Broker) TopicSources(overrides map[string]string) []Entry {
	keys := topicSet().keys
	out := make([]Entry, 0, len(keys))
	for i := range keys {
		k := &keys[i]
		text, set := overrides[k.Name]
		if k.Internal && !set {
			continue
		}
		e := Entry{Name: k.Name, Value: &text, Source: SourceDynamicTopic, Type: k.Type}
		if !set {
			e.Value, e.Source = b.linkedText(k)
		}
		out = append(out, e)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// linkedText is the text of a topic's key that is not set on the topic.
func (b *Broker) linkedText(k *Key) (*string, Source) {
	for _, l := range k.Links {
		text, source, ok := b.layers.lookup(l.Name)
		if !ok {
			continue
		}
		if n, isInt := b.values[l.Name].(int64); isInt && l.Factor != 1 {
			text = strconv.FormatInt(n*l.Factor, 10)
		}
		return &text, source
	}
	return formatValue(b.linked(k)), SourceDefault
}

// DescribeTopic is a topic's configuration as DescribeConfigs answers it (class
// ConfigHelper): parsed values, with the candidates.
func (b *Broker) DescribeTopic(overrides map[string]string) []Entry {
	return b.describeLinked(topicSet(), overrides, SourceDynamicTopic)
}

// describeLinked describes a resource with the keys of set. Only the first link of
// a key counts as its synonym. A group's key without a link has its default as
// one, those of other resources have none.
func (b *Broker) describeLinked(set *Set, overrides map[string]string, own Source) []Entry {
	out := make([]Entry, 0, len(set.keys))
	for i := range set.keys {
		k := &set.keys[i]
		text, isSet := overrides[k.Name]
		if k.Internal && !isSet {
			continue
		}
		v := b.linked(k)
		if isSet {
			if parsed, err := k.parse(text); err == nil { // what breaks a rule is shown as what holds instead
				v = parsed
			}
		}
		e := Entry{Name: k.Name, Value: formatValue(v), Source: SourceDefault, Type: k.Type, Doc: k.Doc()}
		if isSet && e.Value != nil {
			e.Synonyms = append(e.Synonyms, Synonym{k.Name, *e.Value, own})
		}
		switch {
		case len(k.Links) > 0:
			e.Synonyms = append(e.Synonyms, b.synonyms(k.Links[0].Name)...)
		case own == SourceGroup && k.HasDefault():
			e.Synonyms = append(e.Synonyms, Synonym{k.Name, k.Default, SourceDefault})
		}
		if len(e.Synonyms) > 0 {
			e.Source = e.Synonyms[0].Source
		}
		out = append(out, e)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}
