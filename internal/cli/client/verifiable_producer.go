package client

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	kafkaclient "barnabas/client"
	"barnabas/internal/cli/argparse"
)

// verifiableProducerTool is the command line of kafka-verifiable-producer.
func verifiableProducerTool() *argparse.Tool {
	return &argparse.Tool{
		Name: "verifiable-producer", Usage: usageVerifiableProducer, Help: usageVerifiableProducer + helpVerifiableProducer, HelpIfEmpty: true,
		Options: []argparse.Option{
			{Long: "--topic", Required: true},
			{Long: "--max-messages", Number: "Integer", Default: "-1"},
			{Long: "--throughput", Number: "Integer", Default: "-1"},
			{Long: "--acks", Number: "Integer", Default: "-1", Choices: []string{"0", "1", "-1"}},
			{Long: "--producer.config"},
			{Long: "--message-create-time", Number: "Long", Default: "-1"},
			{Long: "--value-prefix", Number: "Integer"},
			{Long: "--repeating-keys", Number: "Integer"},
			{Long: "--command-config"},
			{Long: "--bootstrap-server", Required: true, Group: "door"},
		},
	}
}

const (
	usageVerifiableProducer = `usage: verifiable-producer [-h] --topic TOPIC [--max-messages MAX-MESSAGES]
                           [--throughput THROUGHPUT] [--acks ACKS]
                           [--producer.config CONFIG-FILE]
                           [--message-create-time CREATE-TIME]
                           [--value-prefix VALUE-PREFIX]
                           [--repeating-keys REPEATING-KEYS]
                           [--command-config CONFIG-FILE]
                           --bootstrap-server HOST1:PORT1[,HOST2:PORT2[...]]`
	helpVerifiableProducer = `

Writes growing numbers to a topic and prints a line of JSON for each answer.

options:
  -h, --help            show this text
  --topic TOPIC         the topic to write to
  --max-messages MAX-MESSAGES
                        how many; -1 is without end (default: -1)
  --throughput THROUGHPUT
                        records per second, about; -1 is without limit
  --acks ACKS           0, 1 or -1 (default: -1)
  --message-create-time CREATE-TIME
                        the time of the first record, in ms since 1970; the next
                        are 1 ms later each
  --value-prefix VALUE-PREFIX
                        a number before each value, with a dot
  --repeating-keys REPEATING-KEYS
                        keys from 0 on, so many
  --command-config CONFIG-FILE
                        a file of properties of the producer
  --producer.config CONFIG-FILE
                        the same, deprecated
  --bootstrap-server HOST1:PORT1[,HOST2:PORT2[...]]
                        brokers to connect to
`
)

// VerifiableProducer is kafka-verifiable-producer.
func VerifiableProducer(args []string, o IO) int {
	parsed, done, exit := parseArgs(verifiableProducerTool(), args, o)
	if done {
		return exit
	}
	return toldExit(o, verifiableProducer(parsed, o))
}

// eventLog prints events as lines of JSON, one at a time.
type eventLog struct {
	mu  sync.Mutex
	out io.Writer // guarded by mu
}

// event prints a struct whose first fields are the time and the name.
func (l *eventLog) event(v any) {
	text, err := json.Marshal(v)
	if err != nil {
		panic("BUG: an event that is no JSON: " + err.Error())
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.out, "%s\n", text)
}

// eventHead begins each event.
type eventHead struct {
	Timestamp int64  `json:"timestamp"` // ms
	Name      string `json:"name"`
}

func head(name string) eventHead { return eventHead{time.Now().UnixMilli(), name} }

func (l *eventLog) bare(name string) { l.event(head(name)) }

type sendSuccess struct {
	eventHead
	Key       *string `json:"key"`
	Value     string  `json:"value"`
	Offset    int64   `json:"offset"`
	Topic     string  `json:"topic"`
	Partition int32   `json:"partition"`
}

type sendError struct {
	eventHead
	Key       *string `json:"key"`
	Value     string  `json:"value"`
	Exception string  `json:"exception"`
	Message   string  `json:"message"`
	Topic     string  `json:"topic"`
}

type toolData struct {
	eventHead
	Sent              int64   `json:"sent"`
	Acked             int64   `json:"acked"`
	TargetThroughput  int64   `json:"target_throughput"`
	AverageThroughput float64 `json:"avg_throughput"`
}

func verifiableProducer(args *argparse.Args, o IO) error {
	file, _ := args.Value("--command-config")
	old, _ := args.Value("--producer.config")
	if file != "" && old != "" {
		return verifiableProducerTool().Complain("Options --producer.config and --command-config are mutually exclusive.")
	}
	if old != "" {
		fmt.Fprintln(o.Stdout, "Option --producer.config has been deprecated and will be removed in a future version. Use --command-config instead.")
	}
	servers, _ := args.Value("--bootstrap-server")
	acks, _ := args.Value("--acks")
	// No retries: the tool tells of each failure.
	props, err := readProperties(cmp.Or(file, old), []string{"bootstrap.servers=" + servers, "acks=" + acks, "retries=0"})
	if err != nil {
		return err
	}
	block, err := kafkaclient.MaxBlock(props)
	if err != nil {
		return asConfigError(err)
	}
	cl, err := open(kafkaclient.ForProducer, props, o)
	if err != nil {
		return err
	}
	defer cl.Close()
	p := verifiable{log: &eventLog{out: o.Stdout}, cl: cl, args: args, block: block}
	p.topic, _ = args.Value("--topic")
	p.log.bare("startup_complete")
	begin := time.Now()
	p.send(o.Context, begin)
	if err := cl.Flush(context.WithoutCancel(o.Context)); err != nil {
		return err
	}
	p.log.bare("shutdown_complete")
	target, _ := args.Int("--throughput")
	p.log.event(toolData{head("tool_data"), p.sent, p.acked, target, float64(p.acked) / time.Since(begin).Seconds()})
	return nil
}

// verifiable is one run.
type verifiable struct {
	log         *eventLog
	cl          *kgo.Client
	args        *argparse.Args
	topic       string
	block       time.Duration // how long the topic is waited for
	sent, acked int64         // acked is guarded by log.mu
}

func (p *verifiable) send(ctx context.Context, begin time.Time) {
	most, _ := p.args.Int("--max-messages")
	perSecond, _ := p.args.Int("--throughput")
	pace := throttle{begin, float64(perSecond)}
	known := false
	for number := int64(0); (most < 0 || number < most) && ctx.Err() == nil; number++ {
		r := p.record(number)
		p.sent++
		if !known {
			if err := waitForTopic(ctx, p.cl, p.topic, p.block); err != nil {
				p.answered(r, err)
				continue
			}
			known = true
		}
		p.cl.Produce(context.WithoutCancel(ctx), r, p.answered)
		pace.wait(ctx.Done(), number+1)
	}
}

func (p *verifiable) record(number int64) *kgo.Record {
	r := &kgo.Record{Topic: p.topic}
	value := strconv.FormatInt(number, 10)
	if prefix, ok := p.args.Value("--value-prefix"); ok {
		value = prefix + "." + value
	}
	r.Value = []byte(value)
	if keys, ok := p.args.Int("--repeating-keys"); ok && keys > 0 {
		r.Key = strconv.AppendInt(nil, number%keys, 10)
	}
	if from, _ := p.args.Int("--message-create-time"); from >= 0 {
		r.Timestamp = time.UnixMilli(from + number)
	}
	return r
}

// answered tells of a record's fate.
func (p *verifiable) answered(r *kgo.Record, err error) {
	var key *string
	if r.Key != nil {
		text := string(r.Key)
		key = &text
	}
	if err != nil {
		p.log.event(sendError{head("producer_send_error"), key, string(r.Value), "class " + exception(err), err.Error(), r.Topic})
		return
	}
	p.log.mu.Lock()
	p.acked++
	p.log.mu.Unlock()
	p.log.event(sendSuccess{head("producer_send_success"), key, string(r.Value), r.Offset, r.Topic, r.Partition})
}
