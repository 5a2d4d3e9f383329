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
	"barnabas/internal/cli/run"
)

// Streams are what a command reads and writes.
type Streams struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// command is one door of the program.
type command struct {
	name   string // "topics"
	script string // Kafka's name for it without prefix and ending; "" if there is none
	about  string
	run    func(ctx context.Context, args []string, s Streams) int
}

// commands lists the doors, in the order of the help text.
func commands() []command {
	return []command{
		{"server", "kafka-server-start", "run a node", func(ctx context.Context, args []string, s Streams) int {
			return run.Server(ctx, args, s.Stdout, s.Stderr)
		}},
		{"storage", "kafka-storage", "format log directories, and tell about them", offline(storage.Run)},
		{"dump-log", "kafka-dump-log", "print the files of a log directory", offline(dumplog.Run)},
		{"topics", "kafka-topics", "create, list, describe, alter and delete topics", tool(client.Topics)},
		{"console-producer", "kafka-console-producer", "write lines to a topic", tool(client.ConsoleProducer)},
		{"console-consumer", "kafka-console-consumer", "print the records of a topic", tool(client.ConsoleConsumer)},
		{"consumer-groups", "kafka-consumer-groups", "list, describe and delete consumer groups, and reset their offsets", tool(client.ConsumerGroups)},
		{"groups", "kafka-groups", "list groups of all types", tool(client.Groups)},
		{"configs", "kafka-configs", "describe and alter configurations", tool(client.Configs)},
		{"client-metrics", "kafka-client-metrics", "describe and alter which metrics clients push", tool(client.ClientMetrics)},
		{"get-offsets", "kafka-get-offsets", "print offsets of partitions", tool(client.GetOffsets)},
		{"delete-records", "kafka-delete-records", "delete records below an offset", tool(client.DeleteRecords)},
		{"log-dirs", "kafka-log-dirs", "tell what lies in the log directories of brokers", tool(client.LogDirs)},
		{"broker-api-versions", "kafka-broker-api-versions", "list the requests that brokers serve", tool(client.BrokerAPIVersions)},
		{"cluster", "kafka-cluster", "tell of the cluster's nodes, forget one", tool(client.Cluster)},
		{"features", "kafka-features", "tell and change feature levels", tool(client.Features)},
		{"metadata-quorum", "kafka-metadata-quorum", "tell of the controllers and change them", tool(client.MetadataQuorum)},
		{"producer-perf-test", "kafka-producer-perf-test", "measure how fast records are written", tool(client.ProducerPerf)},
		{"consumer-perf-test", "kafka-consumer-perf-test", "measure how fast records are read", tool(client.ConsumerPerf)},
		{"e2e-latency", "kafka-e2e-latency", "measure how long a record takes from producer to consumer", tool(client.E2ELatency)},
		{"verifiable-producer", "kafka-verifiable-producer", "write numbers, and tell of each answer in JSON", tool(client.VerifiableProducer)},
		{"verifiable-consumer", "kafka-verifiable-consumer", "read as a member of a group, and tell of it in JSON", tool(client.VerifiableConsumer)},
	}
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
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-20s %s\n", c.name, c.about)
	}
	fmt.Fprint(w, "\nbarnabas COMMAND --help lists the options of a command. Called by the name of one of\nKafka's scripts, such as kafka-topics.sh, the program is that tool.\n")
	return exit
}
