package oracle

import "github.com/twmb/franz-go/pkg/kmsg"

// producerSequences are idempotent producers: sequences, epochs, the window of
// five batches, and what DescribeProducers says of them.
var producerSequences = []sequence{
	{"producers/init", func(s *Session) {
		c := s.Conn("a")
		c.producerID() // the broker has ids
		for version := int16(0); version <= 5; version++ {
			c.Send(initProducerID(version, nil, -1, -1))
		}
		c.Body("version too high", At(7, initProducerID(5, nil, -1, -1)), nil)
	}},
	{"producers/init-forms", func(s *Session) {
		c := s.Conn("a")
		id := c.producerID()
		for _, version := range []int16{3, 4, 5} {
			c.Say("id without epoch").Send(initProducerID(version, nil, id, -1))
			c.Say("epoch without id").Send(initProducerID(version, nil, -1, 0))
			c.Say("id and epoch").Send(initProducerID(version, nil, id, 0))
			c.Say("id and last epoch").Send(initProducerID(version, nil, id, 32767))
			c.Say("other id").Send(initProducerID(version, nil, 1<<40, 5))
			c.Say("negative").Send(initProducerID(version, nil, -5, -7))
		}
		for _, timeout := range []int32{0, -1, 2147483647} {
			r := initProducerID(4, nil, -1, -1)
			r.TransactionTimeoutMillis = timeout
			c.Say("timeout %d", timeout).Send(r)
		}
	}},
	{"producers/init-transactional", func(s *Session) {
		c := s.Conn("a")
		for _, version := range []int16{0, 2, 4, 5} {
			c.Say("empty id").Send(initProducerID(version, kmsg.StringPtr(""), -1, -1))
			c.Say("no coordinator").Send(initProducerID(version, kmsg.StringPtr("tx"), -1, -1))
		}
		c.Say("id without epoch").Send(initProducerID(5, kmsg.StringPtr("tx"), 5, -1))
		for _, timeout := range []int32{0, -1, 900_000, 900_001} {
			r := initProducerID(5, kmsg.StringPtr("tx"), -1, -1)
			r.TransactionTimeoutMillis = timeout
			c.Say("timeout %d", timeout).Send(r)
		}
	}},
	{"producers/in-order", func(s *Session) {
		p := newProducer(s)
		for i := range int32(8) {
			p.send("next", 0, i*3, 3)
		}
		p.read()
	}},
	{"producers/first-sequence", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 6)
		id := c.producerID()
		for i, first := range []int32{0, 1, 100, 2147483645, 2147483646, 2147483647} {
			b := Batch{Records: filled(3, 10), Timestamp: longAgo, Idempotent: true, ProducerID: id, Sequence: first}
			c.Say("%d", first).Send(produceTo(9, -1, t, int32(i), b.Bytes()))
		}
		c.Send(describeProducers(t.name, 0, 1, 2, 3, 4, 5))
	}},
	{"producers/duplicates", func(s *Session) {
		p := newProducer(s)
		p.send("first", 0, 0, 3)
		p.send("again", 0, 0, 3)
		p.send("second", 0, 3, 2)
		p.send("first again", 0, 0, 3)
		p.send("second again", 0, 3, 2)
		p.send("part of the first", 0, 0, 2)
		p.send("both in one", 0, 0, 5)
		p.send("the end of the first and the second", 0, 2, 3)
		p.send("second and more", 0, 3, 4)
		p.send("third", 0, 5, 1)
		p.read()
	}},
	{"producers/window", func(s *Session) {
		p := newProducer(s)
		for i := range int32(7) {
			p.send("batch", 0, i*2, 2)
		}
		for i := range int32(7) {
			p.send("again", 0, i*2, 2)
		}
		p.send("next", 0, 14, 1)
		p.send("third again", 0, 4, 2)
		p.read()
	}},
	{"producers/duplicates-with-append-time", func(s *Session) {
		p := newProducer(s, "message.timestamp.type", "LogAppendTime")
		p.send("first", 0, 0, 3)
		p.send("again", 0, 0, 3)
		p.read()
	}},
	{"producers/duplicates-with-acks", func(s *Session) {
		p := newProducer(s)
		for _, acks := range []int16{1, -1, 1} {
			p.c.Say("acks %d", acks).Send(produceTo(9, acks, p.t, 0, p.batch(0, 0, 2).Bytes()))
		}
		p.c.Post(produceTo(9, 0, p.t, 0, p.batch(0, 0, 2).Bytes()))
		p.c.Send(fetch(12, at(p.t, 0, 0)))
	}},
	{"producers/gaps", func(s *Session) {
		p := newProducer(s)
		p.send("first", 0, 0, 3)
		p.send("one too many", 0, 4, 3)
		p.send("far", 0, 1000, 1)
		p.send("next", 0, 3, 3)
		p.send("sequence 0 again, other length", 0, 0, 1)
		p.read()
	}},
	{"producers/wrap", func(s *Session) {
		p := newProducer(s)
		p.send("before the end", 0, 2147483640, 6)
		p.send("over the end", 0, 2147483646, 4)
		p.send("behind it", 0, 2, 2)
		p.send("over the end again", 0, 2147483646, 4)
		p.read()
	}},
	{"producers/wrap-exactly", func(s *Session) {
		p := newProducer(s)
		p.send("to the end", 0, 2147483645, 3)
		p.send("-2147483648", 0, -2147483648, 1)
		p.send("from 0", 0, 0, 3)
		p.read()
	}},
	{"producers/epochs", func(s *Session) {
		p := newProducer(s)
		p.send("epoch 2", 2, 0, 3)
		p.send("epoch 1", 1, 3, 3)
		p.send("epoch 1 from 0", 1, 0, 3)
		p.send("epoch 3, not from 0", 3, 3, 3)
		p.send("epoch 3", 3, 0, 3)
		p.send("epoch 2 again", 2, 0, 3)
		p.send("epoch 3, next", 3, 3, 1)
		p.send("epoch 32767", 32767, 0, 1)
		p.send("epoch 0", 0, 0, 1)
		p.read()
	}},
	{"producers/two-of-them", func(s *Session) {
		p := newProducer(s)
		q := producer{p.c, p.t, p.c.producerID()}
		p.send("p", 0, 0, 2)
		q.send("q", 0, 0, 2)
		p.send("p", 0, 2, 2)
		p.c.Send(produceTo(9, 1, p.t, 0, good.Bytes()))
		q.send("q", 0, 2, 2)
		q.send("q again", 0, 2, 2)
		p.read()
		p.c.Send(describeProducers(p.t.name, 0))
	}},
	{"producers/pipelined", func(s *Session) {
		p := newProducer(s)
		var all []kmsg.Request
		for _, first := range []int32{0, 2, 4, 4, 0, 8, 6, 8} {
			all = append(all, produceTo(9, -1, p.t, 0, p.batch(0, first, 2).Bytes()))
		}
		p.c.Pipeline(all...)
		p.read()
	}},
	{"producers/batches-of-others-in-between", func(s *Session) {
		p := newProducer(s, "max.message.bytes", "200")
		p.send("first", 0, 0, 1)
		large := p.batch(0, 1, 1)
		large.Records = filled(1, 300)
		p.c.Say("too large").Send(produceTo(9, 1, p.t, 0, large.Bytes()))
		p.send("next", 0, 1, 1)
		p.c.Say("bad CRC").Send(produceTo(9, 1, p.t, 0, p.batch(0, 2, 1).mutated(flipCRC).Bytes()))
		p.send("next", 0, 2, 1)
		p.read()
	}},
	{"producers/describe", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 3)
		c.Say("none").Send(describeProducers(t.name, 0, 1, 2))
		p := producer{c, t, c.producerID()}
		for i := range int32(3) {
			p.send("batch", 4, i, 1)
		}
		c.Send(describeProducers(t.name, 0))
		c.Say("unknown partition").Send(describeProducers(t.name, 7, 0, -1))
		c.Say("same partition twice").Send(describeProducers(t.name, 0, 0))
		c.Say("no partitions").Send(describeProducers(t.name))
		c.Say("unknown topic").Send(describeProducers(s.Topic("nosuch"), 0, 1))
		for _, name := range []string{"", ".", "..", "a b", "a/b"} {
			c.Say("name %q", name).Send(describeProducers(name, 0))
		}
		r := describeProducers(t.name, 0)
		r.Topics = append(r.Topics, describeProducers(s.Topic("nosuch"), 0).Topics...)
		c.Say("two topics").Send(r)
		r.Topics = nil
		c.Say("no topics").Send(r)
	}},
}

// producer is an idempotent producer of one partition.
type producer struct {
	c  *Conn
	t  topic
	id int64
}

func newProducer(s *Session, configs ...string) producer {
	c := s.Conn("a")
	return producer{c, c.topic("t", 1, configs...), c.producerID()}
}

func (p producer) batch(epoch int16, first int32, count int) Batch {
	return Batch{Records: filled(count, 5), Timestamp: longAgo, Idempotent: true, ProducerID: p.id, Epoch: epoch, Sequence: first}
}

// send sends count records from a sequence on.
func (p producer) send(what string, epoch int16, first int32, count int) {
	p.c.Say("%s: epoch %d, sequences from %d, %d of them", what, epoch, first, count)
	p.c.Send(produceTo(9, -1, p.t, 0, p.batch(epoch, first, count).Bytes()))
}

// read shows what is in the log.
func (p producer) read() {
	p.c.Send(fetch(12, at(p.t, 0, 0)))
	p.c.Send(describeProducers(p.t.name, 0))
}

func initProducerID(version int16, transactionalID *string, id int64, epoch int16) *kmsg.InitProducerIDRequest {
	r := At(version, kmsg.NewPtrInitProducerIDRequest())
	r.TransactionalID, r.TransactionTimeoutMillis, r.ProducerID, r.ProducerEpoch = transactionalID, 60_000, id, epoch
	return r
}

func describeProducers(name string, partitions ...int32) *kmsg.DescribeProducersRequest {
	r := At(0, kmsg.NewPtrDescribeProducersRequest())
	r.Topics = []kmsg.DescribeProducersRequestTopic{{Topic: name, Partitions: partitions}}
	return r
}
