package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// refusals collects what parts of a call were refused for.
type refusals []error

func (r *refusals) add(resource string, err error, text string) {
	if err := refusal(resource, err, text); err != nil {
		*r = append(*r, err)
	}
}

func (r refusals) join() error { return errors.Join(r...) }

func textOf(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// NewTopic is a topic to create.
type NewTopic struct {
	Name              string
	Partitions        int32 // 0 is the broker's num.partitions
	ReplicationFactor int16 // 0 is the broker's default.replication.factor
	Configs           map[string]string
}

// CreateTopics creates topics (createTopics); it returns when they are created, which
// other brokers may hear a moment later. Errors: ErrTopicExists, ErrInvalidTopic,
// INVALID_CONFIG, ErrPolicyViolation.
func (a *Admin) CreateTopics(ctx context.Context, topics ...NewTopic) error {
	return a.call(ctx, "createTopics", func(ctx context.Context) error {
		var all refusals
		for _, t := range topics {
			partitions, replicas := t.Partitions, t.ReplicationFactor
			if partitions == 0 {
				partitions = -1
			}
			if replicas == 0 {
				replicas = -1
			}
			configs := make(map[string]*string, len(t.Configs))
			for name, value := range t.Configs {
				configs[name] = &value
			}
			r, err := a.kadm.CreateTopics(ctx, partitions, replicas, configs, t.Name)
			if err != nil {
				return errors.Join(all.join(), err)
			}
			all.add("topic "+t.Name, r[t.Name].Err, r[t.Name].ErrMessage)
		}
		return all.join()
	})
}

// DeleteTopics deletes topics with all their records (deleteTopics). ErrUnknownTopic.
func (a *Admin) DeleteTopics(ctx context.Context, topics ...string) error {
	return a.call(ctx, "deleteTopics", func(ctx context.Context) error {
		r, err := a.kadm.DeleteTopics(ctx, topics...)
		if err != nil {
			return err
		}
		var all refusals
		for _, t := range r.Sorted() {
			all.add("topic "+t.Topic, t.Err, t.ErrMessage)
		}
		return all.join()
	})
}

// CreatePartitions makes a topic have so many partitions, more than before
// (createPartitions). Keys go to other partitions from then on.
func (a *Admin) CreatePartitions(ctx context.Context, topic string, total int) error {
	return a.call(ctx, "createPartitions", func(ctx context.Context) error {
		r, err := a.kadm.UpdatePartitions(ctx, total, topic)
		if err != nil {
			return err
		}
		return refusal("topic "+topic, r[topic].Err, r[topic].ErrMessage)
	})
}

// ListTopics is the names of all topics but internal ones, in order (listTopics).
func (a *Admin) ListTopics(ctx context.Context) (names []string, err error) {
	err = a.call(ctx, "listTopics", func(ctx context.Context) error {
		topics, err := a.kadm.ListTopics(ctx)
		if err == nil {
			names = topics.Names()
		}
		return err
	})
	return names, err
}

// TopicDescription is a topic as metadata has it.
type TopicDescription struct {
	Name       string
	ID         [16]byte
	Internal   bool
	Partitions []PartitionInfo
}

// DescribeTopics describes topics (describeTopics). ErrUnknownTopic.
func (a *Admin) DescribeTopics(ctx context.Context, topics ...string) (described map[string]TopicDescription, err error) {
	err = a.call(ctx, "describeTopics", func(ctx context.Context) error {
		details, err := a.kadm.ListTopicsWithInternal(ctx, topics...)
		if err != nil {
			return err
		}
		described = make(map[string]TopicDescription)
		var all refusals
		for _, t := range details.Sorted() {
			if t.Err != nil {
				all.add("topic "+t.Topic, t.Err, "")
				continue
			}
			d := TopicDescription{Name: t.Topic, ID: t.ID, Internal: t.IsInternal}
			for _, p := range t.Partitions.Sorted() {
				d.Partitions = append(d.Partitions, PartitionInfo{TopicPartition{t.Topic, p.Partition}, p.Leader, p.Replicas, p.ISR, p.OfflineReplicas})
			}
			described[t.Topic] = d
		}
		return all.join()
	})
	return described, err
}

// DeleteRecords deletes the records of partitions below an offset, -1 is all there are,
// and returns the first offsets there are then (deleteRecords). ErrOffsetOutOfRange.
func (a *Admin) DeleteRecords(ctx context.Context, before map[TopicPartition]int64) (first map[TopicPartition]int64, err error) {
	err = a.call(ctx, "deleteRecords", func(ctx context.Context) error {
		offsets := kadm.Offsets{}
		for tp, at := range before {
			offsets.AddOffset(tp.Topic, tp.Partition, at, -1)
		}
		r, err := a.kadm.DeleteRecords(ctx, offsets)
		if err != nil {
			return err
		}
		first = make(map[TopicPartition]int64)
		var all refusals
		for _, d := range r.Sorted() {
			tp := TopicPartition{d.Topic, d.Partition}
			if d.Err != nil {
				all.add("partition "+tp.String(), d.Err, "")
				continue
			}
			first[tp] = d.LowWatermark
		}
		return all.join()
	})
	return first, err
}

// ConfigResource is what has configurations.
type ConfigResource struct {
	kind kmsg.ConfigResourceType
	name string
}

// TopicConfigs are the configurations of a topic.
func TopicConfigs(topic string) ConfigResource {
	return ConfigResource{kmsg.ConfigResourceTypeTopic, topic}
}

// BrokerConfigs are the configurations of a broker; "" is the default of all.
func BrokerConfigs(id string) ConfigResource {
	return ConfigResource{kmsg.ConfigResourceTypeBroker, id}
}

// GroupConfigs are the configurations of a group.
func GroupConfigs(group string) ConfigResource {
	return ConfigResource{kmsg.ConfigResourceTypeGroupConfig, group}
}

func (r ConfigResource) String() string { return fmt.Sprintf("%v %s", r.kind, r.name) }

// ConfigEntry is a configuration in force.
type ConfigEntry struct {
	Name      string
	Value     string // "" when it is sensitive, or null
	Default   bool   // nobody has set it
	ReadOnly  bool
	Sensitive bool
	Source    string // such as DYNAMIC_TOPIC_CONFIG
}

// DescribeConfigs is the configurations of a resource, in the order of names
// (describeConfigs).
func (a *Admin) DescribeConfigs(ctx context.Context, of ConfigResource) (entries []ConfigEntry, err error) {
	err = a.call(ctx, "describeConfigs", func(ctx context.Context) error {
		request := kmsg.NewPtrDescribeConfigsRequest()
		r := kmsg.NewDescribeConfigsRequestResource()
		r.ResourceType, r.ResourceName = of.kind, of.name
		request.Resources = append(request.Resources, r)
		response, err := request.RequestWith(ctx, a.engine)
		if err != nil {
			return err
		}
		var all refusals
		for _, r := range response.Resources {
			all.add(of.String(), kerr.ErrorForCode(r.ErrorCode), textOf(r.ErrorMessage))
			for _, c := range r.Configs {
				entries = append(entries, ConfigEntry{c.Name, textOf(c.Value), c.Source == kmsg.ConfigSourceDefaultConfig, c.ReadOnly, c.IsSensitive, c.Source.String()})
			}
		}
		slices.SortFunc(entries, func(a, b ConfigEntry) int { return cmp.Compare(a.Name, b.Name) })
		return all.join()
	})
	return entries, err
}

// ConfigChange is one change of a configuration; make it with Set and its like.
type ConfigChange struct {
	op    kmsg.IncrementalAlterConfigOp
	name  string
	value *string
}

// Set sets a configuration.
func Set(name, value string) ConfigChange {
	return ConfigChange{kmsg.IncrementalAlterConfigOpSet, name, &value}
}

// Unset takes a configuration back to its default.
func Unset(name string) ConfigChange {
	return ConfigChange{kmsg.IncrementalAlterConfigOpDelete, name, nil}
}

// Append adds to a configuration that is a list.
func Append(name, value string) ConfigChange {
	return ConfigChange{kmsg.IncrementalAlterConfigOpAppend, name, &value}
}

// Subtract takes from a configuration that is a list.
func Subtract(name, value string) ConfigChange {
	return ConfigChange{kmsg.IncrementalAlterConfigOpSubtract, name, &value}
}

// AlterConfigs changes configurations of a resource, all or none of them, and leaves
// the others alone (incrementalAlterConfigs). INVALID_CONFIG.
func (a *Admin) AlterConfigs(ctx context.Context, of ConfigResource, changes ...ConfigChange) error {
	return a.call(ctx, "incrementalAlterConfigs", func(ctx context.Context) error {
		request := kmsg.NewPtrIncrementalAlterConfigsRequest()
		r := kmsg.NewIncrementalAlterConfigsRequestResource()
		r.ResourceType, r.ResourceName = of.kind, of.name
		for _, c := range changes {
			q := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
			q.Name, q.Op, q.Value = c.name, c.op, c.value
			r.Configs = append(r.Configs, q)
		}
		request.Resources = append(request.Resources, r)
		response, err := request.RequestWith(ctx, a.engine)
		if err != nil {
			return err
		}
		var all refusals
		for _, r := range response.Resources {
			all.add(of.String(), kerr.ErrorForCode(r.ErrorCode), textOf(r.ErrorMessage))
		}
		return all.join()
	})
}
