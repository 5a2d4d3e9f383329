package config

import "sort"

// DescribeBroker is the node's configuration as DescribeConfigs answers it for a
// broker: parsed values, with the candidates.
func (b *Broker) DescribeBroker() []Entry {
	keys := brokerSet().keys
	out := make([]Entry, 0, len(keys))
	for i := range keys {
		k := &keys[i]
		if k.Internal {
			continue
		}
		e := Entry{Name: k.Name, Value: formatValue(b.values[k.Name]), Source: SourceDefault, Type: k.Type, Synonyms: b.synonyms(k.Name)}
		if len(e.Synonyms) > 0 {
			e.Source = e.Synonyms[0].Source
		}
		out = append(out, e)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}
