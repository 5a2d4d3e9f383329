package consumergroup

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"
)

// TestSumsAreThoseOfHash4j: the hashes of groups are compared with what Apache Kafka has
// written, so the library must agree with Apache's.
func TestSumsAreThoseOfHash4j(t *testing.T) {
	text, err := os.ReadFile("testdata/sums.txt")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for line := range strings.Lines(string(text)) {
		var n int
		var want uint64
		if _, err := fmt.Sscanf(line, "%d %x", &n, &want); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(i*167 + n)
		}
		if got := xxh3.Hash(b); got != want {
			t.Errorf("%d bytes: %x, want %x", n, got, want)
		}
		checked++
	}
	if checked < 400 {
		t.Errorf("only %d vectors", checked)
	}
}
