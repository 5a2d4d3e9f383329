package oracle

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/test/kit"
)

// controllerSequences are requests to the controller listener.
var controllerSequences = []sequence{
	{"controller/topics", func(s *Session) {
		c, b := s.Controller("controller"), s.Conn("a")
		c.Send(createTopics(7, newTopic(s.Topic("t"), 2, 1), newTopic("a b", 1, 1), newTopic(s.Topic("u"), 0, 1)))
		b.awaitLeader(s.Topic("t"), 2)
		c.Say("again").Send(createTopics(7, newTopic(s.Topic("t"), 2, 1)))
		r := createTopics(7, newTopic(s.Topic("v"), 2, 1))
		r.ValidateOnly = true
		c.Say("validate only").Send(r)
		c.Send(createPartitions(3, s.Topic("t"), 3))
		c.Say("too few").Send(createPartitions(3, s.Topic("t"), 3))
		c.Say("unknown").Send(createPartitions(3, s.Topic("nosuch"), 3))
		b.awaitLeader(s.Topic("t"), 3)
		c.Send(deleteTopics(6, s.Topic("t"), s.Topic("nosuch")))
		b.awaitGone(s.Topic("t"))
	}},
	{"controller/describe-cluster", func(s *Session) {
		c := s.Controller("controller")
		for version := int16(0); version <= 2; version++ {
			for _, endpoint := range []int8{0, 1, 2, 3, -1} {
				for _, operations := range []bool{false, true} {
					c.Say("type %d, operations %v", endpoint, operations).Send(describeCluster(version, endpoint, operations, true))
				}
			}
		}
	}},
	{"controller/unregister-unknown", func(s *Session) {
		c := s.Controller("controller")
		for _, id := range []int32{42, 0, -1} {
			r := At(0, kmsg.NewPtrUnregisterBrokerRequest())
			r.BrokerID = id
			c.Say("broker %d", id).Send(r)
		}
	}},
	{"controller/heartbeats-of-strangers", func(s *Session) {
		c := s.Controller("controller")
		for version := int16(0); version <= 2; version++ {
			for _, id := range []int32{1, 7, -1} {
				for _, epoch := range []int64{-1, 0, 1 << 40} {
					r := At(version, kmsg.NewPtrBrokerHeartbeatRequest())
					r.BrokerID, r.BrokerEpoch, r.CurrentMetadataOffset = id, epoch, 1
					c.Say("broker %d epoch %d", id, epoch).Send(r)
				}
			}
		}
	}},
	{"controller/producer-ids-of-strangers", func(s *Session) {
		c := s.Controller("controller")
		for _, id := range []int32{1, 7, -1} {
			for _, epoch := range []int64{-1, 0, 1 << 40} {
				r := At(0, kmsg.NewPtrAllocateProducerIDsRequest())
				r.BrokerID, r.BrokerEpoch = id, epoch
				c.Say("broker %d epoch %d", id, epoch).Send(r)
			}
		}
	}},
	{"controller/alter-partition-of-strangers", func(s *Session) {
		t := s.Conn("a").topic("t", 1)
		c := s.Controller("controller")
		for version := int16(2); version <= 3; version++ {
			for _, id := range []int32{1, 7, -1} {
				for _, epoch := range []int64{-1, 0, 1 << 40} {
					c.Say("broker %d epoch %d", id, epoch).Send(alterPartition(version, id, epoch, t.id))
					c.Say("broker %d epoch %d, unknown topic", id, epoch).Send(alterPartition(version, id, epoch, [16]byte{7}))
				}
			}
		}
	}},
	{"controller/directories-of-strangers", func(s *Session) {
		t := s.Conn("a").topic("t", 1)
		c := s.Controller("controller")
		for _, id := range []int32{1, 7, -1} {
			for _, epoch := range []int64{-1, 0, 1 << 40} {
				r := At(0, kmsg.NewPtrAssignReplicasToDirsRequest())
				r.BrokerID, r.BrokerEpoch = id, epoch
				r.Directories = []kmsg.AssignReplicasToDirsRequestDirectory{{ID: [16]byte{5: 5}, Topics: []kmsg.AssignReplicasToDirsRequestDirectoryTopic{
					{TopicID: t.id, Partitions: []kmsg.AssignReplicasToDirsRequestDirectoryTopicPartition{{Partition: 0}}}}}}
				c.Say("broker %d epoch %d", id, epoch).Send(r)
			}
		}
	}},
	{"controller/registrations-refused", func(s *Session) {
		c := s.Controller("controller")
		for version := int16(0); version <= 4; version++ {
			other := registration(version, 77)
			other.ClusterID = "another"
			c.Say("another cluster").Send(other)
			c.Say("a broker that lives").Send(registration(version, 1))
			c.Say("negative id").Send(registration(version, -1))
			features := registration(version, 77)
			features.Features = nil
			c.Say("no features").Send(features)
			features = registration(version, 77)
			features.Features[0].MinSupportedVersion, features.Features[0].MaxSupportedVersion = 1, 2
			c.Say("levels that are gone").Send(features)
			features.Features[0].MinSupportedVersion, features.Features[0].MaxSupportedVersion = 30, 7
			c.Say("levels upside down").Send(features)
			if version >= 2 {
				dirs := registration(version, 77)
				dirs.LogDirs = nil
				c.Say("no directories").Send(dirs)
				dirs.LogDirs = [][16]byte{{7: 7}, {7: 7}}
				c.Say("a directory twice").Send(dirs)
				dirs.LogDirs = [][16]byte{{15: 1}}
				c.Say("a reserved directory").Send(dirs)
			}
			if version >= 1 {
				zk := registration(version, 77)
				zk.IsMigratingZkBroker = true
				c.Say("migrating from ZooKeeper").Send(zk)
			}
		}
	}},
	{"controller/a-broker-comes-and-goes", func(s *Session) {
		c, b := s.Controller("controller"), s.Conn("a")
		r := registration(4, 77)
		epoch := c.Send(r).(*kmsg.BrokerRegistrationResponse).BrokerEpoch
		c.Say("the same again").Send(r)
		other := registration(4, 77)
		other.IncarnationID = [16]byte{1, 1}
		c.Say("another incarnation").Send(other)
		beat := At(2, kmsg.NewPtrBrokerHeartbeatRequest())
		beat.BrokerID, beat.BrokerEpoch, beat.CurrentMetadataOffset, beat.WantFence = 77, epoch, -1, true
		c.Say("stays fenced").Send(beat)
		beat.BrokerEpoch = epoch - 1
		c.Say("an old epoch").Send(beat)
		ids := At(0, kmsg.NewPtrAllocateProducerIDsRequest())
		ids.BrokerID, ids.BrokerEpoch = 77, epoch
		first := c.Say("producer ids").Send(ids).(*kmsg.AllocateProducerIDsResponse)
		second := c.Ask(ids).(*kmsg.AllocateProducerIDsResponse)
		s.Note("the next block is %d further", second.ProducerIDStart-first.ProducerIDStart)
		isr := alterPartition(3, 77, epoch, [16]byte{7})
		c.Say("unknown topic").Send(isr)
		b.Say("fenced ones").Send(describeCluster(2, 1, false, true))
		b.Say("living ones").Send(describeCluster(2, 1, false, false))
		b.Send(metadata(9))
		gone := At(0, kmsg.NewPtrUnregisterBrokerRequest())
		gone.BrokerID = 77
		c.Send(gone)
		c.Say("again").Send(gone)
		c.Say("heartbeat of one who is gone").Send(beat)
		b.Say("fenced ones").Send(describeCluster(2, 1, false, true))
	}},
}

func alterPartition(version int16, broker int32, epoch int64, topic [16]byte) *kmsg.AlterPartitionRequest {
	r := At(version, kmsg.NewPtrAlterPartitionRequest())
	r.BrokerID, r.BrokerEpoch = broker, epoch
	p := kmsg.NewAlterPartitionRequestTopicPartition()
	p.NewISR, p.NewEpochISR = []int32{1}, []kmsg.AlterPartitionRequestTopicPartitionNewEpochISR{{BrokerID: 1, BrokerEpoch: -1}}
	r.Topics = []kmsg.AlterPartitionRequestTopic{{TopicID: topic, Partitions: []kmsg.AlterPartitionRequestTopicPartition{p}}}
	return r
}

// registration is that of a broker that does not exist.
func registration(version int16, id int32) *kmsg.BrokerRegistrationRequest {
	r := At(version, kmsg.NewPtrBrokerRegistrationRequest())
	r.BrokerID, r.ClusterID, r.IncarnationID = id, kit.ClusterID, [16]byte{9, 9}
	r.LogDirs = [][16]byte{{7: 7}}
	r.PreviousBrokerEpoch = -1
	l := kmsg.NewBrokerRegistrationRequestListener()
	l.Name, l.Host, l.Port = "PLAINTEXT", "127.0.0.1", 1
	r.Listeners = append(r.Listeners, l)
	f := kmsg.NewBrokerRegistrationRequestFeature()
	f.Name, f.MinSupportedVersion, f.MaxSupportedVersion = "metadata.version", 7, 33
	r.Features = append(r.Features, f)
	return r
}
