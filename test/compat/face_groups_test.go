package compat

import (
	"testing"

	kafkaclient "barnabas/client"
)

func memberReads(t *testing.T, f face, protocol string) {
	f.topic("a", 1)
	f.must(f.producerOf("a", "0", "1", "2"))
	var h heard
	properties := []string{"group.id", f.name("g"), "group.protocol", protocol}
	c := f.consumer(properties...)
	f.must(c.Subscribe([]string{f.name("a")}, h.listener()))
	f.equal(f.poll(c, 3), "[0 1 2]")
	f.equal(&h, "assigned1")
	if m := c.GroupMetadata(); m.MemberID == "" || m.GenerationID < 1 {
		t.Fatalf("%+v", m)
	}
	at := f.at("a", 0)
	f.must(c.CommitSync(f.context(), kafkaclient.Offsets{at: {Offset: 2, Metadata: "half"}}))
	offsets, err := c.Committed(f.context(), at)
	f.must(err)
	f.equal(offsets[at].Offset, 2)
	f.equal(offsets[at].Metadata, "half")
	f.must(c.Rewind(f.context()))
	f.equal(f.poll(c, 1), "[2]")
	f.must(c.Seek(at, 1))
	f.equal(f.poll(c, 2), "[1 2]")
	var answer error = kafkaclient.ErrIllegalState
	c.CommitAsync(nil, func(_ kafkaclient.Offsets, err error) { answer = err })
	f.must(c.Close(), answer)
	f.equal(&h, "assigned1 revoked1")
	f.equal(f.committed("g")[at].Offset, 3)

	// One that commits by itself goes on there, and commits when it is closed.
	f.must(f.producerOf("a", "3"))
	c = f.consumer(append(properties, "enable.auto.commit", "true")...)
	f.must(c.Subscribe([]string{f.name("a")}, kafkaclient.RebalanceListener{}))
	f.equal(f.poll(c, 1), "[3]")
	f.must(c.Close())
	f.equal(f.committed("g")[at].Offset, 4)
}

func partitionsMove(t *testing.T, f face, protocol string) {
	f.topic("a", 2)
	properties := []string{"group.id", f.name("g"), "group.protocol", protocol}
	if protocol == "classic" {
		properties = append(properties, "heartbeat.interval.ms", "100")
	}
	var one, two heard
	first, second := f.consumer(properties...), f.consumer(properties...)
	f.must(first.Subscribe([]string{f.name("a")}, one.listener()), second.Subscribe([]string{f.name("a")}, two.listener()))
	f.until(func() bool { return len(first.Assignment()) == 2 }, func() { f.pollOnce(first) })
	before := one.String()
	f.pollOnce(second)
	f.equal(&one, before) // not outside of Poll
	f.until(func() bool { return len(first.Assignment()) == 1 && len(second.Assignment()) == 1 }, func() { f.pollOnce(first); f.pollOnce(second) })
	f.must(second.Close())
	f.until(func() bool { return len(first.Assignment()) == 2 }, func() { f.pollOnce(first) })
	f.must(first.Unsubscribe())
	f.equal(len(first.Assignment()), 0)
}

func patterns(t *testing.T, f face, protocol string) {
	f.topic("a1", 1)
	f.topic("b1", 1)
	f.must(f.producerOf("a1", "a1"), f.producerOf("b1", "b1"))
	c := f.consumer("group.id", f.name("g"), "group.protocol", protocol, "metadata.max.age.ms", "500")
	f.must(c.SubscribePattern(f.name("a")+".", kafkaclient.RebalanceListener{}))
	f.equal(f.poll(c, 1), "[a1]")
	f.must(c.CommitSync(f.context(), nil))
	f.topic("a2", 1)
	f.must(f.producerOf("a2", "a2"))
	f.equal(f.poll(c, 1), "[a2]")
	f.must(c.Subscribe([]string{f.name("b1")}, kafkaclient.RebalanceListener{}))
	f.equal(f.poll(c, 1), "[b1]")
	f.equal(c.Assignment(), []kafkaclient.TopicPartition{f.at("b1", 0)})
}

func noPoll(t *testing.T, f face, protocol string) {
	f.topic("a", 1)
	f.must(f.producerOf("a", "0"))
	var h heard
	c := f.consumer("group.id", f.name("g"), "group.protocol", protocol, "max.poll.interval.ms", "2000")
	f.must(c.Subscribe([]string{f.name("a")}, h.listener()))
	f.equal(f.poll(c, 1), "[0]")
	f.until(func() bool {
		d, err := f.admin().DescribeConsumerGroups(f.context(), f.name("g"))
		f.must(err)
		return len(d[f.name("g")].Members) == 0
	}, func() {})
	f.refused(c.CommitSync(f.context(), nil), kafkaclient.ErrCommitFailed)
	f.equal(&h, "assigned1")
	f.equal(f.poll(c, 1), "[0]")
	f.equal(&h, "assigned1 lost1 assigned1")
}
