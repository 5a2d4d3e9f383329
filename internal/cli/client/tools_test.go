package client

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/internal/cli/argparse"
	"barnabas/internal/kafka"
)

// callTool runs a tool without a cluster.
func callTool(f func([]string, IO) int, line string) (stdout, stderr string, exit int) {
	var out, err strings.Builder
	exit = f(strings.Fields(line), IO{Context: context.Background(), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &err})
	return out.String(), err.String(), exit
}

// The complaints are those of Apache Kafka 4.4.0's tools; what follows is a table.
func TestComplaintsOfTools(t *testing.T) {
	for _, c := range []struct {
		tool       func([]string, IO) int
		line, want string
	}{
		{BrokerAPIVersions, "", "This tool helps to retrieve broker version information.\n"},
		{ConsumerPerf, "", "This tool is used to verify the consumer performance.\n"},
		{ConsumerPerf, "--bootstrap-server a:1", "Exactly one of the following arguments is required: [topic], [include]\n"},
		{ConsumerPerf, "--bootstrap-server a:1 --topic x --messages 1 --num-records 1", "Exactly one of the following arguments is required: [messages], [num-records]\n"},
		{E2ELatency, "a b c d", "Invalid number of arguments. Expected 5 or 6 positional arguments, but got 4. Usage: bootstrap-server topic num-records producer-acks record-size [optional] command-config\n"},
		{E2ELatency, "--bootstrap-server a:1 --topic x --num-records 1 --producer-acks 7 --record-size 1", "Invalid value for --producer-acks. Latency testing requires synchronous acknowledgement. Please use '1' or 'all'.\n"},
		{E2ELatency, "--bootstrap-server a:1 --topic x --num-records 1 --producer-acks 1 --record-size -1", "Value for --record-size must be a non-negative integer.\n"},
		{Features, "nosuch", "Command line error: invalid choice: 'nosuch' (choose from 'describe', 'upgrade', 'downgrade', 'disable', 'version-mapping', 'feature-dependencies'). Type --help for help."},
		{Features, "describe", "Command line error: You must specify either --bootstrap-controller or --bootstrap-server.. Type --help for help."},
		{Features, "--bootstrap-server a:1 upgrade", "You must specify at least one feature to upgrade\n"},
		{Features, "--bootstrap-server a:1 upgrade --metadata 4.0 --release-version 4.0", "Can not specify `release-version` with other feature flags.\n"},
		{Features, "--bootstrap-server a:1 upgrade --feature x=y", "Can't parse feature=level string x=y: unable to parse y as a short.\n"},
		{Features, "--bootstrap-server a:1 upgrade --feature group.version=0", "The upgradeType flag should be set to SAFE_DOWNGRADE or UNSAFE_DOWNGRADE when the provided maxVersionLevel:0 is < 1.\n"},
		{Transactions, "", "usage: kafka-transactions.sh [-h] [-v] [--command-config FILE]\n                             --bootstrap-server host:port COMMAND ...\nkafka-transactions.sh: error: too few arguments\n"},
		{Transactions, "--bootstrap-server a:1 abort --topic t --partition 0", "The transaction to abort must be identified either with --start-offset"},
		{Transactions, "--bootstrap-server a:1 abort --topic t --partition 0 --producer-id 7", "Missing required argument --producer-epoch\n"},
		{Transactions, "--bootstrap-server a:1 find-hanging", "The `find-hanging` command requires either --topic or --broker-id to limit the scope of the search\n"},
		{Transactions, "--bootstrap-server a:1 find-hanging --partition 1", "The --partition argument requires --topic to be provided\n"},
		{MetadataQuorum, "--bootstrap-server a:1 describe --status --replication", "Only one of --status or --replication should be specified with describe sub-command\n"},
		{MetadataQuorum, "--bootstrap-server a:1 remove-controller -i -4 -d AAAAAAAAAAAAAAAAAAAABQ", "Invalid negative --controller-id: -4\n"},
		{Cluster, "cluster-id -b a:1 --config x -c y", "--config and --command-config cannot be specified together.\n"},
		{Cluster, "unregister -b a:1 --id 3 -o json", "-o json is not supported by unregister: only cluster-id, list-endpoints, api-versions can print it\n"},
		{Features, "-o json version-mapping", "-o json is not supported by version-mapping: only describe can print it\n"},
		{Features, "--bootstrap-server a:1 describe -o yaml", "-o yaml is not supported: only json is\n"},
		{MetadataQuorum, "--bootstrap-server a:1 -o json add-controller", "-o json is not supported by add-controller: only describe can print it\n"},
		{MetadataQuorum, "--bootstrap-server a:1 describe --status -o yaml", "-o yaml is not supported: only json is\n"},
		{Cluster, "cluster-id -b a:1 -o yaml", "-o yaml is not supported: only json is\n"},
	} {
		_, stderr, exit := callTool(c.tool, c.line)
		if exit != 1 || !strings.HasPrefix(stderr, c.want) {
			t.Errorf("%s: exit %d, %q, want %q", c.line, exit, stderr, c.want)
		}
	}
	for _, c := range []struct{ line, want string }{
		{"--topic a --throughput 1", "argument --num-records is required"},
		{"--topic a --throughput 1 --num-records 5", "one of the arguments --record-size --payload-file --payload-monotonic is required"},
		{"--topic a --throughput x --num-records 5", `argument --throughput: could not convert 'x' to Double (For input string: "x")`},
		{"--topic a --throughput 1 --num-records 5 --record-size 3 --payload-monotonic", "argument --payload-monotonic: not allowed with argument --record-size"},
	} {
		_, err := producerPerfTool().Parse(strings.Fields(c.line))
		var usage *argparse.UsageError
		if !errors.As(err, &usage) || usage.Message() != c.want {
			t.Errorf("%s: %v", c.line, err)
		}
	}
}

func TestApiVersionIsTold(t *testing.T) {
	n := func(v int16) *int16 { return &v }
	for want, a := range map[string]apiVersion{
		"Produce(0): 0 to 13 [usable: 13]":                  {0, "Produce", n(0), n(13)},
		"Produce(0): 0 to 99 [usable: 13]":                  {0, "Produce", n(0), n(99)},
		"OffsetDelete(47): 0 [usable: 0]":                   {47, "OffsetDelete", n(0), n(0)},
		"Produce(0): 50 to 99 [unusable: node too new]":     {0, "Produce", n(50), n(99)},
		"JoinGroup(11): UNSUPPORTED":                        {11, "JoinGroup", nil, nil},
		"CreateTopics(19): 0 to 1 [unusable: node too old]": {19, "CreateTopics", n(0), n(1)},
		"UNKNOWN(999): 0 to 1":                              {999, "UNKNOWN", n(0), n(1)},
	} {
		if got := a.text(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestQuorumStatusTellsTheSlowestVoter(t *testing.T) {
	q := &quorumState{ClusterID: "c", LeaderID: 1, LeaderEpoch: 4, HighWatermark: 90, Voters: []quorumReplica{
		{ID: 1, DirectoryID: kafka.UUID{15: 5}, Endpoints: []string{"C://h:1"}, LogEndOffset: 100, LastCaughtUp: 5000},
		{ID: 2, LogEndOffset: 80, LastCaughtUp: 4400},
	}}
	var out strings.Builder
	q.printStatus(IO{Stdout: &out})
	want := `ClusterId:              c
LeaderId:               1
LeaderEpoch:            4
HighWatermark:          90
MaxFollowerLag:         20
MaxFollowerLagTimeMs:   600
CurrentVoters:          [{"id": 1, "directoryId": "AAAAAAAAAAAAAAAAAAAABQ", "endpoints": ["C://h:1"]}, {"id": 2}]
CurrentObservers:       []
`
	if out.String() != want {
		t.Errorf("got\n%s", out.String())
	}
}

func TestLatenciesAreSummedUp(t *testing.T) {
	begin := time.Unix(1000, 0)
	var out strings.Builder
	s := newLatencyStats(&out, time.Second, 4, begin)
	for i := range int64(4) {
		s.add(i, 1<<20, begin, begin.Add(time.Duration(i+1)*500*time.Millisecond))
	}
	s.summary("", begin.Add(2*time.Second))
	want := `2 records sent, 2.0 records/sec (2.00 MB/sec), 750.0 ms avg latency, 1000.0 ms max latency.
2 records sent, 2.0 records/sec (2.00 MB/sec), 1750.0 ms avg latency, 2000.0 ms max latency.
4 records sent, 2.000000 records/sec (2.00 MB/sec), 1250.00 ms avg latency, 2000.00 ms max latency, 1500 ms 50th, 2000 ms 95th, 2000 ms 99th, 2000 ms 99.9th.
`
	if out.String() != want {
		t.Errorf("got\n%s", out.String())
	}
}

func TestDatesAreWrittenAsJavaWritesThem(t *testing.T) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 8_000_000, time.UTC)
	for pattern, want := range map[string]string{"yyyy-MM-dd HH:mm:ss:SSS": "2026-03-04 05:06:07:008", "'at' HHmm": "at 0506"} {
		f, err := javaDateFormat(pattern)
		if err != nil || f(at) != want {
			t.Errorf("%s: %v", pattern, err)
		}
	}
	for _, bad := range []string{"G", "YYYY", "'open"} {
		if _, err := javaDateFormat(bad); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

func TestPayloadsAreTheSameWithTheSameSeed(t *testing.T) {
	make := func(line string) string {
		args, err := producerPerfTool().Parse(strings.Fields("--topic a --throughput 1 --num-records 5 " + line))
		if err != nil {
			t.Fatal(err)
		}
		m, err := payloadOf(producerPerfTool(), args)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		for i := range int64(3) {
			r := m.record("a", i)
			out.WriteString(string(r.Key) + "=" + string(r.Value) + " ")
		}
		return out.String()
	}
	if a, b := make("--record-size 9"), make("--record-size 9"); a != b || a == make("--record-size 9 --random-seed 1") {
		t.Errorf("%s, %s", a, b)
	}
	if got := make("--payload-monotonic --key-distribution range --record-key-range 2"); got != "0=0 1=1 0=2 " {
		t.Errorf("got %s", got)
	}
}

func TestPartitionsInJSON(t *testing.T) {
	p := describedPartition{partition: 3, leader: -1, replicas: []int32{1}, knowsELR: true, elr: []int32{1}}
	if j := p.json(); j.Leader != nil || len(j.ELR) != 1 || j.ISR == nil || j.LastKnownELR == nil {
		t.Errorf("%+v", j)
	}
	p.knowsELR, p.leader = false, 1
	if j := p.json(); j.ELR != nil || *j.Leader != 1 {
		t.Errorf("%+v", j)
	}
}

func TestControllerIsReadFromItsFile(t *testing.T) {
	l, err := controllerListeners(map[string]string{"controller.listener.names": "C", "listeners": "P://h:1,C://:93"})
	want := kmsg.AddRaftVoterRequestListener{Name: "C", Host: "localhost", Port: 93}
	if err != nil || len(l) != 1 || l[0].Name != want.Name || l[0].Host != want.Host || l[0].Port != want.Port {
		t.Errorf("%v, %v", l, err)
	}
	if _, err := controllerListeners(map[string]string{"controller.listener.names": "D", "listeners": "C://h:1"}); err == nil {
		t.Error("a listener that is not there is found")
	}
}

func TestConsoleProducerEndsWhileItWaitsForALine(t *testing.T) {
	in, typing := io.Pipe()
	defer typing.Close()
	reader, err := newLineReader(in, "t", nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- consoleProducer{o: IO{Context: ctx, Stdout: io.Discard}}.run(reader)
	}()
	interrupt()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Error("it waits on")
	}
}
