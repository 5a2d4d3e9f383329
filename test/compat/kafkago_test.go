package compat

import (
	"context"
	"fmt"
	"time"

	"github.com/segmentio/kafka-go"
)

// kafkaGo is segmentio/kafka-go.
type kafkaGo struct{}

// byNumber puts record i into partition i modulo 3; kafka-go chooses partitions
// by a balancer, which sees the key.
type byNumber struct{}

func (byNumber) Balance(m kafka.Message, partitions ...int) int {
	var i int
	if _, err := fmt.Sscanf(string(m.Key), "key-%d", &i); err != nil {
		return 0 // the consumer will find it in the wrong place
	}
	return i % Partitions
}

func (kafkaGo) produce(bootstrap, topic string, n int) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	w := &kafka.Writer{Addr: kafka.TCP(bootstrap), Topic: topic, Balancer: byNumber{}, RequiredAcks: kafka.RequireAll, BatchSize: 1000}
	defer w.Close()
	const chunk = 10_000
	for from := 0; from < n; from += chunk {
		var messages []kafka.Message
		for i := from; i < min(n, from+chunk); i++ {
			messages = append(messages, kafka.Message{Key: []byte(Key(i)), Value: []byte(Value(i))})
		}
		if err := w.WriteMessages(ctx, messages...); err != nil {
			return err
		}
	}
	return nil
}

func (kafkaGo) consume(bootstrap, topic string, n int) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	check := newChecker(n)
	for p := range Partitions {
		r := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{bootstrap}, Topic: topic, Partition: p, MaxBytes: 10 << 20, MaxWait: 250 * time.Millisecond})
		for range InPartition(n, p) {
			m, err := r.ReadMessage(ctx)
			if err != nil {
				return fmt.Errorf("partition %d after %d records: %w", p, check.seen, err)
			}
			check.record(p, m.Offset, m.Key, m.Value)
		}
		if err := r.Close(); err != nil {
			return err
		}
	}
	return check.result()
}
