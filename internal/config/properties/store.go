package properties

import (
	"sort"
	"strings"
	"time"
	"unicode/utf16"
)

// Store writes what java.util.Properties.store(Writer, "") writes: a line with
// '#' alone, the date, then the properties in the order of Java's hash table.
// Apache Kafka writes meta.properties so.
func Store(values map[string]string, now time.Time) []byte {
	var b strings.Builder
	b.WriteString("#\n#")
	b.WriteString(now.Format("Mon Jan 02 15:04:05 MST 2006")) // Date.toString
	b.WriteByte('\n')
	for _, key := range javaOrder(values) {
		escape(&b, key, true)
		b.WriteByte('=')
		escape(&b, values[key], false)
		b.WriteByte('\n')
	}
	return []byte(b.String())
}

// escape writes s so that it reads back the same: blanks are escaped in keys and
// at the start of values.
func escape(b *strings.Builder, s string, key bool) {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case ' ':
			if i == 0 || key {
				b.WriteByte('\\')
			}
			b.WriteByte(c)
		case '\t':
			b.WriteString(`\t`)
		case '\n':
			b.WriteString(`\n`)
		case '\r':
			b.WriteString(`\r`)
		case '\f':
			b.WriteString(`\f`)
		case '\\', '=', ':', '#', '!':
			b.WriteByte('\\')
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
}

// javaOrder gives the keys in the order in which the ConcurrentHashMap inside
// java.util.Properties is iterated: by bucket, and within a bucket by the time
// of insertion, for which the sorted order stands here.
func javaOrder(values map[string]string) []string {
	size := 16 // new Properties() asks for room for 8
	for 4*len(values) >= 3*size {
		size *= 2
	}
	keys := make([]string, 0, len(values))
	for k := range values {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	bucket := func(key string) uint32 {
		h := javaHash(key)
		return (h ^ h>>16) & uint32(size-1)
	}
	sort.SliceStable(keys, func(i, j int) bool { return bucket(keys[i]) < bucket(keys[j]) })
	return keys
}

// javaHash is String.hashCode.
func javaHash(s string) uint32 {
	var h uint32
	for _, c := range utf16.Encode([]rune(s)) {
		h = 31*h + uint32(c)
	}
	return h
}
