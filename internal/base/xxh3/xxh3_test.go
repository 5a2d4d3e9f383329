package xxh3

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

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
		if got := Sum64(b); got != want {
			t.Errorf("%d bytes: %x, want %x", n, got, want)
		}
		checked++
	}
	if checked < 400 {
		t.Errorf("only %d vectors", checked)
	}
}
