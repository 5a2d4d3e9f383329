package client

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/internal/cli/options"
	"barnabas/internal/kafka"
)

func getOffsetsOptions() *options.Set {
	return options.New(
		options.Option{Name: "bootstrap-server", Argument: options.Required, Value: "HOST1:PORT1,...,HOST3:PORT3", Help: "The servers to connect to."},
		options.Option{Name: "command-config", Argument: options.Required, Value: "config file", Help: "Properties for the admin client."},
		options.Option{Name: "topic-partitions", Argument: options.Required, Value: "topic1:1,topic2:0-3,topic3,topic4:5-,topic5:-3", Help: "Topic and partition patterns."},
		options.Option{Name: "topic", Argument: options.Required, Value: "topic", Help: "A topic or a regular expression."},
		options.Option{Name: "partitions", Argument: options.Required, Value: "partition ids", Help: "Partitions, separated by commas."},
		options.Option{Name: "time", Argument: options.Required, Value: "timestamp", Default: "latest",
			Help: "-1 or latest, -2 or earliest, -3 or max-timestamp, -4 or earliest-local, -5 or latest-tiered, -6 or earliest-pending-upload, or milliseconds."},
		options.Option{Name: "exclude-internal-topics", Help: "Leave internal topics out."},
		outputOption,
	)
}

// GetOffsets is kafka-get-offsets.
func GetOffsets(args []string, o IO) int {
	set := getOffsetsOptions()
	if done, exit := parse(set, args, o, "Error occurred: "); done {
		return exit
	}
	if err := missingArgument(set, "bootstrap-server"); err != nil {
		return usageExit(set, o, err)
	}
	if err := getOffsets(set, o); err != nil {
		fmt.Fprintf(o.Stderr, "Error occurred: %s\n", err)
		return 1
	}
	return 0
}

var timeWords = map[string]int64{"latest": kafka.TimestampLatest, "earliest": kafka.TimestampEarliest, "max-timestamp": kafka.TimestampMax,
	"earliest-local": kafka.TimestampEarliestLocal, "latest-tiered": kafka.TimestampLatestTiered, "earliest-pending-upload": kafka.TimestampEarliestPendingUpload}

func parseTime(text string) (int64, error) {
	if t, ok := timeWords[text]; ok {
		return t, nil
	}
	t, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("Malformed time argument %s. Please use -1 or latest / -2 or earliest / -3 or max-timestamp / -4 or earliest-local / -5 or latest-tiered / -6 or earliest-pending-upload, or a specified long format timestamp", text)
	}
	return t, nil
}

func getOffsets(set *options.Set, o IO) error {
	if set.Has("topic-partitions") && (set.Has("topic") || set.Has("partitions")) {
		return errors.New("--topic-partitions cannot be used with --topic or --partitions")
	}
	timestamp, err := parseTime(set.Get("time"))
	if err != nil {
		return err
	}
	asJSON, err := wantsJSON(set.Get("o"), set.Has("o"))
	if err != nil {
		return err
	}
	filter, err := partitionFilter(set)
	if err != nil {
		return err
	}
	ctx, cl, done, err := connectAdmin(set, o, 0)
	if err != nil {
		return err
	}
	defer done()
	listed, err := kadm.NewClient(cl).ListTopicsWithInternal(ctx)
	if err != nil {
		return err
	}
	byLeader := map[int32][]kafka.TopicPartition{}
	found := false
	for _, t := range listed.Sorted() {
		for _, p := range t.Partitions.Sorted() {
			if !filter(t.Topic, p.Partition) || set.Has("exclude-internal-topics") && t.IsInternal {
				continue
			}
			found = true
			if p.Leader < 0 {
				fmt.Fprintf(o.Stderr, "Skip getting offsets for topic-partition %s-%d due to error: partition has no leader\n", t.Topic, p.Partition)
				continue
			}
			byLeader[p.Leader] = append(byLeader[p.Leader], kafka.TopicPartition{Topic: t.Topic, Partition: p.Partition})
		}
	}
	if !found {
		return errors.New("Could not match any topic-partitions with the specified filters")
	}
	offsets, err := offsetsAt(ctx, cl, o, byLeader, timestamp)
	if err != nil {
		return err
	}
	return printOffsets(o, offsets, asJSON)
}

// offsetsAt asks each leader for its partitions. Partitions without such an offset
// are left out.
func offsetsAt(ctx context.Context, cl *kgo.Client, o IO, byLeader map[int32][]kafka.TopicPartition, timestamp int64) (map[kafka.TopicPartition]int64, error) {
	offsets := map[kafka.TopicPartition]int64{}
	for i, leader := range slices.Sorted(maps.Keys(byLeader)) {
		o.progressf("%d of %d brokers asked", i, len(byLeader))
		resp, err := cl.Broker(int(leader)).RetriableRequest(ctx, listOffsetsRequest(byLeader[leader], timestamp))
		if err != nil {
			return nil, err
		}
		for _, t := range resp.(*kmsg.ListOffsetsResponse).Topics {
			for _, p := range t.Partitions {
				if err := codeError(p.ErrorCode, nil); err != nil {
					fmt.Fprintf(o.Stderr, "Skip getting offsets for topic-partition %s-%d due to error: %s\n", t.Topic, p.Partition, err)
				} else if p.Offset >= 0 {
					offsets[kafka.TopicPartition{Topic: t.Topic, Partition: p.Partition}] = p.Offset
				}
			}
		}
	}
	return offsets, nil
}

// printOffsets prints lines, or a document, partition by partition.
func printOffsets(o IO, offsets map[kafka.TopicPartition]int64, asJSON bool) error {
	list := []partitionOffset{}
	for _, tp := range slices.SortedFunc(maps.Keys(offsets), kafka.TopicPartition.Compare) {
		list = append(list, partitionOffset{topicPartition{tp.Topic, tp.Partition}, offsets[tp]})
	}
	if asJSON {
		return printJSON(o, list)
	}
	for _, l := range list {
		fmt.Fprintf(o.Stdout, "%s:%d:%d\n", l.Topic, l.Partition, l.Offset)
	}
	return nil
}

// partitionFilter says which partitions the options choose.
func partitionFilter(set *options.Set) (func(topic string, partition int32) bool, error) {
	if !set.Has("topic-partitions") {
		topic, err := topicFilter(set.Get("topic"))
		if err != nil {
			return nil, err
		}
		wanted, err := partitionList(set.Get("partitions"))
		if err != nil {
			return nil, err
		}
		return func(t string, p int32) bool {
			return topic(t) && (len(wanted) == 0 || slices.Contains(wanted, p))
		}, nil
	}
	var rules []func(string, int32) bool
	for _, word := range strings.Split(set.Get("topic-partitions"), ",") {
		rule, err := topicPartitionRule(word)
		if err != nil {
			return nil, err
		}
		rules = append(rules, rule)
	}
	return func(t string, p int32) bool {
		return slices.ContainsFunc(rules, func(rule func(string, int32) bool) bool { return rule(t, p) })
	}, nil
}

func partitionList(text string) ([]int32, error) {
	var out []int32
	for word := range strings.SplitSeq(text, ",") {
		if word = strings.TrimSpace(word); word == "" {
			continue
		}
		n, err := strconv.ParseInt(word, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("--partitions expects a comma separated list of numeric partition ids, but received: %s", text)
		}
		out = append(out, int32(n))
	}
	return out, nil
}

// topicPartitionRule reads one of "topic", "topic:1", "topic:0-3", "topic:5-",
// "topic:-3", ":1"; upper bounds are exclusive.
func topicPartitionRule(word string) (func(string, int32) bool, error) {
	name, span, hasSpan := strings.Cut(word, ":")
	topic, err := topicFilter(name)
	if err != nil {
		return nil, err
	}
	low, high := int64(0), int64(math.MaxInt32)+1
	if hasSpan && span != "" {
		from, to, isRange := strings.Cut(span, "-")
		if low, err = bound(from, 0); err != nil {
			return nil, badRule(word)
		}
		if !isRange {
			high = low + 1
		} else if high, err = bound(to, high); err != nil {
			return nil, badRule(word)
		}
	}
	return func(t string, p int32) bool { return topic(t) && int64(p) >= low && int64(p) < high }, nil
}

func bound(text string, otherwise int64) (int64, error) {
	if text == "" {
		return otherwise, nil
	}
	return strconv.ParseInt(text, 10, 32)
}

func badRule(word string) error { return fmt.Errorf("Invalid rule specification: %s", word) }
