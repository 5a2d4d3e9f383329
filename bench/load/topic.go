package load

import (
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// pollInterval is the pause between two looks at something that is about to come.
const pollInterval = 2 * time.Millisecond

// Topic is a topic that exists and whose partitions can be read and written.
type Topic struct {
	ID         [16]byte
	Partitions int32
}

// CreateTopic creates a topic with one replica and waits until each of its
// partitions serves.
func CreateTopic(address, name string, partitions int32, configs map[string]string) (Topic, error) {
	c, err := Dial(address)
	if err != nil {
		return Topic{}, err
	}
	defer c.Close()
	req := kmsg.NewPtrCreateTopicsRequest()
	req.SetVersion(7)
	req.TimeoutMillis = int32(patience.Milliseconds())
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, partitions, 1
	for key, value := range configs {
		config := kmsg.NewCreateTopicsRequestTopicConfig()
		config.Name, config.Value = key, &value
		topic.Configs = append(topic.Configs, config)
	}
	req.Topics = append(req.Topics, topic)
	resp, err := c.ask(req)
	if err != nil {
		return Topic{}, err
	}
	created := resp.(*kmsg.CreateTopicsResponse).Topics
	if len(created) != 1 || created[0].ErrorCode != 0 {
		return Topic{}, fmt.Errorf("create topic %s: %+v", name, created)
	}
	return Topic{ID: created[0].TopicID, Partitions: partitions}, c.waitServing(name, partitions)
}

// waitServing asks for the end offset of each partition until all answer: a
// broker tells clients of a leader a moment before that one is ready.
func (c *Conn) waitServing(name string, partitions int32) error {
	req := endOffsets(name, partitions)
	return poll(func() (bool, error) {
		resp, err := c.ask(req)
		if err != nil {
			return false, err
		}
		for _, t := range resp.(*kmsg.ListOffsetsResponse).Topics {
			for _, p := range t.Partitions {
				if p.ErrorCode != 0 {
					return false, nil
				}
			}
		}
		return true, nil
	})
}

// endOffsets asks for the end of each partition.
func endOffsets(name string, partitions int32) *kmsg.ListOffsetsRequest {
	req := kmsg.NewPtrListOffsetsRequest()
	req.SetVersion(7)
	req.ReplicaID = -1
	topic := kmsg.NewListOffsetsRequestTopic()
	topic.Topic = name
	for p := range partitions {
		partition := kmsg.NewListOffsetsRequestTopicPartition()
		partition.Partition, partition.CurrentLeaderEpoch, partition.Timestamp = p, -1, -1
		topic.Partitions = append(topic.Partitions, partition)
	}
	req.Topics = append(req.Topics, topic)
	return req
}

// WaitServing waits until the node is reached and each of a topic's partitions serves.
func WaitServing(address, name string, partitions int32) error {
	c, err := Dial(address)
	if err != nil {
		return err
	}
	defer c.Close()
	return c.waitServing(name, partitions)
}

// WaitLeaders waits until the node shows at least so many partitions and each of
// them has a leader.
func WaitLeaders(address string, partitions int) error {
	c, err := Dial(address)
	if err != nil {
		return err
	}
	defer c.Close()
	req := kmsg.NewPtrMetadataRequest()
	req.SetVersion(12)
	req.Topics = nil // all
	return poll(func() (bool, error) {
		resp, err := c.ask(req)
		if err != nil {
			return false, err
		}
		led := 0
		for _, t := range resp.(*kmsg.MetadataResponse).Topics {
			for _, p := range t.Partitions {
				if t.ErrorCode != 0 || p.ErrorCode != 0 || p.Leader < 0 {
					return false, nil
				}
				led++
			}
		}
		return led >= partitions, nil
	})
}

// poll repeats a look until it says true.
func poll(look func() (bool, error)) error {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(pollInterval) {
		done, err := look()
		if done || err != nil {
			return err
		}
	}
	return errors.New("gave up waiting for the server")
}
