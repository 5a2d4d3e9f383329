package compat

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// franzGo is twmb/franz-go.
type franzGo struct{ options []kgo.Opt }

func (f franzGo) produce(bootstrap, topic string, n int) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cl, err := kgo.NewClient(append(f.options, kgo.SeedBrokers(bootstrap), kgo.RecordPartitioner(kgo.ManualPartitioner()))...)
	if err != nil {
		return err
	}
	defer cl.Close()
	var first firstError
	for i := range n {
		r := &kgo.Record{Topic: topic, Partition: int32(i % Partitions), Key: []byte(Key(i)), Value: []byte(Value(i))}
		cl.Produce(ctx, r, func(_ *kgo.Record, err error) { first.set(err) })
	}
	if err := cl.Flush(ctx); err != nil {
		return err
	}
	return first.get()
}

func (f franzGo) consume(bootstrap, topic string, n int) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	offsets := map[int32]kgo.Offset{}
	for p := range int32(Partitions) {
		offsets[p] = kgo.NewOffset().AtStart()
	}
	cl, err := kgo.NewClient(append(f.options, kgo.SeedBrokers(bootstrap),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: offsets}))...)
	if err != nil {
		return err
	}
	defer cl.Close()
	check := newChecker(n)
	for !check.done() {
		fetches := cl.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			return fmt.Errorf("after %d records: %w", check.seen, err)
		}
		fetches.EachRecord(func(r *kgo.Record) { check.record(int(r.Partition), r.Offset, r.Key, r.Value) })
	}
	return check.result()
}

func createTopic(bootstrap, topic string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cl, err := kgo.NewClient(kgo.SeedBrokers(bootstrap))
	if err != nil {
		return err
	}
	defer cl.Close()
	resp, err := kadm.NewClient(cl).CreateTopic(ctx, Partitions, 1, nil, topic)
	if err != nil {
		return err
	}
	return resp.Err
}
