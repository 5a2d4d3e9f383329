package client

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

func TestPropertiesReachTheEngine(t *testing.T) {
	cl, warnings, err := New(Producer, map[string]string{"bootstrap.servers": "127.0.0.1:1", "acks": "1", "linger.ms": "7",
		"client.id": "me", "compression.type": "zstd", "nonsense": "1", "isolation.level": "read_committed"})
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	if got := cl.OptValue(kgo.ClientID); got != "me" {
		t.Errorf("client id %v", got)
	}
	if got := cl.OptValue(kgo.DisableIdempotentWrite); got != true {
		t.Errorf("acks=1 keeps idempotence on: %v", got)
	}
	want := []string{
		"The configuration 'isolation.level' means nothing to the producer client.",
		"The configuration 'nonsense' was supplied but isn't a known config.",
	}
	if strings.Join(warnings, "\n") != strings.Join(want, "\n") {
		t.Errorf("warnings %q", warnings)
	}
}

func TestPropertiesOfGroups(t *testing.T) {
	properties := map[string]string{"bootstrap.servers": "127.0.0.1:1", "group.id": "g", "group.instance.id": "one", "enable.auto.commit": "false",
		"session.timeout.ms": "7000", "group.protocol": "consumer", "max.poll.interval.ms": "9000",
		"partition.assignment.strategy": "org.apache.kafka.clients.consumer.RangeAssignor, org.apache.kafka.clients.consumer.CooperativeStickyAssignor"}
	cl, warnings, err := New(Consumer, properties)
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	defer cl.Close()
	for option, want := range map[any]any{"g": cl.OptValue(kgo.ConsumerGroup), "one": cl.OptValue(kgo.InstanceID), 7 * time.Second: cl.OptValue(kgo.SessionTimeout),
		9 * time.Second: cl.OptValue(kgo.RebalanceTimeout)} {
		if want != option {
			t.Errorf("%v, want %v", want, option)
		}
	}
	if cl.OptValue(kgo.DisableAutoCommit) != true || cl.OptValue(kgo.ServerSideBalancer) != true {
		t.Error("enable.auto.commit or group.protocol has no effect")
	}
	if got := cl.OptValue(kgo.Balancers).([]kgo.GroupBalancer); len(got) != 2 || got[0].ProtocolName() != "range" || got[1].ProtocolName() != "cooperative-sticky" {
		t.Errorf("balancers %v", got)
	}
	properties["group.id"] = ""
	alone, _, err := New(Consumer, properties)
	if err != nil {
		t.Fatalf("properties of groups without a group: %v", err)
	}
	alone.Close()
	properties["enable.auto.commit"] = "perhaps"
	if _, _, err := Options(Consumer, properties); err == nil {
		t.Error("a wrong value is taken where there is no group")
	}
}

func TestRecordsOfAPoll(t *testing.T) {
	for value, want := range map[string]string{"7": "7 <nil>", " 1 ": "1 <nil>", "0": "0 Invalid value 0 for configuration max.poll.records: Value must be at least 1",
		"x": "0 Invalid value x for configuration max.poll.records: Not a number of type INT"} {
		properties := map[string]string{"max.poll.records": value}
		n, err := MaxPollRecords(properties)
		if got := fmt.Sprint(n, err); got != want {
			t.Errorf("%s: %s, want %s", value, got, want)
		}
		_, warnings, of := Options(Consumer, properties)
		if fmt.Sprint(of) != fmt.Sprint(err) || len(warnings) > 0 {
			t.Errorf("%s: %v, %q", value, of, warnings)
		}
	}
	if n, err := MaxPollRecords(nil); n != 500 || err != nil {
		t.Errorf("without the property %d, %v", n, err)
	}
}

func TestBadValuesAreRefused(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"acks", "2", "Invalid value 2 for configuration acks: String must be one of: all, -1, 0, 1"},
		{"linger.ms", "x", "Invalid value x for configuration linger.ms: Not a number of type LONG"},
		{"linger.ms", "-1", "Invalid value -1 for configuration linger.ms: Not a number of type LONG"},
		{"security.protocol", "SSL", "Invalid value SSL for configuration security.protocol: this release has no secured client connections, only PLAINTEXT"},
	} {
		_, _, err := Options(Producer, map[string]string{c.name: c.value})
		if err == nil || err.Error() != c.want {
			t.Errorf("%s=%s: %v", c.name, c.value, err)
		}
	}
}
