package compat

import (
	"fmt"
	"strings"
)

// Partitions of each topic.
const Partitions = 3

// valueSize is the size of a value in bytes.
const valueSize = 100

// Key of record i.
func Key(i int) string { return fmt.Sprintf("key-%d", i) }

// Value of record i: its number, then letters up to 100 bytes.
func Value(i int) string {
	head := fmt.Sprintf("value-%d-", i)
	return head + strings.Repeat(string(rune('a'+i%26)), valueSize-len(head))
}

// InPartition says how many of n records are in partition p.
func InPartition(n, p int) int { return (n - p + Partitions - 1) / Partitions }

// Expect says what is wrong with the record at an offset of a partition, or "".
func Expect(p int, offset int64, key, value []byte) string {
	i := int(offset)*Partitions + p
	if string(key) != Key(i) || string(value) != Value(i) {
		return fmt.Sprintf("partition %d offset %d: got key %q value %q, want record %d", p, offset, key, value, i)
	}
	return ""
}
