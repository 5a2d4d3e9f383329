package server

import (
	"context"
	"encoding/binary"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestAnswersHaveTheRightHeader(t *testing.T) {
	s := start(t, func(_ *Conn, run []*Request) {
		resp := run[0].Msg.ResponseKind()
		run[0].ReplyMessage(resp)
	}, nil)
	c := s.dial(t)
	for _, version := range []int16{0, 8, 9, 12} {
		m := kmsg.NewPtrMetadataRequest()
		m.Version = version
		c.send(frame(int32(version), m))
		id, body := c.receive()
		resp := m.ResponseKind()
		if resp.IsFlexible() {
			body = body[1:]
		}
		if err := resp.ReadFrom(body); err != nil || id != int32(version) {
			t.Errorf("version %d: answer to %d: %v", version, id, err)
		}
	}
	// ApiVersions of an unknown version comes through; its header has version 0.
	v := kmsg.NewPtrApiVersionsRequest()
	v.Version = 99
	c.send(frame(99, v))
	if id, body := c.receive(); id != 99 || len(body) != len(kmsg.NewPtrApiVersionsResponse().AppendTo(nil)) {
		t.Errorf("ApiVersions 99: answer to %d, %d bytes", id, len(body))
	}
}

func TestRequestCarriesItsContext(t *testing.T) {
	got := make(chan [6]string, 1)
	s := start(t, func(c *Conn, run []*Request) {
		r := run[0]
		c.SetSoftware("soft", "1.2")
		name, version := c.Software()
		got <- [6]string{c.Listener(), c.Principal(), r.Header.ClientID, c.RemoteAddr().String(), c.LocalAddr().String(), name + version}
		if r.Conn() != c || r.API.Name != "Metadata" || r.Size != len(frame(1, metadata()))-4 || time.Since(r.Arrived) > time.Minute {
			t.Errorf("request %+v", r)
		}
		echo(r)
	}, nil)
	c := s.dial(t)
	c.send(frame(1, metadata()))
	c.receive()
	want := [6]string{"TEST", "User:ANONYMOUS", "test", c.Conn.LocalAddr().String(), c.Conn.RemoteAddr().String(), "soft1.2"}
	if g := <-got; g != want {
		t.Errorf("context %v, want %v", g, want)
	}
}

// TestAnswersLeaveInOrderHoweverTheyAreCompleted pipelines produce requests,
// lets goroutines complete them at random, some without an answer, and reads
// what comes.
func TestAnswersLeaveInOrderHoweverTheyAreCompleted(t *testing.T) {
	const requests = 256
	var mu sync.Mutex
	var parked []*Request
	var pool sync.WaitGroup
	s := start(t, func(_ *Conn, run []*Request) {
		mu.Lock()
		defer mu.Unlock()
		for _, r := range run {
			r.Ordered()
			parked = append(parked, r)
			if len(parked) < 16 && r.Header.CorrelationID != requests-1 {
				continue
			}
			for _, p := range parked { // a goroutine each, in any order
				pool.Go(func() {
					if p.Header.CorrelationID%7 == 2 {
						p.NoReply()
						return
					}
					echo(p)
				})
			}
			parked = nil
		}
	}, nil)
	for range 20 {
		c := s.dial(t)
		var all []byte
		for i := range int32(requests) {
			all = append(all, frame(i, produce(10+int(i)))...)
		}
		go c.send(all)
		for i := range int32(requests) {
			if i%7 == 2 {
				continue
			}
			if id, body := c.receive(); id != i || int32(binary.BigEndian.Uint32(body[1:])) != i {
				t.Fatalf("answer to %d, want %d", id, i)
			}
		}
	}
	mu.Lock() // after the last Go
	defer mu.Unlock()
	pool.Wait()
}

func TestNeighbouringProduceRequestsAreOneRun(t *testing.T) {
	var mu sync.Mutex
	var runs []string
	release := make(chan struct{})
	s := start(t, func(_ *Conn, run []*Request) {
		if run[0].Header.CorrelationID == 0 {
			<-release // until all of the rest has arrived
		}
		names := []string{}
		for _, r := range run {
			names = append(names, r.API.Name)
		}
		mu.Lock()
		runs = append(runs, strings.Join(names, "+"))
		mu.Unlock()
		for _, r := range run {
			echo(r)
		}
	}, nil)
	c := s.dial(t)
	c.send(frame(0, metadata()))
	rest := []kmsg.Request{produce(5), produce(5), metadata(), metadata(), produce(5), produce(5), produce(5), metadata()}
	var all []byte
	for i, m := range rest {
		all = append(all, frame(int32(1+i), m)...)
	}
	c.send(all)
	eventually(t, "the bytes at the server", func() bool { return pendingBytes(c) == 0 })
	close(release)
	for range len(rest) + 1 {
		c.receive()
	}
	mu.Lock()
	defer mu.Unlock()
	if got, want := strings.Join(runs, " "), "Metadata Produce+Produce Metadata Metadata Produce+Produce+Produce Metadata"; got != want {
		t.Errorf("runs %q, want %q", got, want)
	}
}

func TestBlockedRequestHoldsItsConnectionUntilAnswered(t *testing.T) {
	parked := make(chan *Request, 10)
	s := start(t, func(_ *Conn, run []*Request) {
		for _, r := range run {
			if r.Header.CorrelationID == 2 {
				r.Ordered()
			}
			parked <- r
		}
	}, nil)
	c := s.dial(t)
	c.send(append(append(frame(1, metadata()), frame(2, metadata())...), frame(3, metadata())...))
	one := <-parked
	select {
	case r := <-parked:
		t.Fatalf("request %d is served before the first is answered", r.Header.CorrelationID)
	case <-time.After(50 * time.Millisecond):
	}
	echo(one)
	two, three := <-parked, <-parked // 2 is ordered, 3 need not wait
	echo(three)
	echo(two)
	for want := int32(1); want <= 3; want++ {
		if id, _ := c.receive(); id != want {
			t.Errorf("answer to %d, want %d", id, want)
		}
	}
}

func TestAnsweredTwiceIsAnErrorOfOurs(t *testing.T) {
	result := make(chan any, 1)
	s := start(t, func(_ *Conn, run []*Request) {
		echo(run[0])
		defer func() { result <- recover() }()
		echo(run[0])
	}, nil)
	c := s.dial(t)
	c.send(frame(1, metadata()))
	c.receive()
	if p, ok := (<-result).(string); !ok || !strings.HasPrefix(p, "BUG:") {
		t.Errorf("second answer: %v", p)
	}
}

func TestAbortClosesAfterTheAnswersBefore(t *testing.T) {
	var first *Request
	s := start(t, func(_ *Conn, run []*Request) {
		for _, r := range run {
			r.Ordered()
			if r.Header.CorrelationID == 1 {
				first = r
				continue
			}
			r.Abort(io.ErrUnexpectedEOF)
			echo(first)
		}
	}, nil)
	c := s.dial(t)
	c.send(append(frame(1, produce(1)), frame(2, produce(1))...))
	if id, _ := c.receive(); id != 1 {
		t.Errorf("answer to %d", id)
	}
	c.closed()
	eventually(t, "a line with the reason", func() bool { return strings.Contains(s.log.String(), io.ErrUnexpectedEOF.Error()) })
}

func TestThrottlePausesTheReading(t *testing.T) {
	var mu sync.Mutex
	var served [2]time.Time
	s := start(t, func(_ *Conn, run []*Request) {
		for _, r := range run {
			mu.Lock()
			served[r.Header.CorrelationID] = time.Now()
			mu.Unlock()
			if r.Header.CorrelationID == 0 {
				r.Throttle(150 * time.Millisecond)
			}
			echo(r)
		}
	}, nil)
	c := s.dial(t)
	c.send(append(frame(0, metadata()), frame(1, metadata())...))
	c.receive()
	c.receive()
	mu.Lock()
	defer mu.Unlock()
	if d := served[1].Sub(served[0]); d < 150*time.Millisecond {
		t.Errorf("the next request was served after %v", d)
	}
}

func TestShutdownLetsRequestsFinish(t *testing.T) {
	parked := make(chan *Request, 1)
	s := start(t, func(_ *Conn, run []*Request) { parked <- run[0] }, nil)
	busy, idle := s.dial(t), s.dial(t)
	busy.send(append(frame(1, metadata()), frame(2, metadata())...))
	eventually(t, "both connections", func() bool { return s.Stats().Listeners[0].Open.Load() == 2 })
	r := <-parked
	done := make(chan error, 1)
	go func() { done <- s.Shutdown(context.Background()) }()
	idle.closed()
	eventually(t, "the busy one is told", func() bool {
		r.conn.mu.Lock()
		defer r.conn.mu.Unlock()
		return r.conn.stopping
	})
	if _, err := net.Dial("tcp", s.Addr("TEST").String()); err == nil {
		t.Error("a connection is accepted during shutdown")
	}
	echo(r)
	if id, _ := busy.receive(); id != 1 {
		t.Errorf("answer to %d", id)
	}
	busy.closed() // the second request was not read
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestShutdownEndsAtItsDeadline(t *testing.T) {
	parked := make(chan *Request, 1)
	s := start(t, func(_ *Conn, run []*Request) { parked <- run[0] }, nil)
	c := s.dial(t)
	c.send(frame(1, metadata()))
	r := <-parked
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if err := s.Shutdown(ctx); err == nil {
		t.Error("shutdown did not say that it was cut short")
	}
	c.closed()
	echo(r) // goes nowhere, and gives back its memory
}

func TestClientThatClosesItsSideGetsItsAnswers(t *testing.T) {
	parked := make(chan *Request, 1)
	s := start(t, func(_ *Conn, run []*Request) { run[0].Ordered(); parked <- run[0] }, nil)
	c := s.dial(t)
	c.send(frame(1, produce(10)))
	r := <-parked
	if err := c.Conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(20*time.Millisecond, func() { echo(r) })
	if id, _ := c.receive(); id != 1 {
		t.Errorf("answer to %d", id)
	}
	c.closed()
}

func TestStatsCount(t *testing.T) {
	var observed atomic.Int64
	s := start(t, echoAll, func(o *Options) {
		o.Observe = func(o Observation) {
			if o.Connection != 1 || o.Key != 3 || o.Queue <= 0 || o.Serve <= 0 || o.Send <= 0 {
				t.Errorf("observed %+v", o)
			}
			observed.Add(1)
		}
	})
	c := s.dial(t)
	f := frame(1, metadata())
	for range 3 {
		c.send(f)
		c.receive()
	}
	eventually(t, "three answers", func() bool { return observed.Load() == 3 })
	st, l := &s.Stats().Requests[3], s.Stats().Listeners[0]
	if st.Count.Load() != 3 || st.Bytes.Load() != int64(3*(len(f)-4)) {
		t.Errorf("request stats: %d requests of %d bytes", st.Count.Load(), st.Bytes.Load())
	}
	if l.BytesIn.Load() != int64(3*len(f)) || l.BytesOut.Load() != 3*13 || l.Unanswered.Load() != 0 || l.Accepted.Load() != 1 {
		t.Errorf("listener stats: in %d, out %d, unanswered %d", l.BytesIn.Load(), l.BytesOut.Load(), l.Unanswered.Load())
	}
}

func TestListenSaysWhatIsWrong(t *testing.T) {
	s := start(t, echoAll, nil)
	for _, c := range []struct {
		change func(*Options)
		want   string
	}{
		{func(o *Options) { o.Listeners[0].Address = s.Addr("TEST").String() }, "listener TEST: listen tcp"},
		{func(o *Options) { o.Listeners[0].Protocol = 1 }, "security protocol SSL is not supported"},
		{func(o *Options) { o.Listeners = append(o.Listeners, o.Listeners[0]) }, "defined twice"},
		{func(o *Options) { o.Listeners[0].Handler = nil }, "no handler"},
	} {
		o := Options{
			Listeners: []Listener{{Name: "TEST", Address: "127.0.0.1:0", Handler: handlerFunc(echoAll), Served: served()}},
			Logger:    slog.New(slog.DiscardHandler),
		}
		c.change(&o)
		if _, err := Listen(o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// TestAnswersOfOneDrainLeaveWithOneWrite holds a connection until the rest of its
// requests has arrived, produce and others.
func TestAnswersOfOneDrainLeaveWithOneWrite(t *testing.T) {
	var reads, writes atomic.Int64
	first := make(chan *Request, 1)
	s := start(t, func(_ *Conn, run []*Request) {
		if run[0].Header.CorrelationID == 0 {
			first <- run[0]
			return
		}
		echoAll(nil, run)
	}, func(o *Options) {
		o.wrapTransport = func(tr transport) transport { return countedTransport{tr, &reads, &writes} }
	})
	// The scheduler may have the connection read while the bytes come in, in two drains.
	for attempt := range 10 {
		writes.Store(0)
		c := s.dial(t)
		c.send(frame(0, metadata()))
		r := <-first
		var all []byte
		for i := range int32(20) {
			m := metadata()
			if i%3 > 0 {
				m = produce(100)
			}
			all = append(all, frame(1+i, m)...)
		}
		c.send(all)
		eventually(t, "the bytes at the server", func() bool { return pendingBytes(c) == 0 })
		echo(r)
		for i := range int32(21) {
			if id, _ := c.receive(); id != i {
				t.Fatalf("answer to %d, want %d", id, i)
			}
		}
		n := writes.Load()
		if n == 2 {
			return
		}
		t.Logf("attempt %d: %d writes, want 2", attempt, n)
	}
	t.Error("no drain was answered with one write")
}

// TestConnectionStopsReadingWhenTooMuchWaits: requests without an answer, or
// answers behind a request that has none.
func TestConnectionStopsReadingWhenTooMuchWaits(t *testing.T) {
	for _, c := range []struct {
		what   string
		answer int // size of all answers but the first; -1: none
		want   int64
	}{
		{"unanswered", -1, maxUnanswered},
		{"queued", 100 << 10, 1 + 11}, // the eleventh exceeds a mebibyte
	} {
		var mu sync.Mutex
		var parked []*Request
		s := start(t, func(_ *Conn, run []*Request) {
			mu.Lock()
			defer mu.Unlock()
			for _, r := range run {
				r.Ordered()
				if c.answer < 0 || r.Header.CorrelationID == 0 {
					parked = append(parked, r)
					continue
				}
				r.Reply(Piece{Bytes: make([]byte, c.answer)})
			}
		}, nil)
		cl := s.dial(t)
		for i := range int32(maxUnanswered + 50) {
			cl.send(frame(i, metadata()))
		}
		count := &s.Stats().Requests[3].Count
		eventually(t, c.what+": the limit", func() bool { return count.Load() >= c.want })
		time.Sleep(20 * time.Millisecond)
		if n := count.Load(); n != c.want {
			t.Errorf("%s: %d requests are served, want %d", c.what, n, c.want)
		}
		go func() {
			for done := 0; done < maxUnanswered+50; time.Sleep(time.Millisecond) {
				mu.Lock()
				list := parked
				parked = nil
				mu.Unlock()
				for _, r := range list {
					echo(r)
				}
				if done += len(list); c.answer >= 0 {
					return
				}
			}
		}()
		for i := range int32(maxUnanswered + 50) {
			if id, _ := cl.receive(); id != i {
				t.Fatalf("%s: answer to %d, want %d", c.what, id, i)
			}
		}
	}
}
