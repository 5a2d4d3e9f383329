package config

import (
	_ "embed"
	"strings"
	"sync"
)

// docTexts has a line for each key: its name, a blank, what it is for. A key that
// several kinds of resources have means the same for each.
//
//go:embed docs/keys.txt
var docTexts string

var docs = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(docTexts) {
		if name, text, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name != "#" {
			if out[name] != "" {
				panic("BUG: configuration key " + name + " is documented twice")
			}
			out[name] = text
		}
	}
	return out
})

// Doc says in one to three sentences what the key is for.
func (k *Key) Doc() string { return docs()[k.Name] }
