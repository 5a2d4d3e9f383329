package node

import (
	"fmt"
	"strings"
	"testing"

	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// producer is a transactional producer of raw requests.
type producer struct {
	f     *fixture
	c     *kgo.Client
	id    string
	pid   int64
	epoch int16
}

// init gives the producer an epoch, as soon as its coordinator is there.
func (p *producer) init() {
	p.f.t.Helper()
	req := kmsg.NewPtrInitProducerIDRequest()
	req.TransactionalID, req.TransactionTimeoutMillis = &p.id, 60_000
	eventually(p.f.t, "a producer id", func() bool {
		find := kmsg.NewPtrFindCoordinatorRequest()
		find.CoordinatorType, find.CoordinatorKey, find.CoordinatorKeys = 1, p.id, []string{p.id}
		if _, err := find.RequestWith(p.f.context(), p.c); err != nil {
			p.f.t.Fatal(err)
		}
		resp, err := req.RequestWith(p.f.context(), p.c)
		if err != nil {
			return false // the client gives up when there is no coordinator for some time
		}
		p.pid, p.epoch = resp.ProducerID, resp.ProducerEpoch
		return resp.ErrorCode == 0
	})
}

func (p *producer) add(topic string, partitions ...int32) {
	p.f.t.Helper()
	req := kmsg.NewPtrAddPartitionsToTxnRequest()
	req.TransactionalID, req.ProducerID, req.ProducerEpoch = p.id, p.pid, p.epoch
	req.Topics = []kmsg.AddPartitionsToTxnRequestTopic{{Topic: topic, Partitions: partitions}}
	eventually(p.f.t, "the transaction before is over", func() bool {
		resp, err := req.RequestWith(p.f.context(), p.c)
		if err != nil {
			p.f.t.Fatal(err)
		}
		code := kafka.ErrorCode(resp.Topics[0].Partitions[0].ErrorCode)
		if code != kafka.ErrNone && code != kafka.ErrConcurrentTransactions {
			p.f.t.Fatalf("add partitions: %v", code)
		}
		return code == kafka.ErrNone
	})
}

func (p *producer) end(commit bool) {
	p.f.t.Helper()
	req := kmsg.NewPtrEndTxnRequest()
	req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Commit = p.id, p.pid, p.epoch, commit
	resp, err := req.RequestWith(p.f.context(), p.c)
	if err != nil {
		p.f.t.Fatal(err)
	}
	if resp.ErrorCode != 0 {
		p.f.t.Fatalf("end: %v", kafka.ErrorCode(resp.ErrorCode))
	}
	if resp.Version >= 5 {
		p.pid, p.epoch = resp.ProducerID, resp.ProducerEpoch
	}
}

func (p *producer) state() string {
	p.f.t.Helper()
	req := kmsg.NewPtrDescribeTransactionsRequest()
	req.TransactionalIDs = []string{p.id}
	resp, err := req.RequestWith(p.f.context(), p.c)
	if err != nil {
		p.f.t.Fatal(err)
	}
	s := resp.TransactionStates[0]
	if s.ErrorCode != 0 {
		return kafka.ErrorCode(s.ErrorCode).String()
	}
	out := fmt.Sprintf("%s epoch %d", s.State, s.ProducerEpoch)
	for _, t := range s.Topics {
		out += fmt.Sprintf(" %s%v", t.Topic, t.Partitions)
	}
	return out
}

func (p *producer) awaitState(want string) {
	p.f.t.Helper()
	eventually(p.f.t, want, func() bool { return p.state() == want })
}

// end is the log end of a partition.
func (f *fixture) end(topic string, partition int32) int64 {
	f.t.Helper()
	led := f.replicas.Led(topic, partition, 0)
	st, code := led.State()
	if code != kafka.ErrNone {
		f.t.Fatalf("%s-%d: %v", topic, partition, code)
	}
	return int64(st.End)
}

func TestTransactionEndsWithAMarkerInEachPartition(t *testing.T) {
	dir := t.TempDir()
	f := start(t, dir, "transaction.state.log.num.partitions=3")
	f.create("t", 2, nil)
	f.create("gone", 1, nil)
	c, closeClient := f.client()
	p := &producer{f: f, c: c, id: "tx"}
	p.init()
	p.add("t", 0)
	p.add("t", 0, 1)
	p.add("gone", 0)
	if got := p.state(); got != "Ongoing epoch 0 gone[0] t[0 1]" {
		t.Errorf("state %q", got)
	}
	for _, line := range []string{
		`barnabas_transaction_coordinator_partitions{state="active"} 3`, `barnabas_transaction_coordinator_ids{state="Ongoing"} 1`,
		`barnabas_transaction_coordinator_ending 0`, `barnabas_transaction_coordinator_oldest_open_seconds `,
	} {
		if _, page := f.get("/metrics"); !strings.Contains(page, line) {
			t.Errorf("no %s among the metrics:\n%s", line, page)
		}
	}
	// A partition that is deleted needs no marker.
	del := kmsg.NewPtrDeleteTopicsRequest()
	gone := kmsg.NewDeleteTopicsRequestTopic()
	gone.Topic = kmsg.StringPtr("gone")
	del.TopicNames, del.Topics, del.TimeoutMillis = []string{"gone"}, append(del.Topics, gone), 30_000
	if _, err := del.RequestWith(f.context(), c); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the topic is gone", func() bool { return f.Image().Topics.ByName("gone") == nil })
	p.end(true)
	p.awaitState("CompleteCommit epoch 1")
	p.add("t", 1)
	p.end(false)
	p.awaitState("CompleteAbort epoch 2")
	if a, b := f.end("t", 0), f.end("t", 1); a != 1 || b != 2 {
		t.Errorf("ends %d and %d", a, b)
	}
	if n := f.transactions.Sending(); n != 0 {
		t.Errorf("%d transactions are being ended", n)
	}
	p.add("t", 0)
	closeClient()
	f.stop()

	// What is open stays open, and can be ended.
	f = start(t, dir)
	p.f = f
	p.c, _ = f.client()
	p.awaitState("Ongoing epoch 2 t[0]")
	p.end(true)
	p.awaitState("CompleteCommit epoch 3")
}

// TestTransactionThatTakesTooLongIsAborted has the coordinator end a transaction whose
// producer says nothing any more.
func TestTransactionThatTakesTooLongIsAborted(t *testing.T) {
	f := start(t, t.TempDir(), "transaction.state.log.num.partitions=1", "transaction.abort.timed.out.transaction.cleanup.interval.ms=10")
	f.create("t", 1, nil)
	c, _ := f.client()
	p := &producer{f: f, c: c, id: "tx"}
	p.init()
	short := kmsg.NewPtrInitProducerIDRequest()
	short.TransactionalID, short.TransactionTimeoutMillis = &p.id, 1
	resp, err := short.RequestWith(f.context(), c)
	if err != nil || resp.ErrorCode != 0 {
		t.Fatal(err, resp)
	}
	p.epoch = resp.ProducerEpoch
	p.add("t", 0)
	eventually(t, "the transaction is aborted", func() bool { return p.state() != "Ongoing epoch 1 t[0]" })
	p.awaitState("CompleteAbort epoch 2")
	eventually(t, "the marker is there", func() bool { return f.end("t", 0) == 1 })
}

// TestMarkerOfAGroupsPartitionIsWrittenByItsCoordinator would have the coordinator of
// groups load anew if anybody else wrote it.
func TestMarkerOfAGroupsPartitionIsWrittenByItsCoordinator(t *testing.T) {
	f := start(t, t.TempDir(), "transaction.state.log.num.partitions=1", "offsets.topic.num.partitions=1")
	c, _ := f.client()
	f.findGroup(c, "g")
	p := &producer{f: f, c: c, id: "tx"}
	p.init()
	req := kmsg.NewPtrAddOffsetsToTxnRequest()
	req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Group = p.id, p.pid, p.epoch, "g"
	resp, err := req.RequestWith(f.context(), c)
	if err != nil || resp.ErrorCode != 0 {
		t.Fatal(err, resp)
	}
	p.awaitState("Ongoing epoch 0 __consumer_offsets[0]")
	p.end(true)
	p.awaitState("CompleteCommit epoch 1")
	if end := f.end(kafka.ConsumerOffsetsTopic, 0); end != 1 {
		t.Errorf("log end %d", end)
	}
	if st := f.groups.Stats(); st.Loads != 1 {
		t.Errorf("%d loads", st.Loads)
	}
}

// TestAClientsTransactions has a client write in transactions, with the partitions added
// for it (transaction.version 2) and without, and read what is committed.
func TestAClientsTransactions(t *testing.T) {
	for _, level := range []int16{0, 2} {
		t.Run(fmt.Sprintf("transaction.version %d", level), func(t *testing.T) {
			f := start(t, t.TempDir(), "transaction.state.log.num.partitions=1", "offsets.topic.num.partitions=1")
			f.transactionsAt(level)
			f.create("in", 1, nil)
			f.create("out", 2, nil)
			c, _ := f.client(kgo.TransactionalID("tx"), kgo.RecordPartitioner(kgo.ManualPartitioner()))
			admin := kadm.NewClient(c)
			for i, end := range []kgo.TransactionEndTry{kgo.TryCommit, kgo.TryAbort, kgo.TryCommit} {
				if err := c.BeginTransaction(); err != nil {
					t.Fatal(err)
				}
				for j := range int32(4) {
					r := &kgo.Record{Topic: "out", Partition: j % 2, Value: fmt.Appendf(nil, "%d %d", i, j)}
					if err := c.ProduceSync(f.context(), r).FirstErr(); err != nil {
						t.Fatal(err)
					}
				}
				if err := c.EndTransaction(f.context(), end); err != nil {
					t.Fatal(err)
				}
			}
			// A group's offsets come with the transaction.
			s, err := kgo.NewGroupTransactSession(kgo.SeedBrokers(f.address()), kgo.TransactionalID("session"), kgo.ConsumerGroup("g"),
				kgo.ConsumeTopics("in"), kgo.RequireStableFetchOffsets(), kgo.FetchIsolationLevel(kgo.ReadCommitted()))
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			f.produce("in", 0, 3)
			if fs := s.PollFetches(f.context()); fs.NumRecords() == 0 {
				t.Fatalf("nothing to consume: %v", fs.Errors())
			}
			if err := s.Begin(); err != nil {
				t.Fatal(err)
			}
			if err := s.ProduceSync(f.context(), &kgo.Record{Topic: "out", Value: []byte("3 0")}).FirstErr(); err != nil {
				t.Fatal(err)
			}
			if committed, err := s.End(f.context(), kgo.TryCommit); !committed || err != nil {
				t.Fatal(committed, err)
			}
			eventually(t, "the offset counts", func() bool {
				offsets, err := admin.FetchOffsets(f.context(), "g")
				o, _ := offsets.Lookup("in", 0)
				return err == nil && o.At > 0
			})
			r, _ := f.client(kgo.ConsumeTopics("out"), kgo.FetchIsolationLevel(kgo.ReadCommitted()))
			got := map[string]int{}
			for len(got) < 9 {
				fs := r.PollFetches(f.context())
				if err := fs.Err(); err != nil {
					t.Fatal(err, got)
				}
				fs.EachRecord(func(r *kgo.Record) { got[string(r.Value)]++ })
			}
			for value, n := range got {
				if value[0] == '1' || n != 1 {
					t.Errorf("%q was read %d times", value, n)
				}
			}
			eventually(t, "all is stable", func() bool {
				stable, err := admin.ListCommittedOffsets(f.context(), "out")
				ends, err2 := admin.ListEndOffsets(f.context(), "out")
				return err == nil && err2 == nil && maxOffset(stable) == maxOffset(ends)
			})
		})
	}
}

func maxOffset(l kadm.ListedOffsets) (n int64) {
	l.Each(func(o kadm.ListedOffset) { n += o.Offset })
	return n
}

// transactionsAt finalizes a level of transaction.version.
func (f *fixture) transactionsAt(level int16) {
	f.t.Helper()
	c, _ := f.client()
	req := kmsg.NewPtrUpdateFeaturesRequest()
	u := kmsg.NewUpdateFeaturesRequestFeatureUpdate()
	u.Feature, u.MaxVersionLevel, u.UpgradeType, u.AllowDowngrade = kafka.FeatureTransaction, level, 2, true
	req.FeatureUpdates = append(req.FeatureUpdates, u)
	resp, err := req.RequestWith(f.context(), c)
	if err != nil || resp.ErrorCode != 0 {
		f.t.Fatal(err, resp)
	}
	eventually(f.t, "the level is finalized", func() bool { return f.transactionVersion() == level })
}
