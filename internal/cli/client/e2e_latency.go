package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	kafkaclient "barnabas/client"
	"barnabas/internal/cli/options"
)

// e2eLatencyOptions are the options of kafka-e2e-latency.
func e2eLatencyOptions() *options.Set {
	return options.New(
		options.Option{Name: "bootstrap-server", Argument: options.Required, Value: "bootstrap-server", Help: "The servers to connect to."},
		options.Option{Name: "topic", Argument: options.Required, Value: "topic-name", Help: "The topic to write to and read from."},
		options.Option{Name: "num-records", Argument: options.Required, Value: "count", Help: "How many records."},
		options.Option{Name: "producer-acks", Argument: options.Required, Value: "producer-acks", Help: "1 or all."},
		options.Option{Name: "record-size", Argument: options.Required, Value: "bytes", Help: "Bytes of a value."},
		options.Option{Name: "record-key-size", Argument: options.Optional, Value: "bytes", Default: "0", Help: "Bytes of a key; 0 is no key."},
		options.Option{Name: "num-headers", Argument: options.Optional, Value: "count", Default: "0", Help: "How many headers."},
		options.Option{Name: "record-header-key-size", Argument: options.Optional, Value: "bytes", Default: "0", Help: "Bytes of a header's key."},
		options.Option{Name: "record-header-size", Argument: options.Optional, Value: "bytes", Default: "0", Help: "Bytes of a header's value."},
		options.Option{Name: "command-config", Argument: options.Optional, Value: "config-file", Help: "A file of client properties."},
	)
}

// E2ELatency is kafka-e2e-latency.
func E2ELatency(args []string, o IO) int {
	set := e2eLatencyOptions()
	if len(args) == 0 {
		return usageExit(set, o, errors.New("This tool measures end-to-end latency in Kafka by sending messages and timing their reception."))
	}
	args, err := namedArguments(args)
	if err != nil {
		fmt.Fprintln(o.Stderr, err)
		return 1
	}
	if done, exit := parse(set, args, o, ""); done {
		return exit
	}
	e, err := parseE2E(set)
	if err != nil {
		return usageExit(set, o, err)
	}
	return toldExit(o, e.run(set, o))
}

// namedArguments gives arguments without names, the older way to call the tool,
// their names.
func namedArguments(args []string) ([]string, error) {
	if strings.HasPrefix(args[0], "-") {
		return args, nil
	}
	if len(args) != 5 && len(args) != 6 {
		return nil, fmt.Errorf("Invalid number of arguments. Expected 5 or 6 positional arguments, but got %d. Usage: bootstrap-server topic num-records producer-acks record-size [optional] command-config", len(args))
	}
	var out []string
	for i, name := range []string{"bootstrap-server", "topic", "num-records", "producer-acks", "record-size", "command-config"} {
		if i < len(args) {
			out = append(out, "--"+name, args[i])
		}
	}
	return out, nil
}

// endToEnd is one run.
type endToEnd struct {
	topic, acks string
	records     int
	sizes       map[string]int
	random      *mathrand.Rand
}

func parseE2E(set *options.Set) (*endToEnd, error) {
	if err := missingArgument(set, "bootstrap-server", "topic", "num-records", "producer-acks", "record-size"); err != nil {
		return nil, err
	}
	e := &endToEnd{topic: set.Get("topic"), acks: set.Get("producer-acks"), sizes: map[string]int{}, random: mathrand.New(mathrand.NewPCG(0, 0))}
	for _, name := range []string{"num-records", "record-size", "record-key-size", "num-headers", "record-header-key-size", "record-header-size"} {
		n, _, err := set.Int(name, 32)
		switch {
		case err != nil:
			return nil, err
		case name == "num-records" && n <= 0:
			return nil, fmt.Errorf("Value for --num-records must be a positive integer.")
		case n < 0:
			return nil, fmt.Errorf("Value for --%s must be a non-negative integer.", name)
		}
		e.sizes[name] = int(n)
	}
	if e.acks != "1" && e.acks != "all" {
		return nil, fmt.Errorf("Invalid value for --producer-acks. Latency testing requires synchronous acknowledgement. Please use '1' or 'all'.")
	}
	e.records = e.sizes["num-records"]
	return e, nil
}

// receiveWithin is how long a record may take to come back.
const receiveWithin = 60 * time.Second

func (e *endToEnd) run(set *options.Set, o IO) error {
	servers, file := "bootstrap.servers="+set.Get("bootstrap-server"), set.Get("command-config")
	props, err := readProperties(file, []string{servers, "acks=" + e.acks, "linger.ms=0"})
	if err != nil {
		return err
	}
	producer, err := open(kafkaclient.ForProducer, props, o)
	if err != nil {
		return err
	}
	defer producer.Close()
	positions, err := e.ends(o, producer)
	if err != nil {
		return err
	}
	if props, err = readProperties(file, []string{servers}); err != nil {
		return err
	}
	consumer, err := open(kafkaclient.ForConsumer, props, o, kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{e.topic: positions}))
	if err != nil {
		return err
	}
	defer consumer.Close()
	return e.measure(o, producer, consumer)
}

// ends makes the topic if it is not there, and returns the ends of its partitions.
func (e *endToEnd) ends(o IO, cl *kgo.Client) (map[int32]kgo.Offset, error) {
	ctx, cancel := context.WithTimeout(o.Context, adminTimeout)
	defer cancel()
	admin := kadm.NewClient(cl)
	topics, err := admin.ListTopics(ctx, e.topic)
	if err != nil {
		return nil, err
	}
	if errors.Is(topics[e.topic].Err, kerr.UnknownTopicOrPartition) {
		fmt.Fprintf(o.Stdout, "Topic \"%s\" does not exist. Will create topic with %d partition(s) and replication factor = %d\n", e.topic, 1, 1)
		if _, err := admin.CreateTopic(ctx, 1, 1, nil, e.topic); err != nil {
			return nil, err
		}
	}
	if err := waitForTopic(ctx, cl, e.topic, adminTimeout); err != nil {
		return nil, err
	}
	listed, err := admin.ListEndOffsets(ctx, e.topic)
	if err != nil {
		return nil, err
	}
	out := map[int32]kgo.Offset{}
	for _, l := range listed[e.topic] {
		if l.Err != nil {
			return nil, l.Err
		}
		out[l.Partition] = kgo.NewOffset().At(l.Offset)
	}
	return out, nil
}

func (e *endToEnd) measure(o IO, producer, consumer *kgo.Client) error {
	var latencies []int
	total := time.Duration(0)
	for i := range e.records {
		if o.Context.Err() != nil {
			return o.Context.Err()
		}
		record := e.record()
		begin := time.Now()
		if err := producer.ProduceSync(o.Context, record).FirstErr(); err != nil {
			return err
		}
		if err := receive(o.Context, consumer, record); err != nil {
			return err
		}
		took := time.Since(begin)
		total += took
		latencies = append(latencies, int(took.Milliseconds()))
		if i%1000 == 0 {
			fmt.Fprintf(o.Stdout, "%d\t%s\n", i, strconv.FormatFloat(float64(took.Nanoseconds())/1e6, 'f', -1, 64))
		}
	}
	p := percentiles(latencies, 0.5, 0.99, 0.999)
	fmt.Fprintf(o.Stdout, "Avg latency: %.4f ms\n", float64(total.Nanoseconds())/float64(e.records)/1e6)
	fmt.Fprintf(o.Stdout, "Percentiles: 50th = %d, 99th = %d, 99.9th = %d\n", p[0], p[1], p[2])
	return nil
}

func (e *endToEnd) record() *kgo.Record {
	r := &kgo.Record{Topic: e.topic, Value: letters(e.random, e.sizes["record-size"])}
	if n := e.sizes["record-key-size"]; n > 0 {
		r.Key = letters(e.random, n)
	}
	for range e.sizes["num-headers"] {
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: string(letters(e.random, e.sizes["record-header-key-size"])), Value: letters(e.random, e.sizes["record-header-size"])})
	}
	return r
}

// receive waits for the record that was sent, and holds it against that.
func receive(ctx context.Context, cl *kgo.Client, sent *kgo.Record) error {
	ctx, cancel := context.WithTimeout(ctx, receiveWithin)
	defer cancel()
	for {
		fetches := cl.PollRecords(ctx, 1)
		if err := ctx.Err(); err != nil {
			return plain("poll() timed out before finding a result (timeout:[%dms])", receiveWithin.Milliseconds())
		}
		if err := fatalError(fetches); err != nil {
			return err
		}
		for _, r := range fetches.Records() {
			if !bytes.Equal(r.Value, sent.Value) || !bytes.Equal(r.Key, sent.Key) {
				return plain("The message value read [%s] did not match the message value sent [%s]", r.Value, sent.Value)
			}
			return nil
		}
	}
}
