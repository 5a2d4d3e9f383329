package client

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

func TestPropertiesReachTheEngine(t *testing.T) {
	cl, warnings, err := New(ForProducer, map[string]string{"bootstrap.servers": "127.0.0.1:1", "acks": "1", "linger.ms": "7",
		"client.id": "me", "compression.type": "zstd", "nonsense": "1", "other": "2", "ssl.keystore.location": "/key", "sasl.jaas.config": "secret", "isolation.level": "read_committed"})
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
		"These configurations '[sasl.jaas.config, ssl.keystore.location]' were supplied but have no effect: security.protocol is PLAINTEXT.",
		"These configurations '[nonsense, other]' were supplied but have no effect: they are not known.",
		"These configurations '[isolation.level]' were supplied but have no effect: they mean nothing to the producer client.",
	}
	if strings.Join(warnings, "\n") != strings.Join(want, "\n") {
		t.Errorf("warnings %q", warnings)
	}
}

func TestPropertiesOfGroups(t *testing.T) {
	properties := map[string]string{"bootstrap.servers": "127.0.0.1:1", "group.id": "g", "group.instance.id": "one", "enable.auto.commit": "false",
		"session.timeout.ms": "7000", "max.poll.interval.ms": "9000",
		"partition.assignment.strategy": "org.apache.kafka.clients.consumer.RangeAssignor, org.apache.kafka.clients.consumer.CooperativeStickyAssignor"}
	cl, warnings, err := New(ForConsumer, properties)
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
	if cl.OptValue(kgo.DisableAutoCommit) != true {
		t.Error("enable.auto.commit has no effect")
	}
	if got := cl.OptValue(kgo.Balancers).([]kgo.GroupBalancer); len(got) != 2 || got[0].ProtocolName() != "range" || got[1].ProtocolName() != "cooperative-sticky" {
		t.Errorf("balancers %v", got)
	}
	properties["group.id"] = ""
	alone, _, err := New(ForConsumer, properties)
	if err != nil {
		t.Fatalf("properties of groups without a group: %v", err)
	}
	alone.Close()
	properties["enable.auto.commit"] = "perhaps"
	if _, _, err := Options(ForConsumer, properties); err == nil {
		t.Error("a wrong value is taken where there is no group")
	}
}

func TestRecordsOfAPoll(t *testing.T) {
	for value, want := range map[string]string{"7": "7 <nil>", " 1 ": "1 <nil>", "0": "0 Invalid value 0 for configuration max.poll.records: Value must be at least 1",
		"x": "0 Invalid value x for configuration max.poll.records: Not a number of type INT"} {
		properties := map[string]string{"bootstrap.servers": "127.0.0.1:1", "max.poll.records": value}
		n, err := MaxPollRecords(properties)
		if got := fmt.Sprint(n, err); got != want {
			t.Errorf("%s: %s, want %s", value, got, want)
		}
		_, warnings, of := Options(ForConsumer, properties)
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
		{"linger.ms", "-1", "Invalid value -1 for configuration linger.ms: Value must be at least 0"},
		{"retries", "0.5", "Invalid value 0.5 for configuration retries: Not a number of type INT"},
		{"interceptor.classes", "com.example.Spy", "Invalid value com.example.Spy for configuration interceptor.classes: there are no Java classes here"},
		{"partitioner.class", "com.example.Mine", "Invalid value com.example.Mine for configuration partitioner.class: there are no Java classes here, only Kafka's own RoundRobinPartitioner"},
		{"compression.gzip.level", "10", "Invalid value 10 for configuration compression.gzip.level: Value must be between 1 and 9 or equal to -1"},
		{"max.in.flight.requests.per.connection", "6", "Must set max.in.flight.requests.per.connection to at most 5 to use the idempotent producer."},
		{"delivery.timeout.ms", "10000", "delivery.timeout.ms should be equal to or larger than linger.ms + request.timeout.ms"},
		{"bootstrap.servers", "", "Invalid value  for configuration bootstrap.servers: the list is empty"},
		{"security.protocol", "SSL", "Invalid value SSL for configuration security.protocol: this release has no secured client connections, only PLAINTEXT"},
	} {
		properties := map[string]string{"bootstrap.servers": "127.0.0.1:1"}
		properties[c.name] = c.value
		_, _, err := Options(ForProducer, properties)
		if err == nil || err.Error() != c.want {
			t.Errorf("%s=%s: %v", c.name, c.value, err)
		}
	}
}
