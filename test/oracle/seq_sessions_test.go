package oracle

import "github.com/twmb/franz-go/pkg/kmsg"

// sessionSequences are incremental fetch sessions (KIP-227).
var sessionSequences = []sequence{
	{"sessions/create-and-continue", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 3)
		for _, version := range []int16{7, 11, 12, 13, 18} {
			id := c.open(version, at(t, 0, 0), at(t, 1, 0), at(t, 2, 0))
			c.Say("nothing new").Send(inSession(fetch(version), id, 1))
			produce(c, t.name, 1, good)
			end := c.end(t.name, 1)
			c.Say("one has records").Send(inSession(fetch(version, at(t, 1, end-3)), id, 2))
			c.Say("it was not moved on").Send(inSession(fetch(version), id, 3))
			c.Say("moved on").Send(inSession(fetch(version, at(t, 1, end)), id, 4))
			c.Say("nothing new").Send(inSession(fetch(version), id, 5))
			c.Say("close").Send(inSession(fetch(version), id, -1))
		}
	}},
	{"sessions/epochs", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 1)
		for _, version := range []int16{7, 12, 13} {
			id := c.open(version, at(t, 0, 0))
			c.Say("epoch 2 first").Send(inSession(fetch(version), id, 2))
			c.Say("epoch 1").Send(inSession(fetch(version), id, 1))
			c.Say("epoch 1 again").Send(inSession(fetch(version), id, 1))
			c.Say("epoch -2").Send(inSession(fetch(version), id, -2))
			c.Say("epoch 2").Send(inSession(fetch(version), id, 2))
			c.Say("epoch 2147483647").Send(inSession(fetch(version), id, 2147483647))
		}
	}},
	{"sessions/unknown", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 1)
		for _, version := range []int16{7, 12, 13} {
			c.Say("id 77").Send(inSession(fetch(version, at(t, 0, 0)), 77, 1))
			c.Say("negative id").Send(inSession(fetch(version, at(t, 0, 0)), -7, 1))
			c.Say("id 0").Send(inSession(fetch(version, at(t, 0, 0)), 0, 1))
			c.Say("id 77, epoch -1").Send(inSession(fetch(version, at(t, 0, 0)), 77, -1))
			c.Say("id 77, epoch 0").Send(inSession(fetch(version, at(t, 0, 0)), 77, 0))
		}
	}},
	{"sessions/close-and-use", func(s *Session) {
		c := s.Conn("a")
		t := timesTopic(c, "t")
		id := c.open(12, at(t, 0, 0))
		c.Say("close, with partitions").Send(inSession(fetch(12, at(t, 0, 3)), id, -1))
		c.Say("use").Send(inSession(fetch(12), id, 1))
		c.Say("close again").Send(inSession(fetch(12), id, -1))
	}},
	{"sessions/replace", func(s *Session) {
		c := s.Conn("a")
		t := timesTopic(c, "t")
		id := c.open(12, at(t, 0, 0))
		c.Say("epoch 0 of a session").Send(inSession(fetch(12, at(t, 0, 9)), id, 0))
		c.Say("the old one").Send(inSession(fetch(12), id, 1))
	}},
	{"sessions/empty", func(s *Session) {
		c := s.Conn("a")
		t := timesTopic(c, "t")
		c.Say("create without partitions").Send(inSession(fetch(12), 0, 0))
		id := c.open(12, at(t, 0, 0))
		c.Say("forget the only one").Send(forget(inSession(fetch(12), id, 1), t, 0))
		c.Say("use").Send(inSession(fetch(12), id, 2))
	}},
	{"sessions/add-and-forget", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 3)
		u := timesTopic(c, "u")
		for _, version := range []int16{7, 12, 13} {
			id := c.open(version, at(t, 0, 0))
			c.Say("add").Send(inSession(fetch(version, at(t, 1, 0), at(u, 0, 0)), id, 1))
			c.Say("forget").Send(forget(inSession(fetch(version), id, 2), u, 0))
			c.Say("forget what is not there").Send(forget(inSession(fetch(version), id, 3), t, 2, 7))
			c.Say("forget and add").Send(forget(inSession(fetch(version, at(t, 2, 0)), id, 4), t, 0))
			c.Say("forget what is added").Send(forget(inSession(fetch(version, at(u, 0, 3)), id, 5), u, 0))
			c.Say("nothing").Send(inSession(fetch(version), id, 6))
			c.Say("add again").Send(inSession(fetch(version, at(u, 0, 6)), id, 7))
			c.Say("close").Send(inSession(fetch(version), id, -1))
		}
	}},
	{"sessions/forget-without-session", func(s *Session) {
		c := s.Conn("a")
		t := timesTopic(c, "t")
		c.Send(forget(fetch(12, at(t, 0, 0)), t, 0))
		c.Say("create").Send(forget(inSession(fetch(12, at(t, 0, 0)), 0, 0), t, 0))
	}},
	{"sessions/unknown-topics", func(s *Session) {
		c := s.Conn("a")
		t := timesTopic(c, "t")
		none := topic{s.Topic("nosuch"), [16]byte{4, 4}}
		for _, version := range []int16{7, 12, 13} {
			id := c.open(version, at(none, 0, 0), at(t, 5, 0), at(t, 0, 9))
			c.Say("again").Send(inSession(fetch(version), id, 1))
			c.Say("forget it").Send(forget(inSession(fetch(version), id, 2), none, 0))
			c.Say("again").Send(inSession(fetch(version), id, 3))
			c.Say("all unknown").Send(inSession(fetch(version, at(none, 0, 0), at(none, 1, 0)), 0, 0))
		}
	}},
	{"sessions/a-topic-comes", func(s *Session) {
		c := s.Conn("a")
		t := timesTopic(c, "t")
		later := topic{name: s.Topic("later")}
		id := c.open(12, at(later, 0, 0), at(t, 0, 9))
		c.topic("later", 1)
		c.Say("it is there").Send(inSession(fetch(12), id, 1))
		produce(c, later.name, 0, good)
		c.Say("it has records").Send(inSession(fetch(12), id, 2))
		c.Say("moved on").Send(inSession(fetch(12, at(later, 0, 3)), id, 3))
	}},
	{"sessions/a-topic-goes", func(s *Session) {
		c := s.Conn("a")
		for _, version := range []int16{12, 13} {
			t, u := timesTopic(c, "t"), timesTopic(c, "u")
			id := c.open(version, at(t, 0, 9), at(u, 0, 9))
			c.Ask(deleteTopics(6, t.name))
			c.awaitGone(t.name)
			c.Say("it is gone").Send(inSession(fetch(version), id, 1))
			c.Say("still").Send(inSession(fetch(version), id, 2))
			t2 := c.topic("t", 1)
			c.Say("another of the name").Send(inSession(fetch(version), id, 3))
			c.Say("it is asked for").Send(inSession(fetch(version, at(t2, 0, 0)), id, 4))
			c.Ask(deleteTopics(6, t.name, u.name))
			c.awaitGone(t.name)
			c.awaitGone(u.name)
		}
	}},
	{"sessions/errors", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 2)
		id := c.open(12, at(t, 0, 5), at(t, 1, 0))
		c.Say("still out of range").Send(inSession(fetch(12), id, 1))
		c.Say("in range").Send(inSession(fetch(12, at(t, 0, 0)), id, 2))
		c.Say("nothing").Send(inSession(fetch(12), id, 3))
		c.Say("wrong epoch").Send(inSession(fetch(12, at(t, 1, 0).epochs(7, -1)), id, 4))
		c.Say("still").Send(inSession(fetch(12), id, 5))
		c.Say("diverging").Send(inSession(fetch(12, at(t, 1, 0).epochs(0, 4)), id, 6))
		c.Say("still").Send(inSession(fetch(12), id, 7))
		c.Say("right").Send(inSession(fetch(12, at(t, 1, 0).epochs(0, -1)), id, 8))
		c.Say("nothing").Send(inSession(fetch(12), id, 9))
	}},
	{"sessions/names-and-ids", func(s *Session) {
		c := s.Conn("a")
		t := timesTopic(c, "t")
		byName := c.open(12, at(t, 0, 9))
		c.Say("by id in a session of names").Send(inSession(fetch(13), byName, 1))
		c.Say("by name").Send(inSession(fetch(12), byName, 1))
		c.Say("by name, next").Send(inSession(fetch(12), byName, 2))
		byID := c.open(13, at(t, 0, 9))
		c.Say("by name in a session of ids").Send(inSession(fetch(12), byID, 1))
		c.Say("by id").Send(inSession(fetch(13), byID, 1))
		c.Say("by id, next").Send(inSession(fetch(18), byID, 2))
		c.Say("close by name").Send(inSession(fetch(12), byID, -1))
	}},
	{"sessions/order", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 4)
		size := int32(len(good.Bytes()))
		for partition := range int32(4) {
			for range 3 {
				produce(c, t.name, partition, good)
			}
		}
		r := inSession(fetch(12, at(t, 2, 0), at(t, 0, 0), at(t, 3, 0), at(t, 1, 0)), 0, 0)
		r.MaxBytes = size
		id := c.Say("one batch").Send(r).(*kmsg.FetchResponse).SessionID
		for epoch := range int32(6) {
			r := inSession(fetch(12), id, epoch+1)
			r.MaxBytes = size
			c.Say("one batch").Send(r)
		}
		r = inSession(fetch(12, at(t, 1, 3).limit(size)), id, 7)
		c.Say("all that fits").Send(r)
	}},
	{"sessions/high-watermark-is-news", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 2)
		id := c.open(12, at(t, 0, 0), at(t, 1, 0))
		produce(c, t.name, 0, good)
		r := inSession(fetch(12), id, 1)
		r.MaxBytes = 0
		c.Say("no room").Send(r)
		c.Say("past it").Send(inSession(fetch(12, at(t, 0, 3)), id, 2))
		produce(c, t.name, 0, good)
		c.Say("limit 0").Send(inSession(fetch(12, at(t, 0, 3).limit(0)), id, 3))
		c.Say("again").Send(inSession(fetch(12), id, 4))
	}},
	{"sessions/two-at-once", func(s *Session) {
		c, d := s.Conn("a"), s.Conn("b")
		t := timesTopic(c, "t")
		id := c.open(12, at(t, 0, 9))
		d.Say("from another connection").Send(inSession(fetch(12), id, 1))
		c.Say("from the first").Send(inSession(fetch(12), id, 2))
		other := d.open(12, at(t, 0, 6))
		c.Say("session of the other").Send(inSession(fetch(12, at(t, 0, 9)), other, 1))
	}},
	{"sessions/wait", func(s *Session) {
		c, p := s.Conn("a"), s.Conn("p")
		t := c.topic("t", 2)
		id := c.open(12, at(t, 0, 0), at(t, 1, 0))
		for i := range int64(3) {
			r := inSession(fetch(12), id, int32(i)+1)
			if i > 0 {
				r = inSession(fetch(12, at(t, int32(i+1)%2, (i-1)/2*3+3)), id, int32(i)+1)
			}
			r.MaxWaitMillis = 15_000
			end := c.Begin(r)
			produce(p, t.name, int32(i)%2, good)
			end()
		}
	}},
	{"sessions/old-versions-ignore-them", func(s *Session) {
		c := s.Conn("a")
		t := timesTopic(c, "t")
		for _, version := range []int16{4, 5, 6} {
			c.Send(inSession(fetch(version, at(t, 0, 3)), 0, 0))
			c.Send(inSession(fetch(version, at(t, 0, 3)), 55, 3))
		}
	}},
}

// open creates a session and gives its id.
func (c *Conn) open(version int16, wants ...want) int32 {
	return c.Say("create").Send(inSession(fetch(version, wants...), 0, 0)).(*kmsg.FetchResponse).SessionID
}

// end is the end of a partition's log.
func (c *Conn) end(name string, partition int32) int64 {
	return c.Ask(listOffsetsRequest(7, name, partition)).(*kmsg.ListOffsetsResponse).Topics[0].Partitions[0].Offset
}

// forget adds partitions that the session is to forget.
func forget(r *kmsg.FetchRequest, t topic, partitions ...int32) *kmsg.FetchRequest {
	r.ForgottenTopics = append(r.ForgottenTopics, kmsg.FetchRequestForgottenTopic{Topic: t.name, TopicID: t.id, Partitions: partitions})
	return r
}
