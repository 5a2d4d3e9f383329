package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"barnabas/internal/cli/options"
	"barnabas/internal/kafka"
)

func deleteRecordsOptions() *options.Set {
	return options.New(
		options.Option{Name: "bootstrap-server", Argument: options.Required, Value: "server(s) to use for bootstrapping", Help: "The servers to connect to."},
		options.Option{Name: "command-config", Argument: options.Required, Value: "command config property file path", Help: "Properties for the admin client."},
		options.Option{Name: "offset-json-file", Argument: options.Required, Value: "Offset json file path",
			Help: `A file {"partitions":[{"topic":"foo","partition":1,"offset":1}],"version":1}: records below the offsets are deleted. Offset -1 deletes all.`},
		outputOption,
	)
}

// DeleteRecords is kafka-delete-records. As Apache's it exits with 0 when single
// partitions are refused.
func DeleteRecords(args []string, o IO) int {
	set := deleteRecordsOptions()
	if done, exit := parse(set, args, o, ""); done {
		return exit
	}
	if err := missingArgument(set, "bootstrap-server", "offset-json-file"); err != nil {
		return usageExit(set, o, err)
	}
	if err := deleteRecords(set, o); err != nil {
		fmt.Fprintf(o.Stderr, "%s\n%s: %s\n", err, exception(err), err)
		return 1
	}
	return 0
}

// deletedRecords is what became of one partition.
type deletedRecords struct {
	Topic        string `json:"topic"`
	Partition    int32  `json:"partition"`
	LowWatermark int64  `json:"lowWatermark"`
	Error        string `json:"error,omitempty"`
}

func deleteRecords(set *options.Set, o IO) error {
	asJSON, err := wantsJSON(set.Get("o"), set.Has("o"))
	if err != nil {
		return err
	}
	text, err := os.ReadFile(set.Get("offset-json-file"))
	if err != nil {
		return err
	}
	order, offsets, err := parseOffsetFile(text)
	if err != nil {
		return err
	}
	ctx, cl, done, err := connectAdmin(set, o, 0)
	if err != nil {
		return err
	}
	defer done()
	if !asJSON {
		fmt.Fprintln(o.Stdout, "Executing records delete operation")
	}
	results, err := askDeleteRecords(ctx, cl, order, offsets)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(o, results)
	}
	fmt.Fprintln(o.Stdout, "Records delete operation completed:")
	for _, r := range results {
		if r.Error != "" {
			fmt.Fprintf(o.Stdout, "partition: %s-%d\terror: %s\n", r.Topic, r.Partition, r.Error)
		} else {
			fmt.Fprintf(o.Stdout, "partition: %s-%d\tlow_watermark: %d\n", r.Topic, r.Partition, r.LowWatermark)
		}
	}
	return nil
}

// offsetFileVersion is the one version of the file that there is.
const offsetFileVersion = 1

// parseOffsetFile reads the file of offsets. The partitions come in the order of
// the file.
func parseOffsetFile(text []byte) ([]kafka.TopicPartition, map[kafka.TopicPartition]int64, error) {
	wrong := func(format string, args ...any) error {
		return &failure{"org.apache.kafka.tools.AdminOperationException", fmt.Sprintf(format, args...)}
	}
	var file struct {
		Version    *int
		Partitions *[]struct {
			Topic             *string
			Partition, Offset *int64
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, nil, wrong("The input string is not a valid JSON")
	}
	if file.Version != nil && *file.Version != offsetFileVersion {
		return nil, nil, wrong("Not supported version field value %d", *file.Version)
	}
	if file.Partitions == nil {
		return nil, nil, wrong("Missing partitions field")
	}
	var order []kafka.TopicPartition
	offsets, twice := map[kafka.TopicPartition]int64{}, map[string]bool{}
	for _, p := range *file.Partitions {
		if p.Topic == nil || p.Partition == nil || p.Offset == nil || *p.Partition != int64(int32(*p.Partition)) {
			return nil, nil, wrong("Each of partitions needs the fields topic, partition and offset")
		}
		tp := kafka.TopicPartition{Topic: *p.Topic, Partition: int32(*p.Partition)}
		if _, again := offsets[tp]; again {
			twice[tp.String()] = true
			continue
		}
		order, offsets[tp] = append(order, tp), *p.Offset
	}
	if len(twice) > 0 {
		return nil, nil, wrong("Offset json file contains duplicate topic partitions: %s", strings.Join(slices.Sorted(maps.Keys(twice)), ","))
	}
	return order, offsets, nil
}

// askDeleteRecords asks the leaders. The results come in the order of Apache's
// hash map.
func askDeleteRecords(ctx context.Context, cl *kgo.Client, order []kafka.TopicPartition, offsets map[kafka.TopicPartition]int64) ([]deletedRecords, error) {
	ask := kadm.Offsets{}
	for tp, o := range offsets {
		ask.Add(kadm.Offset{Topic: tp.Topic, Partition: tp.Partition, At: o, LeaderEpoch: -1})
	}
	answers, err := kadm.NewClient(cl).DeleteRecords(ctx, ask)
	if err != nil && len(answers) == 0 {
		return nil, err
	}
	var out []deletedRecords
	for _, tp := range asInHashMap(order, partitionHash, smallestTable) {
		r := deletedRecords{Topic: tp.Topic, Partition: tp.Partition, LowWatermark: -1}
		a, ok := answers.Lookup(tp.Topic, tp.Partition)
		switch {
		case !ok:
			r.Error = told(codeError(int16(kafka.ErrUnknownTopicOrPartition), nil))
		case a.Err != nil:
			r.Error = told(a.Err)
		default:
			r.LowWatermark = a.LowWatermark
		}
		out = append(out, r)
	}
	return out, nil
}

// told is an error as Java prints it: class and text.
func told(err error) string {
	var code *kerr.Error
	if errors.As(err, &code) {
		err = codeError(code.Code, nil)
	}
	return exception(err) + ": " + err.Error()
}
