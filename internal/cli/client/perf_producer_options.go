package client

import (
	"barnabas/internal/cli/argparse"
	"cmp"
)

// producerPerfTool is the command line of kafka-producer-perf-test.
func producerPerfTool() *argparse.Tool {
	return &argparse.Tool{
		Name: "kafka-producer-perf-test", Usage: usageProducerPerf, Help: usageProducerPerf + helpProducerPerf, HelpIfEmpty: true,
		Options: []argparse.Option{
			{Long: "--bootstrap-server"},
			{Long: "--topic", Required: true},
			{Long: "--num-records", Required: true, Number: "Long"},
			{Long: "--payload-delimiter", Default: `\n`},
			{Long: "--throughput", Required: true, Number: "Double"},
			{Long: "--producer-props", Plural: true, Many: true}, {Long: "--command-property", Plural: true, Many: true},
			{Long: "--producer.config"}, {Long: "--command-config"},
			{Long: "--print-metrics", Flag: true},
			{Long: "--transactional-id"},
			{Long: "--transaction-duration-ms", Number: "Long"},
			{Long: "--warmup-records", Number: "Long", Default: "0"},
			{Long: "--reporting-interval", Number: "Long", Default: "5000"},
			{Long: "--record-key-range", Number: "Long"},
			{Long: "--key-distribution", Choices: []string{"none", "range", "random"}, Default: "none"},
			{Long: "--random-seed", Number: "Long", Default: "0"},
			{Long: "--record-size", Group: "payload", Required: true, Number: "Integer"},
			{Long: "--payload-file", Group: "payload", Required: true},
			{Long: "--payload-monotonic", Group: "payload", Required: true, Flag: true},
		},
	}
}

const (
	usageProducerPerf = `usage: kafka-producer-perf-test
       [-h] [--bootstrap-server BOOTSTRAP-SERVER] --topic TOPIC
       --num-records NUM-RECORDS [--payload-delimiter PAYLOAD-DELIMITER]
       --throughput THROUGHPUT
       [--producer-props PROP-NAME=PROP-VALUE [PROP-NAME=PROP-VALUE ...]]
       [--command-property PROP-NAME=PROP-VALUE [PROP-NAME=PROP-VALUE ...]]
       [--producer.config CONFIG-FILE] [--command-config CONFIG-FILE]
       [--print-metrics] [--transactional-id TRANSACTIONAL-ID]
       [--transaction-duration-ms TRANSACTION-DURATION]
       [--warmup-records WARMUP-RECORDS] [--reporting-interval INTERVAL-MS]
       [--record-key-range KEY-RANGE] [--key-distribution KEY-DISTRIBUTION]
       [--random-seed RANDOM-SEED] (--record-size RECORD-SIZE |
       --payload-file PAYLOAD-FILE | --payload-monotonic)`
	helpProducerPerf = `

Writes records to a topic as fast as asked for, and tells how fast it was.

options:
  -h, --help            show this text
  --bootstrap-server BOOTSTRAP-SERVER
                        brokers to connect to, host:port, divided by commas
  --topic TOPIC         the topic to write to
  --num-records NUM-RECORDS
                        how many records
  --throughput THROUGHPUT
                        records per second, about; -1 is without limit
  --record-size RECORD-SIZE
                        bytes of a record; its value is random letters
  --payload-file PAYLOAD-FILE
                        a text file; each record is one of its parts, by chance
  --payload-delimiter PAYLOAD-DELIMITER
                        what divides the file into parts (default: \n)
  --payload-monotonic   each record is a number, one more than the last
  --record-key-range KEY-RANGE, --key-distribution {none,range,random}
                        keys from 0 to below KEY-RANGE, in turn or by chance
  --random-seed RANDOM-SEED
                        where chance begins (default: 0)
  --warmup-records WARMUP-RECORDS
                        so many records are left out of a second summary
  --reporting-interval INTERVAL-MS
                        how often to print while it runs (default: 5000)
  --command-property PROP-NAME=PROP-VALUE [PROP-NAME=PROP-VALUE ...]
                        properties of the producer
  --command-config CONFIG-FILE
                        a file of properties of the producer
  --producer-props, --producer.config
                        the same, deprecated
  --transactional-id TRANSACTIONAL-ID
                        write in transactions
  --transaction-duration-ms TRANSACTION-DURATION
                        commit after that time (default: 3000)
  --print-metrics       not supported: there are no metrics of a Java client here
`
)

// producerPerf is what a run is asked to do.
type producerPerf struct {
	topic               string
	records, warmup     int64
	throughput          float64
	reporting           int64 // ms
	transactional       bool
	transactionDuration int64 // ms
	payload             *payloadMaker
	props               map[string]string
}

// parseProducerPerf checks what argparse can't, with Apache's words.
func parseProducerPerf(tool *argparse.Tool, args *argparse.Args) (*producerPerf, error) {
	p := &producerPerf{throughput: args.Float("--throughput")}
	p.topic, _ = args.Value("--topic")
	p.records, _ = args.Int("--num-records")
	p.warmup, _ = args.Int("--warmup-records")
	p.reporting, _ = args.Int("--reporting-interval")
	for _, twice := range [][2]string{{"--producer-props", "--command-property"}, {"--producer.config", "--command-config"}} {
		if args.Has(twice[0]) && args.Has(twice[1]) {
			return nil, tool.Complain("Only one of %s and %s can be specified.", twice[0], twice[1])
		}
	}
	if !args.Has("--bootstrap-server") && !args.Has("--command-property") && !args.Has("--producer-props") && !args.Has("--producer.config") && !args.Has("--command-config") {
		return nil, tool.Complain("At least one of --bootstrap-server, --command-property, --producer-props, --producer.config or --command-config must be specified.")
	}
	switch {
	case p.records <= 0:
		return nil, tool.Complain("--num-records should be greater than zero.")
	case p.warmup >= p.records:
		return nil, tool.Complain("The value for --warmup-records must be strictly fewer than the number of records in the test, --num-records.")
	case p.reporting <= 0:
		return nil, tool.Complain("--reporting-interval should be greater than zero.")
	case args.Has("--print-metrics"):
		return nil, tool.Complain("--print-metrics is not supported: there are no metrics of a Java client here.")
	}
	var err error
	if p.payload, err = payloadOf(tool, args); err != nil {
		return nil, err
	}
	return p, p.properties(tool, args)
}

func (p *producerPerf) properties(tool *argparse.Tool, args *argparse.Args) error {
	file, _ := args.Value("--command-config")
	old, _ := args.Value("--producer.config")
	props, err := readProperties(cmp.Or(file, old), append(args.Values("--producer-props"), args.Values("--command-property")...))
	if err != nil {
		return err
	}
	if servers, ok := args.Value("--bootstrap-server"); ok {
		props["bootstrap.servers"] = servers
	}
	if props["client.id"] == "" {
		props["client.id"] = "perf-producer-client"
	}
	duration, given := args.Int("--transaction-duration-ms")
	if given && duration <= 0 {
		return tool.Complain("--transaction-duration-ms should be greater than zero.")
	}
	if id, ok := args.Value("--transactional-id"); ok {
		props["transactional.id"] = id
	}
	if props["transactional.id"] == "" && given {
		props["transactional.id"] = "performance-producer-" + randomUUIDText()
	}
	if p.transactional = props["transactional.id"] != ""; p.transactional && !given {
		duration = 3000
	}
	p.transactionDuration, p.props = duration, props
	return nil
}
