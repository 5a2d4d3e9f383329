package client

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Producer writes records (KafkaProducer). All its methods may be called by several
// goroutines; transactions are one at a time.
type Producer struct {
	engine          *kgo.Client
	transactionalID string
	maxBlock        time.Duration
	unacknowledged  bool // acks=0
	room            *room
	deadlines       deadlines
	cancelDeadlines context.CancelFunc
	topics          topicBook
	transaction     transaction

	closing   chan struct{}
	closeOnce sync.Once
	closed    error // what Close returned; set by closeOnce

	mu     sync.Mutex
	failed error // the first failure that no callback was told; guarded by mu
}

// recordOverhead is what a record costs of buffer.memory beside its bytes.
const recordOverhead = 70

// NewProducer makes a producer. It connects to nothing yet.
//
// All of Kafka's properties have Kafka's defaults: acks=all and enable.idempotence=true,
// linger.ms=5, batch.size=16384, buffer.memory=33554432, max.block.ms=60000,
// delivery.timeout.ms=120000. An error names a property whose value is wrong.
func NewProducer(properties Properties, options ...Option) (*Producer, error) {
	s, engine, err := translated(ForProducer, properties, options)
	if err != nil {
		return nil, err
	}
	p := &Producer{transactionalID: values(properties).text("transactional.id", ""), closing: make(chan struct{})}
	if p.maxBlock, err = MaxBlock(properties); err != nil {
		return nil, err
	}
	p.room = newRoom(max(values(properties).number("buffer.memory", 32<<20), 1))
	p.transaction.init(p.transactionalID != "")
	engine = append(engine, kgo.RecordPartitioner(explicitPartitions{values(properties).partitioner()}),
		// The room bounds what is buffered; the engine's own bounds would block without end.
		kgo.MaxBufferedRecords(math.MaxInt32), kgo.MaxBufferedBytes(0), kgo.RecordDeliveryTimeout(0))
	if p.transactionalID == "" && values(properties).idempotent() {
		// As in Kafka, delivery.timeout.ms also ends what may have been written.
		engine = append(engine, kgo.AllowIdempotentProduceCancellation())
	}
	p.deadlines.timeout = max(values(properties).milliseconds("delivery.timeout.ms", 120_000), time.Millisecond)
	p.deadlines.all, p.cancelDeadlines = context.WithCancel(context.Background())
	p.engine, err = kgo.NewClient(append(engine, s.engine...)...)
	if err != nil {
		return nil, err
	}
	p.topics.engine = p.engine
	p.unacknowledged = p.engine.OptValue(kgo.RequiredAcks) == kgo.NoAck()
	return p, nil
}

// Flush sends at once what is buffered and waits until every record that was sent
// before is delivered or given up. It returns the first failure, since the last Flush,
// of records that were sent without a callback; or the context's error, when some are
// still on their way.
func (p *Producer) Flush(ctx context.Context) error {
	if err := p.engine.Flush(ctx); err != nil {
		return outOfTime(ctx, err, "flush")
	}
	return p.takeFailure()
}

func (p *Producer) takeFailure() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := p.failed
	p.failed = nil
	return err
}

// sendNow has the engine send what is buffered, without a wait.
func (p *Producer) sendNow() {
	over, cancel := context.WithCancel(context.Background())
	cancel()
	// Its error is that of the context.
	_ = p.engine.Flush(over)
}

// PartitionsFor is what metadata says of a topic (partitionsFor). As in the Java
// client, a topic that doesn't exist is asked for until max.block.ms have passed, which
// creates it where the broker has auto.create.topics.enable.
func (p *Producer) PartitionsFor(ctx context.Context, topic string) ([]PartitionInfo, error) {
	limited, cancel := context.WithTimeout(ctx, p.maxBlock)
	defer cancel()
	partitions, err := p.topics.await(limited, topic, 0)
	return partitions, outOfTime(ctx, err, "metadata of topic "+topic)
}

// Close delivers what is buffered, or gives it up after delivery.timeout.ms, aborts a
// transaction that is open, and ends all that belongs to the producer. It returns the
// failure that Flush would. Later calls return the same. Callbacks have all returned
// when Close does, so a callback must not call it.
func (p *Producer) Close() error {
	p.closeOnce.Do(func() {
		close(p.closing)
		var err error
		if p.transaction.isOpen() {
			ctx, cancel := context.WithTimeout(context.Background(), p.maxBlock)
			err = p.AbortTransaction(ctx)
			cancel()
		} else if flushed := p.engine.Flush(context.Background()); flushed != nil && !errors.Is(flushed, kgo.ErrClientClosed) {
			err = flushed
		}
		p.engine.Close()
		// Once all the room is ours every callback has returned.
		_ = p.room.take(context.Background(), p.room.limit, math.MaxInt64, nil, func() {})
		p.cancelDeadlines()
		p.closed = errors.Join(err, p.takeFailure())
	})
	return p.closed
}

// Engine is the franz-go client below: a door for what has no words here. It belongs
// to the producer; don't close it.
func (p *Producer) Engine() *kgo.Client { return p.engine }
