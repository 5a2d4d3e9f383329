package chaos

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/test/chaos/history"
)

// ask writes down what the group has committed. The end of a transaction is answered
// before its offsets count, so it asks for what is stable; and by name, for whoever asks
// for everything is not told of a partition that has a first offset on its way.
func (w *world) ask(ctx context.Context, client string, cl *kgo.Client) error {
	req := kmsg.NewPtrOffsetFetchRequest()
	req.RequireStable = true
	asked := kmsg.OffsetFetchRequestGroup{Group: group, Topics: []kmsg.OffsetFetchRequestGroupTopic{{Topic: inputs}}, MemberEpoch: -1}
	for i := range int32(partitions) {
		asked.Topics[0].Partitions = append(asked.Topics[0].Partitions, i)
	}
	req.Groups = append(req.Groups, asked)
	for {
		e := history.Event{Kind: history.Committed, Client: client, Group: group, Outcome: history.OK, Begun: w.now()}
		resp, err := req.RequestWith(ctx, cl)
		if err != nil {
			return err
		}
		e.Ended = w.now()
		if err := kerr.ErrorForCode(resp.Groups[0].ErrorCode); err != nil {
			return err
		}
		var refused error
		for _, p := range resp.Groups[0].Topics[0].Partitions {
			refused = errors.Join(refused, kerr.ErrorForCode(p.ErrorCode))
			e.Offsets = append(e.Offsets, history.Position{Partition: history.Partition{Topic: inputs, Index: p.Partition}, Offset: p.Offset})
		}
		if refused == nil {
			w.history.Add(e)
			return nil
		}
		if wait(ctx, 50*time.Millisecond); !errors.Is(refused, kerr.UnstableOffsetCommit) || ctx.Err() != nil {
			return refused
		}
	}
}

// observe asks all the time, until the context ends.
func (w *world) observe(ctx context.Context) error {
	cl, err := kgo.NewClient(kgo.SeedBrokers(w.address))
	if err != nil {
		return err
	}
	defer cl.Close()
	for ctx.Err() == nil {
		asking, done := context.WithTimeout(ctx, 5*time.Second)
		_ = w.ask(asking, "observer", cl) // the node may be dead
		done()
		wait(ctx, 50*time.Millisecond)
	}
	return nil
}

// audit waits until no transaction is open, asks the group for its offsets and reads
// everything.
func (w *world) audit(ctx context.Context) error {
	cl, err := kgo.NewClient(kgo.SeedBrokers(w.address))
	if err != nil {
		return err
	}
	defer cl.Close()
	adm := kadm.NewClient(cl)
	ends, err := stable(ctx, adm, inputs, outputs)
	if err != nil {
		return err
	}
	if err := w.ask(ctx, "audit", cl); err != nil {
		return err
	}
	for p, end := range ends {
		if err := w.scan(ctx, p, end); err != nil {
			return err
		}
	}
	return nil
}

// stable waits until the last stable offset of each partition is its end.
func stable(ctx context.Context, adm *kadm.Client, topics ...string) (map[history.Partition]int64, error) {
	for {
		ends, err := adm.ListEndOffsets(ctx, topics...)
		if err == nil {
			err = ends.Error()
		}
		if err != nil {
			return nil, err
		}
		stable, err := adm.ListCommittedOffsets(ctx, topics...)
		if err == nil {
			err = stable.Error()
		}
		if err != nil {
			return nil, err
		}
		at, open := map[history.Partition]int64{}, ""
		ends.Each(func(o kadm.ListedOffset) {
			p := history.Partition{Topic: o.Topic, Index: o.Partition}
			at[p] = o.Offset
			if s, _ := stable.Lookup(o.Topic, o.Partition); s.Offset != o.Offset {
				open = fmt.Sprintf("%s is stable up to %d of %d", p, s.Offset, o.Offset)
			}
		})
		if open == "" {
			return at, nil
		}
		if wait(ctx, 100*time.Millisecond); ctx.Err() != nil {
			return nil, fmt.Errorf("transactions do not end: %s: %w", open, ctx.Err())
		}
	}
}

// scan reads a partition from its beginning to its end.
func (w *world) scan(ctx context.Context, p history.Partition, end int64) error {
	e := history.Event{Kind: history.Scan, Client: "audit", Outcome: history.OK, ReadCommitted: true, Begun: w.now(), Offsets: []history.Position{{Partition: p}}}
	records, err := readCommitted(ctx, w.address, p, end)
	if err != nil {
		return err
	}
	for _, r := range records {
		record, err := seen(r)
		if err != nil {
			return err
		}
		e.Records = append(e.Records, record)
	}
	e.Ended = w.now()
	w.history.Add(e)
	return nil
}

// readCommitted gives the records of a partition up to its end.
func readCommitted(ctx context.Context, address string, p history.Partition, end int64) (records []*kgo.Record, err error) {
	if end == 0 {
		return nil, nil
	}
	cl, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.KeepControlRecords(),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{p.Topic: {p.Index: kgo.NewOffset().At(0)}}))
	if err != nil {
		return nil, err
	}
	defer cl.Close()
	for next := int64(0); next < end; {
		fetches := cl.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			return nil, fmt.Errorf("reading %s at %d of %d: %w", p, next, end, err)
		}
		for _, r := range fetches.Records() {
			next = r.Offset + 1
			if !r.Attrs.IsControl() {
				records = append(records, r)
			}
		}
	}
	return records, nil
}

// committedRecords gives the records of a topic that are committed by now.
func committedRecords(ctx context.Context, adm *kadm.Client, address, topic string) (all []*kgo.Record, err error) {
	ends, err := adm.ListCommittedOffsets(ctx, topic)
	if err == nil {
		err = ends.Error()
	}
	if err != nil {
		return nil, err
	}
	for _, end := range ends.Offsets()[topic] {
		records, err := readCommitted(ctx, address, history.Partition{Topic: topic, Index: end.Partition}, end.At)
		if err != nil {
			return nil, err
		}
		all = append(all, records...)
	}
	return all, nil
}
