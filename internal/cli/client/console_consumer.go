package client

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	kafkaclient "barnabas/client"
	"barnabas/internal/cli/options"
)

func consoleConsumerOptions() *options.Set {
	return options.New(
		options.Option{Name: "bootstrap-server", Argument: options.Required, Value: "server to connect to", Help: "The servers to connect to."},
		options.Option{Name: "topic", Argument: options.Required, Value: "topic", Help: "The topic to read."},
		options.Option{Name: "include", Argument: options.Required, Value: "regular expression", Help: "The topics to read."},
		options.Option{Name: "partition", Argument: options.Required, Value: "partition", Help: "The partition to read."},
		options.Option{Name: "offset", Argument: options.Required, Value: "consume offset", Default: "latest", Help: "With --partition: a number, earliest or latest."},
		options.Option{Name: "group", Argument: options.Required, Value: "consumer group id", Help: "The group to read as; otherwise one of a random name, which commits nothing."},
		options.Option{Name: "from-beginning", Help: "Read from the earliest record on."},
		options.Option{Name: "max-messages", Argument: options.Required, Value: "num_messages", Help: "Stop after so many records."},
		options.Option{Name: "timeout-ms", Argument: options.Required, Value: "timeout_ms", Help: "Stop when no record came for so long."},
		options.Option{Name: "skip-message-on-error", Help: "Go on when a record cannot be printed."},
		options.Option{Name: "isolation-level", Argument: options.Required, Value: "level", Default: "read_uncommitted", Help: "read_committed or read_uncommitted."},
		options.Option{Name: "key-deserializer", Argument: options.Required, Value: "deserializer for keys", Help: "One of Kafka's own."},
		options.Option{Name: "value-deserializer", Argument: options.Required, Value: "deserializer for values", Help: "One of Kafka's own."},
		options.Option{Name: "formatter", Argument: options.Required, Value: "class", Default: defaultFormatterClass, Help: "One of Kafka's own, such as OffsetsMessageFormatter of that package."},
		options.Option{Name: "property", Argument: options.Required, Many: true, Value: "prop", Help: "See formatter-property.", Deprecated: true},
		options.Option{Name: "formatter-property", Argument: options.Required, Many: true, Value: "prop", Help: "print.timestamp, print.key, print.offset, print.delivery, print.epoch, print.partition, print.headers, print.value, key.separator, line.separator, headers.separator, null.literal, key.deserializer, value.deserializer, headers.deserializer."},
		options.Option{Name: "formatter-config", Argument: options.Required, Value: "config file", Help: "A file of formatter properties."},
		options.Option{Name: "consumer-property", Argument: options.Required, Many: true, Value: "consumer_prop", Help: "See command-property.", Deprecated: true},
		options.Option{Name: "command-property", Argument: options.Required, Many: true, Value: "consumer_prop", Help: "A property of the consumer."},
		options.Option{Name: "consumer.config", Argument: options.Required, Value: "config file", Help: "See command-config.", Deprecated: true},
		options.Option{Name: "command-config", Argument: options.Required, Value: "config file", Help: "A file of consumer properties."},
		options.Option{Name: "enable-systest-events", Help: "Print an event when the tool ends."},
	)
}

// ConsoleConsumer is kafka-console-consumer. Without --partition it reads as a
// member of a group.
func ConsoleConsumer(args []string, o IO) int {
	set := consoleConsumerOptions()
	if done, exit := parse(set, args, o, ""); done {
		return exit
	}
	if err := checkConsumerOptions(set); err != nil {
		return usageExit(set, o, err)
	}
	tellOfDeprecated(set, o, "Option --%s is deprecated and will be removed in a future version. Use --%s instead.\n",
		"consumer-property", "command-property", "property", "formatter-property", "consumer.config", "command-config")
	c, err := newConsoleConsumer(set, o)
	var usage *usageError
	switch {
	case errors.As(err, &usage):
		return usageExit(set, o, err)
	case err != nil:
		return toldExit(o, err)
	}
	exit := c.run()
	c.close()
	if set.Has("enable-systest-events") {
		fmt.Fprintln(o.Stdout, "shutdown_complete")
	}
	fmt.Fprintf(o.Stderr, "Processed a total of %d messages\n", c.count)
	return exit
}

func checkConsumerOptions(set *options.Set) error {
	switch {
	case set.Has("topic") == set.Has("include"):
		return fmt.Errorf("Exactly one of the following arguments is required: [topic], [include]")
	case !set.Has("bootstrap-server"):
		return missingArgument(set, "bootstrap-server")
	case set.Has("partition") && !set.Has("topic"):
		return fmt.Errorf("The topic is required when partition is specified.")
	case set.Has("offset") && !set.Has("partition"):
		return fmt.Errorf("The partition is required when offset is specified.")
	case set.Has("from-beginning") && set.Has("offset"):
		return fmt.Errorf("Options from-beginning and offset cannot be specified together.")
	case set.Has("property") && set.Has("formatter-property"):
		return fmt.Errorf("Options [property] and [formatter-property] cannot be specified together")
	case set.Has("consumer-property") && set.Has("command-property"):
		return fmt.Errorf("Options [consumer-property] and [command-property] cannot be specified together")
	case set.Has("consumer.config") && set.Has("command-config"):
		return fmt.Errorf("Options [consumer.config] and [command-config] cannot be specified together")
	}
	if level := set.Get("isolation-level"); level != "read_committed" && level != "read_uncommitted" {
		return fmt.Errorf("isolation.level must be one of read_committed, read_uncommitted, but is %s", level)
	}
	return nil
}

type consoleConsumer struct {
	cl      *kgo.Client
	group   *groupReader // nil if nothing is committed
	o       IO
	format  recordPrinter
	max     int64
	atOnce  int           // records of one poll
	timeout time.Duration // 0: none
	skip    bool
	count   int64
}

func newConsoleConsumer(set *options.Set, o IO) (*consoleConsumer, error) {
	c := &consoleConsumer{o: o, max: math.MaxInt64, skip: set.Has("skip-message-on-error")}
	var err error
	if c.format, err = formatterFrom(set); err != nil {
		return nil, err
	}
	if n, given, err := set.Int("max-messages", 32); err != nil {
		return nil, err
	} else if given && n >= 0 {
		c.max = n
	}
	if n, given, err := set.Int("timeout-ms", 64); err != nil {
		return nil, err
	} else if given && n >= 0 {
		c.timeout = time.Duration(n) * time.Millisecond
	}
	props, err := consumerProperties(set)
	if err != nil {
		return nil, err
	}
	if c.atOnce, err = kafkaclient.MaxPollRecords(props); err != nil {
		return nil, err
	}
	where, err := consumeFrom(set)
	if err != nil {
		return nil, err
	}
	if set.Has("partition") {
		c.group, err = newLoneReader(props)
	} else {
		c.group, err = newGroupReader(props)
	}
	if err != nil {
		return nil, err
	}
	if !set.Has("partition") {
		where = append(where, c.group.options()...)
		if !strings.EqualFold(props["group.protocol"], "consumer") {
			fmt.Fprintln(o.Stderr, adviceOnProtocol)
		}
	}
	c.cl, err = open(kafkaclient.ForConsumer, props, o, where...)
	return c, err
}

// adviceOnProtocol is what Apache's consumer says when it uses the classic protocol.
const adviceOnProtocol = "The consumer rebalance protocol (KIP-848) is production-ready! Set group.protocol=consumer to try it out. See https://kafka.apache.org/documentation/#consumer_rebalance_protocol"

func (c *consoleConsumer) close() {
	if c.group != nil {
		if err := c.group.leave(c.cl); err != nil {
			c.o.logf("ERROR", "org.apache.kafka.tools.consumer.ConsoleConsumer", "Commit of offsets at the end failed: %s", err)
		}
	}
	c.cl.CloseAllowingRebalance()
}

// consumerProperties joins the file, the properties of the command line, and what the
// other options say.
func consumerProperties(set *options.Set) (map[string]string, error) {
	file, err := readProperties(cmp.Or(set.Get("command-config"), set.Get("consumer.config")), nil)
	if err != nil {
		return nil, err
	}
	line, err := readProperties("", append(set.All("consumer-property"), set.All("command-property")...))
	if err != nil {
		return nil, err
	}
	var groups []string
	for _, id := range []string{set.Get("group"), file["group.id"], line["group.id"]} {
		if id != "" {
			groups = append(groups, id)
		}
	}
	switch groups = distinct(groups); {
	case len(groups) > 1:
		return nil, &usageError{"The group ids provided in different places (directly using '--group', via '--consumer-property', or via '--consumer.config') do not match. Detected group ids: '" + strings.Join(groups, "', '") + "'"}
	case len(groups) == 1 && set.Has("partition"):
		return nil, &usageError{"Options group and partition cannot be specified together."}
	case len(groups) == 0:
		groups = []string{fmt.Sprintf("console-consumer-%d", rand.IntN(100000))}
		line["enable.auto.commit"] = cmp.Or(line["enable.auto.commit"], file["enable.auto.commit"], "false")
	}
	props := file
	maps.Copy(props, line)
	reset := props["auto.offset.reset"]
	if reset != "" && reset != "earliest" && set.Has("from-beginning") {
		return nil, plain("Can't simultaneously specify --from-beginning and 'auto.offset.reset=%s', please remove one option", reset)
	}
	if set.Has("from-beginning") {
		reset = "earliest"
	}
	props["auto.offset.reset"] = cmp.Or(reset, "latest")
	props["bootstrap.servers"] = set.Get("bootstrap-server")
	props["client.id"] = cmp.Or(props["client.id"], "console-consumer")
	if set.Has("isolation-level") || props["isolation.level"] == "" {
		props["isolation.level"] = set.Get("isolation-level")
	}
	props["group.id"] = groups[0]
	return props, nil
}

func formatterFrom(set *options.Set) (recordPrinter, error) {
	if p, err := printerOf(set.Get("formatter")); p != nil || err != nil {
		return p, err
	}
	props, err := readProperties(set.Get("formatter-config"), append(set.All("property"), set.All("formatter-property")...))
	if err != nil {
		return nil, err
	}
	return newFormatter(props, set.Get("key-deserializer"), set.Get("value-deserializer"))
}

// consumeFrom says which topics or partition are read, and from where.
func consumeFrom(set *options.Set) ([]kgo.Opt, error) {
	if set.Has("include") {
		return []kgo.Opt{kgo.ConsumeRegex(), kgo.ConsumeTopics("^(?:" + set.Get("include") + ")$")}, nil
	}
	if !set.Has("partition") {
		return []kgo.Opt{kgo.ConsumeTopics(set.Get("topic"))}, nil
	}
	start := kgo.NewOffset().AtEnd()
	if set.Has("from-beginning") {
		start = kgo.NewOffset().AtStart()
	}
	partition, _, err := set.Int("partition", 32)
	if err != nil {
		return nil, err
	}
	if set.Has("offset") {
		if start, err = parseOffset(set.Get("offset")); err != nil {
			return nil, err
		}
	}
	return []kgo.Opt{kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{set.Get("topic"): {int32(partition): start}})}, nil
}

func parseOffset(text string) (kgo.Offset, error) {
	switch strings.ToLower(text) {
	case "earliest":
		return kgo.NewOffset().AtStart(), nil
	case "latest":
		return kgo.NewOffset().AtEnd(), nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return kgo.Offset{}, illegalArgument("The provided offset value '%s' is incorrect. Valid values are 'earliest', 'latest', or a non-negative long.", text)
	}
	return kgo.NewOffset().At(n), nil
}

// run prints records until the maximum, the timeout, or the end of the context.
func (c *consoleConsumer) run() (exit int) {
	out := bufio.NewWriterSize(c.o.Stdout, 64<<10)
	for c.count < c.max {
		records, err := c.poll()
		if c.o.Context.Err() != nil {
			break
		}
		if err != nil {
			c.o.logf("ERROR", "org.apache.kafka.tools.consumer.ConsoleConsumer", "Error processing message, terminating consumer process: ")
			fmt.Fprintln(c.o.Stderr, pollFailure(err))
			break
		}
		for _, r := range records {
			if c.count >= c.max {
				break
			}
			c.count++
			if c.group != nil {
				c.group.consumed(r)
			}
			if err := c.format.print(out, r); err != nil && !c.skip {
				fmt.Fprintf(c.o.Stderr, "Error processing message, terminating consumer process: %s\n", err)
				return 1
			}
		}
		if err := out.Flush(); err != nil {
			fmt.Fprintln(c.o.Stderr, "Unable to write to standard out, closing consumer.")
			return 1
		}
	}
	if err := out.Flush(); err != nil {
		return 1
	}
	return 0
}

// pollFailure is the line that follows the log line of a failed poll.
func pollFailure(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "org.apache.kafka.common.errors.TimeoutException"
	}
	return fmt.Sprintf("%s: %s", exception(err), err)
}

func (c *consoleConsumer) poll() ([]*kgo.Record, error) {
	ctx := c.o.Context
	if c.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.timeout)
		defer cancel()
	}
	for {
		if c.group != nil {
			c.group.beforePoll(ctx, c.cl)
		}
		fetches := c.cl.PollRecords(ctx, c.atOnce)
		if records := fetches.Records(); len(records) > 0 {
			if c.group != nil {
				c.group.polled(fetches)
			}
			return records, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err := fatalError(fetches); err != nil {
			return nil, err
		}
	}
}

// fatalError picks the error that waiting does not mend: a topic or a coordinator that
// is not there yet may come, and the engine tries again.
func fatalError(fetches kgo.Fetches) error {
	for _, e := range fetches.Errors() {
		if !kerr.IsRetriable(e.Err) && !kgo.IsRetryableBrokerErr(e.Err) {
			return e.Err
		}
	}
	return nil
}
