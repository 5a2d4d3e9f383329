package client

import "github.com/twmb/franz-go/pkg/kmsg"

// entityJSON is a configured entity as -o json has it.
type entityJSON struct {
	Type    string       `json:"entityType"`
	Name    *string      `json:"entityName"` // null: the default of all of the type
	Configs []configJSON `json:"configs"`
}

type configJSON struct {
	Name      string        `json:"name"`
	Value     *string       `json:"value"` // null: not told, as of a password
	Source    string        `json:"source"`
	Sensitive bool          `json:"sensitive"`
	ReadOnly  bool          `json:"readOnly"`
	Synonyms  []synonymJSON `json:"synonyms"`
}

type synonymJSON struct {
	Name   string  `json:"name"`
	Value  *string `json:"value"`
	Source string  `json:"source"`
}

func entityInJSON(kind, name string, rows []kmsg.DescribeConfigsResponseResourceConfig) entityJSON {
	out := entityJSON{Type: kind, Name: orNil(name), Configs: []configJSON{}}
	for _, r := range rows {
		c := configJSON{Name: r.Name, Value: r.Value, Source: sourceNames[r.Source], Sensitive: r.IsSensitive, ReadOnly: r.ReadOnly, Synonyms: []synonymJSON{}}
		for _, s := range r.ConfigSynonyms {
			c.Synonyms = append(c.Synonyms, synonymJSON{s.Name, s.Value, sourceNames[s.Source]})
		}
		out.Configs = append(out.Configs, c)
	}
	return out
}
