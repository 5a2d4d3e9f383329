package kit

import (
	"bytes"
	"slices"
	"strings"
)

// rewriteProperties replaces the values of the keys in set, where they stand,
// and leaves out the keys in drop.
func rewriteProperties(old []byte, set map[string]string, drop []string) []byte {
	var out bytes.Buffer
	for line := range strings.Lines(string(old)) {
		line = strings.TrimRight(line, "\n")
		key, _, isPair := strings.Cut(line, "=")
		if isPair && slices.Contains(drop, key) {
			continue
		}
		if v, ok := set[key]; isPair && ok {
			line = key + "=" + v
		}
		out.WriteString(line + "\n")
	}
	return out.Bytes()
}
