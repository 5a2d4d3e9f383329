package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	kafkaclient "barnabas/client"
	"barnabas/internal/cli/options"
)

// consumerPerfOptions are the options of kafka-consumer-perf-test.
func consumerPerfOptions() *options.Set {
	return options.New(
		options.Option{Name: "bootstrap-server", Argument: options.Required, Value: "server to connect to", Help: "The servers to connect to."},
		options.Option{Name: "topic", Argument: options.Required, Value: "topic", Help: "The topic to read."},
		options.Option{Name: "include", Argument: options.Required, Value: "regular expression", Help: "The topics to read."},
		options.Option{Name: "num-records", Argument: options.Required, Value: "count", Help: "How many records to read."},
		options.Option{Name: "messages", Argument: options.Required, Value: "count", Help: "See num-records.", Deprecated: true},
		options.Option{Name: "group", Argument: options.Required, Value: "gid", Help: "The group to read as; otherwise one of a random name."},
		options.Option{Name: "fetch-size", Argument: options.Required, Value: "size", Default: "1048576", Help: "Bytes of a partition in one answer."},
		options.Option{Name: "from-latest", Help: "Begin at the end if the group has no offset."},
		options.Option{Name: "socket-buffer-size", Argument: options.Required, Value: "size", Default: "2097152", Help: "The receive buffer of connections."},
		options.Option{Name: "timeout", Argument: options.Optional, Value: "milliseconds", Default: "10000", Help: "Stop when no record came for so long."},
		options.Option{Name: "reporting-interval", Argument: options.Required, Value: "interval_ms", Default: "5000", Help: "How often --show-detailed-stats prints."},
		options.Option{Name: "show-detailed-stats", Help: "Print a line for each interval in the place of one at the end."},
		options.Option{Name: "hide-header", Help: "Do not print the names of the columns."},
		options.Option{Name: "date-format", Argument: options.Required, Value: "date format", Default: "yyyy-MM-dd HH:mm:ss:SSS", Help: "How times are written: yyyy, MM, dd, HH, mm, ss, SSS."},
		options.Option{Name: "command-property", Argument: options.Required, Many: true, Value: "prop1=val1", Help: "A property of the consumer."},
		options.Option{Name: "command-config", Argument: options.Required, Value: "config file", Help: "A file of consumer properties."},
		options.Option{Name: "consumer.config", Argument: options.Required, Value: "config file", Help: "See command-config.", Deprecated: true},
		options.Option{Name: "print-metrics", Help: "Not supported: there are no metrics of a Java client here."},
	)
}

// ConsumerPerf is kafka-consumer-perf-test.
func ConsumerPerf(args []string, o IO) int {
	set := consumerPerfOptions()
	if len(args) == 0 {
		return usageExit(set, o, errors.New("This tool is used to verify the consumer performance."))
	}
	if done, exit := parse(set, args, o, ""); done {
		return exit
	}
	p, err := parseConsumerPerf(set)
	if err != nil {
		return usageExit(set, o, err)
	}
	tellOfDeprecated(set, o, "Warning: --%s is deprecated. Use --%s instead.\n", "messages", "num-records")
	tellOfDeprecated(set, o, "Option --%s has been deprecated and will be removed in a future version. Use --%s instead.\n", "consumer.config", "command-config")
	return toldExit(o, p.run(set, o))
}

// consumerPerf is one run.
type consumerPerf struct {
	records           int64
	atOnce            int // records of one poll
	timeout, interval time.Duration
	detailed, header  bool
	stamp             func(time.Time) string

	mu       sync.Mutex
	joining  time.Time     // guarded by mu; when a rebalance began, zero: none runs
	joined   time.Duration // guarded by mu; spent in rebalances
	out      IO
	begin    time.Time
	read     perfCount
	window   perfCount
	windowAt time.Time
	joinedAt time.Duration // joined when the window began
}

type perfCount struct{ records, bytes int64 }

func (c perfCount) megabytes() float64 { return float64(c.bytes) / (1 << 20) }

func parseConsumerPerf(set *options.Set) (*consumerPerf, error) {
	p := &consumerPerf{detailed: set.Has("show-detailed-stats"), header: !set.Has("hide-header")}
	switch {
	case !set.Has("bootstrap-server"):
		return nil, missingArgument(set, "bootstrap-server")
	case set.Has("topic") == set.Has("include"):
		return nil, errors.New("Exactly one of the following arguments is required: [topic], [include]")
	case set.Has("messages") == set.Has("num-records"):
		return nil, errors.New("Exactly one of the following arguments is required: [messages], [num-records]")
	case set.Has("consumer.config") && set.Has("command-config"):
		return nil, errors.New(`Options [consumer.config] and [command-config] cannot be specified together`)
	case set.Has("print-metrics"):
		return nil, errors.New("print-metrics is not supported: there are no metrics of a Java client here.")
	}
	name := "num-records"
	if set.Has("messages") {
		name = "messages"
	}
	numbers := map[string]int64{}
	for _, n := range []string{name, "timeout", "reporting-interval", "socket-buffer-size", "fetch-size"} {
		value, _, err := set.Int(n, 64)
		if err != nil {
			return nil, err
		}
		numbers[n] = value
	}
	p.records = numbers[name]
	p.timeout, p.interval = time.Duration(numbers["timeout"])*time.Millisecond, time.Duration(numbers["reporting-interval"])*time.Millisecond
	if p.interval <= 0 {
		return nil, errors.New("Reporting interval must be greater than 0.")
	}
	var err error
	p.stamp, err = javaDateFormat(set.Get("date-format"))
	return p, err
}

func (p *consumerPerf) run(set *options.Set, o IO) error {
	p.out = o
	props, err := readProperties(cmp.Or(set.Get("command-config"), set.Get("consumer.config")), set.All("command-property"))
	if err != nil {
		return err
	}
	props["bootstrap.servers"], props["max.partition.fetch.bytes"] = set.Get("bootstrap-server"), set.Get("fetch-size")
	props["receive.buffer.bytes"] = set.Get("socket-buffer-size")
	props["group.id"] = cmp.Or(set.Get("group"), "perf-consumer-"+strconv.Itoa(rand.IntN(100_000)))
	props["auto.offset.reset"] = "earliest"
	if set.Has("from-latest") {
		props["auto.offset.reset"] = "latest"
	}
	if p.atOnce, err = kafkaclient.MaxPollRecords(props); err != nil {
		return err
	}
	topics := []kgo.Opt{kgo.ConsumeTopics(set.Get("topic"))}
	if set.Has("include") {
		topics = []kgo.Opt{kgo.ConsumeRegex(), kgo.ConsumeTopics("^(?:" + set.Get("include") + ")$")}
	}
	if p.header {
		p.printHeader()
	}
	p.begin = time.Now()
	p.windowAt, p.joining = p.begin, p.begin
	cl, err := open(kafkaclient.ForConsumer, props, o, append(topics,
		kgo.OnPartitionsAssigned(func(context.Context, *kgo.Client, map[string][]int32) { p.joinEnds(time.Now()) }),
		kgo.OnPartitionsRevoked(func(context.Context, *kgo.Client, map[string][]int32) { p.joinBegins(time.Now()) }))...)
	if err != nil {
		return err
	}
	defer cl.Close()
	if err := p.consume(cl); err != nil {
		return err
	}
	if p.read.records < p.records && o.Context.Err() == nil {
		fmt.Fprintf(o.Stdout, "WARNING: Exiting before consuming the expected number of records: timeout (%d ms) exceeded. You can use the --timeout option to increase the timeout.\n", p.timeout.Milliseconds())
	}
	if !p.detailed {
		now := time.Now()
		fmt.Fprintf(o.Stdout, "%s, %s, ", p.stamp(p.begin), p.stamp(now))
		p.printRates(p.read, p.read, now.Sub(p.begin), p.joinedSoFar())
	}
	return nil
}

func (p *consumerPerf) consume(cl *kgo.Client) error {
	for last := time.Now(); p.read.records < p.records && p.out.Context.Err() == nil; {
		left := p.timeout - time.Since(last)
		if left < 0 {
			return nil
		}
		ctx, cancel := context.WithTimeout(p.out.Context, left)
		fetches := cl.PollRecords(ctx, p.atOnce)
		cancel()
		if err := fatalError(fetches); err != nil && p.out.Context.Err() == nil && !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		now := time.Now()
		fetches.EachRecord(func(r *kgo.Record) {
			last = now
			for _, c := range []*perfCount{&p.read, &p.window} {
				c.records++
				c.bytes += int64(len(r.Key) + len(r.Value))
			}
		})
		if p.detailed && now.Sub(p.windowAt) >= p.interval {
			p.printWindow(now)
		}
	}
	if p.detailed && p.window.records > 0 {
		p.printWindow(time.Now())
	}
	return nil
}

func (p *consumerPerf) joinBegins(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.joining = now
}

func (p *consumerPerf) joinEnds(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.joining.IsZero() {
		p.joined += now.Sub(p.joining)
		p.joining = time.Time{}
	}
}

func (p *consumerPerf) joinedSoFar() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.joined
}

func (p *consumerPerf) printHeader() {
	head := "start.time, end.time, "
	if p.detailed {
		head = "time, threadId, "
	}
	fmt.Fprintln(p.out.Stdout, head+"data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, nMsg.sec, rebalance.time.ms, fetch.time.ms, fetch.MB.sec, fetch.nMsg.sec")
}

func (p *consumerPerf) printWindow(now time.Time) {
	joined := p.joinedSoFar()
	fmt.Fprintf(p.out.Stdout, "%s, 0, ", p.stamp(now))
	p.printRates(p.read, p.window, now.Sub(p.windowAt), joined-p.joinedAt)
	p.window, p.windowAt, p.joinedAt = perfCount{}, now, joined
}

// printRates prints a total, and what was read in a time of which a part was spent
// in rebalances.
func (p *consumerPerf) printRates(total, part perfCount, took, joined time.Duration) {
	per := func(amount float64, d time.Duration) float64 {
		if d.Milliseconds() <= 0 {
			return 0
		}
		return amount / (float64(d.Milliseconds()) / 1000)
	}
	fetching := took - joined
	fmt.Fprintf(p.out.Stdout, "%.4f, %.4f, %d, %.4f, %d, %d, %.4f, %.4f\n", total.megabytes(), per(part.megabytes(), took), total.records,
		per(float64(part.records), took), joined.Milliseconds(), fetching.Milliseconds(), per(part.megabytes(), fetching), per(float64(part.records), fetching))
}
