package client

import (
	"fmt"
	"strings"
	"time"
)

// javaDateFormat makes a printer of times from a pattern of Java's
// SimpleDateFormat: years to milliseconds in numbers, and text in quotes.
func javaDateFormat(pattern string) (func(time.Time) string, error) {
	var parts []func(time.Time) string
	literal := func(s string) { parts = append(parts, func(time.Time) string { return s }) }
	known := map[string]string{"yyyy": "2006", "yy": "06", "MM": "01", "dd": "02", "HH": "15", "mm": "04", "ss": "05"}
	for pattern != "" {
		c := pattern[0]
		n := len(pattern) - len(strings.TrimLeft(pattern, string(c)))
		word := pattern[:n]
		switch {
		case c == '\'':
			text, rest, ok := strings.Cut(pattern[1:], "'")
			if !ok {
				return nil, fmt.Errorf("Unterminated quote")
			}
			literal(text)
			pattern = rest
			continue
		case word == "SSS":
			parts = append(parts, func(t time.Time) string { return fmt.Sprintf("%03d", t.Nanosecond()/1e6) })
		case known[word] != "":
			layout := known[word]
			parts = append(parts, func(t time.Time) string { return t.Format(layout) })
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			return nil, fmt.Errorf("date-format: %s is not supported, only yyyy, yy, MM, dd, HH, mm, ss, SSS and text in quotes", word)
		default:
			literal(word)
		}
		pattern = pattern[n:]
	}
	return func(t time.Time) string {
		var b strings.Builder
		for _, part := range parts {
			b.WriteString(part(t))
		}
		return b.String()
	}, nil
}
