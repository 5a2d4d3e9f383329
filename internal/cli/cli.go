package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"syscall"

	"barnabas/internal/cli/client"
	"barnabas/internal/cli/offline/dumplog"
	"barnabas/internal/cli/offline/storage"
	"barnabas/internal/cli/progress"
	"barnabas/internal/cli/run"
)

// Streams are what a command reads and writes.
type Streams struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// command is one door of the program.
type command struct {
	group  string // of the help text
	name   string // "topics"
	script string // Kafka's name for it without prefix and ending; "" if there is none
	about  string
	run    func(ctx context.Context, args []string, s Streams) int
}

// commands lists the doors, in the order of the help text; those of one group stand
// together.
func commands() []command {
	return []command{
		{"Run a node", "server", "kafka-server-start", "run a node", func(ctx context.Context, args []string, s Streams) int {
			return run.Server(ctx, args, s.Stdout, s.Stderr)
		}},
		{"Run a node", "storage", "kafka-storage", "format log directories, and tell about them", offline(storage.Run)},
		{"Topics and records", "topics", "kafka-topics", "create, list, describe, alter and delete topics; why TOPIC: why old records are still there", waits("topics", client.Topics)},
		{"Topics and records", "configs", "kafka-configs", "describe and alter configurations", waits("configs", client.Configs)},
		{"Topics and records", "console-producer", "kafka-console-producer", "write lines to a topic", tool(client.ConsoleProducer)},
		{"Topics and records", "console-consumer", "kafka-console-consumer", "print the records of a topic", tool(client.ConsoleConsumer)},
		{"Topics and records", "get-offsets", "kafka-get-offsets", "print offsets of partitions", waits("get-offsets", client.GetOffsets)},
		{"Topics and records", "delete-records", "kafka-delete-records", "delete records below an offset", waits("delete-records", client.DeleteRecords)},
		{"Groups of consumers", "consumer-groups", "kafka-consumer-groups", "list, describe and delete consumer groups, and reset their offsets", waits("consumer-groups", client.ConsumerGroups)},
		{"Groups of consumers", "groups", "kafka-groups", "list groups of all types; why GROUP: its last rebalances, and where it is stuck", waits("groups", client.Groups)},
		{"Transactions", "transactions", "kafka-transactions", "list, describe and end transactions; find those that hang", waits("transactions", client.Transactions)},
		{"The cluster", "cluster", "kafka-cluster", "tell of the cluster's nodes, forget one", waits("cluster", client.Cluster)},
		{"The cluster", "broker-api-versions", "kafka-broker-api-versions", "list the requests that brokers serve", waits("broker-api-versions", client.BrokerAPIVersions)},
		{"The cluster", "features", "kafka-features", "tell and change feature levels", waits("features", client.Features)},
		{"The cluster", "metadata-quorum", "kafka-metadata-quorum", "tell of the controllers and change them", waits("metadata-quorum", client.MetadataQuorum)},
		{"The cluster", "log-dirs", "kafka-log-dirs", "tell what lies in the log directories of brokers", waits("log-dirs", client.LogDirs)},
		{"The cluster", "client-metrics", "kafka-client-metrics", "describe and alter which metrics clients push", waits("client-metrics", client.ClientMetrics)},
		{"Files", "dump-log", "kafka-dump-log", "print the files of a log directory", dumpLog},
		{"Measure and test", "producer-perf-test", "kafka-producer-perf-test", "measure how fast records are written", tool(client.ProducerPerf)},
		{"Measure and test", "consumer-perf-test", "kafka-consumer-perf-test", "measure how fast records are read", tool(client.ConsumerPerf)},
		{"Measure and test", "e2e-latency", "kafka-e2e-latency", "measure how long a record takes from producer to consumer", waits("e2e-latency", client.E2ELatency)},
		{"Measure and test", "verifiable-producer", "kafka-verifiable-producer", "write numbers, and tell of each answer in JSON", tool(client.VerifiableProducer)},
		{"Measure and test", "verifiable-consumer", "kafka-verifiable-consumer", "read as a member of a group, and tell of it in JSON", tool(client.VerifiableConsumer)},
		{"Help", "completion", "", "print what a shell needs to complete commands: bash, zsh or fish", completionCommand},
	}
}

// waits has a tool that asks and prints tell on a terminal that it takes long. When it
// is stopped it says nothing more: all that fails from then on fails for that.
func waits(name string, f func([]string, client.IO) int) func(context.Context, []string, Streams) int {
	return func(ctx context.Context, args []string, s Streams) int {
		line := progress.Start(s.Stderr, name)
		defer line.Close()
		return exitCode(ctx, f(args, client.IO{Context: ctx, Stdin: s.Stdin, Progress: line.Set,
			Stdout: whileWanted{ctx, line.Before(s.Stdout)}, Stderr: whileWanted{ctx, line.Before(s.Stderr)}}))
	}
}

// whileWanted drops what is written after the end of its context.
type whileWanted struct {
	ctx context.Context
	w   io.Writer
}

func (w whileWanted) Write(p []byte) (int, error) {
	if w.ctx.Err() != nil {
		return len(p), nil
	}
	return w.w.Write(p)
}

func tool(f func([]string, client.IO) int) func(context.Context, []string, Streams) int {
	return func(ctx context.Context, args []string, s Streams) int {
		return exitCode(ctx, f(args, client.IO{Context: ctx, Stdin: s.Stdin, Stdout: s.Stdout, Stderr: s.Stderr}))
	}
}

func offline(f func(args []string, stdout, stderr io.Writer) int) func(context.Context, []string, Streams) int {
	return func(ctx context.Context, args []string, s Streams) int {
		return exitCode(ctx, f(args, s.Stdout, s.Stderr))
	}
}

func dumpLog(ctx context.Context, args []string, s Streams) int {
	line := progress.Start(s.Stderr, "dump-log")
	defer line.Close()
	return exitCode(ctx, dumplog.Run(ctx, args, line.Before(s.Stdout), line.Before(s.Stderr), line.Set))
}

// Signalled is the cause of a context that a signal ended.
type Signalled syscall.Signal

func (s Signalled) Error() string { return syscall.Signal(s).String() }

// exitCode is a tool's exit code, or what a shell knows for a process that a signal
// ended: 130 after Ctrl-C, as Kafka's tools have it.
func exitCode(ctx context.Context, exit int) int {
	var s Signalled
	if errors.As(context.Cause(ctx), &s) {
		return 128 + int(s)
	}
	return exit
}

// Main runs the command that argv asks for and returns the exit code. The
// context ends when the program is asked to stop.
func Main(ctx context.Context, argv []string, s Streams) int {
	if len(argv) == 0 {
		return usage(s.Stderr, 1)
	}
	called := strings.TrimSuffix(filepath.Base(argv[0]), ".sh")
	for _, c := range commands() {
		if c.script != "" && called == c.script {
			return c.run(ctx, argv[1:], s)
		}
	}
	if len(argv) < 2 {
		return usage(s.Stderr, 1)
	}
	switch argv[1] {
	case "help", "--help", "-h":
		return usage(s.Stdout, 0)
	}
	for _, c := range commands() {
		if argv[1] == c.name {
			return c.run(ctx, argv[2:], s)
		}
	}
	fmt.Fprintf(s.Stderr, "barnabas: there is no command %q\n\n", argv[1])
	return usage(s.Stderr, 1)
}

func usage(w io.Writer, exit int) int {
	fmt.Fprint(w, "Barnabas: Apache Kafka's platform in one binary.\n\nUsage: barnabas COMMAND [options]\n\n")
	group := ""
	for _, c := range commands() {
		if c.group != group {
			group = c.group
			fmt.Fprintf(w, "%s\n", group)
		}
		fmt.Fprintf(w, "  %-20s %s\n", c.name, c.about)
	}
	fmt.Fprint(w, "\nbarnabas COMMAND --help lists the options of a command. Called by the name of one of\nKafka's scripts, such as kafka-topics.sh, the program is that tool.\n")
	return exit
}
