package oracle

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// fetchSequences are Fetch requests without a session.
var fetchSequences = []sequence{
	{"fetch/versions", func(s *Session) {
		c := s.Conn("a")
		t := timesTopic(c, "t")
		for version := int16(4); version <= 18; version++ {
			c.Send(fetch(version, at(t, 0, 0)))
		}
		for _, version := range []int16{0, 1, 2, 3} {
			s.Conn("old").Body("version too low", At(version, kmsg.NewPtrFetchRequest()), nil)
		}
		s.Conn("new").Body("version too high", At(19, fetch(18)), nil)
	}},
	{"fetch/offsets", func(s *Session) {
		c := s.Conn("a")
		t := timesTopic(c, "t")
		for offset := int64(0); offset <= 9; offset++ {
			c.Say("offset %d", offset).Send(fetch(12, at(t, 0, offset)))
		}
	}},
	{"fetch/out-of-range", func(s *Session) {
		c := s.Conn("a")
		t := timesTopic(c, "t")
		for _, version := range []int16{4, 11, 12, 13, 18} {
			for _, offset := range []int64{-1, -2, 10, 1000, 1<<63 - 1, -1 << 63} {
				c.Say("offset %d", offset).Send(fetch(version, at(t, 0, offset)))
			}
		}
	}},
	{"fetch/empty-partition", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 1)
		for _, version := range []int16{4, 12, 18} {
			for _, offset := range []int64{0, 1, -1} {
				c.Say("offset %d", offset).Send(fetch(version, at(t, 0, offset)))
			}
		}
	}},
	{"fetch/unknown", func(s *Session) {
		c := s.Conn("a")
		t := timesTopic(c, "t")
		for _, version := range []int16{4, 7, 12} {
			c.Say("topic").Send(fetch(version, at(topic{name: s.Topic("nosuch")}, 0, 0)))
			c.Say("invalid name").Send(fetch(version, at(topic{name: "a b"}, 0, 0)))
			c.Say("empty name").Send(fetch(version, at(topic{}, 0, 0)))
			for _, partition := range []int32{1, -1, 1000} {
				c.Say("partition %d", partition).Send(fetch(version, at(t, partition, 0)))
			}
			c.Say("one of two").Send(fetch(version, at(t, 0, 0), at(t, 1, 0)))
		}
		for _, version := range []int16{13, 16, 18} {
			c.Say("id").Send(fetch(version, at(topic{id: [16]byte{3: 3}}, 0, 0)))
			c.Say("zero id").Send(fetch(version, at(topic{}, 0, 0)))
			c.Say("partition").Send(fetch(version, at(t, 1, 0)))
			c.Say("one id of two").Send(fetch(version, at(topic{id: [16]byte{3: 3}}, 0, 0), at(t, 0, 0)))
		}
	}},
	{"fetch/nothing", func(s *Session) {
		c := s.Conn("a")
		t := timesTopic(c, "t")
		for _, version := range []int16{4, 12, 18} {
			c.Say("no topics").Send(fetch(version))
			r := fetch(version, at(t, 0, 0))
			r.Topics[0].Partitions = nil
			c.Say("no partitions").Send(r)
		}
	}},
	{"fetch/partition-twice", func(s *Session) {
		c := s.Conn("a")
		t := timesTopic(c, "t")
		for _, version := range []int16{4, 12, 13} {
			c.Say("same offset").Send(fetch(version, at(t, 0, 0), at(t, 0, 0)))
			c.Say("other offset").Send(fetch(version, at(t, 0, 0), at(t, 0, 6)))
		}
	}},
	{"fetch/partition-limits", func(s *Session) {
		c := s.Conn("a")
		t := timesTopic(c, "t")
		size := int32(len(stamped(longAgo, 0, 1, 2).Bytes()))
		for _, limit := range []int32{0, 1, -1, 61, size - 1, size, size + 1, 2*size - 1, 2 * size, 2*size + 16, 2*size + 17, 3 * size, 2147483647} {
			for _, version := range []int16{4, 12} {
				c.Say("%d bytes", limit).Send(fetch(version, at(t, 0, 0).limit(limit)))
			}
			c.Say("%d bytes from the middle", limit).Send(fetch(12, at(t, 0, 4).limit(limit)))
		}
	}},
	{"fetch/limits", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 3)
		b := stamped(longAgo, 0, 1, 2)
		for range 3 {
			for partition := range int32(3) {
				produce(c, t.name, partition, b)
			}
		}
		size := int32(len(b.Bytes()))
		for _, limit := range []int32{0, 1, -1, size - 1, size, size + 1, 2 * size, 3 * size, 3*size + 1, 4 * size, 5*size - 1, 7 * size, 2147483647} {
			r := fetch(12, at(t, 0, 0), at(t, 1, 0), at(t, 2, 0))
			r.MaxBytes = limit
			c.Say("%d bytes", limit).Send(r)
			r = fetch(12, at(t, 2, 0).limit(size), at(t, 1, 0).limit(size), at(t, 0, 0).limit(size))
			r.MaxBytes = limit
			c.Say("%d bytes, one batch of each", limit).Send(r)
			r = fetch(12, at(t, 0, 9), at(t, 1, 3), at(t, 2, 6))
			r.MaxBytes = limit
			c.Say("%d bytes, the first is at its end", limit).Send(r)
		}
	}},
	{"fetch/min-bytes", func(s *Session) {
		c := s.Conn("a")
		t := timesTopic(c, "t")
		for _, minBytes := range []int32{0, 1, -1, 100, 1_000_000, 2147483647} {
			r := fetch(12, at(t, 0, 0))
			r.MinBytes = minBytes
			c.Say("min %d without wait", minBytes).Send(r)
			r.MaxWaitMillis = -5
			c.Say("min %d, negative wait", minBytes).Send(r)
		}
	}},
	{"fetch/waits", func(s *Session) {
		c := s.Conn("a")
		t := timesTopic(c, "t")
		u := c.topic("u", 1)
		const wait = 700
		for what, r := range ordered[*kmsg.FetchRequest](
			"at the end", fetch(12, at(t, 0, 9)),
			"empty", fetch(12, at(u, 0, 0)),
			"enough", fetch(12, at(t, 0, 0)),
			"out of range", fetch(12, at(t, 0, 10)),
			"unknown topic", fetch(12, at(topic{name: s.Topic("nosuch")}, 0, 0)),
			"unknown topic beside one at the end", fetch(12, at(topic{name: s.Topic("nosuch")}, 0, 0), at(u, 0, 0)),
			"unknown partition beside one at the end", fetch(12, at(t, 5, 0), at(u, 0, 0)),
			"unknown id", fetch(13, at(topic{id: [16]byte{3: 3}}, 0, 0)),
			"unknown id beside one at the end", fetch(13, at(topic{id: [16]byte{3: 3}}, 0, 0), at(u, 0, 0)),
			"wrong leader epoch", fetch(12, at(t, 0, 9).epochs(7, -1)),
			"diverging", fetch(12, at(t, 0, 9).epochs(-1, 5)),
			"nothing", fetch(12),
		) {
			r.MaxWaitMillis = wait
			c.Say("%s", what).timed(r, wait*time.Millisecond)
		}
		for _, minBytes := range []int32{0, 1, 100_000} {
			r := fetch(12, at(t, 0, 3))
			r.MaxWaitMillis, r.MinBytes = wait, minBytes
			c.Say("min %d", minBytes).timed(r, wait*time.Millisecond)
		}
		r := fetch(12, at(t, 0, 0))
		r.MaxWaitMillis, r.MinBytes, r.MaxBytes = wait, 100_000, 100
		c.Say("min larger than max").timed(r, wait*time.Millisecond)
		r = fetch(12, at(t, 0, 0).limit(10))
		r.MaxWaitMillis, r.MinBytes = wait, 1000
		c.Say("min larger than the partition's limit").timed(r, wait*time.Millisecond)
	}},
	{"fetch/woken", func(s *Session) {
		c, p := s.Conn("a"), s.Conn("p")
		t := c.topic("t", 2)
		r := fetch(12, at(t, 0, 0), at(t, 1, 0))
		r.MaxWaitMillis = 15_000
		end := c.Begin(r)
		produce(p, t.name, 1, good)
		end()
		size := int32(len(good.Bytes()))
		r = fetch(12, at(t, 0, 0), at(t, 1, 3))
		r.MaxWaitMillis, r.MinBytes = 15_000, 2*size+1
		end = c.Begin(r)
		for range 3 {
			produce(p, t.name, 1, good)
		}
		end()
		r = fetch(13, at(t, 0, 0))
		r.MaxWaitMillis = 15_000
		end = c.Begin(r)
		produce(p, t.name, 0, good)
		end()
	}},
	{"fetch/woken-by-deletion", func(s *Session) {
		c, p := s.Conn("a"), s.Conn("p")
		for _, version := range []int16{12, 13} {
			t := c.topic("t", 1)
			r := fetch(version, at(t, 0, 0))
			r.MaxWaitMillis = 10_000
			end := c.Begin(r)
			letWait()
			p.Ask(deleteTopics(6, t.name))
			end()
			p.awaitGone(t.name)
			c.Say("after it").Send(fetch(version, at(t, 0, 0)))
		}
	}},
	{"fetch/woken-by-deletion-of-one", func(s *Session) {
		c, p := s.Conn("a"), s.Conn("p")
		u := c.topic("u", 1)
		for _, version := range []int16{12, 13} {
			t := c.topic("t", 1)
			r := fetch(version, at(u, 0, 0), at(t, 0, 0))
			r.MaxWaitMillis = 10_000
			end := c.Begin(r)
			letWait()
			p.Ask(deleteTopics(6, t.name))
			p.awaitGone(t.name)
			end()
			t = c.topic("t", 1)
			id := c.open(version, at(u, 0, 0), at(t, 0, 0))
			r = inSession(fetch(version), id, 1)
			r.MaxWaitMillis = 10_000
			end = c.Begin(r)
			letWait()
			p.Ask(deleteTopics(6, t.name))
			p.awaitGone(t.name)
			end()
			r = inSession(fetch(version), id, 2)
			r.MaxWaitMillis = 500
			c.timed(r, 500*time.Millisecond)
		}
	}},
	{"fetch/acks-none-then-read", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 1)
		for i := range int64(5) {
			c.Post(produceTo(9, 0, t, 0, good.Bytes()))
			c.Send(fetch(12, at(t, 0, i*3)))
		}
	}},
	{"fetch/isolation", func(s *Session) {
		c := s.Conn("a")
		t := timesTopic(c, "t")
		for _, version := range []int16{4, 12, 18} {
			for _, level := range []int8{0, 1} {
				for _, offset := range []int64{0, 4, 9, 10} {
					r := fetch(version, at(t, 0, offset))
					r.IsolationLevel = level
					c.Say("level %d offset %d", level, offset).Send(r)
				}
			}
		}
	}},
	{"fetch/isolation-invalid", func(s *Session) {
		c := s.Conn("a")
		t := timesTopic(c, "t")
		for _, level := range []int8{2, -1} {
			r := fetch(12, at(t, 0, 0))
			r.IsolationLevel = level
			c.Say("level %d", level).Send(r)
		}
	}},
	{"fetch/leader-epochs", func(s *Session) {
		c := s.Conn("a")
		t := timesTopic(c, "t")
		for _, version := range []int16{8, 9, 11, 12, 15, 16, 18} {
			for _, epoch := range []int32{-1, 0, 1, 99, -2} {
				c.Say("epoch %d", epoch).Send(fetch(version, at(t, 0, 0).epochs(epoch, -1)))
			}
		}
	}},
	{"fetch/last-epochs", func(s *Session) {
		c := s.Conn("a")
		t := timesTopic(c, "t")
		u := c.topic("u", 1)
		for _, version := range []int16{11, 12, 18} {
			for _, epoch := range []int32{-1, 0, 1, 99, -2} {
				for _, offset := range []int64{0, 4, 9, 10, -1} {
					c.Say("last epoch %d offset %d", epoch, offset).Send(fetch(version, at(t, 0, offset).epochs(-1, epoch)))
				}
				c.Say("last epoch %d in an empty log", epoch).Send(fetch(version, at(u, 0, 0).epochs(-1, epoch)))
				c.Say("last epoch %d, leader epoch 0", epoch).Send(fetch(version, at(t, 0, 3).epochs(0, epoch)))
			}
		}
	}},
	{"fetch/replicas", func(s *Session) {
		c := s.Conn("a")
		t := timesTopic(c, "t")
		for _, replica := range []int32{-1, -2, -3} {
			for _, version := range []int16{4, 11, 12, 13, 14, 15, 18} {
				r := fetch(version, at(t, 0, 0))
				if r.ReplicaID = replica; version >= 15 {
					r.ReplicaState.ID, r.ReplicaState.Epoch = replica, -1
				}
				s.Conn("b").Say("replica %d", replica).Send(r)
			}
		}
	}},
	{"fetch/cluster-id-and-rack", func(s *Session) {
		c := s.Conn("a")
		t := timesTopic(c, "t")
		for _, version := range []int16{11, 12, 18} {
			r := fetch(version, at(t, 0, 0))
			r.ClusterID, r.Rack = kmsg.StringPtr("nobody"), "r1"
			c.Send(r)
		}
	}},
	{"fetch/log-start-offset-and-high-watermark", func(s *Session) {
		c := s.Conn("a")
		t := timesTopic(c, "t")
		for _, n := range []int64{-1, 0, 5, 1 << 40} {
			w := at(t, 0, 0)
			w.LogStartOffset, w.HighWatermark = n, n
			w.ReplicaDirectoryID = [16]byte{5, 5}
			c.Say("%d", n).Send(fetch(18, w))
		}
	}},
	{"fetch/segments", func(s *Session) {
		c := s.Conn("a")
		t := segmentsTopic(c)
		for _, offset := range []int64{0, 1, 7, 8, 9, 40, 99, 100} {
			c.Say("offset %d", offset).Send(fetch(12, at(t, 0, offset)))
			c.Say("offset %d, 200 bytes", offset).Send(fetch(12, at(t, 0, offset).limit(200)))
		}
		r := fetch(12, at(t, 0, 0))
		r.MinBytes, r.MaxWaitMillis = 1_000_000, 15_000
		c.Say("wait within a segment").Send(r)
	}},
	{"fetch/large-answers", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 2)
		for i := range int64(4) {
			produce(c, t.name, int32(i%2), Batch{Records: filled(9, 100_000), Timestamp: longAgo + i})
		}
		c.Send(fetch(12, at(t, 0, 0).limit(10<<20), at(t, 1, 0).limit(10<<20)))
		c.Say("a limit inside a batch").Send(fetch(12, at(t, 0, 0).limit(1_000_000), at(t, 1, 0).limit(1_000_000)))
		r := fetch(12, at(t, 0, 0).limit(10<<20), at(t, 1, 0).limit(10<<20))
		r.MaxBytes = 2_000_000
		c.Say("2 MB in all").Send(r)
	}},
	{"fetch/pipelined", func(s *Session) {
		c := s.Conn("a")
		t := timesTopic(c, "t")
		c.Pipeline(fetch(12, at(t, 0, 0)), fetch(13, at(t, 0, 3)), fetch(4, at(t, 0, 9)), metadata(9, t.name), fetch(18, at(t, 0, 6)))
	}},

	{"epochs/offset-for-leader-epoch", func(s *Session) {
		c := s.Conn("a")
		t := timesTopic(c, "t")
		u := c.topic("u", 1)
		for version := int16(2); version <= 4; version++ {
			for _, epoch := range []int32{0, 1, 77, -1, -2, 2147483647} {
				c.Say("epoch %d", epoch).Send(offsetForLeaderEpoch(version, t.name, 0, -1, epoch))
				c.Say("epoch %d of an empty log", epoch).Send(offsetForLeaderEpoch(version, u.name, 0, -1, epoch))
			}
		}
	}},
	{"epochs/current-leader-epoch", func(s *Session) {
		c := s.Conn("a")
		t := timesTopic(c, "t")
		for version := int16(2); version <= 4; version++ {
			for _, current := range []int32{0, 1, 99, -1, -2} {
				c.Say("current epoch %d", current).Send(offsetForLeaderEpoch(version, t.name, 0, current, 0))
			}
		}
	}},
	{"epochs/unknown", func(s *Session) {
		c := s.Conn("a")
		t := timesTopic(c, "t")
		for version := int16(2); version <= 4; version++ {
			for _, partition := range []int32{1, -1, 1000} {
				c.Say("partition %d", partition).Send(offsetForLeaderEpoch(version, t.name, partition, -1, 0))
			}
			c.Say("topic").Send(offsetForLeaderEpoch(version, s.Topic("nosuch"), 0, -1, 0))
			c.Say("empty name").Send(offsetForLeaderEpoch(version, "", 0, -1, 0))
		}
	}},
	{"epochs/replicas", func(s *Session) {
		c := s.Conn("a")
		t := timesTopic(c, "t")
		for _, replica := range []int32{-1, -2, -3, 0, 1, 7} {
			r := offsetForLeaderEpoch(4, t.name, 0, -1, 0)
			r.ReplicaID = replica
			c.Say("replica %d", replica).Send(r)
		}
	}},
	{"epochs/several", func(s *Session) {
		c := s.Conn("a")
		t, u := timesTopic(c, "t"), c.topic("u", 2)
		for version := int16(2); version <= 4; version++ {
			r := offsetForLeaderEpoch(version, t.name, 0, -1, 0)
			r.Topics = append(r.Topics, offsetForLeaderEpoch(version, u.name, 1, 5, 0).Topics...)
			r.Topics = append(r.Topics, offsetForLeaderEpoch(version, s.Topic("nosuch"), 1, 5, 0).Topics...)
			r.Topics[1].Partitions = append(r.Topics[1].Partitions, r.Topics[0].Partitions...)
			c.Send(r)
			r.Topics[0].Partitions = append(r.Topics[0].Partitions, r.Topics[0].Partitions...)
			c.Say("partition twice").Send(r)
			r.Topics[0].Partitions = nil
			c.Say("no partitions").Send(r)
			r.Topics = nil
			c.Say("no topics").Send(r)
		}
	}},
}

// letWait gives a request that was sent the time to begin its wait; nothing tells
// that it has.
func letWait() { time.Sleep(400 * time.Millisecond) }

// timed sends req and says whether it was answered before the wait was over.
func (c *Conn) timed(req kmsg.Request, wait time.Duration) {
	begin := time.Now()
	c.Send(req)
	if time.Since(begin) < wait {
		c.s.out.printf("answered before the wait was over")
	} else {
		c.s.out.printf("answered after the wait")
	}
}

func offsetForLeaderEpoch(version int16, name string, partition, current, epoch int32) *kmsg.OffsetForLeaderEpochRequest {
	r := At(version, kmsg.NewPtrOffsetForLeaderEpochRequest())
	r.ReplicaID = -1
	rp := kmsg.NewOffsetForLeaderEpochRequestTopicPartition()
	rp.Partition, rp.CurrentLeaderEpoch, rp.LeaderEpoch = partition, current, epoch
	r.Topics = []kmsg.OffsetForLeaderEpochRequestTopic{{Topic: name, Partitions: []kmsg.OffsetForLeaderEpochRequestTopicPartition{rp}}}
	return r
}
