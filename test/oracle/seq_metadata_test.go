package oracle

import (
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// metadataSequences are Metadata and DescribeTopicPartitions. The first of them
// ask for all topics, so they come before most topics are there.
var metadataSequences = []sequence{
	{"metadata/all", func(s *Session) {
		c := s.Conn("a")
		c.topic("t", 2)
		c.topic("u", 1)
		for version := int16(0); version <= 13; version++ {
			r := metadata(version)
			if version > 0 {
				r.Topics = nil
			}
			c.Send(r)
		}
	}},
	{"metadata/all-described", func(s *Session) {
		c := s.Conn("a")
		c.topic("t", 2)
		c.Send(describeTopicPartitions(2000))
		c.Say("limit 2").Send(describeTopicPartitions(2))
		r := describeTopicPartitions(2000)
		r.Cursor = cursor(s.Topic("t"), 1)
		c.Say("from here on").Send(r)
		r.Cursor = cursor(s.Topic("nosuch"), 0)
		c.Say("from an unknown topic on").Send(r)
		r.Cursor = cursor("", 0)
		c.Say("from nothing on").Send(r)
		r.Cursor = cursor("zzz", 0)
		c.Say("from behind all on").Send(r)
		r.Cursor = cursor(s.Topic("t"), -1)
		c.Say("from partition -1 on").Send(r)
	}},
	{"metadata/by-name", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 3)
		for version := int16(0); version <= 13; version++ {
			c.Send(metadata(version, t.name))
		}
	}},
	{"metadata/none", func(s *Session) {
		c := s.Conn("a")
		for version := int16(1); version <= 13; version++ {
			c.Send(metadata(version))
		}
	}},
	{"metadata/unknown", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 1)
		for version := int16(4); version <= 13; version++ {
			r := metadata(version, s.Topic("nosuch"), t.name)
			r.AllowAutoTopicCreation = false
			c.Send(r)
		}
	}},
	{"metadata/invalid-names", func(s *Session) {
		c := s.Conn("a")
		for _, allow := range []bool{false, true} {
			for _, version := range []int16{0, 3, 4, 9, 13} {
				for _, name := range invalidNames {
					r := metadata(version, name)
					r.AllowAutoTopicCreation = allow
					c.Say("%.20q", name).Send(r)
				}
			}
		}
	}},
	{"metadata/duplicate-names", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 1)
		for _, version := range []int16{1, 9, 13} {
			r := metadata(version, t.name, s.Topic("nosuch"), t.name, s.Topic("nosuch"), "a b", "a b")
			r.AllowAutoTopicCreation = version < 4
			if version < 4 {
				r.Topics = append(r.Topics[:1], r.Topics[2], r.Topics[4], r.Topics[5])
			}
			c.Send(r)
		}
	}},
	{"metadata/auto-creation", func(s *Session) {
		c := s.Conn("a")
		for _, version := range []int16{0, 3, 4, 9, 13} {
			name := s.Topic(strings.Repeat("x", int(version)+1))
			r := metadata(version, name)
			r.AllowAutoTopicCreation = true
			c.Say("not there").Send(r)
			c.awaitLeader(name, 1)
			c.Say("there").Send(r)
		}
	}},
	{"metadata/auto-creation-of-several", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 1)
		r := metadata(9, s.Topic("y"), t.name, "a b", s.Topic("x"), s.Topic("x"), "")
		r.AllowAutoTopicCreation = true
		c.Send(r)
		c.awaitLeader(s.Topic("x"), 1)
		c.awaitLeader(s.Topic("y"), 1)
		c.Send(r)
	}},
	{"metadata/auto-creation-collides", func(s *Session) {
		c := s.Conn("a")
		c.topic("a.b", 1)
		r := metadata(9, s.Topic("a_b"))
		r.AllowAutoTopicCreation = true
		c.Say("not there").Send(r)
		c.Say("still not there").Send(r)
		r.AllowAutoTopicCreation = false
		c.Say("nor asked for").Send(r)
	}},
	{"metadata/by-id", func(s *Session) {
		c := s.Conn("a")
		t, u := c.topic("t", 1), c.topic("u", 1)
		unknown := [16]byte{1, 2, 3}
		for _, version := range []int16{10, 11, 12, 13} {
			c.Say("known").Send(metadataByID(version, t.id))
			c.Say("unknown").Send(metadataByID(version, unknown))
			c.Say("zero").Send(metadataByID(version, [16]byte{}))
			c.Say("several").Send(metadataByID(version, u.id, unknown, t.id))
			c.Say("twice").Send(metadataByID(version, t.id, t.id))
			both := metadata(version, t.name)
			both.Topics[0].TopicID = t.id
			c.Say("name and id").Send(both)
			both.Topics[0].TopicID = unknown
			c.Say("name and unknown id").Send(both)
			both.Topics[0].TopicID = u.id
			c.Say("name and the id of another").Send(both)
			mixed := metadata(version, t.name)
			mixed.Topics = append(mixed.Topics, metadataByID(version, u.id).Topics...)
			c.Say("one by name, one by id").Send(mixed)
			allow := metadataByID(version, unknown)
			allow.AllowAutoTopicCreation = true
			c.Say("unknown with auto creation").Send(allow)
		}
	}},
	{"metadata/authorized-operations", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 1)
		for version := int16(7); version <= 13; version++ {
			for _, cluster := range []bool{false, true} {
				for _, topics := range []bool{false, true} {
					r := metadata(version, t.name, s.Topic("nosuch"))
					r.AllowAutoTopicCreation = false
					r.IncludeClusterAuthorizedOperations, r.IncludeTopicAuthorizedOperations = cluster, topics
					c.Say("cluster %v, topics %v", cluster, topics).Send(r)
				}
			}
		}
	}},
	{"metadata/deleted", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 1)
		c.Ask(deleteTopics(6, t.name))
		c.awaitGone(t.name)
		r := metadata(12, t.name)
		r.AllowAutoTopicCreation = false
		c.Say("by name").Send(r)
		c.Say("by id").Send(metadataByID(12, t.id))
		again := c.topic("t", 2)
		c.Say("by name").Send(r)
		c.Say("by the old id").Send(metadataByID(12, t.id))
		c.Say("by the new id").Send(metadataByID(12, again.id))
	}},
	{"metadata/internal-topic", func(s *Session) {
		c := s.Conn("a")
		r := metadata(12, "__consumer_offsets")
		r.AllowAutoTopicCreation = true
		c.Say("not there").Send(r)
		c.awaitLeader("__consumer_offsets", 50)
		c.Say("there").Send(r)
		c.Say("described").Send(describeTopicPartitions(3, "__consumer_offsets"))
		c.Send(describeConfigs(4, configResource(kmsg.ConfigResourceTypeTopic, "__consumer_offsets")))
	}},

	{"describetopicpartitions/limits", func(s *Session) {
		c := s.Conn("a")
		t, u := c.topic("t", 4), c.topic("u", 3)
		for _, limit := range []int32{0, -1, 1, 2, 3, 4, 5, 6, 7, 8, 2000, 2001, 2147483647} {
			c.Say("limit %d", limit).Send(describeTopicPartitions(limit, u.name, t.name))
		}
	}},
	{"describetopicpartitions/cursors", func(s *Session) {
		c := s.Conn("a")
		t, u, v := c.topic("t", 3), c.topic("u", 2), c.topic("v", 1)
		for _, from := range []struct {
			topic     string
			partition int32
		}{{t.name, 0}, {t.name, 2}, {t.name, 3}, {t.name, 100}, {u.name, 1}, {v.name, 0}, {v.name, 1}, {t.name, -1},
			{s.Topic("nosuch"), 0}, {s.Topic("nosuch"), -1}, {"", 0}, {"zzz", 0}} {
			for _, limit := range []int32{1, 3, 2000} {
				r := describeTopicPartitions(limit, v.name, t.name, u.name)
				r.Cursor = cursor(from.topic, from.partition)
				c.Say("from %q %d, limit %d", from.topic, from.partition, limit).Send(r)
			}
		}
	}},
	{"describetopicpartitions/unknown", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 2)
		for _, limit := range []int32{1, 2, 2000} {
			c.Say("limit %d", limit).Send(describeTopicPartitions(limit, s.Topic("nosuch"), t.name, s.Topic("zzz"), s.Topic("a")))
		}
		c.Say("names twice").Send(describeTopicPartitions(2000, t.name, t.name, s.Topic("nosuch"), s.Topic("nosuch")))
		for _, name := range invalidNames {
			c.Say("%.20q", name).Send(describeTopicPartitions(2000, name))
		}
		r := describeTopicPartitions(2000, s.Topic("nosuch"), t.name)
		r.Cursor = cursor(s.Topic("nosuch"), 0)
		c.Say("cursor at one that was asked for").Send(r)
		r.Cursor.Partition = 5
		c.Say("and at partition 5").Send(r)
	}},
}

// invalidNames are names that no topic may have.
var invalidNames = []string{"", ".", "..", "a b", "a/b", "ä", "a:b", "a\x00", strings.Repeat("x", 250)}

func metadataByID(version int16, ids ...[16]byte) *kmsg.MetadataRequest {
	r := metadata(version)
	for _, id := range ids {
		t := kmsg.NewMetadataRequestTopic()
		t.TopicID = id
		r.Topics = append(r.Topics, t)
	}
	return r
}

func describeTopicPartitions(limit int32, names ...string) *kmsg.DescribeTopicPartitionsRequest {
	r := At(0, kmsg.NewPtrDescribeTopicPartitionsRequest())
	r.ResponsePartitionLimit = limit
	for _, name := range names {
		r.Topics = append(r.Topics, kmsg.DescribeTopicPartitionsRequestTopic{Topic: name})
	}
	return r
}

func cursor(topic string, partition int32) *kmsg.DescribeTopicPartitionsRequestCursor {
	return &kmsg.DescribeTopicPartitionsRequestCursor{Topic: topic, Partition: partition}
}
