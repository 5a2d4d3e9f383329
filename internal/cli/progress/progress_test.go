package progress

import (
	"bytes"
	"testing"
	"time"
)

func TestLineComesWhenNothingIsPrinted(t *testing.T) {
	var out bytes.Buffer
	begin := time.Unix(1000, 0)
	ticks := make(chan time.Time)
	l := start(&out, "topics", begin, ticks)
	text := &writer{l, &out}
	for _, second := range []int{1, 2, 3} {
		ticks <- begin.Add(time.Duration(second) * time.Second)
		l.Set("3 of 9 topics")
	}
	ticks <- begin // the one before has been shown when this is taken
	if _, err := text.Write([]byte("a\n")); err != nil {
		t.Fatal(err)
	}
	if _, err := text.Write([]byte("b\n")); err != nil {
		t.Fatal(err)
	}
	ticks <- begin.Add(4 * time.Second) // long before what is printed by the real clock
	l.Close()
	const want = "\r\x1b[Ktopics: 3 of 9 topics, 2 s\r\x1b[Ktopics: 3 of 9 topics, 3 s\r\x1b[Ka\nb\n"
	if got := out.String(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestLineGoesAtTheEnd(t *testing.T) {
	var out bytes.Buffer
	ticks := make(chan time.Time)
	l := start(&out, "topics", time.Unix(1000, 0), ticks)
	ticks <- time.Unix(1005, 0)
	l.Close()
	if got := out.String(); got != "\r\x1b[Ktopics: waiting, 5 s\r\x1b[K" {
		t.Errorf("%q", got)
	}
}

func TestNoLineWhereThereIsNoTerminal(t *testing.T) {
	var out bytes.Buffer
	l := Start(&out, "topics")
	if l != nil || l.Before(&out) != &out {
		t.Fatal("a buffer is taken for a terminal")
	}
	l.Set("nothing")
	l.Close()
}
