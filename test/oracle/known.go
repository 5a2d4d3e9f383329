package oracle

import (
	_ "embed"
	"fmt"
	"path"
	"slices"
	"strings"
)

//go:embed known_differences.txt
var knownText string

// knownDifference is one paragraph of known_differences.txt.
type knownDifference struct {
	sequence, request string // patterns of path.Match; request may be "*"
	apache, ours      []string
	reason            string
	used              bool
}

// parseKnown reads the file: paragraphs of "case:", "request:", "apache:",
// "ours:" and "reason:" lines; apache and ours may stand several times and may
// be patterns.
func parseKnown(text string) ([]*knownDifference, error) {
	var out []*knownDifference
	for _, paragraph := range strings.Split(text, "\n\n") {
		k := &knownDifference{request: "*"}
		for line := range strings.Lines(paragraph) {
			line = strings.TrimSpace(line)
			if line == "" || line[0] == '#' {
				continue
			}
			key, value, ok := strings.Cut(line, ":")
			value = strings.TrimSpace(value)
			switch {
			case !ok:
				return nil, fmt.Errorf("known_differences.txt: no colon in %q", line)
			case key == "case":
				k.sequence = value
			case key == "request":
				k.request = value
			case key == "apache":
				k.apache = append(k.apache, value)
			case key == "ours":
				k.ours = append(k.ours, value)
			case key == "reason":
				k.reason = value
			default:
				return nil, fmt.Errorf("known_differences.txt: unknown key %q", key)
			}
		}
		if k.sequence == "" {
			continue
		}
		if k.reason == "" {
			return nil, fmt.Errorf("known_differences.txt: case %s has no reason", k.sequence)
		}
		out = append(out, k)
	}
	return out, nil
}

// explains says whether the difference is the known one.
func (k *knownDifference) explains(sequence string, d Difference) bool {
	return match(k.sequence, sequence) && match(k.request, d.Request) &&
		allMatch(d.Apache, k.apache) && allMatch(d.Ours, k.ours)
}

// match is path.Match with '/' as a letter like others, and '[' taken as it is.
func match(pattern, s string) bool {
	clean := strings.NewReplacer("/", "\x00", "[", "\x01", "]", "\x02", "\\", "\x03")
	ok, err := path.Match(clean.Replace(pattern), clean.Replace(s))
	return err == nil && ok
}

func allMatch(lines, patterns []string) bool {
	for _, l := range lines {
		if !slices.ContainsFunc(patterns, func(p string) bool { return match(p, l) }) {
			return false
		}
	}
	return true
}
