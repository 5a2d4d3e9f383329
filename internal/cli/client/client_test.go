package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// call runs a tool without a cluster.
func call(tool func([]string, IO) int, args ...string) (stdout, stderr string, exit int) {
	var out, errs bytes.Buffer
	exit = tool(args, IO{Context: context.Background(), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs})
	return out.String(), errs.String(), exit
}

// The first lines are those of Apache Kafka 4.4.0's tools.
func TestMistakesOnCommandLines(t *testing.T) {
	tools := map[string]func([]string, IO) int{"topics": Topics, "console-producer": ConsoleProducer, "console-consumer": ConsoleConsumer, "get-offsets": GetOffsets,
		"consumer-groups": ConsumerGroups, "groups": Groups}
	for line, want := range map[string]string{
		"topics": "Command must include exactly one action: --list, --describe, --create, --alter or --delete",
		"topics --list --create --bootstrap-server h:1": "Command must include exactly one action: --list, --describe, --create, --alter or --delete",
		"topics --boot h:1 --list":                      "boot is not a recognized option",
		"topics -nosuch":                                "n is not a recognized option",
		"topics --topic":                                "Option topic requires an argument",
		"topics --list --bootstrap-server h:1 --bootstrap-server h:1": "Found multiple arguments for option bootstrap-server, but you asked for only one",
		"topics --create --topic a --list-nothing":                    "list-nothing is not a recognized option",
		"topics --list":                          "--bootstrap-server must be specified",
		"topics --create --bootstrap-server h:1": `Missing required argument "[topic]"`,
		"topics --create --topic a --if-exists --bootstrap-server h:1":                              `Option "[create]" can't be used with option "[if-exists]"`,
		"console-producer --topic":                                                                  "Option topic requires an argument",
		"console-producer --topic a --topic b":                                                      "Found multiple arguments for option topic, but you asked for only one",
		"console-producer --bootstrap-server h:1":                                                   `Missing required argument "[topic]"`,
		"console-consumer --nosuch":                                                                 "nosuch is not a recognized option",
		"console-consumer":                                                                          "Exactly one of the following arguments is required: [topic], [include]",
		"console-consumer --topic a --bootstrap-server h:1 --offset 5":                              "The partition is required when offset is specified.",
		"console-consumer --topic a --bootstrap-server h:1 --group g --partition 0":                 "Options group and partition cannot be specified together.",
		"console-consumer --topic a --bootstrap-server h:1 --group g --command-property group.id=h": "The group ids provided in different places (directly using '--group', via '--consumer-property', or via '--consumer.config') do not match. Detected group ids: 'g', 'h'",
		"console-consumer --topic a --bootstrap-server h:1 --from-beginning --command-property auto.offset.reset=latest": "Can't simultaneously specify --from-beginning and 'auto.offset.reset=latest', please remove one option\n",
		"consumer-groups":                                                                 `Missing required argument "[bootstrap-server]"`,
		"consumer-groups --bootstrap-server h:1":                                          "Command must include exactly one action: --list, --describe, --delete, --reset-offsets, --delete-offsets, --validate-regex",
		"consumer-groups --bootstrap-server h:1 --describe":                               "Option [describe] takes one of these options: [group], [all-groups]",
		"consumer-groups --bootstrap-server h:1 --describe --group g --state Stable":      "Option [describe] does not take a value for [state]",
		"consumer-groups --bootstrap-server h:1 --describe --group g --members --offsets": "Option [describe] takes at most one of these options: [members], [offsets], [state]",
		"consumer-groups --bootstrap-server h:1 --delete":                                 "Option [delete] takes one of these options: [group], [all-groups]",
		"consumer-groups --bootstrap-server h:1 --delete-offsets --group g":               "Option [delete-offsets] takes the following options: [topic], [group]",
		"consumer-groups --bootstrap-server h:1 --list --state nosuch":                    "Invalid state list 'nosuch'. Valid states are: Stable, Assigning, Reconciling, PreparingRebalance, CompletingRebalance, Dead, Empty",
		"consumer-groups --bootstrap-server h:1 --list --type share":                      "Invalid types list 'share'. Valid types are: Consumer, Classic",
		"groups":                        "Missing required option(s) [bootstrap-server]",
		"groups --bootstrap-server h:1": "Command must include exactly one action: --list.",
		"groups --bootstrap-server h:1 --list --group-type nosuch": "--group-type must be a valid group type.",
		"get-offsets --nosuch": "Error occurred: nosuch is not a recognized option",
		"get-offsets --time":   "Error occurred: Option time requires an argument",
		"get-offsets":          `Missing required argument "[bootstrap-server]"`,
		"get-offsets --bootstrap-server h:1 --time soon":                     "Error occurred: Malformed time argument soon.",
		"get-offsets --bootstrap-server h:1 --topic a --topic-partitions b:": "Error occurred: --topic-partitions cannot be used with --topic or --partitions",
	} {
		words := strings.Fields(line)
		stdout, stderr, exit := call(tools[words[0]], words[1:]...)
		if exit != 1 || stdout != "" || !strings.HasPrefix(stderr, want) {
			t.Errorf("%s: exit %d\n%s%s\nwant %s", line, exit, stdout, stderr, want)
		}
	}
}

func TestDeprecatedOptionsAreToldInOrder(t *testing.T) {
	set := consoleProducerOptions()
	if err := set.Parse([]string{"--property", "a=b", "--producer.config", "f", "--producer-property", "c=d"}); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	tellOfDeprecated(set, IO{Stdout: &out}, "%s: %s\n", "producer-property", "command-property", "property", "reader-property", "producer.config", "command-config")
	if got, want := out.String(), "producer-property: command-property\nproperty: reader-property\nproducer.config: command-config\n"; got != want {
		t.Errorf("got %s", got)
	}
}

// TestFlagsOfTheConsoleProducer: a flag that is given goes before properties, and
// these before the defaults of flags. compression.type is the flag's alone.
func TestFlagsOfTheConsoleProducer(t *testing.T) {
	file := filepath.Join(t.TempDir(), "producer.properties")
	if err := os.WriteFile(file, []byte("linger.ms=7\nacks=1\nretries=9\ncompression.type=zstd\nclient.id=me\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	set := consoleProducerOptions()
	if err := set.Parse([]string{"--bootstrap-server", "h:1", "--topic", "a", "--command-config", file, "--command-property", "acks=0", "--message-send-max-retries", "2", "--max-partition-memory-bytes", "99"}); err != nil {
		t.Fatal(err)
	}
	got, err := producerProperties(set)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"bootstrap.servers": "h:1", "client.id": "me", "compression.type": "none", "linger.ms": "7", "acks": "0", "retries": "2", "batch.size": "99",
		"buffer.memory": "33554432", "max.block.ms": "60000", "metadata.max.age.ms": "300000", "request.timeout.ms": "1500", "retry.backoff.ms": "100", "send.buffer.bytes": "102400"}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestPropertiesOfTheCommandLineGoBeforeTheFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "p")
	if err := os.WriteFile(file, []byte("a=1\nb=2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	props, err := readProperties(file, []string{"b=3", "c=d=e", "empty"})
	if err != nil || fmt.Sprint(props) != "map[a:1 b:3 c:d=e empty:]" {
		t.Errorf("%v, %v", props, err)
	}
	if _, err := readProperties("", []string{"=x"}); err == nil {
		t.Error("a property without a name is taken")
	}
	if _, err := readProperties(file+".none", nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// show is a record as the tests below write it; null is nil.
func show(r *kgo.Record) string {
	text := func(b []byte) string {
		if b == nil {
			return "null"
		}
		return fmt.Sprintf("%q", b)
	}
	out := text(r.Key) + " " + text(r.Value)
	for _, h := range r.Headers {
		out += " " + h.Key + "=" + text(h.Value)
	}
	return out
}

func TestLinesBecomeRecords(t *testing.T) {
	const keyed, headed = "parse.key=true", "parse.headers=true"
	for _, c := range []struct {
		properties string
		in, want   string
	}{
		{"", "one\ntwo\r\n\nlast", `null "one"|null "two"|null ""|null "last"|EOF`},
		{keyed, "k\tv\n", `"k" "v"|EOF`},
		{keyed + " key.separator=:", "k:v:w\n", `"k" "v:w"|EOF`},
		{keyed, "alone\n", `No key separator found on line number 1: 'alone'`},
		{keyed + " ignore.error=true", "alone\n", `null "alone"|EOF`},
		{keyed + " null.marker=NULL", "NULL\tNULL\n", `null null|EOF`},
		{headed, "a:1,b:\tv\n", `null "v" a="1" b=""|EOF`},
		{headed + " " + keyed, "a:1\tk\tv\n", `"k" "v" a="1"|EOF`},
		{headed, "a\tv\n", `No header key separator found in pair 'a' on line number 1`},
		{headed + " null.marker=N", "N\tv\n", `null "v"|EOF`},
		{headed + " null.marker=N", "N:1\tv\n", `Header keys should not be equal to the null marker 'N' as they can't be null`},
	} {
		props, err := readProperties("", strings.Fields(c.properties))
		if err != nil {
			t.Fatal(err)
		}
		r, err := newLineReader(strings.NewReader(c.in), "t", props)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for err == nil {
			var rec *kgo.Record
			if rec, err = r.next(); err == nil {
				got = append(got, show(rec))
			}
		}
		got = append(got, err.Error())
		if got := strings.Join(got, "|"); got != c.want {
			t.Errorf("%s %q: %s\nwant %s", c.properties, c.in, got, c.want)
		}
	}
	if _, err := newLineReader(strings.NewReader(""), "t", map[string]string{"null.marker": "\t"}); err == nil {
		t.Error("a null marker that is the key separator is taken")
	}
}

func TestRecordsArePrintedAsApachePrintsThem(t *testing.T) {
	rec := &kgo.Record{
		Key: []byte("k"), Value: []byte{0, 0, 0, 7}, Partition: 2, Offset: 9, Timestamp: time.UnixMilli(1000),
		Headers: []kgo.RecordHeader{{Key: "h", Value: []byte("x")}, {Key: "n"}},
	}
	const all = "print.timestamp=true print.partition=true print.offset=true print.delivery=true print.epoch=true print.headers=true print.key=true"
	for properties, want := range map[string]string{
		"": "\x00\x00\x00\x07\n",
		"value.deserializer=org.apache.kafka.common.serialization.IntegerDeserializer":                                            "7\n",
		"print.value=false print.key=true line.separator=;":                                                                       "k;",
		all + " value.deserializer=IntegerDeserializer key.separator=|":                                                           "CreateTime:1000|Partition:2|Offset:9|Delivery:NOT_PRESENT|Epoch:NOT_PRESENT|h:x,n:null|k|7\n",
		"print.headers=true headers.separator=; null.literal=NIL print.value=false":                                               "h:x;n:NIL\n",
		"value.deserializer=LongDeserializer":                                                                                     "Size of data received by deserializer is not 8",
		"value.deserializer=com.example.D":                                                                                        "deserializer com.example.D is not supported",
		"key.deserializer=FloatDeserializer value.deserializer=BooleanDeserializer print.key=true print.value=false print.x=true": "Size of data received by deserializer is not 4",
	} {
		props, err := readProperties("", strings.Fields(properties))
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		f, err := newFormatter(props, "", "")
		if err == nil {
			err = f.print(&out, rec)
		}
		got := out.String()
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", properties, got, want)
		}
	}
	f, err := newFormatter(map[string]string{"print.timestamp": "true", "print.headers": "true"}, "", "")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := f.print(&out, &kgo.Record{Timestamp: time.UnixMilli(-1)}); err != nil || out.String() != "NO_TIMESTAMP\tNO_HEADERS\tnull\n" {
		t.Errorf("nothing to print: %q, %v", &out, err)
	}
	if err := f.print(failingWriter{}, rec); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("a writer that fails: %v", err)
	}
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestPartitionsAreChosenByPattern(t *testing.T) {
	for args, want := range map[string]string{
		"":                                "a-0 a-1 a-5 ab-0 b-3",
		"--topic a":                       "a-0 a-1 a-5",
		"--topic a.*":                     "a-0 a-1 a-5 ab-0",
		"--topic a,b":                     "a-0 a-1 a-5 b-3",
		"--partitions 0,3":                "a-0 ab-0 b-3",
		"--topic a --partitions 5":        "a-5",
		"--topic-partitions a:1":          "a-1",
		"--topic-partitions a:0-5,b:":     "a-0 a-1 b-3",
		"--topic-partitions a:1-":         "a-1 a-5",
		"--topic-partitions :-1":          "a-0 ab-0",
		"--topic-partitions a.?:0,b:3":    "a-0 ab-0 b-3",
		"--topic-partitions a:x":          "Invalid rule specification: a:x",
		"--topic-partitions a:1-y":        "Invalid rule specification: a:1-y",
		"--partitions x":                  "--partitions expects a comma separated list of numeric partition ids, but received: x",
		"--topic (":                       "( is an invalid regex.",
		"--topic-partitions nosuch:0,b:4": "",
	} {
		set := getOffsetsOptions()
		if err := set.Parse(strings.Fields(args)); err != nil {
			t.Fatal(err)
		}
		filter, err := partitionFilter(set)
		var got []string
		if err != nil {
			got = append(got, err.Error())
		} else {
			for _, p := range []struct {
				topic     string
				partition int32
			}{{"a", 0}, {"a", 1}, {"a", 5}, {"ab", 0}, {"b", 3}} {
				if filter(p.topic, p.partition) {
					got = append(got, fmt.Sprintf("%s-%d", p.topic, p.partition))
				}
			}
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%q: %s, want %s", args, got, want)
		}
	}
}

func TestReplicaAssignments(t *testing.T) {
	got, err := replicaAssignment("1:2,2:1")
	if err != nil || len(got) != 2 || fmt.Sprint(got[0].Replicas, got[1].Partition, got[1].Replicas) != "[1 2] 1 [2 1]" {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"", "a", "1:1", "1:2,3"} {
		if got, err := replicaAssignment(bad); err == nil {
			t.Errorf("%q gives %v", bad, got)
		}
	}
}
