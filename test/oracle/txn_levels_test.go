package oracle

import (
	"strings"
	"testing"
	"time"

	"barnabas/test/kit"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// bothNodes are an Apache Kafka and one of ours, that do the same.
type bothNodes struct {
	t            *testing.T
	apache, ours *kit.Node
}

func startBoth(t *testing.T) *bothNodes {
	binary := &kit.Barnabas{Binary: *prebuilt}
	if *prebuilt == "" {
		var err error
		if binary, err = kit.BuildBarnabas(t.TempDir()); err != nil {
			t.Fatal(err)
		}
	}
	return &bothNodes{t, startApache(t), startNode(t, binary)}
}

// same compares what both answer to a sequence, once: it may change what it asks for.
func (b *bothNodes) same(name string, run func(*Session)) {
	b.t.Helper()
	for _, d := range unexplained(b.t, name, sequence{name, run}, b.apache, b.ours, nil) {
		b.t.Errorf("%s: step %d %s\n  apache: %s\n  ours:   %s", name, d.Step, d.Request,
			strings.Join(d.Apache, "\n          "), strings.Join(d.Ours, "\n          "))
	}
}

func (b *bothNodes) restart() {
	b.t.Helper()
	for _, n := range []*kit.Node{b.apache, b.ours} {
		if err := n.Stop(); err != nil {
			b.t.Fatal(err)
		}
		if err := n.Start(); err != nil {
			b.t.Fatal(err)
		}
	}
}

// usedUp are transactional ids whose epochs are nearly used up, as a coordinator would
// have written them.
func usedUp(topic string) map[string]kmsg.TxnMetadataValue {
	value := func(pid int64, epoch int16, state kmsg.TransactionState, client int16) kmsg.TxnMetadataValue {
		v := kmsg.NewTxnMetadataValue()
		v.Version, v.ProducerID, v.PreviousProducerID, v.ProducerEpoch, v.State, v.ClientTransactionVersion = 1, pid, pid, epoch, state, client
		v.TimeoutMillis, v.LastUpdateTimestamp, v.StartTimestamp = 900_000, time.Now().UnixMilli(), -1
		if state != kmsg.TransactionStateEmpty {
			v.StartTimestamp = v.LastUpdateTimestamp
			v.Topics = []kmsg.TxnMetadataValueTopic{{Topic: topic, Partitions: []int32{0}}}
		}
		return v
	}
	const empty, ongoing = kmsg.TransactionStateEmpty, kmsg.TransactionStateOngoing
	old := value(700_007, 5, ongoing, 0)
	old.Version = 0
	return map[string]kmsg.TxnMetadataValue{
		"begins": value(700_000, 32765, empty, 0), "continues": value(700_001, 32766, empty, 2), "ends": value(700_002, 32766, ongoing, 2),
		"aborts": value(700_003, 32766, empty, 2), "ends-v1": value(700_004, 32766, ongoing, 0), "fenced": value(700_005, 32765, ongoing, 2),
		"begins-last": value(700_006, 32766, empty, 2), "old": old,
	}
}

// TestTransactionalIDsWhoseEpochsAreUsedUp writes states into __transaction_state that
// a client needs years for, has both load them, and compares what they make of them.
func TestTransactionalIDsWhoseEpochsAreUsedUp(t *testing.T) {
	b := startBoth(t)
	b.same("txn-levels/write", func(s *Session) {
		p := s.transactional("a", "first")
		t := p.topic("t", 1)
		p.clientID = "__admin_client"
		for id, v := range usedUp(t.name) {
			key := kmsg.NewTxnMetadataKey()
			key.TransactionalID = id
			batch := Batch{Records: []Record{{Key: key.AppendTo(nil), Value: v.AppendTo(nil)}}, Timestamp: time.Now().UnixMilli()}
			r := p.Ask(produceTo(9, -1, topic{name: transactionLog}, p.partitionOf(id), batch.Bytes())).(*kmsg.ProduceResponse)
			s.Note("written: %d", r.Topics[0].Partitions[0].ErrorCode)
		}
	})
	b.restart()
	as := func(s *Session, id string) *txnClient {
		p := &txnClient{Conn: s.Conn("a"), id: id}
		p.producerID() // the broker has ids
		p.untilDone(id+" is loaded", func() bool { return p.described().ErrorCode == 0 })
		v := p.described()
		p.pid, p.epoch = v.ProducerID, v.ProducerEpoch
		p.describe()
		return p
	}
	b.same("txn-levels/begins", func(s *Session) {
		p := as(s, "begins")
		p.begin(5)
		p.begin(5)
		p.begin(5)
		p.logged()
	})
	b.same("txn-levels/begins-last", func(s *Session) {
		p := as(s, "begins-last")
		p.begin(5)
		p.logged()
	})
	b.same("txn-levels/continues", func(s *Session) {
		p := as(s, "continues")
		for _, epoch := range []int16{p.epoch, p.epoch, p.epoch - 1} {
			p.Send(initTransactional(5, p.id, p.pid, epoch, 60_000))
		}
		p.describe()
		p.logged()
	})
	for _, id := range []string{"ends", "aborts"} {
		b.same("txn-levels/"+id, func(s *Session) {
			p := as(s, id)
			before := *p
			p.end(5, id == "ends")
			p.describe()
			for _, commit := range []bool{true, false} {
				p.Send(endTransaction(5, p.id, before.pid, before.epoch, commit))
			}
			p.describe()
			p.logged()
		})
	}
	b.same("txn-levels/ends-v1", func(s *Session) {
		p := as(s, "ends-v1")
		p.end(4, true)
		p.Send(initTransactional(5, p.id, p.pid, p.epoch, 60_000))
		p.logged()
	})
	b.same("txn-levels/fenced", func(s *Session) {
		p := as(s, "fenced")
		p.Send(initTransactional(5, p.id, -1, -1, 60_000))
		p.awaitEnd(false)
		p.describe()
		p.begin(5)
		p.logged()
	})
	b.same("txn-levels/old", func(s *Session) {
		p := as(s, "old")
		p.end(4, false)
		p.begin(5)
		p.logged()
	})
}

// TestTransactionsAtLowerLevels compares what the level of transaction.version changes:
// what coordinators do by themselves, and the version of their records.
func TestTransactionsAtLowerLevels(t *testing.T) {
	b := startBoth(t)
	b.same("txn-levels/before", func(s *Session) {
		p := s.transactional("a", "t")
		p.begin(5)
		p.logged()
	})
	for level := int16(1); level >= 0; level-- {
		at := "txn-levels/at-" + string('0'+rune(level))
		b.same(at+"/update", func(s *Session) {
			s.Conn("a").Send(updateFeatures(1, 3, "transaction.version", level))
		})
		b.same(at+"/init", func(s *Session) { txnInit(s, 5) })
		b.same(at+"/fence", txnFence)
		b.same(at+"/fence-v1", txnFenceV1)
		b.same(at+"/fence-by-itself", txnFenceByItself)
		b.same(at+"/timeout", txnTimeout)
		b.same(at+"/timeout-v1", txnTimeoutV1)
		b.same(at+"/end", func(s *Session) { txnEnd(s, 4) })
		b.same(at+"/next", txnNext)
		b.same(at+"/abort-nothing", txnAbortNothing)
	}
}
