package oracle

import (
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// logSequences are DeleteRecords and DescribeLogDirs, and what clients see of a log
// whose start has moved.
var logSequences = []sequence{
	{"delete-records/versions", func(s *Session) {
		c := s.Conn("a")
		for version := int16(0); version <= 2; version++ {
			t := c.filled(fmt.Sprint("t", version), 5)
			for _, offset := range []int64{2, 1, 2, 0, 5, 5, -1} {
				c.Say("offset %d", offset).Send(deleteRecords(version, t.name, 0, offset))
			}
		}
	}},
	{"delete-records/offsets-out-of-range", func(s *Session) {
		c := s.Conn("a")
		t := c.filled("t", 3)
		for _, offset := range []int64{4, 1 << 62, -2, -1 << 63} {
			c.Say("offset %d", offset).Send(deleteRecords(2, t.name, 0, offset))
		}
	}},
	{"delete-records/empty-log", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 1)
		for _, offset := range []int64{0, -1, 1} {
			c.Say("offset %d", offset).Send(deleteRecords(2, t.name, 0, offset))
		}
	}},
	{"delete-records/unknown-topic", func(s *Session) { s.Conn("a").Send(deleteRecords(2, s.Topic("none"), 0, 0)) }},
	{"delete-records/unknown-partition", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 1)
		for _, partition := range []int32{1, -1, 2147483647} {
			c.Say("partition %d", partition).Send(deleteRecords(2, t.name, partition, 0))
		}
	}},
	{"delete-records/metadata-log", func(s *Session) { s.Conn("a").Send(deleteRecords(2, "__cluster_metadata", 0, 1)) }},
	{"delete-records/policies", func(s *Session) {
		c := s.Conn("a")
		for _, policy := range []string{"compact", "delete", "compact,delete"} {
			t := c.topic(map[string]string{"compact": "c", "delete": "d", "compact,delete": "b"}[policy], 1, "cleanup.policy", policy)
			c.Say("%s", policy).Send(deleteRecords(2, t.name, 0, -1))
			c.Say("%s, out of range", policy).Send(deleteRecords(2, t.name, 0, 7))
		}
	}},
	{"delete-records/nothing", func(s *Session) {
		c := s.Conn("a")
		c.Send(At(2, kmsg.NewPtrDeleteRecordsRequest()))
		r := At(2, kmsg.NewPtrDeleteRecordsRequest())
		r.Topics = []kmsg.DeleteRecordsRequestTopic{{Topic: c.topic("t", 1).name}}
		c.Send(r)
	}},
	{"delete-records/what-readers-see", func(s *Session) {
		c := s.Conn("a")
		t := c.filled("t", 5)
		c.Send(deleteRecords(2, t.name, 0, 3))
		for _, timestamp := range []int64{-2, -1, -3, -4, 0} {
			r := At(8, kmsg.NewPtrListOffsetsRequest())
			r.ReplicaID = -1
			p := kmsg.NewListOffsetsRequestTopicPartition()
			p.Timestamp = timestamp
			r.Topics = []kmsg.ListOffsetsRequestTopic{{Topic: t.name, Partitions: []kmsg.ListOffsetsRequestTopicPartition{p}}}
			c.Say("timestamp %d", timestamp).Send(r)
		}
	}},
	{"delete-records/produce-goes-on", func(s *Session) {
		c := s.Conn("a")
		t := c.filled("t", 3)
		c.Send(deleteRecords(2, t.name, 0, -1))
		c.Send(produceTo(12, -1, t, 0, stamped(time.Now().UnixMilli(), 0).Bytes()))
		c.Send(deleteRecords(2, t.name, 0, 4))
	}},
	{"log-dirs/versions", func(s *Session) {
		c := s.Conn("a")
		t := c.filled("t", 3)
		for version := int16(1); version <= 5; version++ {
			c.describedDirs(version, t.name, 0)
		}
	}},
	{"log-dirs/partitions", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 1)
		for _, partition := range []int32{0, 1, -1} {
			c.describedDirs(4, t.name, partition)
		}
		c.describedDirs(4, s.Topic("none"), 0)
	}},
	{"log-dirs/no-topics", func(s *Session) {
		c := s.Conn("a")
		r := At(5, kmsg.NewPtrDescribeLogDirsRequest())
		r.Topics = []kmsg.DescribeLogDirsRequestTopic{}
		c.sayDirs("empty", r)
	}},
	{"log-dirs/after-deletion", func(s *Session) {
		c := s.Conn("a")
		t := c.filled("t", 3)
		c.Send(deleteRecords(2, t.name, 0, -1))
		c.describedDirs(4, t.name, 0)
	}},
}

func deleteRecords(version int16, topic string, partition int32, offset int64) *kmsg.DeleteRecordsRequest {
	r := At(version, kmsg.NewPtrDeleteRecordsRequest())
	r.TimeoutMillis = 30_000
	r.Topics = []kmsg.DeleteRecordsRequestTopic{{Topic: topic, Partitions: []kmsg.DeleteRecordsRequestTopicPartition{{Partition: partition, Offset: offset}}}}
	return r
}

// filled is a topic of one partition with that many records, each in a batch of its
// own.
func (c *Conn) filled(suffix string, records int) topic {
	t := c.topic(suffix, 1)
	now := time.Now().UnixMilli()
	for i := range records {
		c.Ask(produceTo(12, -1, t, 0, stamped(now+int64(i), 0).Bytes()))
	}
	return t
}

// describedDirs asks for a partition and notes the answer.
func (c *Conn) describedDirs(version int16, topic string, partition int32) {
	r := At(version, kmsg.NewPtrDescribeLogDirsRequest())
	r.Topics = []kmsg.DescribeLogDirsRequestTopic{{Topic: topic, Partitions: []int32{partition}}}
	c.sayDirs(fmt.Sprintf("version %d, partition %d", version, partition), r)
}

// sayDirs notes an answer without the paths and the sizes of volumes, of which it
// says only whether they are there.
func (c *Conn) sayDirs(what string, r *kmsg.DescribeLogDirsRequest) {
	resp := c.Ask(r).(*kmsg.DescribeLogDirsResponse)
	c.s.Note("%s: error %d, %d directories", what, resp.ErrorCode, len(resp.Dirs))
	for _, d := range resp.Dirs {
		c.s.Note("%s: error %d, total %v, usable %v, cordoned %v", what, d.ErrorCode, d.TotalBytes > 0, d.UsableBytes > 0, d.IsCordoned)
		for _, t := range d.Topics {
			for _, p := range t.Partitions {
				c.s.Note("%s: partition %d, %d bytes, lag %d, future %v", what, p.Partition, p.Size, p.OffsetLag, p.IsFuture)
			}
		}
	}
}
