package oracle

import (
	"fmt"
	"reflect"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// topic is a topic that a sequence has made.
type topic struct {
	name string
	id   [16]byte
}

// topic creates a topic of the session, waits until its partitions have leaders,
// and gives its name and id. Configs are keys and values in turn.
func (c *Conn) topic(suffix string, partitions int32, configs ...string) topic {
	r := createTopics(7, newTopic(c.s.Topic(suffix), partitions, 1, configs...))
	resp := c.Ask(r).(*kmsg.CreateTopicsResponse)
	if len(resp.Topics) != 1 || resp.Topics[0].ErrorCode != 0 {
		check(fmt.Errorf("create %s: %+v", suffix, resp.Topics))
	}
	c.awaitLeader(resp.Topics[0].Topic, partitions)
	t := topic{resp.Topics[0].Topic, resp.Topics[0].TopicID}
	c.s.out.uuid(reflect.ValueOf(t.id)) // its number tells the order of creation
	return t
}

func createTopics(version int16, topics ...kmsg.CreateTopicsRequestTopic) *kmsg.CreateTopicsRequest {
	r := At(version, kmsg.NewPtrCreateTopicsRequest())
	r.TimeoutMillis, r.Topics = 30_000, topics
	return r
}

func newTopic(name string, partitions int32, factor int16, configs ...string) kmsg.CreateTopicsRequestTopic {
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = name, partitions, factor
	for i := 0; i < len(configs); i += 2 {
		rc := kmsg.NewCreateTopicsRequestTopicConfig()
		rc.Name, rc.Value = configs[i], &configs[i+1]
		t.Configs = append(t.Configs, rc)
	}
	return t
}

// produceTo is a Produce of one record set, by id where the version goes by ids.
func produceTo(version, acks int16, t topic, partition int32, records []byte) *kmsg.ProduceRequest {
	r := produceRequest(version, acks, t.name, partition, records)
	r.Topics[0].TopicID = t.id
	return r
}

// want is a partition that a Fetch asks for.
type want struct {
	topic topic
	kmsg.FetchRequestTopicPartition
}

// at wants a partition from an offset on.
func at(t topic, partition int32, offset int64) want {
	p := kmsg.NewFetchRequestTopicPartition()
	p.Partition, p.FetchOffset, p.PartitionMaxBytes = partition, offset, 1<<20
	return want{t, p}
}

// limit is w with another limit of bytes.
func (w want) limit(bytes int32) want {
	w.PartitionMaxBytes = bytes
	return w
}

// epochs is w with the leader epoch that the client believes in, and that of the
// last record it has.
func (w want) epochs(current, last int32) want {
	w.CurrentLeaderEpoch, w.LastFetchedEpoch = current, last
	return w
}

// fetch is a Fetch without a session that does not wait.
func fetch(version int16, wants ...want) *kmsg.FetchRequest {
	r := At(version, kmsg.NewPtrFetchRequest())
	r.MinBytes, r.MaxBytes, r.SessionEpoch = 1, 50<<20, -1
	for _, w := range wants {
		if n := len(r.Topics); n == 0 || r.Topics[n-1].Topic != w.topic.name || r.Topics[n-1].TopicID != w.topic.id {
			t := kmsg.NewFetchRequestTopic()
			t.Topic, t.TopicID = w.topic.name, w.topic.id
			r.Topics = append(r.Topics, t)
		}
		t := &r.Topics[len(r.Topics)-1]
		t.Partitions = append(t.Partitions, w.FetchRequestTopicPartition)
	}
	return r
}

// inSession is a fetch in a session.
func inSession(r *kmsg.FetchRequest, id, epoch int32) *kmsg.FetchRequest {
	r.SessionID, r.SessionEpoch = id, epoch
	return r
}

// listOffsets asks for the offsets at timestamps of one partition, one request
// each.
func (c *Conn) listOffsets(version int16, t topic, partition int32, timestamps ...int64) {
	for _, timestamp := range timestamps {
		r := At(version, kmsg.NewPtrListOffsetsRequest())
		r.ReplicaID, r.TimeoutMillis = -1, 1000
		rp := kmsg.NewListOffsetsRequestTopicPartition()
		rp.Partition, rp.Timestamp = partition, timestamp
		r.Topics = append(r.Topics, kmsg.ListOffsetsRequestTopic{Topic: t.name, Partitions: []kmsg.ListOffsetsRequestTopicPartition{rp}})
		c.Say("at %s", timeOr(timestamp)).Send(r)
	}
}

// metadata asks for topics by name. Without names it asks for none.
func metadata(version int16, names ...string) *kmsg.MetadataRequest {
	r := At(version, kmsg.NewPtrMetadataRequest())
	r.Topics = []kmsg.MetadataRequestTopic{}
	for i := range names {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = &names[i]
		r.Topics = append(r.Topics, t)
	}
	return r
}

// producerID is a new one. A broker that has just started may still wait for its
// first block of them.
func (c *Conn) producerID() int64 {
	r := At(4, kmsg.NewPtrInitProducerIDRequest())
	r.TransactionTimeoutMillis = 60_000
	for deadline := time.Now().Add(30 * time.Second); ; {
		resp := c.Ask(r).(*kmsg.InitProducerIDResponse)
		if resp.ErrorCode == 0 {
			c.s.out.name("pid", fmt.Sprint(resp.ProducerID))
			return resp.ProducerID
		}
		if time.Now().After(deadline) {
			check(fmt.Errorf("init producer id: error %d", resp.ErrorCode))
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func deleteTopics(version int16, names ...string) *kmsg.DeleteTopicsRequest {
	r := At(version, kmsg.NewPtrDeleteTopicsRequest())
	r.TimeoutMillis, r.TopicNames = 30_000, names
	for i := range names {
		t := kmsg.NewDeleteTopicsRequestTopic()
		t.Topic = &names[i]
		r.Topics = append(r.Topics, t)
	}
	return r
}

// awaitGone waits until a topic is not in the metadata any more.
func (c *Conn) awaitGone(name string) {
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		r := metadata(9, name)
		r.AllowAutoTopicCreation = false
		resp := c.Ask(r).(*kmsg.MetadataResponse)
		if len(resp.Topics) == 1 && resp.Topics[0].ErrorCode != 0 {
			return
		}
	}
	check(fmt.Errorf("%s is still there", name))
}
