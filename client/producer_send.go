package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// sending is a record on its way, in one piece of memory with all that the engine has
// to hand back. It is the record's context, which the engine carries along; it ends with
// delivery.timeout.ms, whatever becomes of the caller's context.
type sending struct {
	context.Context // the deadline

	record    kgo.Record
	producer  *Producer
	delivered func(RecordMetadata, error) // nil: Flush tells
	size      int64                       // of the room, 0 when none was taken
	explicit  bool                        // record.Partition was asked for
}

// Send hands a record to the producer and returns; the record goes with others of its
// partition after linger.ms at the latest (send).
//
// It blocks, for max.block.ms in all or until the context ends, only while the topic's
// metadata is not known, or while buffer.memory bytes are buffered already: key, value
// and headers count, and 70 bytes for each record. A record that was accepted is sent
// even if the context ends afterwards.
//
// The callback is called once, with where the record is or why it is not: ErrTimeout
// after max.block.ms or delivery.timeout.ms, ErrRecordTooLarge, ErrInvalidTopic, and
// codes of the broker. Callbacks of one partition come in the order of its records, on
// a goroutine of the producer; they must be quick, and neither block on this producer
// nor close it. What fails before it is accepted is told before Send returns. Without a
// callback Flush returns the first failure.
//
// The slices of the record belong to the producer until then.
func (p *Producer) Send(ctx context.Context, r ProducerRecord, delivered func(RecordMetadata, error)) {
	s := &sending{producer: p, delivered: delivered, record: kgo.Record{Topic: r.Topic, Key: r.Key, Value: r.Value,
		Headers: r.Headers, Timestamp: r.Timestamp, Partition: -1}}
	if r.Partition != nil {
		s.record.Partition, s.explicit = *r.Partition, true
	}
	s.record.Context = s
	if err := p.admit(ctx, s); err != nil {
		s.done(err)
		return
	}
	p.engine.Produce(s, &s.record, sent)
}

// SendSync sends a record and waits for its delivery, without linger.ms. An error of
// the context leaves open whether the record will be written.
func (p *Producer) SendSync(ctx context.Context, r ProducerRecord) (RecordMetadata, error) {
	type delivery struct {
		where RecordMetadata
		err   error
	}
	done := make(chan delivery, 1)
	p.Send(ctx, r, func(where RecordMetadata, err error) { done <- delivery{where, err} })
	select {
	case d := <-done:
		return d.where, d.err
	default:
	}
	p.sendNow()
	select {
	case d := <-done:
		return d.where, d.err
	case <-ctx.Done():
		return RecordMetadata{}, outOfTime(ctx, ctx.Err(), "delivery to topic "+r.Topic)
	}
}

// admit waits for what a record needs to be accepted.
func (p *Producer) admit(ctx context.Context, s *sending) error {
	select {
	case <-p.closing:
		return ErrClosed
	default:
	}
	if err := p.transaction.sendable(); err != nil {
		return err
	}
	begun := time.Now()
	if err := p.awaitTopic(ctx, s); err != nil {
		return err
	}
	size := int64(recordOverhead + len(s.record.Key) + len(s.record.Value))
	for _, h := range s.record.Headers {
		size += int64(len(h.Key) + len(h.Value))
	}
	if size > p.room.limit {
		return fmt.Errorf("%w: %d bytes, buffer.memory is %d", ErrRecordTooLarge, size, p.room.limit)
	}
	if err := p.room.take(ctx, size, max(p.maxBlock-time.Since(begun), 0), p.closing, p.sendNow); err != nil {
		return outOfTime(ctx, err, fmt.Sprintf("no room for %d bytes in buffer.memory within max.block.ms", size))
	}
	s.size, s.Context = size, p.deadlines.next(time.Now())
	return nil
}

// awaitTopic waits until the topic, and the partition if one was asked for, is known.
func (p *Producer) awaitTopic(ctx context.Context, s *sending) error {
	least := 0
	if s.explicit {
		if s.record.Partition < 0 {
			return illegal(fmt.Sprintf("partition %d", s.record.Partition))
		}
		least = int(s.record.Partition)
	}
	if p.topics.known(s.record.Topic, least) {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, p.maxBlock)
	defer cancel()
	if _, err := p.topics.await(limited, s.record.Topic, least); err != nil {
		return outOfTime(ctx, err, fmt.Sprintf("partition %d of topic %s in metadata within max.block.ms", least, s.record.Topic))
	}
	return nil
}

// sent is the engine's promise for all records of Send.
func sent(r *kgo.Record, err error) {
	s := r.Context.(*sending)
	switch {
	case err == nil && s.producer.unacknowledged:
		r.Offset = -1
	case err != nil && s.Err() != nil && !errors.Is(err, kgo.ErrClientClosed):
		err = fmt.Errorf("%w: no delivery within delivery.timeout.ms: %w", ErrTimeout, err)
	}
	s.done(told(err))
}

// done tells of the end of a record, and gives back its room when that is done.
func (s *sending) done(err error) {
	p, r := s.producer, &s.record
	if err != nil {
		p.transaction.sendFailed(err)
	} else {
		p.transaction.delivered()
	}
	switch {
	case s.delivered != nil && err != nil:
		s.delivered(RecordMetadata{TopicPartition: TopicPartition{r.Topic, r.Partition}, Offset: -1, Timestamp: r.Timestamp}, err)
	case s.delivered != nil:
		s.delivered(RecordMetadata{TopicPartition: TopicPartition{r.Topic, r.Partition}, Offset: r.Offset, Timestamp: r.Timestamp}, nil)
	case err != nil:
		p.mu.Lock()
		if p.failed == nil {
			p.failed = &ResourceError{"topic " + r.Topic, err}
		}
		p.mu.Unlock()
	}
	if s.size > 0 {
		p.room.give(s.size)
	}
}

// explicitPartitions takes the partition that a record asks for, and asks another
// partitioner where it asks for none.
type explicitPartitions struct{ otherwise kgo.Partitioner }

func (e explicitPartitions) ForTopic(topic string) kgo.TopicPartitioner {
	return explicitPartition{e.otherwise.ForTopic(topic)}
}

type explicitPartition struct{ otherwise kgo.TopicPartitioner }

func asksFor(r *kgo.Record) bool {
	s, ok := r.Context.(*sending)
	return ok && s.explicit
}

func (e explicitPartition) RequiresConsistency(r *kgo.Record) bool {
	return asksFor(r) || e.otherwise.RequiresConsistency(r)
}

func (e explicitPartition) Partition(r *kgo.Record, n int) int {
	if asksFor(r) {
		return int(r.Partition)
	}
	return e.otherwise.Partition(r, n)
}

func (e explicitPartition) PartitionByBackup(r *kgo.Record, n int, backup kgo.TopicBackupIter) int {
	if asksFor(r) {
		return int(r.Partition)
	}
	if by, ok := e.otherwise.(kgo.TopicBackupPartitioner); ok {
		return by.PartitionByBackup(r, n, backup)
	}
	return e.otherwise.Partition(r, n)
}
