package clock

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

func TestTimersAreCalledInOrderAtTheirTimes(t *testing.T) {
	began := time.Unix(1000, 0)
	m := NewManual(began)
	var got []string
	note := func(name string) func() {
		return func() { got = append(got, fmt.Sprint(name, " at ", m.Now().Sub(began))) }
	}
	m.AfterFunc(3*time.Second, note("c"))
	m.AfterFunc(time.Second, func() {
		note("a")()
		m.AfterFunc(time.Second, note("b"))
	})
	stop := m.AfterFunc(2*time.Second, note("stopped"))
	if !stop() || stop() {
		t.Fatal("stop does not say whether it was in time")
	}
	m.Advance(2500 * time.Millisecond)
	if want := []string{"a at 1s", "b at 2s"}; !slices.Equal(got, want) {
		t.Fatalf("called %q, want %q", got, want)
	}
	got = nil
	m.Jump(time.Minute)
	if want := []string{"c at 1m2.5s"}; !slices.Equal(got, want) {
		t.Fatalf("called %q, want %q", got, want)
	}
}

func TestSystemClockRuns(t *testing.T) {
	var s System
	before, called := s.Now(), make(chan struct{})
	s.AfterFunc(time.Millisecond, func() { close(called) })
	<-called
	if s.Now().Sub(before) < time.Millisecond {
		t.Fatal("called too soon")
	}
	if stop := s.AfterFunc(time.Hour, func() {}); !stop() {
		t.Fatal("stopped too late")
	}
}
