package client

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/internal/kafka"
)

// metadataPause is between two questions for a topic that is not there yet
// (retry.backoff.ms of Kafka's producer).
const metadataPause = 100 * time.Millisecond

// waitForTopic waits until the cluster names the topic, and lets it make the topic
// if it does so by itself: what Kafka's producer does for max.block.ms before it
// takes the first record.
func waitForTopic(ctx context.Context, cl *kgo.Client, topic string, atMost time.Duration) error {
	waiting, cancel := context.WithTimeout(ctx, atMost)
	defer cancel()
	for {
		code, err := topicState(waiting, cl, topic)
		switch {
		case err == nil && code == kafka.ErrNone:
			return nil
		case code == kafka.ErrInvalidTopicException:
			return &failure{code.Exception(), fmt.Sprintf("Invalid topics: [%s]", topic)}
		case err == nil && code != kafka.ErrUnknownTopicOrPartition && code != kafka.ErrLeaderNotAvailable:
			return codeError(int16(code), nil)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-waiting.Done():
			return &failure{kafka.ErrRequestTimedOut.Exception(), fmt.Sprintf("Topic %s not present in metadata after %d ms.", topic, atMost.Milliseconds())}
		case <-time.After(metadataPause):
		}
	}
}

// topicState asks once; an error means that nobody answered.
func topicState(ctx context.Context, cl *kgo.Client, topic string) (kafka.ErrorCode, error) {
	req := kmsg.NewPtrMetadataRequest()
	rt := kmsg.NewMetadataRequestTopic()
	rt.Topic = kmsg.StringPtr(topic)
	req.Topics = append(req.Topics, rt)
	req.AllowAutoTopicCreation = true
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return 0, err
	}
	for _, t := range resp.Topics {
		return kafka.ErrorCode(t.ErrorCode), nil
	}
	return kafka.ErrUnknownTopicOrPartition, nil
}
