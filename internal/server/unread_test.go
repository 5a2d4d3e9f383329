package server

import (
	"slices"
	"testing"

	"barnabas/internal/base/budget"
)

func TestBacklogGivesUpWhoHasStoodLongest(t *testing.T) {
	b := newBacklog(100)
	one, two, three := &Conn{}, &Conn{}, &Conn{}
	for _, step := range []struct {
		what    string
		do      func() []*Conn
		victims []*Conn
		held    int64
	}{
		{"alone it may be over the limit", func() []*Conn { return b.add(one, 150) }, nil, 150},
		{"back within it", func() []*Conn { return b.add(one, -100) }, nil, 50},
		{"a second one", func() []*Conn { return b.add(two, 40) }, nil, 90},
		{"the first moves", func() []*Conn { b.moved(one); return nil }, nil, 90},
		{"the third is one too many", func() []*Conn { return b.add(three, 20) }, []*Conn{two}, 70},
		{"a victim lets go", func() []*Conn { return b.add(two, -40) }, nil, 70},
		{"all but the last", func() []*Conn { return b.add(three, 200) }, []*Conn{one}, 220},
		{"who is grown moves not", func() []*Conn { return b.add(one, 10) }, []*Conn{three}, 10},
		{"the end", func() []*Conn { return b.add(one, -10) }, nil, 0},
	} {
		if got := step.do(); !slices.Equal(got, step.victims) || b.held() != step.held {
			t.Fatalf("%s: %d victims, %d bytes, want %d, %d", step.what, len(got), b.held(), len(step.victims), step.held)
		}
	}
	if b.order.Len() != 0 || len(b.readers) != 0 {
		t.Error("something is left")
	}
}

// TestReadersThatNeverReadAreBounded: many connections ask for what they do not read.
// What is kept for them has a bound in all, without a wait for a time, and a connection
// that reads is served.
func TestReadersThatNeverReadAreBounded(t *testing.T) {
	const limit, deaf, size = 256 << 20, 40, 16 << 20 // more than a socket takes
	answer := make([]byte, size)
	shared := budget.New(limit)
	s := start(t, func(_ *Conn, run []*Request) { run[0].Reply(Piece{Bytes: answer}) }, func(o *Options) { o.Budget = shared })
	backlog := s.listeners[0].backlog
	reader := s.dial(t)
	for range deaf {
		c := s.dial(t)
		c.send(frame(1, metadata()))
		reader.send(frame(2, metadata()))
		if id, body := reader.receive(); id != 2 || len(body) != size+1 {
			t.Fatalf("answer %d of %d bytes", id, len(body))
		}
		if held := backlog.held(); held > limit/unreadShare {
			t.Fatalf("%d bytes are kept for those who do not read", held)
		}
	}
	eventually(t, "the slowest are closed", func() bool {
		return s.Stats().Unread.Load() > 0 && s.Stats().Listeners[0].Open.Load() <= 1+limit/unreadShare/size+1
	})
	eventually(t, "what is held is in the budget", func() bool { return backlog.held() <= shared.Used() })
}
