package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/internal/cli/options"
	"barnabas/internal/kafka"
)

func logDirsOptions() *options.Set {
	return options.New(
		options.Option{Name: "bootstrap-server", Argument: options.Required, Value: "The server(s) to use for bootstrapping", Help: "The servers to connect to."},
		options.Option{Name: "command-config", Argument: options.Required, Value: "Admin client property file", Help: "Properties for the admin client."},
		options.Option{Name: "describe", Help: "Describe the log directories of brokers."},
		options.Option{Name: "topic-list", Argument: options.Required, Value: "Topic list", Help: "Topics to tell of, separated by commas; all without it."},
		options.Option{Name: "broker-list", Argument: options.Required, Value: "Broker list", Help: "Brokers to ask, separated by commas; all without it."},
		outputOption,
	)
}

// LogDirs is kafka-log-dirs.
func LogDirs(args []string, o IO) int {
	set := logDirsOptions()
	if done, exit := parse(set, args, o, ""); done {
		return exit
	}
	if err := missingArgument(set, "bootstrap-server", "describe"); err != nil {
		return usageExit(set, o, err)
	}
	return toldExit(o, logDirs(set, o))
}

func logDirs(set *options.Set, o IO) error {
	asJSON, err := wantsJSON(set.Get("o"), set.Has("o"))
	if err != nil {
		return err
	}
	ctx, cl, done, err := connectAdmin(set, o, 0)
	if err != nil {
		return err
	}
	defer done()
	brokers, err := brokersToAsk(ctx, cl, set.Get("broker-list"))
	if err != nil {
		return err
	}
	if !asJSON {
		fmt.Fprintln(o.Stdout, "Querying brokers for log directories information")
	}
	answer := describedBrokers{Version: 1, Brokers: []describedBroker{}}
	for _, id := range brokers {
		b, err := describeLogDirs(ctx, cl, id, listOf(set.Get("topic-list")))
		if err != nil {
			return err
		}
		answer.Brokers = append(answer.Brokers, b)
	}
	if asJSON {
		return printJSON(o, answer)
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(answer); err != nil {
		panic("BUG: output that is no JSON: " + err.Error())
	}
	fmt.Fprintf(o.Stdout, "Received log directory information from brokers %s\n%s", joinIDs(brokers), text.Bytes())
	return nil
}

// What the tool prints. The order of the fields is that of Apache's.
type (
	describedBrokers struct {
		Brokers []describedBroker `json:"brokers"`
		Version int               `json:"version"`
	}
	describedBroker struct {
		Broker  int32          `json:"broker"`
		LogDirs []describedDir `json:"logDirs"`
	}
	describedDir struct {
		Partitions []describedReplica `json:"partitions"`
		Error      *string            `json:"error"`
		LogDir     string             `json:"logDir"`
	}
	describedReplica struct {
		Partition string `json:"partition"`
		Size      int64  `json:"size"`
		OffsetLag int64  `json:"offsetLag"`
		IsFuture  bool   `json:"isFuture"`
	}
)

func listOf(text string) []string {
	return slices.DeleteFunc(strings.Split(text, ","), func(s string) bool { return s == "" })
}

// brokersToAsk are the brokers of a list, or all of them.
func brokersToAsk(ctx context.Context, cl *kgo.Client, list string) ([]int32, error) {
	there, err := brokerIDs(ctx, cl)
	if err != nil {
		return nil, err
	}
	var wanted, missing []int32
	for _, word := range listOf(list) {
		id, err := strconv.ParseInt(word, 10, 32)
		if err != nil {
			return nil, &failure{"java.lang.NumberFormatException", fmt.Sprintf("For input string: %q", word)}
		}
		wanted = append(wanted, int32(id))
		if !slices.Contains(there, int32(id)) {
			missing = append(missing, int32(id))
		}
	}
	switch {
	case len(missing) > 0:
		return nil, plain("ERROR: The given brokers do not exist from --broker-list: %s. Current existent brokers: %s", joinIDs(missing), joinIDs(there))
	case len(wanted) == 0:
		return there, nil
	}
	return wanted, nil
}

// describeLogDirs asks one broker for everything, as Apache's tool does, and keeps
// what belongs to the topics.
func describeLogDirs(ctx context.Context, cl *kgo.Client, id int32, topics []string) (describedBroker, error) {
	out := describedBroker{Broker: id, LogDirs: []describedDir{}}
	req := kmsg.NewPtrDescribeLogDirsRequest()
	resp, err := cl.Broker(int(id)).RetriableRequest(ctx, req)
	if err != nil {
		return out, err
	}
	answer := resp.(*kmsg.DescribeLogDirsResponse)
	if err := codeError(answer.ErrorCode, nil); err != nil {
		return out, err
	}
	for i := range answer.Dirs {
		d := &answer.Dirs[i]
		dir := describedDir{LogDir: d.Dir, Partitions: describedReplicas(d, topics)}
		if d.ErrorCode != 0 {
			class := kafka.ErrorCode(d.ErrorCode).Exception()
			dir.Error = &class
		}
		out.LogDirs = append(out.LogDirs, dir)
	}
	return out, nil
}

func describedReplicas(d *kmsg.DescribeLogDirsResponseDir, topics []string) []describedReplica {
	var order []kafka.TopicPartition
	replicas := map[kafka.TopicPartition]describedReplica{}
	for _, t := range d.Topics {
		for _, p := range t.Partitions {
			tp := kafka.TopicPartition{Topic: t.Topic, Partition: p.Partition}
			order = append(order, tp)
			replicas[tp] = describedReplica{tp.String(), p.Size, p.OffsetLag, p.IsFuture}
		}
	}
	out := []describedReplica{}
	for _, tp := range asInHashMap(order, partitionHash, smallestTable) {
		if len(topics) == 0 || slices.Contains(topics, tp.Topic) {
			out = append(out, replicas[tp])
		}
	}
	return out
}
