package properties

import (
	"fmt"
	"unicode/utf16"
)

// Property is one key with its value, and the line on which it begins.
type Property struct {
	Key   string
	Value string
	Line  int
}

// Parse reads text in the order of its lines. A key that occurs twice is given
// twice; the last one counts (see Map). The only error is a malformed \uXXXX.
func Parse(text []byte) ([]Property, error) {
	var out []Property
	lines := lineReader{text: text}
	for {
		line, number, ok := lines.next()
		if !ok {
			return out, nil
		}
		p, err := parseLine(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		p.Line = number
		out = append(out, p)
	}
}

// Map gives the values by key; the last of equal keys wins.
func Map(list []Property) map[string]string {
	m := make(map[string]string, len(list))
	for _, p := range list {
		m[p.Key] = p.Value
	}
	return m
}

// lineReader cuts text into logical lines: comments and blank lines left out,
// continued lines joined, escapes still in place.
type lineReader struct {
	text   []byte
	at     int
	number int // of the natural line that ends before at
}

// natural returns the next line of the file without its end.
func (r *lineReader) natural() (line []byte, ok bool) {
	if r.at >= len(r.text) {
		return nil, false
	}
	r.number++
	start := r.at
	for r.at < len(r.text) && r.text[r.at] != '\n' && r.text[r.at] != '\r' {
		r.at++
	}
	line = r.text[start:r.at]
	if r.at < len(r.text) {
		if r.text[r.at] == '\r' && r.at+1 < len(r.text) && r.text[r.at+1] == '\n' {
			r.at++
		}
		r.at++
	}
	return line, true
}

// next returns the next logical line and the number of its first natural line.
// A line that is blank so far, be it a lone backslash, does not count as begun:
// what follows it may be a comment (Java 9 and later).
func (r *lineReader) next() (line []byte, number int, ok bool) {
	for len(line) == 0 {
		natural, ok := r.natural()
		if !ok {
			return nil, 0, false
		}
		natural = trimBlanks(natural)
		if len(natural) > 0 && natural[0] != '#' && natural[0] != '!' {
			number = r.number
			line = r.join(natural)
		}
	}
	return line, number, true
}

// join appends the lines that line goes on in. A backslash at the end of the
// text goes, and so does one with nothing before it, of which Java makes an
// empty key in some cases.
func (r *lineReader) join(line []byte) []byte {
	for continues(line) {
		line = line[: len(line)-1 : len(line)-1]
		if len(line) == 0 {
			break
		}
		natural, ok := r.natural()
		if !ok {
			break
		}
		line = append(line, trimBlanks(natural)...)
	}
	return line
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\f' }

func trimBlanks(line []byte) []byte {
	for len(line) > 0 && isBlank(line[0]) {
		line = line[1:]
	}
	return line
}

// continues says whether line ends in an odd number of backslashes.
func continues(line []byte) bool {
	n := 0
	for n < len(line) && line[len(line)-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}

// parseLine parts a logical line into key and value: the key ends at the first
// '=', ':' or blank that is not escaped; blanks around one '=' or ':' are part
// of neither.
func parseLine(line []byte) (Property, error) {
	keyEnd := 0
	for keyEnd < len(line) && line[keyEnd] != '=' && line[keyEnd] != ':' && !isBlank(line[keyEnd]) {
		if line[keyEnd] == '\\' {
			keyEnd++
		}
		keyEnd++
	}
	keyEnd = min(keyEnd, len(line))
	value := trimBlanks(line[keyEnd:])
	if len(value) > 0 && (value[0] == '=' || value[0] == ':') {
		value = trimBlanks(value[1:])
	}
	key, err := unescape(line[:keyEnd])
	if err != nil {
		return Property{}, err
	}
	text, err := unescape(value)
	if err != nil {
		return Property{}, fmt.Errorf("key %s: %w", key, err)
	}
	return Property{Key: key, Value: text}, nil
}

// unescape resolves escapes and turns ISO-8859-1 into a Go string. Java's chars
// are UTF-16, so two escapes can make up one character.
func unescape(b []byte) (string, error) {
	plain := true
	for _, c := range b {
		if c == '\\' || c >= 0x80 {
			plain = false
			break
		}
	}
	if plain {
		return string(b), nil
	}
	chars := make([]uint16, 0, len(b))
	for i := 0; i < len(b); i++ {
		c := uint16(b[i])
		if c == '\\' && i+1 < len(b) {
			i++
			switch b[i] {
			case 'u':
				c = 0
				if i+4 >= len(b) {
					return "", errMalformed
				}
				for n := 1; n <= 4; n++ {
					d := hexDigit(b[i+n])
					if d < 0 {
						return "", errMalformed
					}
					c = c<<4 | uint16(d)
				}
				i += 4
			case 't':
				c = '\t'
			case 'r':
				c = '\r'
			case 'n':
				c = '\n'
			case 'f':
				c = '\f'
			default:
				c = uint16(b[i])
			}
		}
		chars = append(chars, c)
	}
	return string(utf16.Decode(chars)), nil
}

// errMalformed has the words of java.util.Properties.
var errMalformed = fmt.Errorf("Malformed \\uxxxx encoding.")

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
