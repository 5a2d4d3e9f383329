package server

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"barnabas/internal/base/vfs"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// noFd is a file without a descriptor, as in memory.
type noFd struct{ vfs.File }

func (noFd) Fd() (int, bool) { return 0, false }

// dataFile is a file of n random bytes.
func dataFile(t testing.TB, n int) (*vfs.Shared, []byte) {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(n), 1))
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	f, err := vfs.NewOS(nil).Open(filepath.Join(t.TempDir(), "data"), vfs.Create)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(data, 0); err != nil {
		t.Fatal(err)
	}
	return vfs.NewShared(f), data
}

// released checks that nobody but the caller holds the file.
func released(t testing.TB, f *vfs.Shared) {
	t.Helper()
	f.Release()
	eventually(t, "the file is released", func() bool { return !f.TryHold() || giveBack(f) })
}

func giveBack(f *vfs.Shared) bool { f.Release(); return false }

// randomPieces is a mix of memory and file ranges of all sizes, and their bytes.
func randomPieces(r *rand.Rand, f *vfs.Shared, data []byte) (pieces []Piece, want []byte) {
	for range r.IntN(12) {
		n := [...]int{0, 1, 60, 4096, 4097, copied, copied + 1, 16 << 10, 1 << 20}[r.IntN(9)]
		off := r.IntN(len(data) - n)
		want = append(want, data[off:off+n]...)
		if r.IntN(3) == 0 {
			pieces = append(pieces, Piece{Bytes: data[off : off+n]})
			continue
		}
		f.TryHold()
		pieces = append(pieces, Piece{File: f, Off: int64(off), N: int64(n)})
	}
	return pieces, want
}

func TestPiecesArriveAsTheyAre(t *testing.T) {
	for _, withFd := range []bool{true, false} {
		t.Run(fmt.Sprintf("descriptor=%v", withFd), func(t *testing.T) {
			f, data := dataFile(t, 3<<20)
			if !withFd {
				f.File = noFd{f.File}
			}
			var mu sync.Mutex
			var want [][]byte
			s := start(t, func(_ *Conn, run []*Request) {
				r := rand.New(rand.NewPCG(uint64(run[0].Header.CorrelationID), 5))
				pieces, bytes := randomPieces(r, f, data)
				mu.Lock()
				want = append(want, bytes)
				mu.Unlock()
				run[0].Reply(pieces...)
			}, nil)
			c := s.dial(t)
			const requests = 60
			go func() {
				for i := range int32(requests) {
					c.send(frame(i, metadata()))
				}
			}()
			for i := range int32(requests) {
				id, body := c.receive()
				mu.Lock()
				w := want[i]
				mu.Unlock()
				if id != i || !bytes.Equal(body[1:], w) {
					t.Fatalf("answer to %d (want %d) has %d bytes, want %d", id, i, len(body)-1, len(w))
				}
			}
			released(t, f)
		})
	}
}

func TestFileThatEndsEarlyClosesTheConnection(t *testing.T) {
	for _, n := range []int64{100, 100_000} {
		f, data := dataFile(t, 50_000)
		s := start(t, func(_ *Conn, run []*Request) {
			f.TryHold()
			run[0].Reply(Piece{File: f, Off: int64(len(data)) - n/2, N: n})
		}, nil)
		c := s.dial(t)
		c.send(frame(1, metadata()))
		if _, _, err := c.tryReceive(); err == nil {
			t.Error("an answer beyond the end of a file")
		}
		eventually(t, "a line", func() bool { return strings.Contains(s.log.String(), "BUG: a file ends") })
		released(t, f)
	}
}

func TestFilesOfAnswersThatAreNotSentAreReleased(t *testing.T) {
	f, _ := dataFile(t, 1<<20)
	parked := make(chan *Request, 10)
	s := start(t, func(_ *Conn, run []*Request) {
		for _, r := range run {
			r.Ordered()
			parked <- r
		}
	}, nil)
	c := s.dial(t)
	for i := range int32(4) {
		c.send(frame(i, produce(1)))
	}
	var list []*Request
	for range 4 {
		list = append(list, <-parked)
	}
	reply := func(r *Request) {
		f.TryHold()
		pieces := []Piece{{File: f, N: 1 << 20}}
		for range 30 {
			f.TryHold()
			pieces = append(pieces, Piece{File: f, N: 1 << 20})
		}
		r.Reply(pieces...)
	}
	reply(list[2]) // answered behind one that is not
	reply(list[0]) // does not fit into the socket
	_ = c.Close()
	eventually(t, "the connection is closed", func() bool { return list[0].Conn().Closed() })
	reply(list[1])
	reply(list[3])
	released(t, f)
}

// countedTransport counts calls to a socket.
type countedTransport struct {
	transport
	reads, writes *atomic.Int64
}

// countedLender counts each attempt to read.
type countedLender struct {
	lender
	n *atomic.Int64
}

func (l countedLender) lend() []byte { l.n.Add(1); return l.lender.lend() }

func (t countedTransport) read(l lender) (int, error) {
	return t.transport.read(countedLender{l, t.reads})
}

func (t countedTransport) write(b [][]byte, more bool, p patience) (int, error) {
	t.writes.Add(1)
	return t.transport.write(b, more, p)
}

func (t countedTransport) sendFile(fd int, off, n int64, p patience) (int64, bool, bool, error) {
	t.writes.Add(1)
	return t.transport.sendFile(fd, off, n, p)
}

// TestFewSystemCallsPerProduceRequest: 4 connections with 5 requests of 16 KB in
// flight each. What a log adds is one pwritev per run.
func TestFewSystemCallsPerProduceRequest(t *testing.T) {
	var reads, writes, runs atomic.Int64
	s := start(t, func(_ *Conn, run []*Request) {
		runs.Add(1)
		echoAll(nil, run)
	}, func(o *Options) {
		o.wrapTransport = func(tr transport) transport { return countedTransport{tr, &reads, &writes} }
	})
	const requests, inFlight, connections = 2000, 5, 4
	f := frame(1, produce(16<<10))
	var all sync.WaitGroup
	for range connections {
		all.Go(func() { pipeline(s.dial(t), f, requests, inFlight) })
	}
	all.Wait()
	total := float64(requests * connections)
	t.Logf("per request: %.2f reads, %.2f writes, %.2f runs", float64(reads.Load())/total, float64(writes.Load())/total, float64(runs.Load())/total)
	if calls := float64(reads.Load()+writes.Load()+runs.Load()) / total; calls > 3 {
		t.Errorf("%.2f system calls per request", calls)
	}
}

// pipeline sends a frame n times with so many in flight.
func pipeline(c *client, f []byte, n, inFlight int) {
	window := make(chan struct{}, inFlight)
	go func() {
		for range n {
			window <- struct{}{}
			c.send(f)
		}
	}()
	for range n {
		c.receive()
		<-window
	}
}

// TestFetchAnswerTakesFewWrites: a small answer leaves with one write, a large
// one as header, range of a file, and the rest joined with what follows.
func TestFetchAnswerTakesFewWrites(t *testing.T) {
	for size, want := range map[int64]int64{20_000: 1, copied: 1, copied + 1: 3} {
		t.Run(fmt.Sprint(size), func(t *testing.T) { checkWritesOfAnswer(t, size, want) })
	}
}

func checkWritesOfAnswer(t *testing.T, size, want int64) {
	f, _ := dataFile(t, 1<<20)
	var reads, writes atomic.Int64
	s := start(t, func(_ *Conn, run []*Request) {
		pieces := []Piece{{Bytes: make([]byte, 70)}}
		for i := range int64(3) { // three partitions with 1 KB each
			f.TryHold()
			pieces = append(pieces, Piece{File: f, Off: i * 1024, N: 1024}, Piece{Bytes: make([]byte, 40)})
		}
		f.TryHold()
		pieces = append(pieces, Piece{File: f, N: size}, Piece{Bytes: []byte{0}})
		run[0].Reply(pieces...)
	}, func(o *Options) {
		o.wrapTransport = func(tr transport) transport { return countedTransport{tr, &reads, &writes} }
	})
	c := s.dial(t)
	for range 100 {
		c.send(frame(1, metadata()))
		if _, body := c.receive(); int64(len(body)) != 1+70+3*1064+size+1 {
			t.Fatalf("%d bytes", len(body))
		}
	}
	if n := writes.Load(); n != 100*want {
		t.Errorf("%d writes for 100 answers, want %d each", n, want)
	}
	released(t, f)
}

func BenchmarkPingPong(b *testing.B) {
	s := start(b, echoAll, nil)
	c := s.dial(b)
	f := frame(1, metadata())
	b.ReportAllocs()
	for b.Loop() {
		c.send(f)
		c.receive()
	}
}

func BenchmarkProducePipelined16K(b *testing.B) {
	s := start(b, echoAll, nil)
	f := frame(1, produce(16<<10))
	b.SetBytes(16 << 10)
	b.ReportAllocs()
	var all sync.WaitGroup
	for range 4 {
		c := s.dial(b)
		all.Go(func() { pipeline(c, f, b.N/4+1, 5) })
	}
	all.Wait()
}

func BenchmarkProducePipelined1M(b *testing.B) {
	s := start(b, echoAll, nil)
	f := frame(1, produce(1<<20))
	b.SetBytes(1 << 20)
	b.ReportAllocs()
	pipeline(s.dial(b), f, b.N, 3)
}

func BenchmarkFetch1M(b *testing.B) {
	f, _ := dataFile(b, 1<<20)
	s := start(b, func(_ *Conn, run []*Request) {
		f.TryHold()
		run[0].Reply(Piece{Bytes: make([]byte, 70)}, Piece{File: f, N: 1 << 20}, Piece{Bytes: []byte{0}})
	}, nil)
	c := s.dial(b)
	req := frame(1, kmsgFetch())
	b.SetBytes(1 << 20)
	b.ReportAllocs()
	pipeline(c, req, b.N, 2)
	_ = c.Close()
	released(b, f)
}

func kmsgFetch() kmsg.Request {
	m := kmsg.NewPtrFetchRequest()
	m.Version = 12
	return m
}
