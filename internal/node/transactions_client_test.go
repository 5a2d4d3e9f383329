package node

import (
	"fmt"
	"testing"

	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// transact produces records in one transaction and ends it.
func (f *fixture) transact(c *kgo.Client, end kgo.TransactionEndTry, records ...*kgo.Record) {
	f.t.Helper()
	if err := c.BeginTransaction(); err != nil {
		f.t.Fatal(err)
	}
	if err := c.ProduceSync(f.context(), records...).FirstErr(); err != nil {
		f.t.Fatal(err)
	}
	if err := c.EndTransaction(f.context(), end); err != nil {
		f.t.Fatal(err)
	}
}

// committedRecords reads n records of topics as a reader of committed data, and stops
// when they are there.
func (f *fixture) committedRecords(n int, topics ...string) map[string]int {
	f.t.Helper()
	c, done := f.client(kgo.ConsumeTopics(topics...), kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	defer done()
	seen := map[string]int{}
	for got := 0; got < n; {
		fetches := c.PollFetches(f.context())
		if err := fetches.Err(); err != nil {
			f.t.Fatal(err)
		}
		fetches.EachRecord(func(r *kgo.Record) { seen[string(r.Value)]++; got++ })
	}
	return seen
}

func keyless(topic string, partition int32, value string) *kgo.Record {
	return &kgo.Record{Topic: topic, Partition: partition, Value: []byte(value)}
}

// TestReadersOfCommittedDataSeeWholeTransactions produces and ends transactions as a
// client of package kgo does, over a restart of the node.
func TestReadersOfCommittedDataSeeWholeTransactions(t *testing.T) {
	dir := t.TempDir()
	f := start(t, dir)
	f.create("t", 3, nil)
	producer := func() (*kgo.Client, func()) {
		return f.client(kgo.TransactionalID("tx"), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	}
	const rounds = 6
	round := func(c *kgo.Client, n int) {
		end := kgo.TryCommit
		word := "committed"
		if n%2 == 1 {
			end, word = kgo.TryAbort, "aborted"
		}
		var records []*kgo.Record
		for p := range int32(3) {
			records = append(records, keyless("t", p, fmt.Sprintf("%s %d %d", word, n, p)))
		}
		f.transact(c, end, records...)
	}
	c, closeClient := producer()
	for n := range rounds {
		round(c, n)
	}
	closeClient()
	f.stop()
	f = start(t, dir)
	c, _ = producer()
	for n := rounds; n < 2*rounds; n++ {
		round(c, n)
	}
	// The last transaction is a committed one, so that readers come by all others.
	f.transact(c, kgo.TryCommit, keyless("t", 0, "last"), keyless("t", 1, "last"), keyless("t", 2, "last"))
	seen := f.committedRecords(rounds*3+3, "t")
	if seen["last"] != 3 {
		t.Errorf("the last transaction came %d times", seen["last"])
	}
	for n := 0; n < 2*rounds; n += 2 {
		for p := range 3 {
			if value := fmt.Sprintf("committed %d %d", n, p); seen[value] != 1 {
				t.Errorf("%q came %d times", value, seen[value])
			}
		}
	}
	if len(seen) != rounds*3+1 {
		t.Errorf("seen: %v", seen)
	}
}

// TestConsumeProcessProduceMovesOffsetsWithTheTransaction aborts a transaction of input
// and output and does it again.
func TestConsumeProcessProduceMovesOffsetsWithTheTransaction(t *testing.T) {
	f := start(t, t.TempDir())
	f.create("in", 1, nil)
	f.create("out", 1, nil)
	const n = 20
	f.produce("in", 0, n)
	s, err := kgo.NewGroupTransactSession(kgo.SeedBrokers(f.address()), kgo.TransactionalID("tx"), kgo.ConsumerGroup("g"), kgo.ConsumeTopics("in"),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.RequireStableFetchOffsets())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for done, try := 0, 0; done < n; try++ {
		fetches := s.PollFetches(f.context())
		if err := fetches.Err(); err != nil {
			t.Fatal(err)
		}
		if fetches.NumRecords() == 0 {
			continue
		}
		if err := s.Begin(); err != nil {
			t.Fatal(err)
		}
		fetches.EachRecord(func(r *kgo.Record) { s.Produce(f.context(), keyless("out", 0, "of "+string(r.Value)), nil) })
		committed, err := s.End(f.context(), kgo.TransactionEndTry(try > 0))
		if err != nil {
			t.Fatal(err)
		}
		if committed {
			done += fetches.NumRecords()
		}
	}
	seen := f.committedRecords(n, "out")
	for i := range n {
		if value := fmt.Sprintf("of %d", i); seen[value] != 1 {
			t.Errorf("%q came %d times", value, seen[value])
		}
	}
	c, _ := f.client()
	offsets, err := kadm.NewClient(c).FetchOffsets(f.context(), "g")
	if err != nil {
		t.Fatal(err)
	}
	if o, ok := offsets.Lookup("in", 0); !ok || o.At != n {
		t.Errorf("committed offset %+v", o)
	}
	if st := f.groups.Stats(); st.Loads != int64(f.Image().Topics.ByName(kafka.ConsumerOffsetsTopic).Len()) {
		t.Errorf("%d loads: somebody else has written to a partition of groups", st.Loads)
	}
}
