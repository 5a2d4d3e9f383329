package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// topicBook knows how many partitions topics have, as far as it was asked.
type topicBook struct {
	engine *kgo.Client
	counts sync.Map // topic to the number of its partitions
}

// known says whether the topic is known to have the partition.
func (b *topicBook) known(topic string, partition int) bool {
	n, ok := b.counts.Load(topic)
	return ok && partition < n.(int)
}

// metadataAgain is how long to wait before metadata is asked for again.
const metadataAgain = 100 * time.Millisecond

// await asks for a topic until it is there and has the partition, or until the
// context ends. Asking creates the topic where the broker does that.
func (b *topicBook) await(ctx context.Context, topic string, partition int) ([]PartitionInfo, error) {
	for {
		partitions, err := partitionsOf(ctx, b.engine, topic)
		switch {
		case err == nil:
			b.counts.Store(topic, len(partitions))
			if partition < len(partitions) {
				return partitions, nil
			}
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case !retriableMetadata(err):
			return nil, err
		}
		select {
		case <-time.After(metadataAgain):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// retriableMetadata says whether asking again may help. What isn't one of Kafka's
// codes is the network's.
func retriableMetadata(err error) bool {
	_, isCode := errors.AsType[*kerr.Error](err)
	return !errors.Is(err, kgo.ErrClientClosed) && !errors.Is(err, ErrNoOffset) && (!isCode || IsRetriable(err))
}

// partitionsOf is what metadata says of a topic, in the order of partitions.
func partitionsOf(ctx context.Context, engine *kgo.Client, topic string) ([]PartitionInfo, error) {
	request := kmsg.NewPtrMetadataRequest()
	request.AllowAutoTopicCreation = engine.OptValue(kgo.AllowAutoTopicCreation).(bool)
	name := kmsg.NewMetadataRequestTopic()
	name.Topic = &topic
	request.Topics = append(request.Topics, name)
	response, err := request.RequestWith(ctx, engine)
	if err != nil {
		return nil, err
	}
	if len(response.Topics) != 1 {
		return nil, fmt.Errorf("metadata of %d topics, asked for topic %s", len(response.Topics), topic)
	}
	if err := kerr.ErrorForCode(response.Topics[0].ErrorCode); err != nil {
		return nil, err
	}
	return partitionInfos(topic, response.Topics[0].Partitions), nil
}

func partitionInfos(topic string, partitions []kmsg.MetadataResponseTopicPartition) []PartitionInfo {
	infos := make([]PartitionInfo, len(partitions))
	for i, p := range partitions {
		infos[i] = PartitionInfo{TopicPartition{topic, p.Partition}, p.Leader, p.Replicas, p.ISR, p.OfflineReplicas}
	}
	slices.SortFunc(infos, func(a, b PartitionInfo) int { return compareTopicPartitions(a.TopicPartition, b.TopicPartition) })
	return infos
}
