package main

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// franz is twmb/franz-go.
type franz struct {
	o     *output
	topic string
	cl    *kgo.Client
	done  chan struct{} // closed when the poll loop has ended
	// serverSide: the group uses the consumer protocol
	serverSide bool

	mu    sync.Mutex
	owned map[int32]bool  // guarded by mu
	next  map[int32]int64 // guarded by mu
}

func (f *franz) join(c command) error {
	f.topic, f.owned, f.next, f.done = c.Topic, map[int32]bool{}, map[int32]int64{}, make(chan struct{})
	reset := map[string]kgo.Offset{"earliest": kgo.NewOffset().AtStart(), "latest": kgo.NewOffset().AtEnd(), "none": kgo.NoResetOffset()}[c.Reset]
	balancer := kgo.RangeBalancer()
	if c.Assignor == "cooperative" && !f.serverSide {
		balancer = kgo.CooperativeStickyBalancer()
	}
	options := []kgo.Opt{kgo.SeedBrokers(c.Bootstrap), kgo.ConsumerGroup(c.Group), kgo.ConsumeTopics(c.Topic), kgo.Balancers(balancer),
		kgo.ConsumeResetOffset(reset), kgo.SessionTimeout(c.session()), kgo.HeartbeatInterval(heartbeat),
		kgo.OnPartitionsAssigned(f.assigned), kgo.OnPartitionsRevoked(f.revoked), kgo.OnPartitionsLost(f.revoked)}
	if f.serverSide {
		options = append(options, kgo.ServerSideBalancer())
	}
	if c.Reset == "none" {
		// The engine takes no policy of none for partitions without a commit.
		options = append(options, kgo.ConsumeStartOffset(kgo.NewOffset().AtCommitted()))
	}
	if c.Instance != "" {
		options = append(options, kgo.InstanceID(c.Instance))
	}
	if c.AutoMs == 0 {
		options = append(options, kgo.DisableAutoCommit())
	} else {
		options = append(options, kgo.AutoCommitInterval(c.autoCommit()))
	}
	var err error
	if f.cl, err = kgo.NewClient(options...); err != nil {
		return err
	}
	go f.poll(f.cl)
	return nil
}

func (f *franz) poll(cl *kgo.Client) {
	defer close(f.done)
	for {
		fetches := cl.PollFetches(context.Background())
		if fetches.IsClientClosed() {
			return
		}
		for _, e := range fetches.Errors() {
			f.o.failed(e.Err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			f.mu.Lock()
			f.next[r.Partition] = r.Offset + 1
			f.mu.Unlock()
			f.o.record(r.Partition, r.Offset, r.Value)
		})
	}
}

func (f *franz) assigned(_ context.Context, cl *kgo.Client, partitions map[string][]int32) {
	f.change(cl, func() {
		for _, p := range partitions[f.topic] {
			f.owned[p] = true
		}
	})
}

func (f *franz) revoked(_ context.Context, cl *kgo.Client, partitions map[string][]int32) {
	if len(partitions[f.topic]) == 0 {
		return
	}
	f.o.revoked(partitions[f.topic])
	f.change(cl, func() {
		for _, p := range partitions[f.topic] {
			delete(f.owned, p)
			delete(f.next, p)
		}
	})
}

func (f *franz) change(cl *kgo.Client, with func()) {
	f.mu.Lock()
	with()
	owned := slices.Collect(maps.Keys(f.owned))
	f.mu.Unlock()
	_, generation := cl.GroupMetadata()
	f.o.owns(owned, generation)
}

func (f *franz) commit(async bool) error {
	f.mu.Lock()
	offsets := map[string]map[int32]kgo.EpochOffset{f.topic: {}}
	for p, next := range f.next {
		offsets[f.topic][p] = kgo.EpochOffset{Epoch: -1, Offset: next}
	}
	f.mu.Unlock()
	done := make(chan error, 1)
	answered := func(_ *kgo.Client, _ *kmsg.OffsetCommitRequest, resp *kmsg.OffsetCommitResponse, err error) {
		if err == nil {
			for _, t := range resp.Topics {
				for _, p := range t.Partitions {
					if err == nil {
						err = kerr.ErrorForCode(p.ErrorCode)
					}
				}
			}
		}
		done <- err
	}
	if async {
		f.cl.CommitOffsets(context.Background(), offsets, answered)
	} else {
		f.cl.CommitOffsetsSync(context.Background(), offsets, answered)
	}
	return <-done
}

func (f *franz) pause(p int32) {
	f.cl.PauseFetchPartitions(map[string][]int32{f.topic: {p}})
}

func (f *franz) resume(p int32) { f.cl.ResumeFetchPartitions(map[string][]int32{f.topic: {p}}) }

func (f *franz) seek(p int32, offset int64) error {
	f.cl.SetOffsets(map[string]map[int32]kgo.EpochOffset{f.topic: {p: {Epoch: -1, Offset: offset}}})
	return nil
}

func (f *franz) position() map[int32]int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.next)
}

func (f *franz) leave() error {
	f.cl.Close()
	<-f.done
	return nil
}
