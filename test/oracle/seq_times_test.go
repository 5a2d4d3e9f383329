package oracle

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// timeSequences are timestamps: which are taken, and where ListOffsets finds them.
var timeSequences = []sequence{
	{"times/create-time", func(s *Session) {
		now := time.Now().UnixMilli()
		apart(s, "producer",
			"now", stamped(now, 0, 1, 2),
			"long ago", stamped(longAgo, 0, 1),
			"zero", stamped(0, 0, 0),
			"none", stamped(-1, 0, 0),
			"none and a time", stamped(-1, 0, longAgo+1),
			"below none", stamped(-5, 0, -2),
			"smallest", stamped(-1<<63, 0),
			"largest", stamped(1<<63-1, 0),
			"half an hour ahead", stamped(now+1_800_000, 0),
			"two hours ahead", stamped(now+7_200_000, 0),
			"one of three ahead", stamped(now, 0, 7_200_000, 1),
			"two of three ahead", stamped(now, 0, 7_200_000, 7_300_000),
			"going back", stamped(now, 0, -1000, -2000),
			"wrong largest timestamp", stamped(now, 0, 1).with(put64(atMaxTimestamp, 7)),
			"largest timestamp too large", stamped(now, 0, 1).with(put64(atMaxTimestamp, now+7_200_000)))
	}},
	{"times/create-time-compressed", func(s *Session) {
		now := time.Now().UnixMilli()
		packed := func(b Batch) Batch {
			b.Attributes |= gzipCodec
			return b
		}
		apart(s, "producer",
			"now", packed(stamped(now, 0, 1, 2)),
			"none", packed(stamped(-1, 0, 0)),
			"two hours ahead", packed(stamped(now, 0, 7_200_000)),
			"going back", packed(stamped(now, 0, -1000, -2000)),
			"wrong largest timestamp", packed(stamped(now, 0, 1).with(put64(atMaxTimestamp, 7))))
	}},
	{"times/create-time-recompressed", func(s *Session) {
		now := time.Now().UnixMilli()
		apart(s, "lz4",
			"now", stamped(now, 0, 1, 2),
			"none", stamped(-1, 0, 0),
			"none and a time", stamped(-1, 0, longAgo+1),
			"below none", stamped(-5, 0, -2),
			"two hours ahead", stamped(now, 0, 7_200_000),
			"going back", stamped(now, 0, -1000, -2000),
			"wrong largest timestamp", stamped(now, 0, 1).with(put64(atMaxTimestamp, 7)))
	}},
	{"times/says-append-time", func(s *Session) {
		b, packed, none := stamped(longAgo, 0, 1), stamped(longAgo, 0, 1), stamped(-1, 0, 0)
		b.Attributes, packed.Attributes, none.Attributes = 8, 8|gzipCodec, 8
		apart(s, "producer", "plain", b, "compressed", packed, "no timestamps", none)
		apart(s, "zstd", "plain", b, "compressed", packed, "no timestamps", none)
		appendTime(s, "producer", b, packed, none)
	}},
	{"times/append-time", func(s *Session) {
		now := time.Now().UnixMilli()
		packed := stamped(now, 0, 1)
		packed.Attributes = snappyCodec
		appendTime(s, "producer", stamped(now, 0, 1, 2), stamped(longAgo, 0), stamped(-1, 0, 0), stamped(now+7_200_000, 0), packed)
		appendTime(s, "gzip", stamped(now, 0, 1, 2), packed)
	}},
	{"times/limits", func(s *Session) {
		c := s.Conn("a")
		now := time.Now().UnixMilli()
		t := c.topic("t", 1, "message.timestamp.before.max.ms", "1000000", "message.timestamp.after.max.ms", "100000")
		for what, b := range ordered[Batch](
			"now", stamped(now, 0),
			"two hours ago", stamped(now-7_200_000, 0),
			"one of two, two hours ago", stamped(now-7_200_000, 0, 7_200_000),
			"two hours ahead", stamped(now+7_200_000, 0),
			"both", stamped(now-7_200_000, 0, 14_400_000),
			"none", stamped(-1, 0, 0),
		) {
			for _, version := range []int16{7, 8, 13} {
				c.Say("%s", what).Send(produceTo(version, 1, t, 0, b.Bytes()))
			}
		}
		c.Send(fetch(12, at(t, 0, 0)))
	}},
	{"times/no-limits", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 1, "message.timestamp.after.max.ms", "9223372036854775807")
		for what, b := range ordered[Batch](
			"largest", stamped(1<<63-1, 0),
			"year 9999", stamped(253402300799000, 0),
			"smallest", stamped(-1<<63, 0),
			"negative", stamped(-1000, 0),
		) {
			c.Say("%s", what).Send(produceTo(9, 1, t, 0, b.Bytes()))
		}
		c.Send(fetch(12, at(t, 0, 0)))
		c.listOffsets(7, t, 0, -3, 0, 253402300799000, 253402300799001, 1<<63-1)
	}},
	{"times/limit-and-key-errors", func(s *Session) {
		c := s.Conn("a")
		now := time.Now().UnixMilli()
		t := c.topic("t", 1, "cleanup.policy", "compact")
		b := stamped(now, 0, 7_200_000, 7_200_000, 1)
		b.Records[0].Key, b.Records[2].Key = nil, nil
		c.Send(produceTo(9, 1, t, 0, b.Bytes()))
	}},

	{"listoffsets/versions", func(s *Session) {
		c := s.Conn("a")
		t := timesTopic(c, "t")
		for version := int16(1); version <= 11; version++ {
			c.listOffsets(version, t, 0, -1, -2, longAgo+20)
		}
		c.Body("version 0", At(0, kmsg.NewPtrListOffsetsRequest()), nil)
	}},
	{"listoffsets/special-timestamps", func(s *Session) {
		c := s.Conn("a")
		t := timesTopic(c, "t")
		for version := int16(1); version <= 11; version++ {
			c.listOffsets(version, t, 0, -3, -4, -5, -6, -7)
		}
		c.listOffsets(11, t, 0, -1<<63, -8, -100)
	}},
	{"listoffsets/empty-partition", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 1)
		for _, version := range []int16{1, 4, 11} {
			c.listOffsets(version, t, 0, -1, -2, -3, -4, -5, -6, 0, longAgo, 1<<63-1)
		}
	}},
	{"listoffsets/timestamps", func(s *Session) {
		c := s.Conn("a")
		t := timesTopic(c, "t")
		c.listOffsets(7, t, 0, 0, 1, longAgo-1, longAgo, longAgo+1, longAgo+9, longAgo+10, longAgo+11, longAgo+12, longAgo+13,
			longAgo+19, longAgo+20, longAgo+22, longAgo+23, longAgo+30, longAgo+32, longAgo+33, 1<<63-1)
	}},
	{"listoffsets/timestamps-going-back", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 1)
		for _, at := range [][]int64{{100, 1, 2}, {50, 0}, {300, -200, 5, -290}, {10, 0, 1}, {299, 0}, {300, 0}, {301, 0, -5}} {
			produce(c, t.name, 0, stamped(longAgo+at[0], at[1:]...))
		}
		for at := int64(0); at <= 310; at += 10 {
			c.listOffsets(7, t, 0, longAgo+at)
		}
		c.listOffsets(7, t, 0, -3, longAgo+101, longAgo+102, longAgo+103, longAgo+301, longAgo+302, longAgo+306, longAgo+307)
	}},
	{"listoffsets/without-timestamps", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 1)
		produce(c, t.name, 0, stamped(-1, 0, 0))
		c.listOffsets(7, t, 0, -3, -1, 0, longAgo)
		produce(c, t.name, 0, stamped(longAgo, 0, 1))
		produce(c, t.name, 0, stamped(-1, 0, 0))
		c.listOffsets(7, t, 0, -3, -1, 0, longAgo, longAgo+1, longAgo+2)
	}},
	{"listoffsets/compressed", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 1)
		for i, codec := range codecs {
			b := stamped(longAgo+int64(i)*100, 0, 10, 5, 20)
			b.Attributes = codec.number
			produce(c, t.name, 0, b)
		}
		for at := int64(0); at <= 330; at += 10 {
			c.listOffsets(7, t, 0, longAgo+at)
		}
		c.listOffsets(7, t, 0, -3)
	}},
	{"listoffsets/append-time", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 1, "message.timestamp.type", "LogAppendTime")
		for range 3 {
			produce(c, t.name, 0, stamped(longAgo, 0, 1, 2))
		}
		now := time.Now().UnixMilli()
		c.listOffsets(7, t, 0, longAgo, now-1_000_000, now+1_000_000)
	}},
	{"listoffsets/max-timestamp-ties", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 1)
		for _, at := range [][]int64{{100, 0, 7, 7}, {107, 0}, {105, 2, 1}, {90, 0, 17}} {
			produce(c, t.name, 0, stamped(longAgo+at[0], at[1:]...))
			c.listOffsets(7, t, 0, -3, longAgo+107)
		}
	}},
	{"listoffsets/segments", func(s *Session) {
		c := s.Conn("a")
		t := segmentsTopic(c)
		c.listOffsets(7, t, 0, -3, -2, -1)
		for at := int64(0); at < 260; at += 7 {
			c.listOffsets(7, t, 0, longAgo+at)
		}
	}},
	{"listoffsets/unknown", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 1)
		for _, version := range []int16{1, 6, 11} {
			for _, partition := range []int32{1, -1, 1000} {
				c.listOffsets(version, t, partition, -1)
			}
			c.listOffsets(version, topic{name: s.Topic("nosuch")}, 0, -1, -3)
			c.listOffsets(version, topic{name: ""}, 0, -1)
			c.listOffsets(version, topic{name: "a b"}, 0, -1)
		}
	}},
	{"listoffsets/duplicates", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 3)
		for _, version := range []int16{1, 4, 11} {
			r := listOffsetsRequest(version, t.name, 0, 0, 1, 2, 2, 2)
			c.Say("in a topic").Send(r)
			r = listOffsetsRequest(version, t.name, 0, 1)
			r.Topics = append(r.Topics, listOffsetsRequest(version, t.name, 1, 2).Topics...)
			c.Say("in two entries").Send(r)
			c.Say("of an unknown topic").Send(listOffsetsRequest(version, s.Topic("nosuch"), 0, 0))
		}
	}},
	{"listoffsets/leader-epochs", func(s *Session) {
		c := s.Conn("a")
		t := timesTopic(c, "t")
		for _, version := range []int16{3, 4, 11} {
			for _, epoch := range []int32{-1, -2, 0, 1, 99} {
				for _, at := range []int64{-1, -2, longAgo + 5} {
					r := listOffsetsRequest(version, t.name, 0)
					r.Topics[0].Partitions[0].CurrentLeaderEpoch, r.Topics[0].Partitions[0].Timestamp = epoch, at
					c.Say("epoch %d at %s", epoch, timeOr(at)).Send(r)
				}
			}
		}
	}},
	{"listoffsets/replicas-and-isolation", func(s *Session) {
		c := s.Conn("a")
		t := timesTopic(c, "t")
		for _, replica := range []int32{-1, -2, -3, 0, 1, 7} {
			for _, isolation := range []int8{0, 1, 2, -1} {
				r := listOffsetsRequest(7, t.name, 0)
				r.ReplicaID, r.IsolationLevel = replica, isolation
				c.Say("replica %d isolation %d", replica, isolation).Send(r)
			}
		}
	}},
	{"listoffsets/nothing", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 1)
		for _, version := range []int16{1, 6, 11} {
			c.Say("no partitions").Send(listOffsetsRequest(version, t.name))
			r := listOffsetsRequest(version, t.name)
			r.Topics = nil
			c.Say("no topics").Send(r)
		}
	}},
	{"listoffsets/timeouts", func(s *Session) {
		c := s.Conn("a")
		t := timesTopic(c, "t")
		for _, timeout := range []int32{0, -1, 1, 2147483647} {
			r := listOffsetsRequest(11, t.name, 0)
			r.TimeoutMillis = timeout
			r.Topics[0].Partitions[0].Timestamp = longAgo + 5
			c.Say("timeout %d", timeout).Send(r)
		}
	}},
}

// stamped is a batch with the base timestamp and a record for each delta.
func stamped(base int64, deltas ...int64) Batch {
	b := Batch{Timestamp: base, Records: filled(len(deltas), 10)}
	for i, d := range deltas {
		b.Records[i].Timestamp = d
	}
	return b
}

// appendTime sends batches to a topic of LogAppendTime.
func appendTime(s *Session, compression string, batches ...Batch) {
	c := s.Conn("a")
	t := c.topic("append-"+compression, int32(len(batches)), "message.timestamp.type", "LogAppendTime", "compression.type", compression)
	for i, b := range batches {
		c.Say("batch %d to a topic of append time", i).Send(produceTo(9, 1, t, int32(i), b.Bytes()))
		c.Say("batch %d", i).Send(fetch(12, at(t, int32(i), 0)))
	}
}

// timesTopic has three batches of three records: at 0, 1, 2, 10, 11, 12, 20, 21,
// 22 after longAgo.
func timesTopic(c *Conn, suffix string) topic {
	t := c.topic(suffix, 1)
	for i := range int64(3) {
		produce(c, t.name, 0, stamped(longAgo+i*10, 0, 1, 2))
	}
	return t
}

// segmentsTopic has 50 batches of two records in several segments; the index is
// full after few entries. Their times go forward by 5 and back now and then.
func segmentsTopic(c *Conn) topic {
	t := c.topic("t", 1, "segment.index.bytes", "40", "index.interval.bytes", "100")
	for i := range int64(50) {
		produce(c, t.name, 0, stamped(longAgo+i*5-i%4*20, 0, 3))
	}
	return t
}

func listOffsetsRequest(version int16, name string, partitions ...int32) *kmsg.ListOffsetsRequest {
	r := At(version, kmsg.NewPtrListOffsetsRequest())
	r.ReplicaID, r.TimeoutMillis = -1, 1000
	rt := kmsg.ListOffsetsRequestTopic{Topic: name}
	for _, p := range partitions {
		rp := kmsg.NewListOffsetsRequestTopicPartition()
		rp.Partition, rp.Timestamp, rp.CurrentLeaderEpoch = p, -1, -1
		rt.Partitions = append(rt.Partitions, rp)
	}
	r.Topics = append(r.Topics, rt)
	return r
}
