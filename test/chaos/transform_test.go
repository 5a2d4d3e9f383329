package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"barnabas/test/chaos/history"
)

const (
	inputs     = "inputs"
	outputs    = "outputs"
	partitions = 3
	group      = "transformers"
)

// payload is what a record's value says of itself.
type payload struct {
	ID     string            `json:"id"`
	Origin *history.Position `json:"origin,omitempty"`
}

func value(p payload) []byte {
	b, err := json.Marshal(p)
	if err != nil {
		panic(err)
	}
	return b
}

// seen is a record as it was read.
func seen(r *kgo.Record) (history.Record, error) {
	var p payload
	if err := json.Unmarshal(r.Value, &p); err != nil {
		return history.Record{}, fmt.Errorf("value of %s-%d@%d: %w", r.Topic, r.Partition, r.Offset, err)
	}
	return history.Record{Position: position(r), ID: p.ID, Origin: p.Origin}, nil
}

func position(r *kgo.Record) history.Position {
	return history.Position{Partition: history.Partition{Topic: r.Topic, Index: r.Partition}, Offset: r.Offset}
}

// world is what the clients of a test share.
type world struct {
	address string
	history *history.History
	began   time.Time
	options []kgo.Opt // of those who join the group

	sent      atomic.Int64 // records of the feeder that were acknowledged
	consumed  atomic.Int64 // inputs in committed transactions
	committed atomic.Int64 // transactions
	aborted   atomic.Int64
	unknown   atomic.Int64
}

func (w *world) now() int64 { return int64(time.Since(w.began)) }

// feed sends inputs, never more than ahead of what is consumed, until the context
// ends.
func (w *world) feed(ctx context.Context, ahead int64) error {
	cl, err := kgo.NewClient(kgo.SeedBrokers(w.address), kgo.DefaultProduceTopic(inputs), kgo.RecordPartitioner(kgo.RoundRobinPartitioner()))
	if err != nil {
		return err
	}
	defer cl.Close()
	var n int64
	for ctx.Err() == nil {
		if n-w.consumed.Load() >= ahead {
			wait(ctx, 2*time.Millisecond)
			continue
		}
		n++
		id := fmt.Sprint("i", n)
		begun := w.now()
		cl.Produce(context.Background(), &kgo.Record{Value: value(payload{ID: id})}, func(r *kgo.Record, err error) {
			w.noteSend("feeder", "", begun, r, id, nil, err)
			if err == nil {
				w.sent.Add(1)
			}
		})
	}
	flushing, done := context.WithTimeout(context.Background(), time.Minute)
	defer done()
	return cl.Flush(flushing)
}

// noteSend writes down a record that was sent. Whatever the error is, it may be there.
func (w *world) noteSend(client, txn string, begun int64, r *kgo.Record, id string, origin *history.Position, err error) {
	e := history.Event{Kind: history.Send, Client: client, Txn: txn, Begun: begun, Ended: w.now(), Outcome: history.OK,
		Records: []history.Record{{Position: position(r), ID: id, Origin: origin}}}
	if err != nil {
		e.Outcome, e.Records[0].Offset = history.Unknown, -1
	}
	w.history.Add(e)
}

// transformer makes an output of each input, exactly once.
type transformer struct {
	*world
	name    string
	life    int // of its client
	session *kgo.GroupTransactSession
	made    int
}

// run lives until the context ends. A client that is of no use any more is replaced
// by another one with the same transactional id.
func (t *transformer) run(ctx context.Context) error {
	for ctx.Err() == nil {
		t.life++
		var err error
		if t.session, err = t.open(); err != nil {
			return err
		}
		for ctx.Err() == nil && err == nil {
			err = t.transact(ctx)
		}
		t.session.Close()
		var broken *errBroken
		if errors.As(err, &broken) {
			return err
		}
	}
	return nil
}

// errBroken ends the test.
type errBroken struct{ error }

func (t *transformer) client() string { return fmt.Sprintf("%s.%d", t.name, t.life) }

func (t *transformer) open() (*kgo.GroupTransactSession, error) {
	client := t.client()
	forget := func(_ context.Context, _ *kgo.Client, all map[string][]int32) {
		e := history.Event{Kind: history.Seek, Client: client, Begun: t.now(), Ended: t.now(), Outcome: history.OK}
		for topic, indexes := range all {
			for _, i := range indexes {
				e.Offsets = append(e.Offsets, history.Position{Partition: history.Partition{Topic: topic, Index: i}, Offset: -1})
			}
		}
		t.history.Add(e)
	}
	return kgo.NewGroupTransactSession(append([]kgo.Opt{
		kgo.SeedBrokers(t.address), kgo.TransactionalID(t.name), kgo.TransactionTimeout(transactionTimeout),
		kgo.ConsumerGroup(group), kgo.ConsumeTopics(inputs), kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.RequireStableFetchOffsets(),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.DefaultProduceTopic(outputs), kgo.BlockRebalanceOnPoll(),
		kgo.FetchMaxWait(200 * time.Millisecond), kgo.SessionTimeout(6 * time.Second), kgo.HeartbeatInterval(500 * time.Millisecond), kgo.RebalanceTimeout(10 * time.Second),
		kgo.OnPartitionsAssigned(forget), kgo.OnPartitionsRevoked(forget), kgo.OnPartitionsLost(forget),
	}, t.options...)...)
}

// transactionTimeout is after how long the coordinator aborts what a client left.
const transactionTimeout = 10 * time.Second

// inputsPerTransaction is how many records a transaction takes in at most.
const inputsPerTransaction = 20

// transact is one transaction. An error means that the client is of no use any more.
func (t *transformer) transact(ctx context.Context) error {
	polling, done := context.WithTimeout(ctx, 2*time.Second)
	fetches := t.session.PollRecords(polling, inputsPerTransaction)
	done()
	defer t.session.AllowRebalance()
	records := fetches.Records()
	if len(records) == 0 {
		return nil
	}
	client, txn := t.client(), fmt.Sprintf("%s/%d", t.client(), t.made)
	poll := history.Event{Kind: history.Poll, Client: client, Group: group, Outcome: history.OK, ReadCommitted: true, Begun: t.now()}
	next := map[history.Partition]int64{}
	for _, r := range records {
		in, err := seen(r)
		if err != nil {
			return &errBroken{err}
		}
		poll.Records = append(poll.Records, in)
		next[in.Partition] = r.Offset + 1
	}
	poll.Ended = t.now()
	t.history.Add(poll)
	if err := t.session.Begin(); err != nil {
		return err
	}
	for i := range poll.Records {
		t.made++
		id, origin, begun := fmt.Sprintf("%s/%d", client, t.made), &poll.Records[i].Position, t.now()
		t.session.Produce(context.Background(), &kgo.Record{Value: value(payload{id, origin})}, func(r *kgo.Record, err error) {
			t.noteSend(client, txn, begun, r, id, origin, err)
		})
	}
	commit := history.Event{Kind: history.Commit, Client: client, Group: group, Txn: txn, Outcome: history.OK, Begun: t.now(), Ended: t.now()}
	for p, offset := range next {
		commit.Offsets = append(commit.Offsets, history.Position{Partition: p, Offset: offset})
	}
	t.history.Add(commit)
	return t.end(client, txn, len(records), commit.Offsets)
}

// end ends the transaction, and begins anew where it stands if it was not committed.
func (t *transformer) end(client, txn string, consumed int, at []history.Position) error {
	e := history.Event{Kind: history.End, Client: client, Txn: txn, Commit: true, Outcome: history.OK, Begun: t.now()}
	ending, done := context.WithTimeout(context.Background(), time.Minute)
	defer done()
	committed, err := t.session.End(ending, kgo.TryCommit)
	e.Ended = t.now()
	switch {
	case committed:
		t.consumed.Add(int64(consumed))
		t.committed.Add(1)
	case err != nil:
		e.Outcome = history.Unknown
		t.unknown.Add(1)
	default:
		e.Commit = false
		t.aborted.Add(1)
	}
	t.history.Add(e)
	if !committed {
		back := history.Event{Kind: history.Seek, Client: client, Outcome: history.OK, Begun: e.Ended, Ended: e.Ended}
		for _, p := range at {
			p.Offset = -1
			back.Offsets = append(back.Offsets, p)
		}
		t.history.Add(back)
	}
	return err
}

// wait waits, or until the context ends.
func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
