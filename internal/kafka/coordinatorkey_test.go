package kafka

import "testing"

// The hashes are what Java prints for "…".hashCode().
func TestCoordinatorPartitionIsApaches(t *testing.T) {
	for id, hash := range map[string]int32{
		"":                           0,
		"a":                          97,
		"my-group":                   -1906497762,
		"console-consumer-12345":     158455506,
		"polygenelubricants":         -2147483648,
		"gruppe-äöü-\u4e16\u754c":    164807883,
		"\U0001f600-\U00010000":      1278640298,
		"a rather long name of many": 647840038,
	} {
		if got := javaHash(id); got != hash {
			t.Errorf("%q: hash %d, Java has %d", id, got, hash)
		}
	}
	for id, want := range map[string]int32{"": 0, "polygenelubricants": 0, "a": 47} {
		if got := CoordinatorPartition(id, 50); got != want {
			t.Errorf("%q: partition %d, want %d", id, got, want)
		}
	}
}
