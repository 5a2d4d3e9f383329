package oracle

import (
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// topicSequences are CreateTopics, DeleteTopics and CreatePartitions.
var topicSequences = []sequence{
	{"create/versions", func(s *Session) {
		c := s.Conn("a")
		for version := int16(2); version <= 7; version++ {
			c.Send(createTopics(version, newTopic(s.Topic(fmt.Sprint("v", version)), 2, 1, "retention.ms", "100000", "cleanup.policy", "compact")))
		}
		c.awaitLeader(s.Topic("v7"), 2)
		c.Send(metadata(9, s.Topic("v2"), s.Topic("v7")))
		for _, version := range []int16{0, 1, 8} {
			s.Conn("b").Body("version not served", At(version, createTopics(7)), nil)
		}
	}},
	{"create/validate-only", func(s *Session) {
		c := s.Conn("a")
		for version := int16(2); version <= 7; version++ {
			r := createTopics(version, newTopic(s.Topic("t"), 2, 1, "retention.ms", "100000"), newTopic(s.Topic("bad name"), 1, 1))
			r.ValidateOnly = true
			c.Send(r)
		}
		r := metadata(9, s.Topic("t"))
		r.AllowAutoTopicCreation = false
		c.Send(r)
	}},
	{"create/numbers", func(s *Session) {
		c := s.Conn("a")
		for _, version := range []int16{2, 4, 7} {
			for _, partitions := range []int32{0, -1, -2, 1, -2147483648} {
				for _, factor := range []int16{0, -1, -2, 1, 2, 32767, -32768} {
					r := createTopics(version, newTopic(s.Topic("t"), partitions, factor))
					r.ValidateOnly = true
					c.Say("%d partitions, factor %d", partitions, factor).Send(r)
				}
			}
		}
	}},
	{"create/too-many-partitions", func(s *Session) {
		c := s.Conn("a")
		for _, n := range []int32{9_998, 9_999, 10_000, 10_001, 2147483647} {
			r := createTopics(4, newTopic(s.Topic("t"), n, 1))
			r.ValidateOnly = true
			c.Say("%d", n).Send(r)
		}
		r := createTopics(4, newTopic(s.Topic("t"), 6_000, 1), newTopic(s.Topic("u"), 6_000, 1))
		r.ValidateOnly = true
		c.Say("6000 twice").Send(r)
	}},
	{"create/names", func(s *Session) {
		c := s.Conn("a")
		for _, version := range []int16{2, 7} {
			for _, name := range append(invalidNames, strings.Repeat("x", 249), "__cluster_metadata", "__remote_log_metadata", "-", "_", ".a", "A.B-c_9") {
				r := createTopics(version, newTopic(name, 1, 1))
				r.ValidateOnly = true
				c.Say("%.30q", name).Send(r)
			}
		}
	}},
	{"create/exists", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 1)
		for version := int16(2); version <= 7; version++ {
			c.Send(createTopics(version, newTopic(t.name, 1, 1)))
			c.Say("and a bad configuration").Send(createTopics(version, newTopic(t.name, 1, 1, "retention.ms", "x")))
			c.Say("and a bad number").Send(createTopics(version, newTopic(t.name, 0, 1)))
		}
	}},
	{"create/duplicates", func(s *Session) {
		c := s.Conn("a")
		for _, version := range []int16{2, 7} {
			c.Send(createTopics(version, newTopic(s.Topic("t"), 1, 1), newTopic(s.Topic("u"), 0, 1), newTopic(s.Topic("t"), 2, 1)))
			c.Say("invalid names").Send(createTopics(version, newTopic("a b", 1, 1), newTopic("a b", 1, 1), newTopic("", 1, 1), newTopic("", 1, 1)))
		}
	}},
	{"create/collisions", func(s *Session) {
		c := s.Conn("a")
		c.topic("x.y", 1)
		for _, version := range []int16{2, 7} {
			c.Say("with one that is there").Send(createTopics(version, newTopic(s.Topic("x_y"), 1, 1)))
		}
		c.Say("in one request").Send(createTopics(4, newTopic(s.Topic("p.q"), 1, 1), newTopic(s.Topic("p_q"), 1, 1)))
		c.Say("with two that are there").Send(createTopics(4, newTopic(s.Topic("p.q"), 1, 1), newTopic(s.Topic("p_q"), 1, 1)))
		u := c.topic("z_z", 1)
		c.Ask(deleteTopics(6, u.name))
		c.Say("with one that was there").Send(createTopics(4, newTopic(s.Topic("z.z"), 1, 1)))
	}},
	{"create/assignments", func(s *Session) {
		c := s.Conn("a")
		for i, a := range []struct {
			what       string
			partitions int32
			factor     int16
			replicas   map[int32][]int32
		}{
			{"good", -1, -1, map[int32][]int32{0: {1}, 1: {1}}},
			{"with a number of partitions", 2, -1, map[int32][]int32{0: {1}, 1: {1}}},
			{"with a factor", -1, 1, map[int32][]int32{0: {1}}},
			{"with both", 1, 1, map[int32][]int32{0: {1}}},
			{"with zeros", 0, 0, map[int32][]int32{0: {1}}},
			{"a gap", -1, -1, map[int32][]int32{0: {1}, 2: {1}}},
			{"from 1", -1, -1, map[int32][]int32{1: {1}}},
			{"negative", -1, -1, map[int32][]int32{-1: {1}}},
			{"no replicas", -1, -1, map[int32][]int32{0: {}}},
			{"unknown broker", -1, -1, map[int32][]int32{0: {7}}},
			{"negative broker", -1, -1, map[int32][]int32{0: {-1}}},
			{"a broker twice", -1, -1, map[int32][]int32{0: {1, 1}}},
			{"one unknown of two", -1, -1, map[int32][]int32{0: {1, 7}}},
			{"different factors", -1, -1, map[int32][]int32{0: {1}, 1: {1, 7}}},
		} {
			for _, version := range []int16{2, 7} {
				t := newTopic(s.Topic(fmt.Sprint("t", i)), a.partitions, a.factor)
				for p := int32(-1); p < 3; p++ {
					if replicas, ok := a.replicas[p]; ok {
						t.ReplicaAssignment = append(t.ReplicaAssignment, kmsg.CreateTopicsRequestTopicReplicaAssignment{Partition: p, Replicas: replicas})
					}
				}
				r := createTopics(version, t)
				r.ValidateOnly = true
				c.Say("%s", a.what).Send(r)
			}
		}
		t := newTopic(s.Topic("made"), -1, -1)
		t.ReplicaAssignment = []kmsg.CreateTopicsRequestTopicReplicaAssignment{{Partition: 1, Replicas: []int32{1}}, {Partition: 0, Replicas: []int32{1}}}
		c.Say("made").Send(createTopics(7, t))
		t = newTopic(s.Topic("twice"), -1, -1)
		t.ReplicaAssignment = []kmsg.CreateTopicsRequestTopicReplicaAssignment{{Partition: 0, Replicas: []int32{1}}, {Partition: 0, Replicas: []int32{1}}}
		c.Say("a partition twice").Send(createTopics(7, t))
	}},
	{"create/config-values", func(s *Session) {
		c := s.Conn("a")
		for _, key := range topicKeys {
			r := createTopics(4)
			r.ValidateOnly = true
			for i, value := range configValues {
				r.Topics = append(r.Topics, newTopic(s.Topic(fmt.Sprintf("%02d", i)), 1, 1, key, value))
			}
			c.Say("%s", key).Send(r)
		}
	}},
	{"create/config-lists", func(s *Session) {
		c := s.Conn("a")
		for key, values := range ordered[[]string](
			"cleanup.policy", []string{"compact", "delete", "compact,delete", "delete,compact", "delete,delete", "compact,", ",compact", " compact , delete ", "Compact", "none", "delete,none", ","},
			"leader.replication.throttled.replicas", []string{"*", "none", "0:1", "0:1,1:2", "0:1,", "0", "a:b", "0:1:2", "-1:0", "*,0:1", " 0:1 "},
			"follower.replication.throttled.replicas", []string{"*", "0:1,0:1", "x"},
			"compression.type", []string{"gzip", "GZIP", "snappy", "lz4", "zstd", "uncompressed", "producer", "none", "zip", " gzip "},
			"message.timestamp.type", []string{"CreateTime", "LogAppendTime", "createtime", "NoTimestampType"},
			"min.cleanable.dirty.ratio", []string{"0", "1", "0.5", "1.1", "-0.1", "1e-3", "NaN", "Infinity", ".5", "5d"},
			"compression.gzip.level", []string{"-1", "0", "1", "9", "10", "-2"},
			"compression.lz4.level", []string{"0", "1", "17", "18", "-1"},
			"compression.zstd.level", []string{"-131072", "-131073", "0", "22", "23"},
			"segment.bytes", []string{"1048575", "1048576", "2147483647", "2147483648"},
			"retention.ms", []string{"-1", "-2", "0"},
			"local.retention.ms", []string{"-2", "-1", "-3", "1000"},
			"local.retention.bytes", []string{"-2", "-1", "-3", "1000"},
			"preallocate", []string{"true", "TRUE", "True", " true", "yes", "0"},
		) {
			r := createTopics(4)
			r.ValidateOnly = true
			for i, value := range values {
				r.Topics = append(r.Topics, newTopic(s.Topic(fmt.Sprintf("%02d", i)), 1, 1, key, value))
			}
			c.Say("%s", key).Send(r)
		}
	}},
	{"create/config-notations", func(s *Session) {
		c := s.Conn("a")
		for key, values := range ordered[[]string](
			"retention.ms", []string{"٣", "１２"},
			"min.cleanable.dirty.ratio", []string{"0x1p-2"},
		) {
			r := createTopics(4)
			r.ValidateOnly = true
			for i, value := range values {
				r.Topics = append(r.Topics, newTopic(s.Topic(fmt.Sprintf("%02d", i)), 1, 1, key, value))
			}
			c.Say("%s", key).Send(r)
		}
	}},
	{"create/config-spaces", func(s *Session) {
		c := s.Conn("a")
		r := createTopics(7, newTopic(s.Topic("t"), 1, 1, "compression.type", " gzip ", "retention.ms", " 12 ", "cleanup.policy", " compact , delete "))
		r.ValidateOnly = true
		c.Say("validate").Send(r)
		r.ValidateOnly = false
		c.Say("made").Send(r)
		c.awaitLeader(s.Topic("t"), 1)
		c.Send(describeConfigs(4, configResource(kmsg.ConfigResourceTypeTopic, s.Topic("t"))))
	}},
	{"create/config-combinations", func(s *Session) {
		c := s.Conn("a")
		for i, configs := range [][]string{
			{"min.compaction.lag.ms", "100", "max.compaction.lag.ms", "99"},
			{"min.compaction.lag.ms", "100", "max.compaction.lag.ms", "100"},
			{"retention.ms", "1000", "local.retention.ms", "2000"},
			{"retention.ms", "1000", "local.retention.ms", "2000", "remote.storage.enable", "true"},
			{"retention.bytes", "1000", "local.retention.bytes", "2000", "remote.storage.enable", "true"},
			{"remote.storage.enable", "true"},
			{"remote.storage.enable", "false", "remote.log.delete.on.disable", "true"},
			{"remote.storage.enable", "true", "cleanup.policy", "compact"},
			{"remote.log.copy.disable", "true"},
			{"retention.ms", "1", "retention.ms", "2"},
			{"retention.ms", "x", "retention.ms", "2"},
			{"retention.ms", "2", "retention.ms", "x"},
			{"retention.ms", "x", "segment.ms", "y"},
			{"nosuch", "1"},
			{"", "1"},
			{"nosuch", "1", "retention.ms", "x"},
			{"log.retention.ms", "1"},
			{"message.format.version", "2.8"},
			{"message.downconversion.enable", "false"},
			{"message.timestamp.difference.max.ms", "5"},
			{"unclean.leader.election.enable", "true", "min.insync.replicas", "3"},
			{"Retention.ms", "1"},
			{" retention.ms", "1"},
		} {
			for _, version := range []int16{4, 7} {
				r := createTopics(version, newTopic(s.Topic(fmt.Sprintf("%02d", i)), 1, 1, configs...))
				r.ValidateOnly = true
				c.Say("%q", configs).Send(r)
			}
		}
	}},
	{"create/config-null", func(s *Session) {
		c := s.Conn("a")
		for _, version := range []int16{2, 4, 7} {
			for _, key := range []string{"retention.ms", "cleanup.policy", "nosuch"} {
				r := createTopics(version, newTopic(s.Topic("t"), 1, 1, key, ""))
				r.Topics[0].Configs[0].Value = nil
				r.ValidateOnly = true
				c.Say("%s", key).Send(r)
			}
		}
	}},
	{"create/several", func(s *Session) {
		c := s.Conn("a")
		for _, version := range []int16{2, 4, 7} {
			v := fmt.Sprint(version)
			c.Send(createTopics(version, newTopic(s.Topic("a"+v), 1, 1), newTopic("a b", 1, 1), newTopic(s.Topic("b"+v), 3, 1),
				newTopic(s.Topic("c"+v), 1, 5), newTopic(s.Topic("d"+v), 1, 1, "retention.ms", "x")))
			c.Say("no topics").Send(createTopics(version))
		}
	}},
	{"create/timeouts", func(s *Session) {
		c := s.Conn("a")
		for i, timeout := range []int32{0, -1, -2147483648, 2147483647} {
			for _, validate := range []bool{true, false} {
				r := createTopics(4, newTopic(s.Topic(fmt.Sprint("t", i)), 1, 1))
				r.TimeoutMillis, r.ValidateOnly = timeout, validate
				c.Say("timeout %d, validate %v", timeout, validate).Send(r)
			}
		}
	}},

	{"delete/by-name", func(s *Session) {
		c := s.Conn("a")
		for version := int16(1); version <= 6; version++ {
			t := c.topic("t", 2)
			c.Send(deleteTopics(version, t.name))
			c.Say("again").Send(deleteTopics(version, t.name))
			c.awaitGone(t.name)
		}
		for _, version := range []int16{0, 7} {
			s.Conn("b").Body("version not served", At(version, deleteTopics(6)), nil)
		}
	}},
	{"delete/by-id", func(s *Session) {
		c := s.Conn("a")
		t, u := c.topic("t", 1), c.topic("u", 1)
		c.Say("unknown").Send(deleteByID([16]byte{1, 1}))
		c.Say("zero").Send(deleteByID([16]byte{}))
		c.Say("reserved").Send(deleteByID([16]byte{15: 1}))
		c.Send(deleteByID(t.id))
		c.Say("again").Send(deleteByID(t.id))
		both := deleteTopics(6, u.name)
		both.Topics[0].TopicID = u.id
		c.Say("name and id").Send(both)
		c.Say("it is there").Send(metadata(9, u.name))
	}},
	{"delete/duplicates", func(s *Session) {
		c := s.Conn("a")
		t, u := c.topic("t", 1), c.topic("u", 1)
		for _, version := range []int16{1, 5, 6} {
			c.Say("name twice").Send(deleteTopics(version, t.name, t.name))
			c.Say("unknown name twice").Send(deleteTopics(version, s.Topic("nosuch"), s.Topic("nosuch"), s.Topic("nosuch")))
		}
		c.Say("id twice").Send(deleteByID(t.id, t.id))
		c.Say("unknown id twice").Send(deleteByID([16]byte{7}, [16]byte{7}))
		r := deleteTopics(6, t.name)
		r.Topics = append(r.Topics, deleteByID(t.id).Topics...)
		c.Say("name, and its id").Send(r)
		r = deleteTopics(6, t.name)
		r.Topics = append(r.Topics, deleteByID(t.id, u.id).Topics...)
		c.Say("name, its id, and another").Send(r)
		c.Send(metadata(9, t.name))
	}},
	{"delete/unknown-and-invalid", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 1)
		for version := int16(1); version <= 6; version++ {
			c.Say("unknown").Send(deleteTopics(version, s.Topic("nosuch")))
			c.Say("invalid").Send(deleteTopics(version, "a b", "", "."))
			c.Say("none").Send(deleteTopics(version))
		}
		neither := deleteTopics(6)
		neither.Topics = make([]kmsg.DeleteTopicsRequestTopic, 2)
		c.Say("neither name nor id").Send(neither)
		neither.Topics = append(neither.Topics, deleteTopics(6, t.name, s.Topic("nosuch")).Topics...)
		c.Say("neither, and others").Send(neither)
	}},
	{"delete/timeouts", func(s *Session) {
		c := s.Conn("a")
		for _, timeout := range []int32{0, -1} {
			t := c.topic(fmt.Sprint("t", -timeout), 1)
			r := deleteTopics(6, t.name)
			r.TimeoutMillis = timeout
			c.Say("timeout %d", timeout).Send(r)
		}
	}},
	{"delete/and-create-again", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 1)
		produce(c, t.name, 0, good)
		c.Pipeline(deleteTopics(6, t.name), createTopics(7, newTopic(t.name, 2, 1)))
		c.awaitLeader(t.name, 2)
		c.Send(metadata(12, t.name))
		c.Say("the new one").Send(fetch(12, at(t, 0, 0), at(t, 1, 0)))
		c.Say("by the old id").Send(fetch(13, at(t, 0, 0)))
		c.Say("by the old id").Send(produceTo(13, 1, t, 0, good.Bytes()))
	}},

	{"partitions/versions", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 1)
		for version := int16(0); version <= 3; version++ {
			c.Send(createPartitions(version, t.name, int32(version)+2))
		}
		c.awaitLeader(t.name, 5)
		c.Send(metadata(9, t.name))
	}},
	{"partitions/counts", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 3)
		for _, version := range []int16{0, 3} {
			for _, count := range []int32{3, 2, 1, 0, -1, -2147483648, 10_004, 2147483647} {
				r := createPartitions(version, t.name, count)
				r.ValidateOnly = true
				c.Say("%d", count).Send(r)
			}
		}
	}},
	{"partitions/unknown-and-invalid", func(s *Session) {
		c := s.Conn("a")
		for _, version := range []int16{0, 3} {
			for _, name := range append([]string{s.Topic("nosuch")}, invalidNames...) {
				c.Say("%.20q", name).Send(createPartitions(version, name, 3))
			}
		}
	}},
	{"partitions/assignments", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 1)
		for what, replicas := range ordered[[][]int32](
			"good", [][]int32{{1}, {1}},
			"too few", [][]int32{{1}},
			"too many", [][]int32{{1}, {1}, {1}},
			"none", [][]int32{},
			"no replicas", [][]int32{{1}, {}},
			"unknown broker", [][]int32{{7}, {1}},
			"negative broker", [][]int32{{-1}, {1}},
			"a broker twice", [][]int32{{1, 1}, {1, 1}},
			"another factor", [][]int32{{1, 7}, {1, 7}},
			"different factors", [][]int32{{1}, {1, 7}},
		) {
			for _, version := range []int16{0, 3} {
				r := createPartitions(version, t.name, 3)
				r.ValidateOnly = true
				r.Topics[0].Assignment = []kmsg.CreatePartitionsRequestTopicAssignment{}
				for _, list := range replicas {
					r.Topics[0].Assignment = append(r.Topics[0].Assignment, kmsg.CreatePartitionsRequestTopicAssignment{Replicas: list})
				}
				c.Say("%s", what).Send(r)
			}
		}
		r := createPartitions(3, t.name, 2)
		r.Topics[0].Assignment = []kmsg.CreatePartitionsRequestTopicAssignment{{Replicas: []int32{1}}}
		c.Say("made").Send(r)
		c.awaitLeader(t.name, 2)
		c.Send(metadata(9, t.name))
	}},
	{"partitions/several", func(s *Session) {
		c := s.Conn("a")
		t, u := c.topic("t", 1), c.topic("u", 1)
		for _, version := range []int16{0, 3} {
			r := createPartitions(version, t.name, int32(version)+2)
			r.Topics = append(r.Topics, createPartitions(version, s.Topic("nosuch"), 2).Topics...)
			r.Topics = append(r.Topics, createPartitions(version, u.name, 1).Topics...)
			c.Send(r)
			r.Topics = append(r.Topics, createPartitions(version, t.name, 9).Topics...)
			c.Say("a topic twice").Send(r)
			r.Topics = nil
			c.Say("none").Send(r)
		}
	}},
	{"partitions/validate-only-and-timeouts", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 1)
		r := createPartitions(3, t.name, 2)
		r.ValidateOnly = true
		c.Say("validate").Send(r)
		c.Send(metadata(9, t.name))
		for _, timeout := range []int32{0, -1} {
			r := createPartitions(3, t.name, 2)
			r.TimeoutMillis = timeout
			c.Say("timeout %d", timeout).Send(r)
		}
	}},
	{"partitions/written-at-once", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 1)
		produce(c, t.name, 0, good)
		c.Ask(createPartitions(3, t.name, 3))
		c.awaitLeader(t.name, 3)
		c.Send(produceTo(9, -1, t, 2, good.Bytes()))
		c.Send(fetch(12, at(t, 0, 0), at(t, 1, 0), at(t, 2, 0)))
	}},
}

// topicKeys are the configurations of topics.
var topicKeys = []string{
	"cleanup.policy", "compression.gzip.level", "compression.lz4.level", "compression.type", "compression.zstd.level",
	"delete.retention.ms", "errors.deadletterqueue.group.enable", "file.delete.delay.ms", "flush.messages", "flush.ms",
	"follower.replication.throttled.replicas", "index.interval.bytes", "leader.replication.throttled.replicas",
	"local.retention.bytes", "local.retention.ms", "max.compaction.lag.ms", "max.decompressed.message.bytes",
	"max.message.bytes", "message.timestamp.after.max.ms", "message.timestamp.before.max.ms", "message.timestamp.type",
	"min.cleanable.dirty.ratio", "min.compaction.lag.ms", "min.insync.replicas", "preallocate", "remote.log.copy.disable",
	"remote.log.delete.on.disable", "remote.storage.enable", "retention.bytes", "retention.ms", "segment.bytes",
	"segment.index.bytes", "segment.jitter.ms", "segment.ms", "unclean.leader.election.enable",
}

// configValues are tried with each of them.
var configValues = []string{
	"", " ", "abc", "-1", "0", "1", "-2", "+5", "007", "1.5", "1e3", "0x10", "1_000", " 12 ", "true", "false", "2147483647", "2147483648",
	"9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
}

func deleteByID(ids ...[16]byte) *kmsg.DeleteTopicsRequest {
	r := deleteTopics(6)
	for _, id := range ids {
		r.Topics = append(r.Topics, kmsg.DeleteTopicsRequestTopic{TopicID: id})
	}
	return r
}

func createPartitions(version int16, name string, count int32) *kmsg.CreatePartitionsRequest {
	r := At(version, kmsg.NewPtrCreatePartitionsRequest())
	r.TimeoutMillis = 30_000
	r.Topics = []kmsg.CreatePartitionsRequestTopic{{Topic: name, Count: count}}
	return r
}
