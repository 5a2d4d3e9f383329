package client_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"barnabas/client"
	"barnabas/kafkatest"
)

// The server runs in the same process, so its share is in all numbers; what counts is
// the difference between the two.

// BenchmarkProduce is one record of 100 bytes, by this package and by the engine alone.
func BenchmarkProduce(b *testing.B) {
	value := make([]byte, 100)
	b.Run("client", func(b *testing.B) {
		producer, ctx := newProducer(b, with(kafkatest.Start(b, kafkatest.Topic("a", 1)))), b.Context()
		var failed atomic.Int64
		done := func(_ client.RecordMetadata, err error) {
			if err != nil {
				failed.Add(1)
			}
		}
		b.ReportAllocs()
		for b.Loop() {
			producer.Send(ctx, client.ProducerRecord{Topic: "a", Value: value}, done)
		}
		if err := producer.Flush(ctx); err != nil || failed.Load() > 0 {
			b.Fatal(err, failed.Load())
		}
	})
	b.Run("engine", func(b *testing.B) {
		engine, _, err := client.New(client.ForProducer, with(kafkatest.Start(b, kafkatest.Topic("a", 1))), kgo.MaxBufferedRecords(1<<30))
		if err != nil {
			b.Fatal(err)
		}
		defer engine.Close()
		var failed atomic.Int64
		done := func(_ *kgo.Record, err error) {
			if err != nil {
				failed.Add(1)
			}
		}
		ctx := context.Background()
		b.ReportAllocs()
		for b.Loop() {
			engine.Produce(ctx, &kgo.Record{Topic: "a", Value: value}, done)
		}
		if err := engine.Flush(ctx); err != nil || failed.Load() > 0 {
			b.Fatal(err, failed.Load())
		}
	})
}

// BenchmarkPoll is one record of a poll of up to 500.
func BenchmarkPoll(b *testing.B) {
	const records = 50_000
	node := kafkatest.Start(b, kafkatest.Topic("a", 1))
	producer := newProducer(b, with(node))
	for range records {
		producer.Send(b.Context(), client.ProducerRecord{Topic: "a", Value: make([]byte, 100)}, nil)
	}
	if err := producer.Close(); err != nil {
		b.Fatal(err)
	}
	b.Run("client", func(b *testing.B) {
		b.ReportAllocs()
		for read := 0; read < b.N; {
			consumer := newConsumer(b, with(node, "auto.offset.reset", "earliest"))
			if err := consumer.Assign(a0); err != nil {
				b.Fatal(err)
			}
			for at := 0; at < records && read < b.N; {
				polled, err := consumer.Poll(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				for range polled.All() {
					read, at = read+1, at+1
				}
			}
			consumer.Close()
		}
	})
	b.Run("engine", func(b *testing.B) {
		b.ReportAllocs()
		for read := 0; read < b.N; {
			engine, _, err := client.New(client.ForConsumer, with(node),
				kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{"a": {0: kgo.NewOffset().AtStart()}}))
			if err != nil {
				b.Fatal(err)
			}
			for at := 0; at < records && read < b.N; {
				polled := engine.PollRecords(b.Context(), 500)
				if err := polled.Err(); err != nil {
					b.Fatal(err)
				}
				polled.EachRecord(func(*kgo.Record) { read, at = read+1, at+1 })
			}
			engine.Close()
		}
	})
}
