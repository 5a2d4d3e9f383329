package argparse

import "strings"

// width is what argparse4j takes for the width of a terminal when nobody tells it.
const width = 75

// wrap breaks text into lines and, as argparse4j does, stretches all but the last
// to the full width.
func wrap(text string) string {
	var out, line strings.Builder
	for _, piece := range pieces(text) {
		if line.Len()+len(piece) > width {
			out.WriteString(justify(line.String()) + "\n")
			line.Reset()
		}
		line.WriteString(piece)
	}
	return out.String() + line.String()
}

// pieces divides text at the places where a line may end: behind blanks, and
// behind a hyphen that a letter follows.
func pieces(text string) []string {
	var out []string
	begin := 0
	for i := 1; i < len(text); i++ {
		if text[i-1] == ' ' && text[i] != ' ' || text[i-1] == '-' && isLetter(text[i]) {
			out = append(out, text[begin:i])
			begin = i
		}
	}
	return append(out, text[begin:])
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// justify widens the gaps between the words of line evenly; what is left over goes
// to the gaps in the middle.
func justify(line string) string {
	words := strings.Fields(line)
	line = strings.Join(words, " ")
	gaps := len(words) - 1
	if gaps < 1 {
		return line
	}
	each, more := (width-len(line))/gaps, (width-len(line))%gaps
	first := (gaps - more + 1) / 2
	var out strings.Builder
	for i, w := range words {
		out.WriteString(w)
		if i == gaps {
			break
		}
		n := 1 + each
		if i >= first && i < first+more {
			n++
		}
		out.WriteString(strings.Repeat(" ", n))
	}
	return out.String()
}
