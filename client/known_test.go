package client

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// apacheProperty is a property of one of Apache Kafka's clients.
type apacheProperty struct {
	kind                           Kind
	name, typ, defaultValue, valid string
}

// apacheProperties are those of Apache Kafka 4.4.0, of which
// testdata/apache-properties.tsv is a list.
func apacheProperties(t *testing.T) (list []apacheProperty) {
	text, err := os.ReadFile("testdata/apache-properties.tsv")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]Kind{"admin": ForAdmin, "producer": ForProducer, "consumer": ForConsumer}
	for _, line := range strings.Split(strings.TrimRight(string(text), "\n"), "\n")[1:] {
		f := strings.Split(line, "\t")
		list = append(list, apacheProperty{kinds[f[0]], f[1], f[2], f[3], f[4]})
	}
	return list
}

// TestEveryPropertyOfApachesClientsIsKnown: each is known to the clients that it is
// for, and to no others, its default opens a client, and a value of the wrong type is
// refused.
func TestEveryPropertyOfApachesClientsIsKnown(t *testing.T) {
	kinds := map[string]int{}
	for _, p := range apacheProperties(t) {
		kinds[p.name] |= 1 << p.kind
		properties := map[string]string{"bootstrap.servers": "127.0.0.1:1"}
		value := strings.ReplaceAll(strings.Trim(p.defaultValue, `"[]`), "class ", "")
		if value == "REQUIRED" || value == "null" {
			value = ""
		}
		if value != "" || p.typ == "list" && p.name != "bootstrap.servers" {
			properties[p.name] = value
			cl, warnings, err := New(p.kind, properties)
			if err != nil {
				t.Errorf("%s=%s of the %s client: %v", p.name, value, p.kind, err)
				continue
			}
			cl.Close()
			for _, w := range warnings {
				if strings.Contains(w, "not known") || strings.Contains(w, "mean nothing") {
					t.Errorf("%s of the %s client: %s", p.name, p.kind, w)
				}
			}
		}
		bad := []string{}
		if slices.Contains([]string{"int", "long", "short", "double", "boolean"}, p.typ) {
			bad = append(bad, "wrong")
		}
		if strings.HasPrefix(p.valid, "[0,") {
			bad = append(bad, "-1")
		}
		for _, value := range bad {
			properties[p.name] = value
			if _, _, err := Options(p.kind, properties); err == nil {
				t.Errorf("%s=%s of the %s client is taken", p.name, value, p.kind)
			}
		}
	}
	for name, translate := range translators {
		if got := translate.kinds &^ inGroup; got != kinds[name] {
			t.Errorf("%s is for clients %b, and %b of Apache's", name, got, kinds[name])
		}
	}
	for name, translate := range withoutEffect {
		if translate.kinds != kinds[name] {
			t.Errorf("%s is for clients %b, and %b of Apache's", name, translate.kinds, kinds[name])
		}
		if _, twice := translators[name]; twice {
			t.Errorf("%s has an effect and has none", name)
		}
	}
}

// TestValuesThatKafkaTakesOpenAClient: what Kafka's users have in their files, and the
// engine has narrower bounds for.
func TestValuesThatKafkaTakesOpenAClient(t *testing.T) {
	for kind, lines := range map[Kind][]string{
		ForAdmin: {"metadata.max.age.ms=0", "metadata.max.age.ms=86400000", "connections.max.idle.ms=-1", "connections.max.idle.ms=3600000", "request.timeout.ms=1",
			"request.timeout.ms=2147483647", "retries=0", "security.protocol=plaintext"},
		ForProducer: {"max.in.flight.requests.per.connection=5", "batch.size=0", "batch.size=1", "batch.size=2147483647", "max.request.size=1", "max.request.size=2147483647",
			"buffer.memory=0", "buffer.memory=9223372036854775807", "acks=1", "enable.idempotence=false", "linger.ms=0", "delivery.timeout.ms=2147483647",
			"compression.zstd.level=-5", "partitioner.class=org.apache.kafka.clients.producer.RoundRobinPartitioner", "send.buffer.bytes=-1"},
		ForConsumer: {"fetch.max.bytes=2147483647", "fetch.max.wait.ms=0", "max.partition.fetch.bytes=2147483647", "auto.commit.interval.ms=0", "group.protocol=CONSUMER",
			"group.instance.id=a", "max.poll.interval.ms=1", "fetch.min.bytes=0"},
	} {
		for _, line := range lines {
			name, value, _ := strings.Cut(line, "=")
			cl, _, err := New(kind, map[string]string{"bootstrap.servers": "127.0.0.1:1", "group.id": "g", name: value})
			if err != nil {
				t.Errorf("%s of the %s client: %v", line, kind, err)
				continue
			}
			cl.Close()
		}
	}
}

// TestDefaultsAreKafkas compares what the engine has otherwise.
func TestDefaultsAreKafkas(t *testing.T) {
	open := func(kind Kind, pairs ...string) *kgo.Client {
		properties := map[string]string{"bootstrap.servers": "127.0.0.1:1"}
		for _, pair := range pairs {
			name, value, _ := strings.Cut(pair, "=")
			properties[name] = value
		}
		cl, _, err := New(kind, properties)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(cl.Close)
		return cl
	}
	p, other := open(ForProducer), open(ForProducer, "acks=1", "max.request.size=2000000", "buffer.memory=9999", "delivery.timeout.ms=40000", "retries=7")
	small, c := open(ForProducer, "batch.size=100"), open(ForConsumer, "group.id=g")
	next := open(ForConsumer, "group.id=g", "group.protocol=consumer")
	for _, x := range []struct{ got, want any }{
		{p.OptValue(kgo.ProducerLinger), 5 * time.Millisecond},
		{p.OptValue(kgo.RecordDeliveryTimeout), 2 * time.Minute},
		{p.OptValue(kgo.MaxBufferedBytes), int64(32 << 20)},
		{p.OptValue(kgo.TransactionTimeout), time.Minute},
		{p.OptValue(kgo.DisableIdempotentWrite), false},
		{small.OptValue(kgo.ProducerBatchMaxBytes), int32(1 << 20)}, // records may be larger than batch.size
		{other.OptValue(kgo.ProducerBatchMaxBytes), int32(2_000_000)},
		{other.OptValue(kgo.DisableIdempotentWrite), true},
		{other.OptValue(kgo.MaxProduceRequestsInflightPerBroker), 5},
		{other.OptValue(kgo.MaxBufferedBytes), int64(9999)},
		{other.OptValue(kgo.RecordDeliveryTimeout), 40 * time.Second},
		{other.OptValue(kgo.RecordRetries), int64(7)},
		{c.OptValue(kgo.FetchMaxWait), 500 * time.Millisecond},
		{c.OptValue(kgo.RebalanceTimeout), 5 * time.Minute},
		{c.OptValue(kgo.ConsumeResetOffset), kgo.NewOffset().AtEnd()},
		{len(c.OptValue(kgo.Balancers).([]kgo.GroupBalancer)), 2},
		{next.OptValue(kgo.ServerSideBalancer), true},
		{next.OptValue(kgo.Balancers).([]kgo.GroupBalancer)[0].ProtocolName(), "sticky"},
	} {
		if x.got != x.want {
			t.Errorf("%v (%[1]T), want %v (%[2]T)", x.got, x.want)
		}
	}
	for _, pairs := range [][]string{{"group.protocol=consumer", "session.timeout.ms=7000"}, {"group.remote.assignor=range"}} {
		properties := map[string]string{"bootstrap.servers": "127.0.0.1:1", "group.id": "g"}
		for _, pair := range pairs {
			name, value, _ := strings.Cut(pair, "=")
			properties[name] = value
		}
		if _, _, err := Options(ForConsumer, properties); err == nil || !strings.Contains(err.Error(), "cannot be set when group.protocol=") {
			t.Errorf("%q: %v", pairs, err)
		}
	}
}
