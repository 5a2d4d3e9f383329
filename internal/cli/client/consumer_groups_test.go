package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	kafkaclient "barnabas/client"
	"barnabas/internal/kafka"
)

func TestDurationsAreReadAsJavaReadsThem(t *testing.T) {
	for text, want := range map[string]string{
		"PT1H": "1h0m0s", "P1D": "24h0m0s", "P1DT2H3M4.5S": "26h3m4.5s", "-PT1M": "-1m0s", "PT-1M": "-1m0s", "pt1s": "1s", "PT-0.5S": "-500ms", "PT+6M": "6m0s",
		"1H": "error", "P": "error", "PT": "error", "P1DT": "error", "PT1": "error", "": "error", "P99999999999D": "error",
	} {
		got := "error"
		if d, err := parseDuration(text); err == nil {
			got = d.String()
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestDatesAreReadAsApacheReadsThem(t *testing.T) {
	for text, want := range map[string]int64{
		"2020-01-01T00:00:00.000": 1577836800000, "2020-01-01T00:00:00.250Z": 1577836800250, "2020-01-01T02:00:00.000+02:00": 1577836800000, "2020-01-01T00:00:00.000-01": 1577840400000,
		"2020-01-01": -1, "2020-01-01T": -1, "2020-01-01T00:00": -1, "2020-13-01T00:00:00.000": -1,
	} {
		got, err := parseDateTime(text)
		if err != nil {
			got = -1
		}
		if got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

func TestPlansAreReadAsTheyAreExported(t *testing.T) {
	for _, group := range []string{"g", `a b,c"d`, "a-name-of-more-than-24-characters"} {
		offsets := []newOffset{{kafka.TopicPartition{Topic: "t.1", Partition: 2}, 7}, {kafka.TopicPartition{Topic: "t.1", Partition: 0}, 0}}
		for _, withGroup := range []bool{true, false} {
			text := exportCSV([]groupOffsets{{group: group, offsets: offsets}}, withGroup)
			plan, err := resetPlan(text+"\n", group)
			if err != nil || fmt.Sprint(plan[group]) != fmt.Sprint(offsets) {
				t.Errorf("%q: %v, %v", text, plan, err)
			}
		}
	}
	if got := exportCSV([]groupOffsets{{group: "a-name-of-more-than-24-characters", offsets: []newOffset{{kafka.TopicPartition{Topic: "t"}, 1}}}}, true); got != "\"a-name-of-more-than-24-characters\",t,0,1\n" {
		t.Errorf("a long name: %s", got)
	}
	for _, bad := range []string{"t,0", "t,x,1", "t,0,x", "g,t,0,1,2"} {
		if plan, err := resetPlan(bad, "g"); err == nil {
			t.Errorf("%s gives %v", bad, plan)
		}
	}
}

func TestRegularExpressionsAreValidated(t *testing.T) {
	for pattern, want := range map[string]string{
		"a.*b": "The regular expression `a.*b` is valid.\n",
		"(":    "The regular expression `(` is invalid: missing closing ).\n",
		"a+*":  "The regular expression `a+*` is invalid: invalid nested repetition operator.\n",
	} {
		if out, _, exit := call(ConsumerGroups, "--validate-regex", pattern); out != want || exit != 0 {
			t.Errorf("%s: exit %d, %s", pattern, exit, out)
		}
	}
}

func TestMembersAreATable(t *testing.T) {
	epoch, yes, no := int32(3), true, false
	d := &groupDescription{id: "g", state: "Stable", assignmentEpoch: &epoch, members: []groupMember{
		{id: "m1", client: "c", host: "/127.0.0.1", instance: "i", epoch: &epoch, upgraded: &yes,
			assigned: []kafka.TopicPartition{{Topic: "b", Partition: 10}, {Topic: "b", Partition: 9}, {Topic: "a", Partition: 0}}},
		{id: "m2", client: "c", host: "/127.0.0.1", upgraded: &no},
	}}
	var out bytes.Buffer
	set := consumerGroupsOptions()
	if err := set.Parse([]string{"--describe", "--members", "--verbose"}); err != nil {
		t.Fatal(err)
	}
	(&groupsTool{set: set, o: IO{Context: context.Background(), Stdout: &out, Stderr: &out}}).printMembers(d)
	want := `
GROUP           CONSUMER-ID     GROUP-INSTANCE-ID HOST            CLIENT-ID       #PARTITIONS     CURRENT-EPOCH   CURRENT-ASSIGNMENT   TARGET-EPOCH    TARGET-ASSIGNMENT    UPGRADED
g               m1              i                 /127.0.0.1      c               3               3               a:0;b:9,10           3               -                    true
g               m2                                /127.0.0.1      c               0               -               -                    3               -                    false
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

func TestGroupsInJSON(t *testing.T) {
	epoch, offset := int32(3), int64(7)
	d := &groupDescription{id: "g", state: "Stable", coordinator: kgo.BrokerMetadata{NodeID: 1, Host: "h", Port: 2}, members: []groupMember{
		{id: "m", client: "c", host: "/127.0.0.1", assigned: []kafka.TopicPartition{{Topic: "t"}}}}}
	rows := []offsetRow{{partition: kafka.TopicPartition{Topic: "t"}, epoch: &epoch, offset: &offset, member: "m", host: "/127.0.0.1", client: "c"},
		{partition: kafka.TopicPartition{Topic: "t", Partition: 1}, member: missing, host: missing, client: missing}}
	const head = `"group":"g","state":"Stable","assignor":"","coordinator":{"id":1,"host":"h","port":2},"groupEpoch":null,"targetAssignmentEpoch":null,"memberCount":1`
	for option, want := range map[string]string{
		"--state":   `[{` + head + `}]`,
		"--members": `[{` + head + `,"members":[{"consumerId":"m","groupInstanceId":null,"host":"/127.0.0.1","clientId":"c","currentEpoch":null,"currentAssignment":[{"topic":"t","partition":0}]}]}]`,
		"--offsets": `[{` + head + `,"partitions":[{"topic":"t","partition":0,"leaderEpoch":3,"currentOffset":7,"logEndOffset":null,"lag":null,"consumerId":"m","host":"/127.0.0.1","clientId":"c"},` +
			`{"topic":"t","partition":1,"leaderEpoch":null,"currentOffset":null,"logEndOffset":null,"lag":null,"consumerId":null,"host":null,"clientId":null}]}]`,
	} {
		set := consumerGroupsOptions()
		if err := set.Parse([]string{"--describe", option}); err != nil {
			t.Fatal(err)
		}
		var indented, got bytes.Buffer
		tool := &groupsTool{set: set, o: IO{Stdout: &indented}, asJSON: true}
		if err := tool.printDescribedJSON([]string{"g"}, map[string]*groupDescription{"g": d}, map[string][]offsetRow{"g": rows}); err != nil {
			t.Fatal(err)
		}
		if err := json.Compact(&got, indented.Bytes()); err != nil || got.String() != want {
			t.Errorf("%s: %v\n got %s\nwant %s", option, err, got.String(), want)
		}
	}
	for _, line := range []string{"--bootstrap-server h:1 --validate-regex g -o json", "--bootstrap-server h:1 --reset-offsets --group g --dry-run --export -o json", "--bootstrap-server h:1 --list -o yaml"} {
		if out, _, exit := call(ConsumerGroups, strings.Fields(line)...); exit != 1 || out != "" {
			t.Errorf("%s: exit %d, %s", line, exit, out)
		}
	}
}

func TestPositionsOfAGroupReader(t *testing.T) {
	g, err := newGroupReader(map[string]string{"auto.offset.reset": "latest", "auto.commit.interval.ms": "100"})
	if err != nil || g.interval != 100*time.Millisecond || !g.autoCommit {
		t.Fatal(g, err)
	}
	at := kafka.TopicPartition{Topic: "t", Partition: 1}
	if _, err := g.resolve(context.Background(), map[string]map[int32]kgo.Offset{"t": {1: kgo.NewOffset().At(5).WithEpoch(2)}}); err != nil {
		t.Fatal(err)
	}
	if p := g.positions[at]; p.next != 5 || p.epoch != 2 {
		t.Errorf("at first %+v", p)
	}
	first := &kgo.Record{Topic: "t", Partition: 1, Offset: 5, LeaderEpoch: 4}
	last := &kgo.Record{Topic: "t", Partition: 1, Offset: 6, LeaderEpoch: 4}
	g.polled(kgo.Fetches{{Topics: []kgo.FetchTopic{{Topic: "t", Partitions: []kgo.FetchPartition{{Partition: 1, Records: []*kgo.Record{first, last}}}}}}})
	g.consumed(first)
	if p := g.positions[at]; p.next != 6 || p.epoch != -1 {
		t.Errorf("in the middle of a poll %+v", p)
	}
	g.consumed(last)
	if p := g.positions[at]; p.next != 7 || p.epoch != 4 {
		t.Errorf("at the end of a poll %+v", p)
	}
	g.forget(map[string][]int32{"t": {1}})
	if len(g.positions) != 0 {
		t.Errorf("after the partition was taken away %+v", g.positions)
	}
}

func TestAReaderOfAPartitionCommitsIfItIsAskedTo(t *testing.T) {
	for line, want := range map[string]string{
		"--command-property enable.auto.commit=true":  "commits",
		"--command-property enable.auto.commit=false": "",
		"": "",
	} {
		set := consoleConsumerOptions()
		if err := set.Parse(strings.Fields("--bootstrap-server h:1 --topic t --partition 0 " + line)); err != nil {
			t.Fatal(err)
		}
		c, err := newConsoleConsumer(set, IO{Context: context.Background()})
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		c.cl.Close()
		got := ""
		if c.group != nil && c.group.autoCommit && strings.HasPrefix(c.group.alone, "console-consumer-") {
			got = "commits"
		}
		if got != want {
			t.Errorf("%s: %+v", line, c.group)
		}
	}
	if _, stderr, exit := call(ConsoleConsumer, strings.Fields("--bootstrap-server h:1 --topic t --partition 0 --command-property enable.auto.commit=perhaps")...); exit != 1 || !strings.Contains(stderr, "enable.auto.commit") {
		t.Errorf("exit %d, %s", exit, stderr)
	}
}

func TestResetPolicies(t *testing.T) {
	for value, want := range map[string]string{"earliest": "-2", "Latest": "-1", "none": "none", "by_duration:PT1H": "hour", "by_duration:-PT1H": "error", "soon": "error"} {
		p, err := resetPolicyOf(value)
		got := "error"
		switch {
		case err != nil:
		case p.none:
			got = "none"
		case p.timestamp() < 0:
			got = fmt.Sprint(p.timestamp())
		default:
			if ago := time.Now().UnixMilli() - p.timestamp(); ago >= 3600_000 && ago < 3700_000 {
				got = "hour"
			}
		}
		if got != want {
			t.Errorf("%s: %s %v, want %s", value, got, err, want)
		}
	}
	g := &groupReader{reset: resetPolicy{none: true}, positions: map[kafka.TopicPartition]position{}}
	_, err := g.resolve(context.Background(), map[string]map[int32]kgo.Offset{"t": {1: kgo.NewOffset().AtEnd()}})
	if err == nil || !strings.Contains(err.Error(), "no reset policy for partitions: [t-1]") {
		t.Errorf("no offset and no policy: %v", err)
	}
}

// TestChangesOfGroupsInJSON: what is refused stands in the document, and the exit
// code is 1.
func TestChangesOfGroupsInJSON(t *testing.T) {
	partition := kafka.TopicPartition{Topic: "t", Partition: 1}
	gone := codeError(int16(kafka.ErrGroupIDNotFound), nil)
	for name, c := range map[string]struct {
		line    string
		tell    func(*groupsTool) error
		want    string
		refused bool
	}{
		"reset": {"--reset-offsets --execute", func(g *groupsTool) error {
			return g.tellNewOffsets([]groupOffsets{{group: "h", refused: "busy"}, {group: "g", offsets: []newOffset{{partition, 7}, {kafka.TopicPartition{Topic: "t"}, 5}}}})
		}, `[{"group":"g","committed":true,"partitions":[{"topic":"t","partition":0,"offset":5},{"topic":"t","partition":1,"offset":7}]},` +
			`{"group":"h","committed":false,"error":"busy","partitions":[]}]`, true},
		"dry run": {"--reset-offsets --dry-run", func(g *groupsTool) error {
			return g.tellNewOffsets([]groupOffsets{{group: "g", offsets: []newOffset{{partition, 7}}}})
		}, `[{"group":"g","committed":false,"partitions":[{"topic":"t","partition":1,"offset":7}]}]`, false},
		"delete": {"--delete", func(g *groupsTool) error { return g.tellDeleted([]string{"h", "g"}, map[string]error{"h": gone}) },
			`[{"group":"g"},{"group":"h","error":"org.apache.kafka.common.errors.GroupIdNotFoundException: The group id does not exist."}]`, true},
		"delete offsets": {"--delete-offsets", func(g *groupsTool) error {
			return g.tellDeletedOffsets("g", nil, map[kafka.TopicPartition]error{partition: nil})
		}, `{"group":"g","partitions":[{"topic":"t","partition":1}]}`, false},
		"delete offsets of no topic": {"--delete-offsets", func(g *groupsTool) error {
			return g.tellDeletedOffsets("g", nil, map[kafka.TopicPartition]error{{Topic: "x", Partition: -1}: codeError(int16(kafka.ErrUnknownTopicOrPartition), nil)})
		}, `{"group":"g","partitions":[{"topic":"x","partition":null,"error":"org.apache.kafka.common.errors.UnknownTopicOrPartitionException: This server does not host this topic-partition."}]}`, true},
	} {
		set := consumerGroupsOptions()
		if err := set.Parse(strings.Fields(c.line)); err != nil {
			t.Fatal(err)
		}
		var indented, got bytes.Buffer
		err := c.tell(&groupsTool{set: set, o: IO{Stdout: &indented}, asJSON: true})
		if errors.Is(err, errRefused) != c.refused || !c.refused && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := json.Compact(&got, indented.Bytes()); err != nil || got.String() != c.want {
			t.Errorf("%s: %v\n got %s\nwant %s", name, err, got.String(), c.want)
		}
	}
}

func TestAGroupReaderOfEachProtocolOpens(t *testing.T) {
	for _, protocol := range []string{"classic", "consumer"} {
		props := map[string]string{"bootstrap.servers": "h:1", "group.id": "g", "auto.offset.reset": "latest", "group.protocol": protocol}
		if _, err := newGroupReader(props); err != nil {
			t.Fatal(err)
		}
		if _, _, err := kafkaclient.Options(kafkaclient.ForConsumer, props); err != nil {
			t.Errorf("%s: %v", protocol, err)
		}
	}
}
