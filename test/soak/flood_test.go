package soak

import (
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"hash/crc32"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

var floods = flag.Int("floods", 10_000, "groups, members, sessions, ids of each flood")

const (
	// floodSlack is what the process may take beside what a flood leaves in it: the
	// garbage of its requests, and a heap that may double.
	floodSlack = 128 << 20
	// floodWorkers is how many connections make a flood.
	floodWorkers = 4
)

// flood is one kind of thing that clients can make without end.
type flood struct {
	name string
	// each is what one of them may leave in the process, in bytes, with the garbage that
	// a collector keeps for it (twice what it takes). Where the broker has a bound
	// of its own, most is how many of them there can be.
	each, most int64
	make       func(i int) kmsg.Request
}

// TestFloods: what clients can make without end has a bound, or costs what is said here,
// and a neighbour writes and reads meanwhile.
func TestFloods(t *testing.T) {
	node := newSoakNode(t, buildBarnabas(t), filepath.Join(t.TempDir(), "node"), "group.initial.rebalance.delay.ms=0",
		"offsets.topic.num.partitions=4", "offsets.topic.replication.factor=1", "max.connections.per.ip=3000", "num.partitions=1")
	if err := createTopics(node.Address(), nil); err != nil {
		t.Fatal(err)
	}
	awaitCoordinator(t, node.Address())
	for _, f := range allFloods() {
		t.Run(f.name, func(t *testing.T) {
			base, err := anonymousMemory(node.PID(), node.Admin)
			if err != nil {
				t.Fatal(err)
			}
			beside := startBeside(t, node.Address())
			begun := time.Now()
			sent := make(chan struct{})
			var sending sync.WaitGroup
			sending.Go(func() { defer close(sent); f.send(t, node.Address(), *floods) })
			peak, err := peakMemory(node.PID(), sent, time.Second)
			if err != nil {
				t.Fatal(err)
			}
			sending.Wait()
			told := beside.stop(t)
			end, err := anonymousMemory(node.PID(), node.Admin)
			if err != nil {
				t.Fatal(err)
			}
			n := int64(*floods)
			if f.most > 0 {
				n = min(n, f.most)
			}
			bound := 2*base + n*f.each + floodSlack // what was there before may double, too
			t.Logf("%d in %.1f s: memory %d MiB before, %d at most (%d are allowed), %d at the end, %d bytes each; %s", *floods,
				time.Since(begun).Seconds(), base>>20, peak>>20, bound>>20, end>>20, (end-base)/n, told)
			if peak > bound {
				t.Errorf("memory %d MiB, at most %d are allowed", peak>>20, bound>>20)
			}
		})
	}
}

// beside is who works beside a flood.
type beside struct {
	asks   *neighbour
	writes *healthyClient
}

func startBeside(t *testing.T, address string) *beside {
	t.Helper()
	return &beside{startNeighbour(t, address), startHealthyClient(t, address)}
}

func (b *beside) stop(t *testing.T) string {
	t.Helper()
	requests, longest := b.asks.stop(t)
	written := b.writes.stop(t)
	if longest > stalledWait {
		t.Errorf("a request took %v", longest)
	}
	return fmt.Sprintf("a neighbour made %d requests, the longest took %v, and another wrote %d records", requests, longest, written)
}

// send sends all requests of a flood. Refusals are answers; only the end of a
// connection is an error.
func (f *flood) send(t *testing.T, address string, n int) {
	errs := make([]error, floodWorkers)
	var workers sync.WaitGroup
	for w := range errs {
		workers.Go(func() {
			c, err := net.DialTimeout("tcp", address, 30*time.Second)
			if err != nil {
				errs[w] = err
				return
			}
			defer c.Close()
			for i := w; i < n && errs[w] == nil; i += floodWorkers {
				clientID := kmsg.FormatterClientID(fmt.Sprint("flood-", f.name, "-", i))
				_, errs[w] = exchange(c, kmsg.NewRequestFormatter(clientID).AppendRequest(nil, f.make(i), int32(i)))
			}
		})
	}
	workers.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
}

func allFloods() []flood {
	return []flood{
		{"groups that somebody joins", 8 << 10, 0, func(i int) kmsg.Request { return joinAs(3, fmt.Sprint("joined-", i)) }},
		{"groups that somebody is about to join", 8 << 10, 0, func(i int) kmsg.Request { return joinAs(9, fmt.Sprint("pending-", i)) }},
		{"groups that commit", 4 << 10, 0, func(i int) kmsg.Request { return floodCommit(fmt.Sprint("committed-", i)) }},
		{"pending members of a group", 2 << 10, 10_000, func(int) kmsg.Request { return joinAs(9, "crowded") }},
		{"fetch sessions", 4 << 10, 1000, func(int) kmsg.Request { return beginSession() }},
		{"producer ids", 0, 1, func(int) kmsg.Request { return initProducer() }},
		{"producers of a partition", 1 << 10, 20_000, produceAs},
		{"telemetry instances", 4 << 10, 16_384, subscribeAs},
		{"topics that Metadata names", 1 << 10, 0, func(i int) kmsg.Request { return nameTopic(fmt.Sprint("wrong name ", i)) }},
		{"topics that Metadata makes", 512 << 10, 300, func(i int) kmsg.Request { return nameTopic(fmt.Sprint("auto-", i%300)) }},
		{"keys of FindCoordinator", 0, 1, func(i int) kmsg.Request { return findGroup(fmt.Sprint("sought-", i)) }},
	}
}

func joinAs(version int16, group string) kmsg.Request {
	r := kmsg.NewPtrJoinGroupRequest()
	r.SetVersion(version)
	r.Group, r.SessionTimeoutMillis, r.RebalanceTimeoutMillis, r.ProtocolType = group, 300_000, 300_000, "consumer"
	r.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: make([]byte, 100)}}
	return r
}

func floodCommit(group string) kmsg.Request {
	r := kmsg.NewPtrOffsetCommitRequest()
	r.SetVersion(8)
	p := kmsg.NewOffsetCommitRequestTopicPartition()
	p.Metadata = kmsg.StringPtr("some metadata")
	topic := kmsg.NewOffsetCommitRequestTopic()
	topic.Topic, topic.Partitions = soakTopics[0], append(topic.Partitions, p)
	r.Group, r.Generation, r.Topics = group, -1, append(r.Topics, topic)
	return r
}

func beginSession() kmsg.Request {
	r := kmsg.NewPtrFetchRequest()
	r.SetVersion(11)
	r.ReplicaID, r.MinBytes, r.MaxBytes, r.SessionEpoch = -1, 0, 1, 0
	topic := kmsg.NewFetchRequestTopic()
	topic.Topic = soakTopics[1]
	for i := range int32(soakPartitions) {
		p := kmsg.NewFetchRequestTopicPartition()
		p.Partition, p.PartitionMaxBytes = i, 1
		topic.Partitions = append(topic.Partitions, p)
	}
	r.Topics = append(r.Topics, topic)
	return r
}

func initProducer() kmsg.Request {
	r := kmsg.NewPtrInitProducerIDRequest()
	r.SetVersion(4)
	r.TransactionTimeoutMillis, r.ProducerID, r.ProducerEpoch = 60_000, -1, -1
	return r
}

// produceAs writes a batch of one record as the producer with that id.
func produceAs(i int) kmsg.Request {
	record := []byte{0, 0, 0, 1, 2, 'v', 0}
	record = append([]byte{byte(2 * len(record))}, record...)
	batch := kmsg.NewRecordBatch()
	batch.PartitionLeaderEpoch, batch.Magic, batch.NumRecords, batch.Records = -1, 2, 1, record
	batch.ProducerID, batch.ProducerEpoch, batch.FirstSequence = int64(1_000_000+i), 0, 0
	batch.FirstTimestamp, batch.MaxTimestamp = time.Now().UnixMilli(), time.Now().UnixMilli()
	batch.Length = int32(len(batch.AppendTo(nil)) - 12)
	bytes := batch.AppendTo(nil)
	binary.BigEndian.PutUint32(bytes[17:], crc32.Checksum(bytes[21:], crc32.MakeTable(crc32.Castagnoli)))
	p := kmsg.NewProduceRequestTopicPartition()
	p.Records = bytes
	topic := kmsg.NewProduceRequestTopic()
	topic.Topic, topic.Partitions = soakTopics[1], append(topic.Partitions, p)
	r := kmsg.NewPtrProduceRequest()
	r.SetVersion(9)
	r.Acks, r.TimeoutMillis, r.Topics = -1, 30_000, append(r.Topics, topic)
	return r
}

func subscribeAs(i int) kmsg.Request {
	r := kmsg.NewPtrGetTelemetrySubscriptionsRequest()
	r.SetVersion(0)
	binary.BigEndian.PutUint64(r.ClientInstanceID[8:], uint64(i+1))
	return r
}

func nameTopic(name string) kmsg.Request {
	r := kmsg.NewPtrMetadataRequest()
	r.SetVersion(9)
	r.AllowAutoTopicCreation = true
	r.Topics = []kmsg.MetadataRequestTopic{{Topic: &name}}
	return r
}

func findGroup(key string) kmsg.Request {
	r := kmsg.NewPtrFindCoordinatorRequest()
	r.SetVersion(4)
	r.CoordinatorKeys = []string{key}
	return r
}

// awaitCoordinator waits until every group has one.
func awaitCoordinator(t *testing.T, address string) {
	t.Helper()
	c, err := net.DialTimeout("tcp", address, 30*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for i := range 64 { // groups in all partitions
		waitUntil(t, "groups have a coordinator", func() bool {
			for _, r := range []kmsg.Request{findGroup("g"), floodCommit(fmt.Sprint("probe-", i))} {
				body, err := exchange(c, kmsg.NewRequestFormatter().AppendRequest(nil, r, 1))
				if err != nil {
					t.Fatal(err)
				}
				commit, ok := r.ResponseKind().(*kmsg.OffsetCommitResponse)
				if !ok {
					continue
				}
				commit.SetVersion(r.GetVersion())
				if err := commit.ReadFrom(body[5:]); err != nil {
					t.Fatal(err)
				}
				if commit.Topics[0].Partitions[0].ErrorCode != 0 {
					return false
				}
			}
			return true
		})
	}
}

// TestFloodOfConnections: connections beyond a limit are closed or wait, those within it
// are served, and they cost next to nothing.
func TestFloodOfConnections(t *testing.T) {
	const limit = 500
	node := newSoakNode(t, buildBarnabas(t), filepath.Join(t.TempDir(), "node"), fmt.Sprint("max.connections.per.ip=", limit),
		"max.connection.creation.rate=2000")
	if err := createTopics(node.Address(), nil); err != nil {
		t.Fatal(err)
	}
	base, err := anonymousMemory(node.PID(), node.Admin)
	if err != nil {
		t.Fatal(err)
	}
	beside := startBeside(t, node.Address())
	end := make(chan struct{})
	opened, done := startStalled(t, node.Address(), *floods/10, end, func(c net.Conn, end <-chan struct{}) { <-end })
	peak, err := peakMemory(node.PID(), opened, 3*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	told := beside.stop(t)
	close(end)
	done()
	t.Logf("%d connections: memory %d MiB before, %d at most; %s", *floods/10, base>>20, peak>>20, told)
	if peak > base+limit*32<<10+floodSlack {
		t.Errorf("memory %d MiB", peak>>20)
	}
}

// TestFloodOfWaits: requests that wait cost what they take: fetches without data, and
// members of a group that wait for each other. Where a group has all the members it may
// have, the others are refused.
func TestFloodOfWaits(t *testing.T) {
	binary := buildBarnabas(t)
	wait := beginSession().(*kmsg.FetchRequest)
	wait.SessionEpoch, wait.MinBytes, wait.MaxWaitMillis = -1, 1<<30, 600_000
	for _, c := range []struct {
		name, property string
		request        kmsg.Request
		each           int64 // bytes of one, with its connection and its goroutine
	}{
		{"fetches", "", wait, 64 << 10},
		{"members of a group", "", joinAs(3, "crowded"), 64 << 10},
		{"members of a group that is full", "group.max.size=10", joinAs(3, "crowded"), 32 << 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			properties := []string{"offsets.topic.num.partitions=4", "offsets.topic.replication.factor=1"}
			if c.property != "" {
				properties = append(properties, c.property)
			}
			node := newSoakNode(t, binary, filepath.Join(t.TempDir(), "node"), properties...)
			if err := createTopics(node.Address(), nil); err != nil {
				t.Fatal(err)
			}
			awaitCoordinator(t, node.Address())
			base, err := anonymousMemory(node.PID(), node.Admin)
			if err != nil {
				t.Fatal(err)
			}
			frame := kmsg.NewRequestFormatter(kmsg.FormatterClientID("patient")).AppendRequest(nil, c.request, 1)
			beside := startBeside(t, node.Address())
			end := make(chan struct{})
			opened, done := startStalled(t, node.Address(), *floods/10, end, sendPart(frame, len(frame)))
			peak, err := peakMemory(node.PID(), opened, 3*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			told := beside.stop(t)
			close(end)
			done()
			t.Logf("%d wait: memory %d MiB before, %d at most; %s", *floods/10, base>>20, peak>>20, told)
			if peak > base+int64(*floods/10)*c.each+floodSlack {
				t.Errorf("memory %d MiB", peak>>20)
			}
		})
	}
}
