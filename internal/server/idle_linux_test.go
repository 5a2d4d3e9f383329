package server

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// anonymous is the anonymous memory of the process, in bytes.
func anonymousMemory(t *testing.T) int64 {
	t.Helper()
	f, err := os.Open("/proc/self/smaps_rollup")
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		var kb int64
		if n, _ := fmt.Sscanf(s.Text(), "Anonymous: %d kB", &kb); n == 1 {
			return kb << 10
		}
	}
	t.Fatal("no line Anonymous")
	return 0
}

// rawClient is a blocking socket without anything of Go's, so that it does not
// count as memory of the server. It has sent a request and read the answer.
func rawClient(t *testing.T, s *testServer, request []byte) int {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	a := s.Addr("TEST")
	if err := unix.Connect(fd, &unix.SockaddrInet4{Port: int(a.Port()), Addr: a.Addr().As4()}); err != nil {
		t.Fatal(err)
	}
	if _, err := unix.Write(fd, request); err != nil {
		t.Fatal(err)
	}
	var answer [100]byte
	if n, err := unix.Read(fd, answer[:]); err != nil || n != 13 {
		t.Fatal(n, err)
	}
	return fd
}

// TestIdleConnectionsAreSmall: each has served a request; the bound is that of
// the whole product.
func TestIdleConnectionsAreSmall(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector needs memory of its own")
	}
	const connections = 2000
	s := start(t, echoAll, nil)
	request := frame(1, metadata())
	settle := func() {
		for range 3 { // stacks shrink by half at a time
			runtime.GC()
		}
		debug.FreeOSMemory()
	}
	for range 10 { // what the first ones need is not theirs
		defer unix.Close(rawClient(t, s, request))
	}
	settle()
	before := anonymousMemory(t)
	for range connections {
		defer unix.Close(rawClient(t, s, request))
	}
	eventually(t, "all sleep", func() bool { return asleep(s) == connections+10 })
	settle()
	per := (anonymousMemory(t) - before) / connections
	t.Logf("%d bytes per idle connection", per)
	if per > 5<<10 {
		t.Errorf("%d bytes per idle connection, want at most 5 KiB", per)
	}
}

func asleep(s *testServer) int {
	n := 0
	for _, c := range s.connections() {
		c.mu.Lock()
		if c.asleep {
			n++
		}
		c.mu.Unlock()
	}
	return n
}

func soonAsleep(o *Options) { o.sleepAfter = time.Millisecond }

func TestSleepingConnectionWakesForARequest(t *testing.T) {
	s := start(t, echoAll, soonAsleep)
	c := s.dial(t)
	for i := range int32(5) {
		eventually(t, "it sleeps", func() bool { return asleep(s) == 1 })
		f := frame(i, produce(100_000))
		c.send(f[:7]) // and sleeps again with a part of a frame
		eventually(t, "it sleeps again", func() bool { return asleep(s) == 1 })
		c.send(f[7:])
		if id, _ := c.receive(); id != i {
			t.Errorf("answer to %d, want %d", id, i)
		}
	}
}

func TestSleepingConnectionEnds(t *testing.T) {
	s := start(t, echoAll, soonAsleep)
	gone, kept := s.dial(t), s.dial(t)
	eventually(t, "both sleep", func() bool { return asleep(s) == 2 })
	_ = gone.Close()
	eventually(t, "the end of the first is seen", func() bool { return s.Stats().Listeners[0].Open.Load() == 1 })
	if err := s.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	kept.closed()

	s = start(t, echoAll, func(o *Options) {
		soonAsleep(o)
		o.IdleTimeout = 50 * time.Millisecond
	})
	s.dial(t).closed()
}

// TestSleepAndWorkInTurn lets connections fall asleep and wake all the time,
// while answers come late and clients come and go.
func TestSleepAndWorkInTurn(t *testing.T) {
	var mu sync.Mutex // of late
	var late sync.WaitGroup
	s := start(t, func(_ *Conn, run []*Request) {
		for _, r := range run {
			if r.Header.CorrelationID%3 == 0 {
				r.Ordered()
				mu.Lock()
				late.Go(func() { time.Sleep(time.Duration(r.Header.CorrelationID%5) * time.Millisecond); echo(r) })
				mu.Unlock()
				continue
			}
			echo(r)
		}
	}, soonAsleep)
	var all sync.WaitGroup
	for seed := range uint64(20) {
		all.Go(func() {
			r := rand.New(rand.NewPCG(seed, 3))
			for range 4 {
				c := s.dial(t)
				for i := range int32(20) {
					f := frame(i, produce(r.IntN(200)))
					cut := r.IntN(len(f))
					c.send(f[:cut])
					time.Sleep(time.Duration(r.IntN(4)) * time.Millisecond)
					c.send(f[cut:])
					if id, _ := c.receive(); id != i {
						t.Errorf("answer to %d, want %d", id, i)
					}
				}
				if r.IntN(2) == 0 {
					c.send([]byte{0})
				}
				_ = c.Close()
			}
		})
	}
	all.Wait()
	mu.Lock()
	late.Wait()
	mu.Unlock()
	eventually(t, "all are gone", func() bool { return s.Stats().Listeners[0].Open.Load() == 0 })
}
