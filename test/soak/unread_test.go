package soak

import (
	"context"
	"flag"
	"fmt"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

var unread = flag.Int("unread", 500, "connections that ask and never read")

const (
	// unreadFor is how long nobody reads at least; nothing that the test sees waits for a
	// time.
	unreadFor = 10 * time.Second
	// unreadBudget is the node's budget for requests in the test.
	unreadBudget = 64 << 20
	// unreadMemory is the bound on the server's memory while nobody reads: what requests
	// take, a half of it once more for answers, all that twice since the collector lets
	// the heap double, and what a process with some thousands of connections takes.
	unreadMemory = 2*(unreadBudget+unreadBudget/2) + 128<<20
)

// unreadProperties: with sockets of the size that the system likes, the kernel would
// hold four megabytes for each connection, and its own limit (net.ipv4.tcp_mem) would
// come before the server's.
var unreadProperties = []string{
	fmt.Sprint("queued.max.request.bytes=", unreadBudget), fmt.Sprint("socket.request.max.bytes=", unreadBudget), "socket.send.buffer.bytes=102400",
}

// TestConnectionsThatNeverRead: however many connections ask and never read the
// answers, memory keeps its bound and a neighbour writes and reads.
func TestConnectionsThatNeverRead(t *testing.T) {
	binary := buildBarnabas(t)
	for _, c := range []struct {
		name  string
		frame []byte
	}{
		{"answers much larger than their questions", describeManyConfigs()},
		{"fetches that are read and joined", fetchOnce(0, 60<<10)},
		{"fetches of large ranges", fetchOnce(1, 30<<20)},
	} {
		t.Run(c.name, func(t *testing.T) {
			node := newSoakNode(t, binary, filepath.Join(t.TempDir(), "node"), unreadProperties...)
			if err := createTopics(node.Address(), nil); err != nil {
				t.Fatal(err)
			}
			fillPartition(t, node.Address(), 0, 60<<10, 40)
			fillPartition(t, node.Address(), 1, 900<<10, 40)
			neighbour := startNeighbour(t, node.Address())
			healthy := startHealthyClient(t, node.Address())
			end := make(chan struct{})
			opened, done := startStalled(t, node.Address(), *unread, end, askAndNeverRead(c.frame))
			peak, err := peakMemory(node.PID(), opened, unreadFor)
			if err != nil {
				t.Fatal(err)
			}
			requests, longest := neighbour.stop(t)
			written := healthy.stop(t)
			close(end)
			done()
			t.Logf("%d connections: memory %d MiB at most; a neighbour made %d requests, the longest took %v, and another wrote %d records",
				*unread, peak>>20, requests, longest, written)
			if peak > unreadMemory {
				t.Errorf("memory %d MiB, at most %d are allowed", peak>>20, unreadMemory>>20)
			}
			if longest > stalledWait {
				t.Errorf("a request took %v", longest)
			}
		})
	}
}

// askAndNeverRead sends the same request over and over until the server takes no more
// or closes the connection, and reads nothing.
func askAndNeverRead(frame []byte) func(net.Conn, <-chan struct{}) {
	return func(c net.Conn, end <-chan struct{}) {
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetReadBuffer(4 << 10) // or the kernel holds the answers
		}
		var asking sync.WaitGroup
		asking.Go(func() {
			for range 10_000 {
				if _, err := c.Write(frame); err != nil {
					return
				}
			}
		})
		<-end
		c.Close()
		asking.Wait()
	}
}

func fillPartition(t *testing.T, address string, partition int32, size, n int) {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerBatchCompression(kgo.NoCompression()))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	for range n {
		r := &kgo.Record{Topic: soakTopics[1], Partition: partition, Value: make([]byte, size)}
		if err := cl.ProduceSync(context.Background(), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
}

func fetchOnce(partition, most int32) []byte {
	req := kmsg.NewPtrFetchRequest()
	req.SetVersion(11)
	req.ReplicaID, req.MinBytes, req.MaxBytes, req.SessionEpoch = -1, 1, most, -1
	p := kmsg.NewFetchRequestTopicPartition()
	p.Partition, p.PartitionMaxBytes = partition, most
	topic := kmsg.NewFetchRequestTopic()
	topic.Topic, topic.Partitions = soakTopics[1], []kmsg.FetchRequestTopicPartition{p}
	req.Topics = []kmsg.FetchRequestTopic{topic}
	return kmsg.NewRequestFormatter(kmsg.FormatterClientID("deaf")).AppendRequest(nil, req, 1)
}

// describeManyConfigs asks for all settings of the broker, with documentation.
func describeManyConfigs() []byte {
	req := kmsg.NewPtrDescribeConfigsRequest()
	req.SetVersion(4)
	req.IncludeSynonyms, req.IncludeDocumentation = true, true
	r := kmsg.NewDescribeConfigsRequestResource()
	r.ResourceType, r.ResourceName = kmsg.ConfigResourceTypeBroker, "1"
	req.Resources = append(req.Resources, r)
	return kmsg.NewRequestFormatter(kmsg.FormatterClientID("deaf")).AppendRequest(nil, req, 1)
}
