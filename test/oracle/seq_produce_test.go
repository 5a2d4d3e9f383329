package oracle

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// longAgo is the timestamp of most records here: far from now, and not special.
const longAgo = 1_700_000_000_000

// good is a batch that every topic takes; badCRC is not.
var (
	good   = Batch{Records: filled(3, 10), Timestamp: longAgo}
	badCRC = good.mutated(flipCRC)
)

var produceSequences = []sequence{
	{"produce/versions", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 1)
		for version := int16(3); version <= 13; version++ {
			c.Send(produceTo(version, 1, t, 0, good.Bytes()))
		}
		c.Send(fetch(13, at(t, 0, 0)))
	}},
	{"produce/versions-that-are-gone", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 1)
		for _, version := range []int16{0, 1, 2} {
			s.Conn("v").Send(produceTo(version, 1, t, 0, good.Bytes()))
		}
		r := produceTo(13, 1, t, 0, good.Bytes())
		s.Conn("v14").Body("version too high", At(14, r), nil)
	}},
	{"produce/acks-all", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 2)
		for version := int16(3); version <= 13; version++ {
			c.Send(produceTo(version, -1, t, int32(version%2), good.Bytes()))
		}
		c.Send(fetch(13, at(t, 0, 0), at(t, 1, 0)))
	}},
	{"produce/acks-none", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 1)
		for _, version := range []int16{3, 8, 9, 12, 13} {
			c.Post(produceTo(version, 0, t, 0, good.Bytes()))
		}
		c.Send(fetch(13, at(t, 0, 0)))
	}},
	{"produce/acks-none-fails", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 1)
		for what, r := range ordered[*kmsg.ProduceRequest](
			"unknown topic", produceTo(9, 0, topic{name: s.Topic("nosuch")}, 0, good.Bytes()),
			"unknown id", produceTo(13, 0, topic{id: [16]byte{9, 9}}, 0, good.Bytes()),
			"unknown partition", produceTo(9, 0, t, 1, good.Bytes()),
			"bad CRC", produceTo(9, 0, t, 0, badCRC.Bytes()),
			"no batch", produceTo(9, 0, t, 0, []byte{}),
			"two batches", produceTo(9, 0, t, 0, append(good.Bytes(), good.Bytes()...)),
		) {
			d := s.Conn("b").Say("%s", what)
			d.Post(r)
			d.Say("after %s", what).Send(fetch(12, at(t, 0, 0)))
		}
	}},
	{"produce/acks-invalid", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 1)
		for _, acks := range []int16{2, -2, 32767} {
			c.Say("acks %d", acks).Send(produceTo(9, acks, t, 0, good.Bytes()))
		}
		c.Say("bad CRC").Send(produceTo(9, 2, t, 0, badCRC.Bytes()))
		c.Say("no batch").Send(produceTo(9, 2, t, 0, []byte{}))
		c.Say("unknown topic").Send(produceTo(9, 2, topic{name: s.Topic("nosuch")}, 0, good.Bytes()))
		c.Say("unknown partition").Send(produceTo(9, 2, t, 9, good.Bytes()))
		c.Send(fetch(12, at(t, 0, 0)))
	}},
	{"produce/unknown-topics", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 1)
		for _, version := range []int16{3, 9, 12} {
			c.Say("name").Send(produceTo(version, 1, topic{name: s.Topic("nosuch")}, 0, good.Bytes()))
		}
		c.Say("empty name").Send(produceTo(12, 1, topic{}, 0, good.Bytes()))
		c.Say("invalid name").Send(produceTo(12, 1, topic{name: "a b/c"}, 0, good.Bytes()))
		c.Say("id").Send(produceTo(13, 1, topic{id: [16]byte{1: 7, 9: 9}}, 0, good.Bytes()))
		c.Say("id zero").Send(produceTo(13, 1, topic{}, 0, good.Bytes()))
		for _, partition := range []int32{1, 1000, -1, -2147483648, 2147483647} {
			c.Say("partition %d", partition).Send(produceTo(12, 1, t, partition, good.Bytes()))
			c.Say("partition %d", partition).Send(produceTo(13, 1, t, partition, good.Bytes()))
		}
		c.Send(metadata(12, s.Topic("nosuch")))
	}},
	{"produce/several-partitions", func(s *Session) {
		c := s.Conn("a")
		t, u := c.topic("t", 2), c.topic("u", 1)
		for _, version := range []int16{5, 9, 13} {
			r := produceTo(version, -1, t, 0, good.Bytes())
			r.Topics[0].Partitions = append(r.Topics[0].Partitions, produceTo(version, 1, t, 1, badCRC.Bytes()).Topics[0].Partitions...)
			r.Topics = append(r.Topics, produceTo(version, 1, u, 0, good.Bytes()).Topics...)
			r.Topics = append(r.Topics, produceTo(version, 1, topic{s.Topic("nosuch"), [16]byte{8}}, 0, good.Bytes()).Topics...)
			c.Send(r)
		}
		c.Send(fetch(12, at(t, 0, 0), at(t, 1, 0), at(u, 0, 0)))
	}},
	{"produce/partition-twice", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 1)
		r := produceTo(9, -1, t, 0, good.Bytes())
		r.Topics[0].Partitions = append(r.Topics[0].Partitions, r.Topics[0].Partitions[0])
		c.Say("in one topic").Send(r)
		r = produceTo(9, -1, t, 0, good.Bytes())
		r.Topics = append(r.Topics, r.Topics[0])
		c.Say("topic twice").Send(r)
		c.Send(fetch(12, at(t, 0, 0)))
	}},
	{"produce/nothing", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 1)
		for _, version := range []int16{3, 9, 13} {
			r := produceTo(version, 1, t, 0, nil)
			r.Topics[0].Partitions = nil
			c.Say("no partitions").Send(r)
			r.Topics = nil
			c.Say("no topics").Send(r)
		}
		r := produceTo(9, 0, t, 0, nil)
		r.Topics = nil
		c.Say("no topics").Post(r)
		c.Send(fetch(12, at(t, 0, 0)))
	}},
	{"produce/batches-in-a-record-set", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 1)
		b := good.Bytes()
		other := good.mutated(func(b []byte) { b[atMagic] = 9 })
		for what, records := range ordered[[]byte](
			"none", []byte{},
			"two", append(good.Bytes(), b...),
			"one and five zeros", append(good.Bytes(), 0, 0, 0, 0, 0),
			"one and sixteen zeros", append(good.Bytes(), make([]byte, 16)...),
			"one and part of another", append(good.Bytes(), b[:40]...),
			"one and one of magic 9", append(good.Bytes(), other.Bytes()...),
			"11 bytes", b[:11],
			"16 bytes", b[:16],
			"17 bytes", b[:17],
			"60 bytes", b[:60],
			"61 bytes", b[:61],
			"a byte too few", b[:len(b)-1],
		) {
			c.Say("%s", what).Send(produceTo(9, 1, t, 0, records))
		}
		c.Send(fetch(12, at(t, 0, 0)))
	}},
	{"produce/null-records", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 1)
		for _, version := range []int16{3, 9, 13} {
			d := s.Conn("null")
			d.patience = 500 * time.Millisecond
			d.Send(produceTo(version, 1, t, 0, nil))
		}
		c.Say("unknown topic").Send(produceTo(9, 1, topic{name: s.Topic("nosuch")}, 0, nil))
		c.Say("unknown id").Send(produceTo(13, 1, topic{id: [16]byte{9}}, 0, nil))
		c.Say("unknown partition").Send(produceTo(9, 1, t, 5, nil))
	}},
	{"produce/timeouts", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 1)
		for _, timeout := range []int32{0, -1, 1, 2147483647} {
			for _, acks := range []int16{1, -1} {
				r := produceTo(9, acks, t, 0, good.Bytes())
				r.TimeoutMillis = timeout
				c.Say("timeout %d acks %d", timeout, acks).Send(r)
			}
		}
	}},
	{"produce/min-insync-replicas", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 1, "min.insync.replicas", "2")
		for _, version := range []int16{3, 9, 13} {
			c.Say("acks all").Send(produceTo(version, -1, t, 0, good.Bytes()))
			c.Say("acks 1").Send(produceTo(version, 1, t, 0, good.Bytes()))
		}
		c.Say("acks all, bad CRC").Send(produceTo(9, -1, t, 0, badCRC.Bytes()))
		c.Post(produceTo(9, 0, t, 0, good.Bytes()))
		c.Send(fetch(12, at(t, 0, 0)))
		c.listOffsets(7, t, 0, -1, -2)
	}},
	{"produce/internal-topic", func(s *Session) {
		c := s.Conn("a")
		c.Ask(createTopics(7, newTopic("__share_group_state", 1, 1)))
		c.awaitLeader("__share_group_state", 1)
		c.Say("as oracle").Send(produceTo(9, 1, topic{name: "__share_group_state"}, 0, good.Bytes()))
		admin := s.Conn("admin")
		admin.clientID = "__admin_client"
		admin.Say("bad CRC").Send(produceTo(9, 1, topic{name: "__share_group_state"}, 0, badCRC.Bytes()))
		c.Say("bad CRC").Send(produceTo(9, 1, topic{name: "__share_group_state"}, 0, badCRC.Bytes()))
		c.Say("no batch").Send(produceTo(9, 1, topic{name: "__share_group_state"}, 0, []byte{}))
		c.Say("unknown partition").Send(produceTo(9, 1, topic{name: "__share_group_state"}, 4, good.Bytes()))
	}},
	{"produce/transactional-ids", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 2)
		transactional := good
		transactional.Attributes = 0x10
		transactional.Idempotent, transactional.ProducerID = true, c.producerID()
		send := func(what string, id *string, version int16, records ...[]byte) {
			r := produceTo(version, -1, t, 0, records[0])
			r.TransactionID = id
			for i, more := range records[1:] {
				r.Topics[0].Partitions = append(r.Topics[0].Partitions, produceTo(version, 1, t, int32(i)+1, more).Topics[0].Partitions...)
			}
			c.Say("%s", what).Send(r)
		}
		id := kmsg.StringPtr("tx")
		send("batch without id", nil, 9, transactional.Bytes())
		send("batch without id, beside another", nil, 9, good.Bytes(), transactional.Bytes())
		send("batch without id, v13", nil, 13, transactional.Bytes())
		send("id without batch", id, 9, good.Bytes())
		send("empty id without batch", kmsg.StringPtr(""), 9, good.Bytes())
		idempotent := transactional
		idempotent.Attributes = 0
		send("id and idempotent batch", id, 9, idempotent.Bytes())
		c.Say("batch without id for an unknown topic").Send(produceTo(9, -1, topic{name: s.Topic("nosuch")}, 0, transactional.Bytes()))
		zero := produceTo(9, 0, t, 0, transactional.Bytes())
		d := s.Conn("b")
		d.Say("batch without id").Post(zero)
		d.Send(fetch(12, at(t, 0, 0)))
	}},
	{"produce/transaction-not-begun", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 1)
		transactional := good
		transactional.Attributes = 0x10
		transactional.Idempotent, transactional.ProducerID = true, c.producerID()
		for _, version := range []int16{3, 9, 11, 12, 13} {
			r := produceTo(version, -1, t, 0, transactional.Bytes())
			r.TransactionID = kmsg.StringPtr("tx")
			c.Send(r)
		}
		c.Send(fetch(12, at(t, 0, 0)))
	}},
	{"produce/pipelined", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 2)
		c.Pipeline(
			produceTo(9, 1, t, 0, good.Bytes()), produceTo(9, -1, t, 1, good.Bytes()), produceTo(9, -1, t, 0, good.Bytes()),
			produceTo(9, -1, t, 0, badCRC.Bytes()), produceTo(13, 1, t, 1, good.Bytes()), fetch(12, at(t, 0, 0), at(t, 1, 0)),
			metadata(9, t.name), produceTo(3, -1, t, 0, good.Bytes()), fetch(12, at(t, 0, 6)))
	}},
	{"produce/pipelined-with-acks-none", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 1)
		c.Pipeline(produceTo(9, 0, t, 0, good.Bytes()), produceTo(9, 1, t, 0, good.Bytes()),
			produceTo(9, 0, t, 0, good.Bytes()), fetch(12, at(t, 0, 0)))
	}},
}
