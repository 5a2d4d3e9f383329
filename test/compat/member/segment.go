package main

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"
)

// segment is segmentio/kafka-go: its consumer group hands out generations, and a
// reader for each partition reads.
type segment struct {
	o      *output
	c      command
	group  *kafka.ConsumerGroup
	cancel context.CancelFunc
	done   chan struct{}

	mu         sync.Mutex
	generation *kafka.Generation // guarded by mu
	next       map[int32]int64   // guarded by mu
}

func (s *segment) join(c command) error {
	start := kafka.LastOffset
	if c.Reset == "earliest" {
		start = kafka.FirstOffset
	}
	group, err := kafka.NewConsumerGroup(kafka.ConsumerGroupConfig{ID: c.Group, Brokers: []string{c.Bootstrap}, Topics: []string{c.Topic},
		GroupBalancers: []kafka.GroupBalancer{kafka.RangeGroupBalancer{}}, HeartbeatInterval: heartbeat, SessionTimeout: c.session(),
		RebalanceTimeout: 30 * time.Second, StartOffset: start, JoinGroupBackoff: 200 * time.Millisecond})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.c, s.group, s.cancel, s.done, s.next = c, group, cancel, make(chan struct{}), map[int32]int64{}
	go func() {
		defer close(s.done)
		for ctx.Err() == nil {
			generation, err := group.Next(ctx)
			if err != nil {
				if ctx.Err() == nil && !errors.Is(err, kafka.ErrGroupClosed) {
					s.o.failed(err)
				}
				continue
			}
			s.start(generation)
		}
	}()
	return nil
}

func (s *segment) start(generation *kafka.Generation) {
	var owned []int32
	s.mu.Lock()
	s.generation, s.next = generation, map[int32]int64{}
	s.mu.Unlock()
	for _, a := range generation.Assignments[s.c.Topic] {
		owned = append(owned, int32(a.ID))
		generation.Start(func(ctx context.Context) { s.read(ctx, a) })
	}
	if s.c.AutoMs > 0 {
		generation.Start(s.autoCommit)
	}
	generation.Start(func(ctx context.Context) {
		<-ctx.Done()
		s.o.revoked(owned)
		s.o.owns(nil, generation.ID)
	})
	s.o.owns(append([]int32(nil), owned...), generation.ID)
}

func (s *segment) read(ctx context.Context, a kafka.PartitionAssignment) {
	reader := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{s.c.Bootstrap}, Topic: s.c.Topic, Partition: a.ID, MaxWait: 250 * time.Millisecond})
	defer reader.Close()
	if err := reader.SetOffset(a.Offset); err != nil {
		s.o.failed(err)
		return
	}
	for {
		m, err := reader.ReadMessage(ctx)
		if err != nil {
			if ctx.Err() == nil {
				s.o.failed(err)
			}
			return
		}
		s.mu.Lock()
		s.next[int32(m.Partition)] = m.Offset + 1
		s.mu.Unlock()
		s.o.record(int32(m.Partition), m.Offset, m.Value)
	}
}

func (s *segment) autoCommit(ctx context.Context) {
	ticker := time.NewTicker(s.c.autoCommit())
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			s.o.failed(s.commit(false))
		}
	}
}

func (s *segment) commit(bool) error {
	s.mu.Lock()
	generation := s.generation
	offsets := map[int]int64{}
	for p, next := range s.next {
		offsets[int(p)] = next
	}
	s.mu.Unlock()
	if generation == nil || len(offsets) == 0 {
		return nil
	}
	return generation.CommitOffsets(map[string]map[int]int64{s.c.Topic: offsets})
}

func (s *segment) pause(int32)  {}
func (s *segment) resume(int32) {}

func (s *segment) seek(int32, int64) error { return errors.New("the library cannot") }

func (s *segment) position() map[int32]int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.next)
}

func (s *segment) leave() error {
	s.cancel()
	err := s.group.Close()
	<-s.done
	return err
}
