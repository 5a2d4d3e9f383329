package client

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/internal/cli/argparse"
	"barnabas/internal/kafka"
)

// transactionsTool is the command line of kafka-transactions.
func transactionsTool() *argparse.Tool {
	command := func(name, usage, help string, options ...argparse.Option) argparse.Command {
		return argparse.Command{Name: name, Usage: usageTransactionsOf + usage, Help: usageTransactionsOf + usage + "\n\noptions:\n" + help, Options: options}
	}
	return &argparse.Tool{
		Name: "kafka-transactions.sh", Usage: usageTransactions, Help: usageTransactions + helpTransactions,
		Options: []argparse.Option{{Long: "--bootstrap-server", Required: true}, {Long: "--command-config"}, {Long: "--version", Short: "-v", Flag: true}},
		Commands: []argparse.Command{
			command("list", "list [-h] [--duration-filter DURATION_FILTER]\n                             [--transactional-id-pattern TRANSACTIONAL_ID_PATTERN]",
				"  --duration-filter DURATION_FILTER\n                        only those open for longer, in milliseconds\n  --transactional-id-pattern TRANSACTIONAL_ID_PATTERN\n                        only ids that match the expression (RE2)\n",
				argparse.Option{Long: "--duration-filter", Number: "Long"}, argparse.Option{Long: "--transactional-id-pattern"}),
			command("describe", "describe [-h] --transactional-id TRANSACTIONAL_ID",
				"  --transactional-id TRANSACTIONAL_ID\n                        the id whose transaction is described\n",
				argparse.Option{Long: "--transactional-id", Required: true}),
			command("describe-producers", "describe-producers [-h] [--broker-id BROKER_ID] --topic TOPIC\n                             --partition PARTITION",
				"  --broker-id BROKER_ID\n                        ask this broker and not the leader\n  --topic TOPIC\n  --partition PARTITION\n                        whose producers are described\n",
				argparse.Option{Long: "--broker-id", Number: "Integer"}, argparse.Option{Long: "--topic", Required: true}, argparse.Option{Long: "--partition", Required: true, Number: "Integer"}),
			command("abort", "abort [-h] --topic TOPIC --partition PARTITION\n                             [--start-offset START_OFFSET |\n                             --producer-id PRODUCER_ID]\n                             [--producer-epoch PRODUCER_EPOCH]\n                             [--coordinator-epoch COORDINATOR_EPOCH]",
				"  --topic TOPIC\n  --partition PARTITION\n                        where the transaction is open\n  --start-offset START_OFFSET\n                        where it begins\n  --producer-id PRODUCER_ID\n  --producer-epoch PRODUCER_EPOCH\n  --coordinator-epoch COORDINATOR_EPOCH\n                        whose it is, in place of --start-offset\n",
				argparse.Option{Long: "--topic", Required: true}, argparse.Option{Long: "--partition", Required: true, Number: "Integer"},
				argparse.Option{Long: "--start-offset", Group: "which", Number: "Long"}, argparse.Option{Long: "--producer-id", Group: "which", Number: "Long"},
				argparse.Option{Long: "--producer-epoch", Number: "Integer"}, argparse.Option{Long: "--coordinator-epoch", Number: "Integer"}),
			command("find-hanging", "find-hanging [-h] [--broker-id BROKER_ID]\n                             [--max-transaction-timeout MAX_TRANSACTION_TIMEOUT]\n                             [--topic TOPIC] [--partition PARTITION]",
				"  --broker-id BROKER_ID\n                        search the partitions of this broker\n  --max-transaction-timeout MAX_TRANSACTION_TIMEOUT\n                        minutes that any transaction may take (default: 15)\n  --topic TOPIC\n  --partition PARTITION\n                        search there\n",
				argparse.Option{Long: "--broker-id", Number: "Integer"}, argparse.Option{Long: "--max-transaction-timeout", Number: "Integer", Default: "15"},
				argparse.Option{Long: "--topic"}, argparse.Option{Long: "--partition", Number: "Integer"}),
			command("forceTerminateTransaction", "forceTerminateTransaction [-h] --transactionalId TRANSACTIONALID",
				"  --transactionalId TRANSACTIONALID\n                        the id whose transaction is aborted and whose producer is fenced\n",
				argparse.Option{Long: "--transactionalId", Required: true}),
		},
	}
}

const (
	usageTransactions = `usage: kafka-transactions.sh [-h] [-v] [--command-config FILE]
                             --bootstrap-server host:port COMMAND ...`
	usageTransactionsOf = `usage: kafka-transactions.sh --bootstrap-server host:port
                             `
	helpTransactions = `

Tells of transactions, and ends those that nobody ends.

commands:
  list                  the transactional ids and their states
  describe              the transaction of an id
  describe-producers    the producers that a partition knows
  abort                 end a hanging transaction in a partition
  find-hanging          search for transactions that no coordinator knows
  forceTerminateTransaction
                        abort the transaction of an id

options:
  -h, --help            show this text
  -v, --version         print the version of Apache Kafka that this tool is like
  --bootstrap-server host:port
                        brokers to connect to, divided by commas
  --command-config FILE
                        a file of properties for the client
`
)

// Transactions is kafka-transactions.
func Transactions(args []string, o IO) int {
	if len(args) > 0 && (args[0] == "-v" || args[0] == "--version") {
		fmt.Fprintln(o.Stdout, kafka.Release)
		return 0
	}
	parsed, done, exit := parseArgs(transactionsTool(), args, o)
	if done {
		return exit
	}
	return toldExit(o, transactions(parsed, o))
}

func transactions(args *argparse.Args, o IO) error {
	if err := checkTransactions(args); err != nil {
		return err
	}
	file, _ := args.Value("--command-config")
	ctx, d, done, err := openDoorOf(o, args, file)
	if err != nil {
		return err
	}
	defer done()
	t := transactionTool{door: d, args: args, io: o, now: time.Now()}
	return map[string]func(context.Context) error{
		"list": t.list, "describe": t.describe, "describe-producers": t.describeProducers, "abort": t.abort,
		"find-hanging": t.findHanging, "forceTerminateTransaction": t.forceTerminate,
	}[args.Command](ctx)
}

// checkTransactions says what the command line lacks.
func checkTransactions(args *argparse.Args) error {
	_, topic := args.Value("--topic")
	_, partition := args.Value("--partition")
	_, broker := args.Value("--broker-id")
	_, start := args.Value("--start-offset")
	_, producer := args.Value("--producer-id")
	_, epoch := args.Value("--producer-epoch")
	switch args.Command {
	case "abort":
		switch {
		case !start && !producer:
			return plain("The transaction to abort must be identified either with --start-offset (for brokers on 3.0 or above) or with --producer-id, --producer-epoch, and --coordinator-epoch (for older brokers)")
		case producer && !epoch:
			return plain("Missing required argument --producer-epoch")
		}
		if _, coordinator := args.Value("--coordinator-epoch"); producer && !coordinator {
			return plain("Missing required argument --coordinator-epoch")
		}
	case "find-hanging":
		switch {
		case partition && !topic:
			return plain("The --partition argument requires --topic to be provided")
		case !topic && !broker:
			return plain("The `find-hanging` command requires either --topic or --broker-id to limit the scope of the search")
		}
	}
	return nil
}

// transactionTool runs one command.
type transactionTool struct {
	*door
	args *argparse.Args
	io   IO
	now  time.Time
}

// number is the value of an option that argparse has checked, def if it is not given.
func (t *transactionTool) number(long string, def int64) int64 {
	text, _ := t.args.Value(long)
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return def
	}
	return n
}

func (t *transactionTool) text(long string) string {
	v, _ := t.args.Value(long)
	return v
}

// listed is a transactional id as its coordinator lists it.
type listedTransaction struct {
	coordinator int32
	kmsg.ListTransactionsResponseTransactionState
}

func (t *transactionTool) listed(ctx context.Context, req *kmsg.ListTransactionsRequest) ([]listedTransaction, error) {
	var all []listedTransaction
	for _, shard := range t.cl.RequestSharded(ctx, req) {
		if shard.Err != nil {
			return nil, asUnsupported(req, shard.Err)
		}
		resp := shard.Resp.(*kmsg.ListTransactionsResponse)
		if resp.ErrorCode != 0 {
			return nil, plain("ListTransactions request sent to broker %d failed with an unexpected exception", shard.Meta.NodeID)
		}
		for _, s := range resp.TransactionStates {
			all = append(all, listedTransaction{shard.Meta.NodeID, s})
		}
	}
	return all, nil
}

func (t *transactionTool) list(ctx context.Context) error {
	req := kmsg.NewPtrListTransactionsRequest()
	req.DurationFilterMillis = t.number("--duration-filter", -1)
	if pattern := t.text("--transactional-id-pattern"); pattern != "" {
		req.TransactionalIDPattern = &pattern
	}
	all, err := t.listed(ctx, req)
	if err != nil {
		return plain("Failed to list transactions: %v. Enable debug logging for additional detail.", err)
	}
	rows := [][]string{{"TransactionalId", "Coordinator", "ProducerId", "TransactionState"}}
	for _, s := range all {
		rows = append(rows, []string{s.TransactionalID, fmt.Sprint(s.coordinator), fmt.Sprint(s.ProducerID), s.TransactionState})
	}
	printTable(t.io, rows)
	return nil
}

func (t *transactionTool) described(ctx context.Context, id string) (coordinator int32, s kmsg.DescribeTransactionsResponseTransactionState, err error) {
	req := kmsg.NewPtrDescribeTransactionsRequest()
	req.TransactionalIDs = []string{id}
	for _, shard := range t.cl.RequestSharded(ctx, req) {
		if shard.Err != nil {
			return 0, s, asUnsupported(req, shard.Err)
		}
		for _, s := range shard.Resp.(*kmsg.DescribeTransactionsResponse).TransactionStates {
			return shard.Meta.NodeID, s, codeError(s.ErrorCode, nil)
		}
	}
	return 0, s, plain("nobody has described the transaction of %s", id)
}

func (t *transactionTool) describe(ctx context.Context) error {
	id := t.text("--transactional-id")
	coordinator, s, err := t.described(ctx, id)
	if codeOf(err) == kafka.ErrTransactionalIDNotFound {
		return plain("Failed to describe transaction state of transactional-id `%s`: DescribeTransactions request for transactionalId `%s` failed because the ID could not be found. Enable debug logging for additional detail.", id, id)
	}
	if err != nil {
		return plain("Failed to describe transaction state of transactional-id `%s`: %v. Enable debug logging for additional detail.", id, err)
	}
	begun, took := "None", "None"
	if s.StartTimestamp >= 0 {
		begun, took = fmt.Sprint(s.StartTimestamp), fmt.Sprint(t.now.UnixMilli()-s.StartTimestamp)
	}
	var partitions []string
	for _, topic := range s.Topics {
		for _, p := range topic.Partitions {
			partitions = append(partitions, fmt.Sprintf("%s-%d", topic.Topic, p))
		}
	}
	printTable(t.io, [][]string{
		{"CoordinatorId", "TransactionalId", "ProducerId", "ProducerEpoch", "TransactionState", "TransactionTimeoutMs", "CurrentTransactionStartTimeMs", "TransactionDurationMs", "TopicPartitions"},
		{fmt.Sprint(coordinator), id, fmt.Sprint(s.ProducerID), fmt.Sprint(s.ProducerEpoch), s.State, fmt.Sprint(s.TimeoutMillis), begun, took, strings.Join(partitions, ",")},
	})
	return nil
}

// forceTerminate aborts the transaction of an id and fences its producer: it is a
// producer of that id itself, for a moment.
func (t *transactionTool) forceTerminate(ctx context.Context) error {
	id := t.text("--transactionalId")
	req := kmsg.NewPtrInitProducerIDRequest()
	req.TransactionalID, req.TransactionTimeoutMillis = &id, 30_000
	for {
		resp, err := t.ask(ctx, req)
		if err == nil {
			err = codeError(resp.(*kmsg.InitProducerIDResponse).ErrorCode, nil)
		}
		if codeOf(err) != kafka.ErrConcurrentTransactions || ctx.Err() != nil {
			if err != nil {
				return plain("Failed to force terminate transactionalId `%s`: %v. Enable debug logging for additional detail.", id, err)
			}
			return nil
		}
		pause(ctx, 100*time.Millisecond)
	}
}

// pause waits, or until the context ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
