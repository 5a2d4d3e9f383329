package client

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	kafkaclient "barnabas/client"
	"barnabas/internal/cli/argparse"
)

// verifiableConsumerTool is the command line of kafka-verifiable-consumer.
func verifiableConsumerTool() *argparse.Tool {
	return &argparse.Tool{
		Name: "verifiable-consumer", Usage: usageVerifiableConsumer, Help: usageVerifiableConsumer + helpVerifiableConsumer, HelpIfEmpty: true,
		Options: []argparse.Option{
			{Long: "--topic", Required: true},
			{Long: "--group-protocol", Default: "classic"},
			{Long: "--group-remote-assignor"},
			{Long: "--group-id", Required: true},
			{Long: "--group-instance-id"},
			{Long: "--max-messages", Number: "Integer", Default: "-1"},
			{Long: "--session-timeout", Number: "Integer", Default: "30000"},
			{Long: "--verbose", Flag: true},
			{Long: "--enable-autocommit", Flag: true},
			{Long: "--close-timeout", Number: "Integer", Default: "-1"},
			{Long: "--reset-policy", Default: "earliest"},
			{Long: "--assignment-strategy", Default: "org.apache.kafka.clients.consumer.RangeAssignor"},
			{Long: "--consumer.config"}, {Long: "--command-config"},
			{Long: "--bootstrap-server", Required: true, Group: "door"},
		},
	}
}

const (
	usageVerifiableConsumer = `usage: verifiable-consumer [-h] --topic TOPIC
                           [--group-protocol GROUP-PROTOCOL]
                           [--group-remote-assignor GROUP-REMOTE-ASSIGNOR]
                           --group-id GROUP-ID
                           [--group-instance-id GROUP-INSTANCE-ID]
                           [--max-messages MAX-MESSAGES]
                           [--session-timeout TIMEOUT-MS] [--verbose]
                           [--enable-autocommit]
                           [--close-timeout CLOSE-TIMEOUT-MS]
                           [--reset-policy RESET-POLICY]
                           [--assignment-strategy ASSIGNMENT-STRATEGY]
                           [--consumer.config CONFIG-FILE]
                           [--command-config CONFIG-FILE]
                           --bootstrap-server HOST1:PORT1[,HOST2:PORT2[...]]`
	helpVerifiableConsumer = `

Reads a topic as a member of a group and prints a line of JSON for what happens.

options:
  -h, --help            show this text
  --topic TOPIC         the topic to read
  --group-protocol GROUP-PROTOCOL
                        classic (default) or consumer
  --group-remote-assignor GROUP-REMOTE-ASSIGNOR
                        with the protocol consumer: the broker's assignor
  --group-id GROUP-ID   the group
  --group-instance-id GROUP-INSTANCE-ID
                        be a static member of that name
  --max-messages MAX-MESSAGES
                        how many; -1 is without end (default: -1)
  --session-timeout TIMEOUT-MS
                        with the protocol classic (default: 30000)
  --verbose             print each record
  --enable-autocommit   commit from time to time, not after each batch
  --close-timeout CLOSE-TIMEOUT-MS
                        how long leaving may take; -1 is the client's default
  --reset-policy RESET-POLICY
                        earliest (default), latest or none
  --assignment-strategy ASSIGNMENT-STRATEGY
                        class of the assignor, with the protocol classic
  --command-config CONFIG-FILE
                        a file of properties of the consumer
  --consumer.config CONFIG-FILE
                        the same, deprecated
  --bootstrap-server HOST1:PORT1[,HOST2:PORT2[...]]
                        brokers to connect to
`
)

// VerifiableConsumer is kafka-verifiable-consumer.
func VerifiableConsumer(args []string, o IO) int {
	parsed, done, exit := parseArgs(verifiableConsumerTool(), args, o)
	if done {
		return exit
	}
	return toldExit(o, verifiableConsumer(parsed, o))
}

type partitionsEvent struct {
	eventHead
	Partitions []topicPartition `json:"partitions"`
}

type consumedPartition struct {
	topicPartition
	Count     int64 `json:"count"`
	MinOffset int64 `json:"minOffset"`
	MaxOffset int64 `json:"maxOffset"`
}

type consumedEvent struct {
	eventHead
	Count      int64               `json:"count"`
	Partitions []consumedPartition `json:"partitions"`
}

type recordEvent struct {
	eventHead
	Key   *string `json:"key"`
	Value *string `json:"value"`
	topicPartition
	Offset int64 `json:"offset"`
}

type committedEvent struct {
	eventHead
	Offsets []partitionOffset `json:"offsets"`
	Error   string            `json:"error,omitempty"`
	Success bool              `json:"success"`
}

func verifiableConsumer(args *argparse.Args, o IO) error {
	props, err := verifiableConsumerProperties(args, o)
	if err != nil {
		return err
	}
	topic, _ := args.Value("--topic")
	v := verifiableReader{log: &eventLog{out: o.Stdout}, verbose: args.Has("--verbose"), autoCommit: args.Has("--enable-autocommit")}
	v.most, _ = args.Int("--max-messages")
	if v.atOnce, err = kafkaclient.MaxPollRecords(props); err != nil {
		return err
	}
	v.log.bare("startup_complete")
	v.cl, err = open(kafkaclient.ForConsumer, props, o, kgo.ConsumeTopics(topic), kgo.BlockRebalanceOnPoll(),
		kgo.OnPartitionsAssigned(func(_ context.Context, _ *kgo.Client, p map[string][]int32) {
			v.log.event(partitionsEvent{head("partitions_assigned"), topicPartitions(p)})
		}),
		kgo.OnPartitionsRevoked(func(_ context.Context, _ *kgo.Client, p map[string][]int32) {
			v.log.event(partitionsEvent{head("partitions_revoked"), topicPartitions(p)})
		}))
	if err != nil {
		return err
	}
	err = v.run(o.Context)
	v.cl.AllowRebalance()
	leave(v.cl, args)
	v.log.bare("shutdown_complete")
	v.log.bare("shutdown_requested")
	return err
}

// leave leaves the group and closes, for --close-timeout at most.
func leave(cl *kgo.Client, args *argparse.Args) {
	ms, given := args.Int("--close-timeout")
	if !given || ms < 0 {
		ms = 30_000 // of Kafka's consumer
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(ms)*time.Millisecond)
	defer cancel()
	cl.LeaveGroupContext(ctx) // a group that can't be left ends the session by itself
	cl.Close()
}

func verifiableConsumerProperties(args *argparse.Args, o IO) (map[string]string, error) {
	file, _ := args.Value("--command-config")
	old, _ := args.Value("--consumer.config")
	if file != "" && old != "" {
		return nil, verifiableConsumerTool().Complain("Options --consumer.config and --command-config are mutually exclusive.")
	}
	if old != "" {
		fmt.Fprintln(o.Stdout, "Option --consumer.config has been deprecated and will be removed in a future version. Use --command-config instead.")
	}
	props, err := readProperties(cmp.Or(file, old), nil)
	if err != nil {
		return nil, err
	}
	set := func(property, option string) {
		if value, _ := args.Value(option); value != "" {
			props[property] = value
		}
	}
	set("bootstrap.servers", "--bootstrap-server")
	set("group.id", "--group-id")
	set("group.instance.id", "--group-instance-id")
	set("group.protocol", "--group-protocol")
	set("auto.offset.reset", "--reset-policy")
	if props["group.protocol"] == "consumer" {
		set("group.remote.assignor", "--group-remote-assignor")
	} else {
		set("session.timeout.ms", "--session-timeout")
		set("partition.assignment.strategy", "--assignment-strategy")
	}
	props["enable.auto.commit"] = "false"
	if args.Has("--enable-autocommit") {
		props["enable.auto.commit"] = "true"
	}
	return props, nil
}

// verifiableReader is one run.
type verifiableReader struct {
	log                 *eventLog
	cl                  *kgo.Client
	verbose, autoCommit bool
	most, read          int64 // most is -1 for no end
	atOnce              int   // records of one poll
}

func (v *verifiableReader) run(ctx context.Context) error {
	for ctx.Err() == nil && (v.most < 0 || v.read < v.most) {
		limit := v.atOnce
		if v.most >= 0 {
			limit = int(min(int64(limit), v.most-v.read))
		}
		fetches := v.cl.PollRecords(ctx, limit)
		if err := fatalError(fetches); err != nil && ctx.Err() == nil {
			return err
		}
		records := fetches.Records()
		if len(records) > 0 {
			v.consumed(records)
			if !v.autoCommit {
				v.commit(context.WithoutCancel(ctx), records)
			}
		}
		v.cl.AllowRebalance()
	}
	return nil
}

// consumed tells of records that were read.
func (v *verifiableReader) consumed(records []*kgo.Record) {
	var parts []consumedPartition
	for _, r := range records {
		at := slices.IndexFunc(parts, func(p consumedPartition) bool { return p.Topic == r.Topic && p.Partition == r.Partition })
		if at < 0 {
			at = len(parts)
			parts = append(parts, consumedPartition{topicPartition: topicPartition{r.Topic, r.Partition}, MinOffset: r.Offset})
		}
		parts[at].Count++
		parts[at].MaxOffset = r.Offset
		if v.verbose {
			v.log.event(recordEvent{head("record_data"), textOf(r.Key), textOf(r.Value), topicPartition{r.Topic, r.Partition}, r.Offset})
		}
	}
	v.read += int64(len(records))
	v.log.event(consumedEvent{head("records_consumed"), int64(len(records)), parts})
}

func textOf(b []byte) *string {
	if b == nil {
		return nil
	}
	text := string(b)
	return &text
}

// commit commits what was read, and tells of it.
func (v *verifiableReader) commit(ctx context.Context, records []*kgo.Record) {
	err := v.cl.CommitRecords(ctx, records...)
	e := committedEvent{eventHead: head("offsets_committed"), Success: err == nil}
	if err != nil {
		e.Error = err.Error()
	}
	next := map[topicPartition]int64{}
	for _, r := range records {
		next[topicPartition{r.Topic, r.Partition}] = r.Offset + 1
	}
	for p, offset := range next {
		e.Offsets = append(e.Offsets, partitionOffset{p, offset})
	}
	slices.SortFunc(e.Offsets, func(a, b partitionOffset) int { return compareTopicPartitions(a.topicPartition, b.topicPartition) })
	v.log.event(e)
}

func topicPartitions(byTopic map[string][]int32) []topicPartition {
	out := []topicPartition{}
	for topic, partitions := range byTopic {
		for _, p := range partitions {
			out = append(out, topicPartition{topic, p})
		}
	}
	slices.SortFunc(out, compareTopicPartitions)
	return out
}

func compareTopicPartitions(a, b topicPartition) int {
	return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
}
