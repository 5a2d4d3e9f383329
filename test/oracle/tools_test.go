package oracle

import (
	"os/exec"
	"strings"
	"testing"

	"barnabas/test/kit"
)

// toolCase runs the same command line with Apache's tool and with ours.
type toolCase struct {
	tool  string
	args  string // split at blanks
	input string
	// numbered is set where a command changes something, so that it can't run
	// twice with the same outcome: {n} stands for 1 with Apache's tool, 2 with ours.
	numbered bool
}

var toolCases = []toolCase{
	{tool: "topics", args: "--create --topic tool-{n} --partitions 3 --replication-factor 1", numbered: true},
	{tool: "topics", args: "--create --topic tool_x.{n} --config retention.ms=1000 --config cleanup.policy=compact,delete", numbered: true},
	{tool: "topics", args: "--create --topic tool-1"},
	{tool: "topics", args: "--create --topic tool-1 --if-not-exists"},
	{tool: "topics", args: "--create --topic bad --config retention.ms=abc"},
	{tool: "topics", args: "--create --topic bad --config nosuch=1"},
	{tool: "topics", args: "--create --topic bad --replication-factor 3"},
	{tool: "topics", args: "--create --topic a+b"},
	{tool: "topics", args: "--create --topic bad --partitions 0"},
	{tool: "topics", args: "--create --topic tool-ra-{n} --replica-assignment 1,1", numbered: true},
	{tool: "topics", args: "--create --topic bad --replica-assignment 1,1 --partitions 2"},
	{tool: "topics", args: "--create --topic bad --replica-assignment 7"},
	{tool: "topics", args: "--list"},
	{tool: "topics", args: "--list --topic tool-.*"},
	{tool: "topics", args: "--list --exclude-internal"},
	{tool: "topics", args: "--describe --topic tool-1"},
	{tool: "topics", args: "--describe --topic tool_x.1"},
	{tool: "topics", args: "--describe --topic tool-2 --under-replicated-partitions"},
	{tool: "topics", args: "--describe --topic tool-2 --at-min-isr-partitions"},
	{tool: "topics", args: "--describe --topic tool_x.2 --topics-with-overrides"},
	{tool: "topics", args: "--describe --topic nosuch"},
	{tool: "topics", args: "--describe --topic nosuch --if-exists"},
	{tool: "topics", args: "--describe --topic-id AAAAAAAAAAAAAAAAAAAAAQ"},
	{tool: "topics", args: "--alter --topic tool-{n} --partitions 4", numbered: true},
	{tool: "topics", args: "--alter --topic tool-{n} --partitions 2", numbered: true},
	{tool: "topics", args: "--alter --topic nosuch --partitions 2"},
	{tool: "topics", args: "--alter --topic tool-1 --config retention.ms=1"},
	{tool: "topics", args: "--delete --topic nosuch"},
	{tool: "topics", args: "--delete --topic nosuch --if-exists"},
	{tool: "topics", args: "--delete --topic tool_x.{n}", numbered: true},
	{tool: "topics", args: ""},
	{tool: "topics", args: "--create"},
	{tool: "topics", args: "--nosuchflag"},
	{tool: "topics", args: "-nosuchflag"},
	{tool: "topics", args: "--creat --topic x"},
	{tool: "topics", args: "--list --topic"},
	{tool: "topics", args: "--list=x --version"},
	{tool: "topics", args: "--version"},
	{tool: "console-producer", args: "--topic tool-{n}", input: "one\ntwo\n\nthree\n", numbered: true},
	{tool: "console-producer", args: "--topic tool-{n} --reader-property parse.key=true --reader-property key.separator=:", input: "k1:v1\nk2:v2\n", numbered: true},
	{tool: "console-producer", args: "--topic tool-{n} --reader-property parse.key=true --reader-property key.separator=: --reader-property ignore.error=true", input: "nokey\n", numbered: true},
	{tool: "console-producer", args: "--topic tool-{n} --reader-property parse.key=true --reader-property parse.headers=true --reader-property null.marker=NULL", input: "h1:a,h2:b\tk\tv\nNULL\tNULL\tNULL\n", numbered: true},
	{tool: "console-producer", args: "--topic tool-{n} --property parse.key=false --producer-property linger.ms=1 --sync", input: "x\n", numbered: true},
	{tool: "console-producer", args: "--reader-property parse.key=true"},
	{tool: "console-producer", args: "--topic a --topic b"},
	{tool: "console-producer", args: "--nosuchflag"},
	{tool: "console-consumer", args: "--topic tool-ra-1 --partition 0 --offset earliest --timeout-ms 2000"},
	{tool: "console-consumer", args: "--topic tool-1 --partition 1 --offset earliest --timeout-ms 2000 --formatter-property print.key=true --formatter-property print.headers=true --formatter-property print.partition=true --formatter-property print.offset=true --formatter-property print.epoch=true --formatter-property print.delivery=true --formatter-property null.literal=NIL"},
	{tool: "console-consumer", args: "--topic tool-1 --partition 1 --offset 1 --max-messages 1"},
	{tool: "console-consumer", args: "--topic tool-1 --offset 5"},
	{tool: "console-consumer", args: ""},
	{tool: "configs", args: "--alter --topic tool-ra-{n} --add-config cleanup.policy=[compact,delete],segment.ms=100000", numbered: true},
	{tool: "configs", args: "--describe --topic tool-ra-1"},
	{tool: "configs", args: "--describe --entity-type topics --entity-name tool-ra-2 --all"},
	{tool: "configs", args: "--describe --entity-type topics"},
	{tool: "configs", args: "--describe --topic nosuch"},
	{tool: "configs", args: "--alter --topic tool-ra-{n} --delete-config segment.ms,nosuch", numbered: true},
	{tool: "configs", args: "--alter --topic tool-ra-1 --add-config retention.ms=abc"},
	{tool: "configs", args: "--alter --topic tool-ra-1 --add-config retention.ms"},
	{tool: "configs", args: "--alter --topic tool-ra-1 --add-config =5"},
	{tool: "configs", args: "--alter --topic nosuch --add-config retention.ms=1"},
	{tool: "configs", args: "--alter --topic tool-1 --add-config-file /nosuch"},
	{tool: "configs", args: "--describe --broker 1"},
	{tool: "configs", args: "--describe --broker 1 --all"},
	{tool: "configs", args: "--describe --broker 7"},
	{tool: "configs", args: "--describe --broker-defaults"},
	{tool: "configs", args: "--describe --broker-defaults --all"},
	{tool: "configs", args: "--describe --entity-type brokers"},
	{tool: "configs", args: "--alter --broker 1 --add-config log.flush.interval.ms=100{n}", numbered: true},
	{tool: "configs", args: "--describe --broker 1"},
	{tool: "configs", args: "--alter --broker 1 --add-config node.id=7"},
	{tool: "configs", args: "--alter --broker 1 --add-config background.threads=100"},
	{tool: "configs", args: "--alter --broker 1 --delete-config log.flush.interval.ms"},
	{tool: "configs", args: "--alter --broker-defaults --add-config min.insync.replicas=1"},
	{tool: "configs", args: "--alter --broker-defaults --delete-config min.insync.replicas"},
	{tool: "configs", args: "--describe --broker-logger 1"},
	{tool: "configs", args: "--alter --broker-logger 1 --add-config root=INFO,kafka.server.KafkaApis=DEBUG"},
	{tool: "configs", args: "--alter --broker-logger 1 --add-config nosuch=INFO"},
	{tool: "configs", args: "--alter --broker-logger 1 --add-config root=NOSUCH"},
	{tool: "configs", args: "--alter --group tool --add-config consumer.session.timeout.ms=46000"},
	{tool: "configs", args: "--alter --group tool --add-config consumer.session.timeout.ms=1"},
	{tool: "configs", args: "--describe --group tool"},
	{tool: "configs", args: "--describe --group tool --all"},
	{tool: "configs", args: "--describe --group nosuch"},
	{tool: "configs", args: "--describe --entity-type groups"},
	{tool: "client-metrics", args: "--alter --name tool --metrics org.apache.kafka.consumer. --interval 30000 --match client_id=c.*"},
	{tool: "client-metrics", args: "--alter --name bad --interval 1"},
	{tool: "client-metrics", args: "--alter --name bad --interval x"},
	{tool: "client-metrics", args: "--alter"},
	{tool: "client-metrics", args: "--list"},
	{tool: "client-metrics", args: "--describe"},
	{tool: "client-metrics", args: "--describe --name nosuch"},
	{tool: "configs", args: "--describe --client-metrics tool"},
	{tool: "configs", args: "--describe --client-metrics nosuch"},
	{tool: "client-metrics", args: "--delete --name tool"},
	{tool: "client-metrics", args: "--delete --name nosuch"},
	{tool: "client-metrics", args: ""},
	{tool: "configs", args: "--describe"},
	{tool: "configs", args: "--describe --broker 1 --bootstrap-controller 127.0.0.1:1"},
	{tool: "configs", args: "--describe --topic a --broker 1"},
	{tool: "configs", args: "--describe --topic a --add-config b=c"},
	{tool: "configs", args: "--describe --entity-type topics --entity-default"},
	{tool: "get-offsets", args: "--topic tool-ra-1"},
	{tool: "get-offsets", args: "--topic tool-ra-.* --time earliest"},
	{tool: "get-offsets", args: "--topic-partitions tool-ra-1:0,tool-ra-2:1-"},
	{tool: "get-offsets", args: "--topic tool-1 --time max-timestamp --partitions 3"},
	{tool: "get-offsets", args: "--topic tool-1 --time 99999999999999"},
	{tool: "get-offsets", args: "--topic tool-1 --time abc"},
	{tool: "get-offsets", args: "--topic tool-1 --time latest-tiered"},
	{tool: "get-offsets", args: "--topic a --topic b"},
	{tool: "get-offsets", args: "--tim latest"},
	{tool: "broker-api-versions", args: ""},
	{tool: "broker-api-versions", args: "--nosuchflag"},
}

// TestToolsPrintWhatApachesPrint runs both tools against the same Apache Kafka
// and compares standard output, the first line of a usage error, and exit codes.
func TestToolsPrintWhatApachesPrint(t *testing.T) {
	apache, ours := installApache(t), buildBarnabas(t)
	n := startNode(t, apache)
	for _, c := range toolCases {
		t.Run(c.tool+" "+c.args, func(t *testing.T) {
			a := runTool(t, c, "1", n, func(args []string) (kit.Output, error) { return apache.ToolWithInput(c.input, c.tool, args...) })
			o := runTool(t, c, "2", n, func(args []string) (kit.Output, error) {
				cmd := exec.Command(ours.Binary, append([]string{c.tool}, args...)...)
				cmd.Stdin = strings.NewReader(c.input)
				return kit.Run(cmd)
			})
			if c.numbered {
				a.Stdout = strings.ReplaceAll(a.Stdout, "-1", "-2")
				a.Stdout = strings.ReplaceAll(a.Stdout, "x.1", "x.2")
			}
			if a.Stdout != o.Stdout || a.Exit != o.Exit {
				t.Errorf("Apache: exit %d\n%s%s\nours: exit %d\n%s%s", a.Exit, a.Stdout, a.Stderr, o.Exit, o.Stdout, o.Stderr)
			}
			if a.Stdout == "" && firstLine(a.Stderr) != firstLine(o.Stderr) {
				t.Errorf("standard error: Apache %q, ours %q", firstLine(a.Stderr), firstLine(o.Stderr))
			}
		})
	}
}

func runTool(t *testing.T, c toolCase, number string, n *kit.Node, run func([]string) (kit.Output, error)) kit.Output {
	t.Helper()
	args := append([]string{"--bootstrap-server", n.Address()}, strings.Fields(strings.ReplaceAll(c.args, "{n}", number))...)
	out, err := run(args)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// firstLine leaves out what has a time in it.
func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	if strings.HasPrefix(line, "[20") {
		return "log line"
	}
	// Apache prints a set whose order changes from run to run.
	return strings.ReplaceAll(strings.TrimSpace(line), "[[config], [bootstrap-server]]", "[[bootstrap-server], [config]]")
}
