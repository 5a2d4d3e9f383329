package client

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/internal/kafka"
)

// describedTopic is what --describe prints of one topic.
type describedTopic struct {
	name       string
	id         kafka.UUID
	partitions []describedPartition
	configs    []kadm.Config // set somewhere, in the server's order
	minISR     int
}

type describedPartition struct {
	partition, leader int32
	replicas, isr     []int32
	elr, lastKnownELR []int32
	knowsELR          bool
	adding, removing  []int32
}

func (t topicsTool) describe() error {
	names, err := t.describeNames()
	if err != nil || len(names) == 0 {
		if err == nil && t.asJSON {
			err = t.printJSON(nil)
		}
		return err
	}
	topics, err := t.describePartitions(names)
	if err != nil {
		return err
	}
	if err := t.addConfigs(topics); err != nil {
		return err
	}
	if err := t.addReassignments(topics); err != nil {
		return err
	}
	if t.asJSON {
		return t.printJSON(topics)
	}
	for _, d := range topics {
		t.print(d)
	}
	return nil
}

// describeNames are the topics that --topic or --topic-id chooses.
func (t topicsTool) describeNames() ([]string, error) {
	if !t.set.Has("topic-id") {
		return t.mustMatch()
	}
	text := t.set.Get("topic-id")
	id, err := parseUUID(text)
	if err != nil {
		return nil, err
	}
	listed, err := kadm.NewClient(t.cl).ListTopicsWithInternal(t.ctx)
	if err != nil {
		return nil, err
	}
	for _, d := range listed {
		if kafka.UUID(d.ID) == id {
			return []string{d.Topic}, nil
		}
	}
	if t.set.Has("if-exists") {
		return nil, nil
	}
	return nil, illegalArgument("TopicId '%s' does not exist as expected", text)
}

// describePartitions pages through DescribeTopicPartitions (KIP-966); a server
// without it is asked for Metadata, which knows nothing of eligible leaders.
func (t topicsTool) describePartitions(names []string) ([]*describedTopic, error) {
	limit, given, err := t.set.Int("partition-size-limit-per-response", 32)
	if err != nil {
		return nil, err
	}
	if !given {
		limit = 2000
	}
	var topics []*describedTopic
	byName := map[string]*describedTopic{}
	req := kmsg.NewPtrDescribeTopicPartitionsRequest()
	req.ResponsePartitionLimit = int32(limit)
	for _, n := range names {
		rt := kmsg.NewDescribeTopicPartitionsRequestTopic()
		rt.Topic = n
		req.Topics = append(req.Topics, rt)
	}
	for {
		t.o.progressf("%d of %d topics", len(topics), len(names))
		resp, err := req.RequestWith(t.ctx, t.cl)
		if isUnsupported(err) {
			return t.describeByMetadata(names)
		}
		if err != nil {
			return nil, err
		}
		for _, r := range resp.Topics {
			if err := codeError(r.ErrorCode, nil); err != nil {
				return nil, err
			}
			d := byName[*r.Topic]
			if d == nil {
				d = &describedTopic{name: *r.Topic, id: r.TopicID}
				byName[d.name], topics = d, append(topics, d)
			}
			for _, p := range r.Partitions {
				d.partitions = append(d.partitions, describedPartition{partition: p.Partition, leader: p.LeaderID, replicas: p.Replicas,
					isr: p.ISR, elr: p.EligibleLeaderReplicas, lastKnownELR: p.LastKnownELR, knowsELR: true})
			}
		}
		if resp.NextCursor == nil {
			return topics, nil
		}
		c := kmsg.NewDescribeTopicPartitionsRequestCursor()
		c.Topic, c.Partition = resp.NextCursor.Topic, resp.NextCursor.Partition
		req.Cursor = &c
	}
}

func (t topicsTool) describeByMetadata(names []string) ([]*describedTopic, error) {
	listed, err := kadm.NewClient(t.cl).ListTopicsWithInternal(t.ctx, names...)
	if err != nil {
		return nil, err
	}
	var topics []*describedTopic
	for _, l := range listed.Sorted() {
		if l.Err != nil {
			return nil, l.Err
		}
		d := &describedTopic{name: l.Topic, id: kafka.UUID(l.ID)}
		for _, p := range l.Partitions.Sorted() {
			d.partitions = append(d.partitions, describedPartition{partition: p.Partition, leader: p.Leader, replicas: p.Replicas, isr: p.ISR})
		}
		topics = append(topics, d)
	}
	return topics, nil
}

func (t topicsTool) addConfigs(topics []*describedTopic) error {
	var names []string
	for _, d := range topics {
		names = append(names, d.name)
	}
	resources, err := kadm.NewClient(t.cl).DescribeTopicConfigs(t.ctx, names...)
	if err != nil {
		return err
	}
	for _, r := range resources {
		if r.Err != nil {
			return r.Err
		}
		i := slices.IndexFunc(topics, func(d *describedTopic) bool { return d.name == r.Name })
		if i < 0 {
			continue
		}
		for _, c := range r.Configs {
			if c.Source != kmsg.ConfigSourceDefaultConfig {
				topics[i].configs = append(topics[i].configs, c)
			}
			if c.Key == "min.insync.replicas" {
				topics[i].minISR, _ = strconv.Atoi(c.MaybeValue()) // 0 if the server sends no number
			}
		}
	}
	return nil
}

func (t topicsTool) addReassignments(topics []*describedTopic) error {
	resp, err := kmsg.NewPtrListPartitionReassignmentsRequest().RequestWith(t.ctx, t.cl)
	if isUnsupported(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := codeError(resp.ErrorCode, resp.ErrorMessage); err != nil {
		return err
	}
	for _, r := range resp.Topics {
		for _, d := range topics {
			for _, p := range r.Partitions {
				if d.name == r.Topic && int(p.Partition) < len(d.partitions) {
					d.partitions[p.Partition].adding, d.partitions[p.Partition].removing = p.AddingReplicas, p.RemovingReplicas
				}
			}
		}
	}
	return nil
}

// print writes a topic and those of its partitions that the report options let
// through.
func (t topicsTool) print(d *describedTopic) {
	reports := t.reports()
	overrides := t.set.Has("topics-with-overrides")
	if !reports && !(overrides && len(d.configs) == 0) {
		fmt.Fprintf(t.o.Stdout, "Topic: %s\tTopicId: %s\tPartitionCount: %d\tReplicationFactor: %d\tConfigs: %s\n",
			d.name, d.id, len(d.partitions), d.replicationFactor(), d.configText())
	}
	if overrides {
		return
	}
	for _, p := range d.partitions {
		if !reports || t.reported(d, p) {
			p.print(t.o, d.name)
		}
	}
}

// reports says whether an option asks for some partitions alone.
func (t topicsTool) reports() bool {
	return slices.ContainsFunc([]string{"under-replicated-partitions", "unavailable-partitions", "under-min-isr-partitions", "at-min-isr-partitions"}, t.set.Has)
}

func (d *describedTopic) replicationFactor() int {
	if len(d.partitions) == 0 {
		return 0
	}
	return len(d.partitions[0].replicas)
}

func (d *describedTopic) configText() string {
	var pairs []string
	for _, c := range d.configs {
		pairs = append(pairs, c.Key+"="+c.MaybeValue())
	}
	return strings.Join(pairs, ",")
}

// reported says whether one of the report options asks for the partition.
func (t topicsTool) reported(d *describedTopic, p describedPartition) bool {
	wanted := len(p.replicas) - len(p.adding)
	return t.set.Has("under-replicated-partitions") && len(p.isr) < wanted ||
		t.set.Has("unavailable-partitions") && p.leader < 0 ||
		t.set.Has("under-min-isr-partitions") && len(p.isr) < d.minISR ||
		t.set.Has("at-min-isr-partitions") && len(p.isr) == d.minISR
}

func (p describedPartition) print(o IO, topic string) {
	leader := "none"
	if p.leader >= 0 {
		leader = strconv.Itoa(int(p.leader))
	}
	fmt.Fprintf(o.Stdout, "\tTopic: %s\tPartition: %d\tLeader: %s\tReplicas: %s\tIsr: %s", topic, p.partition, leader, joinIDs(p.replicas), joinIDs(p.isr))
	if len(p.adding) > 0 || len(p.removing) > 0 {
		fmt.Fprintf(o.Stdout, "\tAdding Replicas: %s\tRemoving Replicas: %s", joinIDs(p.adding), joinIDs(p.removing))
	}
	elr, lastKnown := "N/A", "N/A"
	if p.knowsELR {
		elr, lastKnown = joinIDs(p.elr), joinIDs(p.lastKnownELR)
	}
	fmt.Fprintf(o.Stdout, "\tElr: %s\tLastKnownElr: %s\n", elr, lastKnown)
}

func joinIDs(ids []int32) string {
	var words []string
	for _, id := range ids {
		words = append(words, strconv.Itoa(int(id)))
	}
	return strings.Join(words, ",")
}
