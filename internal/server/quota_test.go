package server

import (
	"math"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"
)

func TestConnectionLimits(t *testing.T) {
	limits := NoLimits()
	limits.MaxConnectionsPerIP = 2
	s := start(t, echoAll, func(o *Options) { o.Limits = &limits })
	works := func(c *client) bool {
		_, err := c.Write(frame(1, metadata()))
		if err == nil {
			_, _, err = c.tryReceive()
		}
		return err == nil
	}
	a, b := s.dial(t), s.dial(t)
	if !works(a) || !works(b) {
		t.Fatal("connections within the limit do not work")
	}
	s.dial(t).closed()
	if !strings.Contains(s.log.String(), "maximum of 2 connections") {
		t.Errorf("log: %s", s.log)
	}
	_ = a.Close()
	eventually(t, "a place is free", func() bool { return s.Stats().Listeners[0].Open.Load() == 1 })
	if !works(s.dial(t)) {
		t.Error("a free place is not given")
	}
	limits.MaxConnectionsPerIP = 0
	limits.PerIP = map[netip.Addr]int{netip.MustParseAddr("127.0.0.1"): 3}
	s.SetLimits(limits)
	if !works(s.dial(t)) {
		t.Error("the override is not seen")
	}
	s.dial(t).closed()
}

func TestConnectionBeyondTheTotalWaits(t *testing.T) {
	limits := NoLimits()
	limits.MaxConnections = 1
	s := start(t, echoAll, func(o *Options) { o.Limits = &limits })
	a := s.dial(t)
	a.send(frame(1, metadata()))
	a.receive()
	b := s.dial(t)
	b.send(frame(2, metadata()))
	if err := b.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.tryReceive(); err == nil {
		t.Fatal("served beyond the limit")
	}
	_ = a.Close()
	if err := b.SetReadDeadline(time.Now().Add(patience30s)); err != nil {
		t.Fatal(err)
	}
	if id, _ := b.receive(); id != 2 {
		t.Errorf("answer to %d", id)
	}
}

// TestConnectionsLeaveDescriptorsForFiles: whatever the limits say, a client cannot
// take all descriptors of the process.
func TestConnectionsLeaveDescriptorsForFiles(t *testing.T) {
	s := start(t, echoAll, func(o *Options) { o.Descriptors = 88 }) // two connections
	works := func(c *client, patience time.Duration) bool {
		if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		c.send(frame(1, metadata()))
		_, _, err := c.tryReceive()
		return err == nil
	}
	a, b, beyond := s.dial(t), s.dial(t), s.dial(t)
	if !works(a, patience30s) || !works(b, patience30s) {
		t.Fatal("connections within the limit do not work")
	}
	if works(beyond, 50*time.Millisecond) {
		t.Fatal("served beyond the limit")
	}
	if !strings.Contains(s.log.String(), "open_files=88") {
		t.Errorf("log: %s", s.log)
	}
	_ = a.Close()
	if err := beyond.SetDeadline(time.Now().Add(patience30s)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := beyond.tryReceive(); err != nil {
		t.Errorf("not served when there is room: %v", err)
	}
	for descriptors, want := range map[int]int{10: 1, 100: 11, 1024: 704, 4096: 2816, 1 << 20: 720896} {
		if got := socketsOf(descriptors); got != want {
			t.Errorf("%d descriptors: %d connections, want %d", descriptors, got, want)
		}
	}
}

func TestProtectedListenerTakesThePlaceOfTheIdlest(t *testing.T) {
	limits := NoLimits()
	limits.MaxConnections = 2
	s := start(t, echoAll, func(o *Options) {
		o.Limits = &limits
		o.Listeners = append(o.Listeners, o.Listeners[0])
		o.Listeners[1].Name, o.Listeners[1].Protected = "NODES", true
	})
	idle, busy := s.dial(t), s.dial(t)
	idle.send(frame(1, metadata()))
	idle.receive()
	busy.send(frame(1, metadata()))
	busy.receive()
	conn, err := net.Dial("tcp", s.Addr("NODES").String())
	if err != nil {
		t.Fatal(err)
	}
	node := &client{conn, t}
	defer conn.Close()
	node.send(frame(7, metadata()))
	if id, _ := node.receive(); id != 7 {
		t.Errorf("answer to %d", id)
	}
	idle.closed()
	busy.send(frame(2, metadata()))
	busy.receive()
}

func TestCreationRateSpacesConnections(t *testing.T) {
	var p pace
	at := time.Unix(1000, 0)
	waits := 0
	for range 30 { // a burst of 10 is free
		if p.next(10, at) > 0 {
			waits++
		}
	}
	if d := p.next(10, at); waits != 20 || d != 2100*time.Millisecond {
		t.Errorf("%d of 30 wait, the next for %v", waits, d)
	}
	if d := p.next(10, at.Add(time.Hour)); d != 0 {
		t.Errorf("after an hour: wait for %v", d)
	}
	if p.next(0, at) != 0 || p.next(math.MaxInt32, at) != 0 {
		t.Error("no limit is a limit")
	}
}
