package main

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/IBM/sarama"
)

// saramaMember is IBM/sarama.
type saramaMember struct {
	o      *output
	topic  string
	client sarama.Client
	group  sarama.ConsumerGroup
	cancel context.CancelFunc
	done   chan struct{}
	auto   bool

	mu      sync.Mutex
	session sarama.ConsumerGroupSession // guarded by mu
	next    map[int32]int64             // guarded by mu
}

func (s *saramaMember) join(c command) error {
	config := sarama.NewConfig()
	config.Version = sarama.MaxVersion
	config.Consumer.Return.Errors = true
	config.Consumer.Group.Session.Timeout = c.session()
	config.Consumer.Group.Heartbeat.Interval = heartbeat
	config.Consumer.Group.InstanceId = c.Instance
	config.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{sarama.NewBalanceStrategyRange()}
	config.Consumer.Offsets.AutoCommit.Enable = c.AutoMs > 0
	if c.AutoMs > 0 {
		config.Consumer.Offsets.AutoCommit.Interval = c.autoCommit()
	}
	config.Consumer.Offsets.Initial = sarama.OffsetNewest
	if c.Reset == "earliest" {
		config.Consumer.Offsets.Initial = sarama.OffsetOldest
	}
	var err error
	if s.client, err = sarama.NewClient([]string{c.Bootstrap}, config); err != nil {
		return err
	}
	if s.group, err = sarama.NewConsumerGroupFromClient(c.Group, s.client); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.topic, s.cancel, s.done, s.auto, s.next = c.Topic, cancel, make(chan struct{}), c.AutoMs > 0, map[int32]int64{}
	go func() {
		for err := range s.group.Errors() {
			s.o.failed(err)
		}
	}()
	go func() {
		defer close(s.done)
		for ctx.Err() == nil {
			if err := s.group.Consume(ctx, []string{c.Topic}, s); err != nil && ctx.Err() == nil {
				s.o.failed(err)
			}
		}
	}()
	return nil
}

// Setup, Cleanup and ConsumeClaim are the library's callbacks.
func (s *saramaMember) Setup(session sarama.ConsumerGroupSession) error {
	s.mu.Lock()
	s.session = session
	s.mu.Unlock()
	s.o.owns(slices.Clone(session.Claims()[s.topic]), session.GenerationID())
	return nil
}

func (s *saramaMember) Cleanup(session sarama.ConsumerGroupSession) error {
	s.mu.Lock()
	s.session = nil
	s.next = map[int32]int64{}
	s.mu.Unlock()
	s.o.revoked(session.Claims()[s.topic])
	s.o.owns(nil, session.GenerationID())
	return nil
}

func (s *saramaMember) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for m := range claim.Messages() {
		s.mu.Lock()
		s.next[m.Partition] = m.Offset + 1
		s.mu.Unlock()
		if s.auto {
			session.MarkMessage(m, "")
		}
		s.o.record(m.Partition, m.Offset, m.Value)
	}
	return nil
}

func (s *saramaMember) commit(bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session == nil {
		return sarama.ErrRebalanceInProgress
	}
	for p, next := range s.next {
		s.session.MarkOffset(s.topic, p, next, "")
	}
	s.session.Commit()
	return nil
}

func (s *saramaMember) pause(p int32)  { s.group.Pause(map[string][]int32{s.topic: {p}}) }
func (s *saramaMember) resume(p int32) { s.group.Resume(map[string][]int32{s.topic: {p}}) }

func (s *saramaMember) seek(int32, int64) error { return sarama.ErrUnsupportedVersion }

func (s *saramaMember) position() map[int32]int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.next)
}

func (s *saramaMember) leave() error {
	s.cancel()
	<-s.done
	if err := s.group.Close(); err != nil {
		return err
	}
	return s.client.Close()
}
