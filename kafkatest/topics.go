package kafkatest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// topic is one to make.
type topic struct {
	name       string
	partitions int
	configs    []string // "key=value"
}

func (t topic) request() (kmsg.CreateTopicsRequestTopic, error) {
	r := kmsg.NewCreateTopicsRequestTopic()
	r.Topic, r.NumPartitions, r.ReplicationFactor = t.name, int32(t.partitions), 1
	for _, pair := range t.configs {
		key, value, ok := strings.Cut(pair, "=")
		if !ok {
			return r, fmt.Errorf("topic %s: %q is not key=value", t.name, pair)
		}
		c := kmsg.NewCreateTopicsRequestTopicConfig()
		c.Name, c.Value = key, &value
		r.Configs = append(r.Configs, c)
	}
	return r, nil
}

// createTopics makes topics by the protocol, as any client would. One that is there
// already, in a folder of an earlier node, is left as it is.
func createTopics(ctx context.Context, address string, topics []topic) (err error) {
	if len(topics) == 0 {
		return nil
	}
	request := kmsg.NewPtrCreateTopicsRequest()
	for _, t := range topics {
		r, err := t.request()
		if err != nil {
			return err
		}
		request.Topics = append(request.Topics, r)
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(address))
	if err != nil {
		return err
	}
	defer client.Close()
	response, err := request.RequestWith(ctx, client)
	if err != nil {
		return fmt.Errorf("topics: %w", err)
	}
	var errs []error
	for _, t := range response.Topics {
		if e := kerr.ErrorForCode(t.ErrorCode); e != nil && !errors.Is(e, kerr.TopicAlreadyExists) {
			errs = append(errs, fmt.Errorf("topic %s: %w: %s", t.Topic, e, text(t.ErrorMessage)))
		}
	}
	return errors.Join(errs...)
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
