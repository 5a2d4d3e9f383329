package soak

import (
	"flag"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

var stalls = flag.Int("stalls", 10_000, "connections that stall")

const (
	// stalledMemory is the bound on the server's memory while connections stall: twice
	// the budget for requests, and what the process, ten thousand connections and the
	// garbage that earlier cases of the test have left take (790 MiB were seen in the
	// last of them: go test -run Stall -v .).
	stalledMemory = 2*256<<20 + 512<<20
	// stalledFor is how long all connections stall at least: longer than the ten seconds
	// after which those that hold memory and move nothing are closed.
	stalledFor = 20 * time.Second
	// stalledWait is how long a neighbour's small request may take meanwhile. A client
	// gives up after 30 seconds (request.timeout.ms).
	stalledWait = 30 * time.Second
)

// TestConnectionsThatStall: whatever thousands of connections begin and do not end,
// memory keeps its bound and a neighbour's requests are answered.
func TestConnectionsThatStall(t *testing.T) {
	node := newSoakNode(t, buildBarnabas(t), filepath.Join(t.TempDir(), "node"))
	if err := createTopics(node.Address(), nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		stall func(c net.Conn, end <-chan struct{})
	}{
		{"a few bytes of a large request", sendPart(halfProduce(1<<20), 1000)},
		{"the first part of a large request", sendPart(halfProduce(1<<20), 40<<10)},
		{"half of a large request", sendPart(halfProduce(1<<20), 512<<10)},
		{"a large request, byte by byte", drip(halfProduce(1<<20), 40<<10)},
	} {
		t.Run(c.name, func(t *testing.T) {
			base, err := statusField(node.PID(), "RssAnon")
			if err != nil {
				t.Fatal(err)
			}
			neighbour := startNeighbour(t, node.Address())
			end := make(chan struct{})
			opened, stalled := startStalled(t, node.Address(), *stalls, end, c.stall)
			peak, err := peakMemory(node.PID(), opened, stalledFor)
			if err != nil {
				t.Fatal(err)
			}
			requests, longest := neighbour.stop(t)
			close(end)
			stalled()
			t.Logf("%d connections: memory %d MiB at most, %d before; a neighbour made %d requests, the longest took %v", *stalls, peak>>20, base>>20, requests, longest)
			if peak > stalledMemory {
				t.Errorf("memory %d MiB, at most %d are allowed", peak>>20, stalledMemory>>20)
			}
			if longest > stalledWait {
				t.Errorf("a request took %v", longest)
			}
		})
	}
}

// peakMemory looks at a process until so long after begun was closed.
func peakMemory(pid int, begun <-chan struct{}, after time.Duration) (peak int64, err error) {
	look := time.NewTicker(100 * time.Millisecond)
	defer look.Stop()
	var over <-chan time.Time
	for {
		select {
		case <-begun:
			begun, over = nil, time.After(after)
		case <-over:
			return peak, nil
		case <-look.C:
			m, err := statusField(pid, "RssAnon")
			if err != nil {
				return peak, err
			}
			peak = max(peak, m)
		}
	}
}

// startStalled opens connections, each of which stalls until end closes. Opened is
// closed when all have been accepted or refused; wait waits for their end. A
// connection that the server closes has ended.
func startStalled(t *testing.T, address string, n int, end <-chan struct{}, stall func(net.Conn, <-chan struct{})) (opened <-chan struct{}, wait func()) {
	t.Helper()
	var running, dialed sync.WaitGroup
	dialed.Add(n)
	all := make(chan struct{})
	running.Go(func() { dialed.Wait(); close(all) })
	var refused sync.Once
	dialing := make(chan struct{}, 64)
	for range n {
		running.Go(func() {
			dialing <- struct{}{}
			c, err := net.DialTimeout("tcp", address, 2*time.Minute)
			<-dialing
			dialed.Done()
			if err != nil {
				refused.Do(func() { t.Errorf("a connection is not accepted: %v", err) })
				return
			}
			defer c.Close()
			stall(c, end)
		})
	}
	return all, running.Wait
}

// sendPart sends the first n bytes of a frame and nothing more.
func sendPart(frame []byte, n int) func(net.Conn, <-chan struct{}) {
	return func(c net.Conn, end <-chan struct{}) {
		_ = c.SetWriteDeadline(time.Now().Add(20 * time.Second))
		_, _ = c.Write(frame[:n])
		<-end
	}
}

// drip sends the first n bytes, and then one more each half second.
func drip(frame []byte, n int) func(net.Conn, <-chan struct{}) {
	return func(c net.Conn, end <-chan struct{}) {
		_ = c.SetWriteDeadline(time.Now().Add(20 * time.Second))
		_, err := c.Write(frame[:n])
		for tick := time.NewTicker(500 * time.Millisecond); err == nil; n++ {
			select {
			case <-tick.C:
				_, err = c.Write(frame[n : n+1])
			case <-end:
				err = net.ErrClosed
			}
		}
	}
}

// halfProduce is a Produce request of about so many bytes.
func halfProduce(size int) []byte {
	req := kmsg.NewPtrProduceRequest()
	req.SetVersion(9)
	req.Acks, req.TimeoutMillis = -1, 1000
	p := kmsg.NewProduceRequestTopicPartition()
	p.Records = make([]byte, size)
	topic := kmsg.NewProduceRequestTopic()
	topic.Topic, topic.Partitions = soakTopics[0], []kmsg.ProduceRequestTopicPartition{p}
	req.Topics = []kmsg.ProduceRequestTopic{topic}
	return kmsg.NewRequestFormatter(kmsg.FormatterClientID("stalled")).AppendRequest(nil, req, 1)
}

// neighbour asks for little, over and over, and remembers the longest wait.
type neighbour struct {
	end      chan struct{}
	done     sync.WaitGroup
	requests int
	longest  time.Duration
	err      error
}

func startNeighbour(t *testing.T, address string) *neighbour {
	t.Helper()
	c, err := net.DialTimeout("tcp", address, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	n := &neighbour{end: make(chan struct{})}
	frame := smallRequest()
	n.done.Go(func() {
		defer c.Close()
		for {
			select {
			case <-n.end:
				return
			case <-time.After(5 * time.Millisecond):
			}
			begun := time.Now()
			if _, n.err = exchange(c, frame); n.err != nil {
				return
			}
			n.requests++
			n.longest = max(n.longest, time.Since(begun))
		}
	})
	return n
}

func (n *neighbour) stop(t *testing.T) (requests int, longest time.Duration) {
	t.Helper()
	close(n.end)
	n.done.Wait()
	if n.err != nil {
		t.Errorf("the neighbour saw, after %d requests: %v", n.requests, n.err)
	}
	return n.requests, n.longest
}

// smallRequest asks for the end of one partition.
func smallRequest() []byte {
	req := kmsg.NewPtrListOffsetsRequest()
	req.SetVersion(7)
	req.ReplicaID = -1
	p := kmsg.NewListOffsetsRequestTopicPartition()
	p.Timestamp = -1
	topic := kmsg.NewListOffsetsRequestTopic()
	topic.Topic, topic.Partitions = soakTopics[0], []kmsg.ListOffsetsRequestTopicPartition{p}
	req.Topics = []kmsg.ListOffsetsRequestTopic{topic}
	return kmsg.NewRequestFormatter(kmsg.FormatterClientID("neighbour")).AppendRequest(nil, req, 1)
}
