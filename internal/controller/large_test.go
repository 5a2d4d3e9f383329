package controller

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"barnabas/internal/kafka"
	"barnabas/internal/metadata/image"
	"barnabas/internal/metadata/metarec"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// largeCluster leads three brokers with topics of 20 partitions in three replicas.
func largeCluster(t testing.TB, topics int) *cluster {
	cl := newCluster(t, "metadata.max.idle.interval.ms=0")
	b := image.NewBuilder(image.Empty())
	replay := func(m metarec.Message) {
		if err := b.Replay(m); err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range levels(kafka.LatestMetadataVersion) {
		replay(m)
	}
	dirs := []kafka.UUID{id("d1"), id("d2"), id("d3")}
	for i := range 3 {
		replay(&metarec.RegisterBrokerRecord{BrokerID: kafka.BrokerID(i + 1), IncarnationID: id("a"), BrokerEpoch: 7, LogDirs: dirs[i : i+1]})
	}
	for n := range topics {
		topic := kafka.UUID{1, byte(n >> 16), byte(n >> 8), byte(n)}
		replay(&metarec.TopicRecord{Name: fmt.Sprintf("topic-%06d", n), TopicID: topic})
		for p := range 20 {
			replicas := []kafka.BrokerID{1 + kafka.BrokerID(p)%3, 1 + kafka.BrokerID(p+1)%3, 1 + kafka.BrokerID(p+2)%3}
			replay(&metarec.PartitionRecord{TopicID: topic, PartitionID: int32(p), Replicas: replicas, Isr: replicas, Leader: replicas[0], Directories: []kafka.UUID{dirs[replicas[0]-1], dirs[replicas[1]-1], dirs[replicas[2]-1]}})
		}
	}
	cl.next = 100
	img, _ := b.Build(image.Position{Offset: 99})
	cl.stream = image.NewStream(img)
	cl.lead()
	return cl
}

func beat(cl *cluster, broker int32, change func(*kmsg.BrokerHeartbeatRequest)) *kmsg.BrokerHeartbeatResponse {
	r := kmsg.NewBrokerHeartbeatRequest()
	r.Version, r.BrokerID, r.BrokerEpoch, r.CurrentMetadataOffset = 2, broker, 7, int64(cl.next)
	change(&r)
	var out *kmsg.BrokerHeartbeatResponse
	cl.c.BrokerHeartbeat(Context{}, &r, func(a *kmsg.BrokerHeartbeatResponse) { out = a })
	return out
}

func BenchmarkLargeCluster(b *testing.B) {
	cl := largeCluster(b, 10_000)
	defer cl.c.Close()
	b.Run("heartbeat", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			beat(cl, 1, func(*kmsg.BrokerHeartbeatRequest) {})
		}
	})
	b.Run("heartbeat of a broker that leads nothing and drains", func(b *testing.B) {
		cl.held = true
		active := cl.c.active
		for b.Loop() {
			if active.leads(9) {
				b.Fatal("leads")
			}
		}
		cl.held = false
	})
	b.Run("create topic", func(b *testing.B) {
		b.ReportAllocs()
		n := 0
		for b.Loop() {
			r := kmsg.NewCreateTopicsRequest()
			r.Version, r.TimeoutMillis = 7, 1000
			t := kmsg.NewCreateTopicsRequestTopic()
			t.Topic, t.NumPartitions, t.ReplicationFactor = fmt.Sprintf("new.%d", n), 1, 3
			n++
			r.Topics = append(r.Topics, t)
			cl.c.CreateTopics(Context{}, &r, func(a *kmsg.CreateTopicsResponse) {
				if a.Topics[0].ErrorCode != 0 {
					b.Fatal(*a.Topics[0].ErrorMessage)
				}
			})
			cl.log = cl.log[:0]
		}
	})
	b.Run("fence and unfence", func(b *testing.B) {
		for b.Loop() {
			if r := beat(cl, 1, func(r *kmsg.BrokerHeartbeatRequest) { r.WantFence = true }); !r.IsFenced {
				b.Fatalf("%+v", r)
			}
			beat(cl, 1, func(*kmsg.BrokerHeartbeatRequest) {})
			cl.log = cl.log[:0]
		}
	})
}

// TestFencingABrokerOfManyPartitions: more records than one batch holds are
// divided, and everything has another leader.
func TestFencingABrokerOfManyPartitions(t *testing.T) {
	cl := largeCluster(t, 1000)
	defer cl.c.Close()
	beat(cl, 1, func(r *kmsg.BrokerHeartbeatRequest) { r.WantFence = true })
	for topic := range cl.image().Topics.All() {
		for n, p := range topic.All() {
			if p.Leader == 1 || p.Leader < 0 || len(p.ISR) != 2 {
				t.Fatalf("%s-%d: leader %d, ISR %v", topic.Name, n, p.Leader, p.ISR)
			}
		}
	}
	cl.check(t)
}

// TestManyClientsAtOnce: requests, heartbeats and commits from many goroutines,
// while leaderships come and go; every request is answered once.
// A folder that cannot be made would take the log directory of its broker offline.
func TestPartitionsWithoutAPossibleFolderAreRefused(t *testing.T) {
	cl := largeCluster(t, 0)
	b := image.NewBuilder(cl.image())
	name, topic := strings.Repeat("n", kafka.MaxTopicNameLength), kafka.UUID{9}
	replicas := []kafka.BrokerID{1}
	records := []metarec.Message{&metarec.TopicRecord{Name: name, TopicID: topic}}
	for p := range 99_999 {
		records = append(records, &metarec.PartitionRecord{TopicID: topic, PartitionID: int32(p), Replicas: replicas, Isr: replicas, Leader: 1, Directories: []kafka.UUID{id("d1")}})
	}
	for _, m := range records {
		if err := b.Replay(m); err != nil {
			t.Fatal(err)
		}
	}
	img, _ := b.Build(image.Position{Offset: 99})
	cl.stream = image.NewStream(img)
	cl.lead()
	defer cl.c.Close()
	grow := func(count int32) (answer kafka.ErrorCode) {
		r := kmsg.NewPtrCreatePartitionsRequest()
		r.Topics = []kmsg.CreatePartitionsRequestTopic{{Topic: name, Count: count}}
		cl.c.CreatePartitions(Context{}, r, func(r *kmsg.CreatePartitionsResponse) { answer = kafka.ErrorCode(r.Topics[0].ErrorCode) })
		return answer
	}
	if code := grow(100_000); code != kafka.ErrNone {
		t.Errorf("the last possible partition: %v", code)
	}
	if code := grow(100_001); code != kafka.ErrInvalidPartitions {
		t.Errorf("one more: %v", code)
	}
}

func TestManyClientsAtOnce(t *testing.T) {
	l := &asyncLog{commits: make(chan kafka.Offset, 1<<16)}
	cl := newCluster(t)
	o := cl.c.o
	cl.c.Close()
	o.Log = l
	c := New(o)
	l.c = c
	l.lead(1)
	committer := make(chan struct{})
	go func() {
		defer close(committer)
		for through := range l.commits {
			c.Committed(through, nil)
		}
	}()
	var wg sync.WaitGroup
	answered := make(chan kafka.ErrorCode, 1<<16)
	const clients, each = 8, 100
	for g := range clients {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range each {
				r := kmsg.NewCreateTopicsRequest()
				r.Version, r.TimeoutMillis = 7, 60_000
				tr := kmsg.NewCreateTopicsRequestTopic()
				tr.Topic, tr.NumPartitions, tr.ReplicationFactor = fmt.Sprintf("t-%d-%d", g, i), 1, 1
				r.Topics = append(r.Topics, tr)
				c.CreateTopics(Context{Received: time.Unix(1_000_000, 0)}, &r, func(a *kmsg.CreateTopicsResponse) { answered <- kafka.ErrorCode(a.Topics[0].ErrorCode) })
				hb := kmsg.NewBrokerHeartbeatRequest()
				hb.BrokerID = int32(g)
				c.BrokerHeartbeat(Context{}, &hb, func(a *kmsg.BrokerHeartbeatResponse) { answered <- kafka.ErrorCode(a.ErrorCode) })
				if g == 0 && i%20 == 10 {
					l.lead(l.resign() + 1)
				}
			}
		}()
	}
	wg.Wait()
	c.Close()
	close(l.commits)
	<-committer
	if n := len(answered); n != 2*clients*each {
		t.Fatalf("%d answers to %d requests", n, 2*clients*each)
	}
}

// asyncLog commits on a goroutine of its own.
type asyncLog struct {
	c       *Controller
	commits chan kafka.Offset

	mu    sync.Mutex
	next  kafka.Offset
	epoch kafka.LeaderEpoch
}

func (l *asyncLog) Append(r Records) (kafka.Offset, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.Epoch != l.epoch {
		return 0, fmt.Errorf("epoch %d does not lead", r.Epoch)
	}
	l.next += kafka.Offset(len(r.Frames))
	l.commits <- l.next - 1
	return l.next - 1, nil
}

func (l *asyncLog) resign() kafka.LeaderEpoch {
	l.mu.Lock()
	defer l.mu.Unlock()
	epoch := l.epoch
	l.epoch = 0
	l.c.Resign()
	return epoch
}

func (l *asyncLog) lead(epoch kafka.LeaderEpoch) {
	l.mu.Lock()
	l.epoch = epoch
	l.next++
	next := l.next
	l.mu.Unlock()
	b := image.NewBuilder(image.Empty())
	for _, m := range levels(kafka.LatestMetadataVersion) {
		if err := b.Replay(m); err != nil {
			panic(err)
		}
	}
	if err := b.Replay(&metarec.RegisterBrokerRecord{BrokerID: 1, LogDirs: []kafka.UUID{id("d1")}}); err != nil {
		panic(err)
	}
	img, _ := b.Build(image.Position{Offset: next - 1})
	l.c.BecomeLeader(Leadership{Epoch: epoch, Next: next, Committed: img})
}
