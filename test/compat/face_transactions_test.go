package compat

import (
	"errors"
	"fmt"
	"testing"

	kafkaclient "barnabas/client"
)

func committedIsSeen(t *testing.T, f face) {
	f.topic("a", 1)
	p := f.transactional("t")
	f.refused(p.CommitTransaction(f.context()), kafkaclient.ErrIllegalState)
	_, err := p.SendSync(f.context(), kafkaclient.ProducerRecord{Topic: f.name("a")})
	f.refused(err, kafkaclient.ErrIllegalState)
	f.must(p.BeginTransaction())
	f.send(p, "a", "one")
	f.must(p.Flush(f.context()))
	f.isStable("a", "")
	f.must(p.CommitTransaction(f.context()))
	f.isStable("a", "one")
	f.must(p.BeginTransaction())
	f.send(p, "a", "two")
	f.must(p.Flush(f.context()), p.AbortTransaction(f.context()))
	f.isStable("a", "one")

	// What fails makes the transaction abortable, and no more than that.
	f.must(p.BeginTransaction())
	f.send(p, "a", "three")
	_, err = p.SendSync(f.context(), kafkaclient.ProducerRecord{Topic: f.name("a"), Value: make([]byte, 2<<20)})
	f.refused(err, kafkaclient.ErrRecordTooLarge)
	err = p.CommitTransaction(f.context())
	f.refused(err, kafkaclient.ErrRecordTooLarge)
	if !kafkaclient.IsAbortable(err) || kafkaclient.IsFatal(err) {
		t.Fatal(err)
	}
	_, err = p.SendSync(f.context(), kafkaclient.ProducerRecord{Topic: f.name("a")})
	f.refused(err, kafkaclient.ErrRecordTooLarge)
	f.must(p.AbortTransaction(f.context()))
	f.must(p.InTransaction(f.context(), func() error { f.send(p, "a", "four"); return nil }))
	mine := errors.New("mine")
	f.refused(p.InTransaction(f.context(), func() error { f.send(p, "a", "five"); return mine }), mine)
	f.must(p.InTransaction(f.context(), func() error { return nil }))
	f.isStable("a", "one four")

	// Close aborts what is open.
	f.must(p.BeginTransaction())
	f.send(p, "a", "six")
	f.must(p.Flush(f.context()), p.Close())
	f.isStable("a", "one four")
}

// group is a group that is nobody's.
func (f face) group(name string) kafkaclient.GroupMetadata {
	return kafkaclient.GroupMetadata{GroupID: f.name(name), GenerationID: -1}
}

func offsetsAlone(t *testing.T, f face) {
	f.topic("a", 1)
	f.topic("b", 1)
	p := f.transactional("t")
	at := f.at("a", 0)
	for i := range 3 {
		f.must(p.BeginTransaction())
		f.must(p.SendOffsetsToTransaction(f.context(), kafkaclient.Offsets{at: {Offset: int64(10 + i), Metadata: "m"}}, f.group("g")))
		f.must(p.CommitTransaction(f.context()))
		f.equal(f.committed("g")[at].Offset, 10+i)
		f.must(p.BeginTransaction())
		f.must(p.SendOffsetsToTransaction(f.context(), kafkaclient.Offsets{at: kafkaclient.At(99)}, f.group("g")))
		f.must(p.AbortTransaction(f.context()))
		f.equal(f.committed("g")[at].Offset, 10+i)
		// One of records in between.
		f.must(p.InTransaction(f.context(), func() error { f.send(p, "b", fmt.Sprint(i)); return nil }))
	}
	f.equal(f.committed("g")[at].Metadata, "m")
	f.isStable("b", "0 1 2")
}

func recordsAndOffsets(t *testing.T, f face) {
	f.topic("a", 1)
	f.topic("b", 1)
	p := f.transactional("t")
	at := f.at("a", 0)
	steps := map[string]func() error{
		"record": func() error { f.send(p, "b", "r"); return nil },
		"offsets": func() error {
			return p.SendOffsetsToTransaction(f.context(), kafkaclient.Offsets{at: kafkaclient.At(5)}, f.group("g"))
		},
		"flush": func() error { return p.Flush(f.context()) },
	}
	for _, order := range [][]string{{"record", "offsets"}, {"offsets", "record"}, {"record", "flush", "offsets"}, {"offsets", "record", "flush"}} {
		for _, end := range []func() error{func() error { return p.CommitTransaction(f.context()) }, func() error { return p.AbortTransaction(f.context()) }} {
			f.must(p.BeginTransaction())
			for _, step := range order {
				f.must(steps[step]())
			}
			f.must(end())
		}
	}
	f.isStable("b", "r r r r")
	f.equal(f.committed("g")[at].Offset, 5)
}

// nothingArrived: a transaction with offsets, whose records all failed, is aborted at
// the coordinator too.
func nothingArrived(t *testing.T, f face) {
	f.topic("a", 1)
	p := f.transactional("t")
	for range 2 {
		f.must(p.BeginTransaction())
		f.must(p.SendOffsetsToTransaction(f.context(), kafkaclient.Offsets{f.at("a", 0): kafkaclient.At(7)}, f.group("g")))
		_, err := p.SendSync(f.context(), kafkaclient.ProducerRecord{Topic: f.name("a"), Value: make([]byte, 2<<20)})
		f.refused(err, kafkaclient.ErrRecordTooLarge)
		f.must(p.AbortTransaction(f.context()))
		f.equal(len(f.committed("g")), 0)
		d, err := f.admin().DescribeTransactions(f.context(), f.name("t"))
		f.must(err)
		if state := d[f.name("t")].State; state != "CompleteAbort" {
			t.Fatal(state)
		}
	}
}

func secondFencesFirst(t *testing.T, f face) {
	f.topic("a", 1)
	first := f.transactional("t")
	f.must(first.BeginTransaction())
	f.send(first, "a", "one")
	f.must(first.Flush(f.context()))
	second := f.transactional("t")
	f.send(first, "a", "two")
	err := first.CommitTransaction(f.context())
	if kafkaclient.IsAbortable(err) { // a partition said so first; the coordinator knows more
		err = first.AbortTransaction(f.context())
	}
	f.refused(err, kafkaclient.ErrProducerFenced)
	if !kafkaclient.IsFatal(err) {
		t.Fatal(err)
	}
	f.refused(first.BeginTransaction(), kafkaclient.ErrProducerFenced)
	f.refused(first.AbortTransaction(f.context()), kafkaclient.ErrProducerFenced)
	f.must(second.InTransaction(f.context(), func() error { f.send(second, "a", "three"); return nil }))
	f.isStable("a", "three")

	// The same with offsets alone.
	third := f.transactional("t")
	f.must(second.BeginTransaction())
	err = second.SendOffsetsToTransaction(f.context(), kafkaclient.Offsets{f.at("a", 0): kafkaclient.At(1)}, f.group("g"))
	f.refused(err, kafkaclient.ErrProducerFenced)
	if !kafkaclient.IsFatal(err) {
		t.Fatal(err)
	}
	f.must(third.Close())
}

func tookTooLong(t *testing.T, f face) {
	f.topic("a", 1)
	p := f.transactional("t", "transaction.timeout.ms", "4000")
	f.must(p.BeginTransaction())
	f.send(p, "a", "one")
	f.must(p.Flush(f.context()))
	f.until(func() bool {
		d, err := f.admin().DescribeTransactions(f.context(), f.name("t"))
		f.must(err)
		return d[f.name("t")].State == "CompleteAbort"
	}, func() {})
	err := p.CommitTransaction(f.context())
	if !kafkaclient.IsFatal(err) {
		t.Fatal(err)
	}
	f.refused(err, kafkaclient.ErrInvalidTxnState)
	f.isStable("a", "")
}

func goneMember(t *testing.T, f face) {
	for _, protocol := range []string{"classic", "consumer"} {
		f := face{t, f.bootstrap, f.name(protocol)}
		f.topic("a", 1)
		f.must(f.producerOf("a", "0"))
		p := f.transactional("t")
		gone := f.consumer("group.id", f.name("g"), "group.protocol", protocol, "max.poll.interval.ms", "8000")
		f.must(gone.Subscribe([]string{f.name("a")}, kafkaclient.RebalanceListener{}))
		f.equal(f.poll(gone, 1), "[0]")
		f.must(p.InTransaction(f.context(), func() error {
			return p.SendOffsetsToTransaction(f.context(), kafkaclient.Offsets{f.at("a", 0): kafkaclient.At(1)}, gone.GroupMetadata())
		}))
		before := gone.GroupMetadata()
		f.until(func() bool {
			d, err := f.admin().DescribeConsumerGroups(f.context(), f.name("g"))
			f.must(err)
			return len(d[f.name("g")].Members) == 0
		}, func() {})
		f.equal(gone.GroupMetadata(), before)
		f.must(p.BeginTransaction())
		err := p.SendOffsetsToTransaction(f.context(), kafkaclient.Offsets{f.at("a", 0): kafkaclient.At(0)}, gone.GroupMetadata())
		f.refused(err, kafkaclient.ErrCommitFailed)
		if !kafkaclient.IsAbortable(err) {
			t.Fatal(err)
		}
		f.must(p.AbortTransaction(f.context()))
		f.equal(f.committed("g")[f.at("a", 0)].Offset, 1)
	}
}

// producerOf writes values.
func (f face) producerOf(topic string, values ...string) error {
	p := f.producer()
	for _, v := range values {
		f.send(p, topic, v)
	}
	return p.Close()
}

func transactionsDescribed(t *testing.T, f face) {
	f.topic("a", 1)
	admin := f.admin()
	p := f.transactional("t")
	f.must(p.BeginTransaction())
	f.send(p, "a", "one")
	f.must(p.Flush(f.context()))
	d, err := admin.DescribeTransactions(f.context(), f.name("t"))
	f.must(err)
	if o := d[f.name("t")]; o.State != "Ongoing" || o.Started.IsZero() || len(o.Partitions) != 1 || o.Timeout.Seconds() != 60 {
		t.Fatalf("%+v", o)
	}
	listed, err := admin.ListTransactions(f.context())
	f.must(err)
	found := false
	for _, l := range listed {
		found = found || l.TransactionalID == f.name("t") && l.State == "Ongoing"
	}
	f.equal(found, true)
	producers, err := admin.DescribeProducers(f.context(), f.at("a", 0))
	f.must(err)
	if len(producers) != 1 || producers[0].TransactionStart != 0 {
		t.Fatalf("%+v", producers)
	}
	f.must(admin.FenceProducers(f.context(), f.name("t")))
	err = p.CommitTransaction(f.context())
	f.refused(err, kafkaclient.ErrProducerFenced)
	f.isStable("a", "")
	_, err = admin.DescribeTransactions(f.context(), f.name("nobody"))
	if _, name := kafkaclient.Code(err); name != "TRANSACTIONAL_ID_NOT_FOUND" {
		t.Fatal(err)
	}
}

func readProcessWrite(t *testing.T, f face) {
	for _, protocol := range []string{"classic", "consumer"} {
		f := face{t, f.bootstrap, f.name(protocol)}
		f.topic("in", 1)
		f.topic("out", 1)
		f.must(f.producerOf("in", "0", "1", "2", "3", "4", "5"))
		consumer := f.consumer("group.id", f.name("g"), "group.protocol", protocol, "isolation.level", "read_committed", "max.poll.records", "2")
		f.must(consumer.Subscribe([]string{f.name("in")}, kafkaclient.RebalanceListener{}))
		p := f.transactional("t")
		for turn, done := 0, int64(0); done < 6; turn++ {
			records, err := consumer.Poll(f.context())
			f.must(err)
			mine := errors.New("mine")
			err = p.InTransaction(f.context(), func() error {
				offsets := kafkaclient.Offsets{}
				for r := range records.All() {
					f.send(p, "out", "v"+string(r.Value))
					offsets[kafkaclient.TopicPartition{Topic: r.Topic, Partition: r.Partition}] = kafkaclient.At(r.Offset + 1)
				}
				if err := p.SendOffsetsToTransaction(f.context(), offsets, consumer.GroupMetadata()); err != nil || turn%2 == 1 {
					return errors.Join(err, mine)
				}
				done = offsets[f.at("in", 0)].Offset
				return nil
			})
			if errors.Is(err, mine) {
				f.must(consumer.Rewind(f.context()))
				continue
			}
			f.must(err)
		}
		f.isStable("out", "v0 v1 v2 v3 v4 v5")
		f.equal(f.committed("g")[f.at("in", 0)].Offset, 6)
	}
}
