package config

import (
	"fmt"
	"strings"
	"testing"

	"barnabas/internal/kafka"
)

// oursDynamic are deliberate differences from testdata/dynamic_rules.txt.
var oursDynamic = map[string]string{
	// Java classes are not looked for.
	"broker:1 metric.reporters=x":                                "ok",
	"broker:1 principal.builder.class=x":                         "42 principal.builder.class is not supported by this release: " + refusedSecurity.Reason(),
	"broker:1 listener.name.plaintext.principal.builder.class=x": "42 listener.name.plaintext.principal.builder.class is not supported by this release: " + refusedSecurity.Reason(),
	"broker: principal.builder.class=x":                          "42 Cannot update these configs at default cluster level, broker id must be specified: [principal.builder.class]",
	// Apache fails inside.
	"broker:1 log.cleaner.threads=0":                wrapped("Log cleaner threads cannot be reduced to 0 on a running node"),
	"broker:1 max.connections.per.ip.overrides=x":   `42 Error parsing configuration property 'max.connections.per.ip.overrides': "x" is not of the form HOST:LIMIT`,
	"broker:1 max.connections.per.ip.overrides=a:b": `42 Error parsing configuration property 'max.connections.per.ip.overrides': "b" is not a number`,
	// Listeners are bound once.
	"broker:1 listener.security.protocol.map=PLAINTEXT:SSL":                            onlyAtStartText("listener.security.protocol.map"),
	"broker:1 listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT": onlyAtStartText("listener.security.protocol.map"),
	"broker:1 barnabas.admin.listener=x":                                               "42 Cannot update these configs dynamically: [barnabas.admin.listener]",
	// Names that are listed come in order.
	"broker:1 delete.topic.enable=false|num.partitions=3":   "42 Cannot update these configs dynamically: [delete.topic.enable, num.partitions]",
	"broker: ssl.keystore.location=x|ssl.keystore.type=JKS": "42 These security configs can be dynamically updated only per-listener using the listener prefix: [ssl.keystore.location, ssl.keystore.type]",
}

func wrapped(text string) string {
	return "42 Invalid value org.apache.kafka.common.config.ConfigException: " + text + " for configuration Invalid dynamic configuration"
}

func onlyAtStartText(key string) string {
	return "42 Not supported by this release, listeners are bound when the node starts: [" + key + "]"
}

func TestChangesOfARunningNodeAreCheckedAsApacheChecksThem(t *testing.T) {
	b, err := build(combined())
	if err != nil {
		t.Fatal(err)
	}
	rules := readRules(t, "dynamic_rules.txt")
	for _, r := range rules {
		resource, settings, _ := strings.Cut(r.settings, " ")
		wanted := map[string]string{}
		for part := range strings.SplitSeq(strings.ReplaceAll(settings, "%20", " "), "|") {
			key, value, _ := strings.Cut(part, "=")
			wanted[key] = value
		}
		code, err := kafka.ErrInvalidRequest, error(nil)
		switch resource {
		case "broker:":
			err = b.ValidateDynamic(AllBrokers, wanted)
		case "broker:1":
			err = b.ValidateDynamic(ThisBroker, wanted)
		case "group:g":
			code, err = kafka.ErrInvalidConfig, b.ValidateGroup(wanted)
		case "cm:m":
			code, err = ValidateClientMetrics(wanted)
		}
		got, want := "ok", r.want
		if err != nil {
			got = fmt.Sprintf("%d %s", code, err)
		}
		if other, differs := oursDynamic[r.settings]; differs {
			want = other
		}
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", r.settings, got, want)
		}
	}
	if len(rules) < 150 {
		t.Errorf("only %d rules", len(rules))
	}
}

func TestThreadsChangeByHalfOrDouble(t *testing.T) {
	b, err := build(combined())
	if err != nil {
		t.Fatal(err)
	}
	b, _ = b.With(Dynamic{Broker: map[string]string{"num.io.threads": "16", "log.cleaner.threads": "4"}})
	for value, want := range map[string]string{
		"32": "", "8": "", "33": "Dynamic thread count update validation failed for num.io.threads=33, value should not be greater than double the current value 16",
		"7": "Dynamic thread count update validation failed for num.io.threads=7, value should be at least half the current value 16",
	} {
		if want != "" {
			want = wrapped(want)[3:]
		}
		if got := fmt.Sprint(b.ValidateDynamic(ThisBroker, map[string]string{"num.io.threads": value, "log.cleaner.threads": "4"})); got != want && !(want == "" && got == "<nil>") {
			t.Errorf("%s: %s, want %s", value, got, want)
		}
	}
	if got := fmt.Sprint(b.ValidateDynamic(ThisBroker, map[string]string{"num.io.threads": "16"})); got != wrapped("Log cleaner threads cannot be reduced to less than half the current value 4")[3:] {
		t.Error(got)
	}
}

// TestRunningNodeShowsWhatItIsGiven: also what nobody knows, as a secret, and what
// belongs to a listener; what cannot be used is not shown.
func TestRunningNodeShowsWhatItIsGiven(t *testing.T) {
	b, err := build(combined())
	if err != nil {
		t.Fatal(err)
	}
	b, problems := b.With(Dynamic{
		Broker: map[string]string{"nosuch": "1", "super.users": "User:a", "node.id": "9", "message.max.bytes": "x", "listener.name.plaintext.max.connections": "500",
			"listener.name.plaintext.ssl.keystore.password": "secret"},
		Default: map[string]string{"other": "2", "listener.name.plaintext.max.connections": "600", "log.cleanup.policy": "compact"},
	})
	if len(problems) != 1 {
		t.Errorf("problems %v", problems)
	}
	if got := b.Network.Listeners[0].MaxConnections; got != 500 {
		t.Errorf("the listener takes %d connections", got)
	}
	var got []string
	for _, e := range append(b.DescribeBroker(), b.DescribeClusterDefault()...) {
		switch e.Name {
		case "nosuch", "other", "super.users", "node.id", "message.max.bytes", "listener.name.plaintext.max.connections", "listener.name.plaintext.ssl.keystore.password", "log.cleanup.policy":
			got = append(got, entryLine(e))
		}
	}
	compareText(t, "the node", got, []string{
		"listener.name.plaintext.max.connections\t500\t2\t3\ttrue\tfalse\tlistener.name.plaintext.max.connections=500@2;listener.name.plaintext.max.connections=600@3;max.connections=2147483647@5",
		"listener.name.plaintext.ssl.keystore.password\tnull\t2\t9\ttrue\ttrue\tlistener.name.plaintext.ssl.keystore.password=null@2",
		"log.cleanup.policy\tcompact\t3\t7\tfalse\tfalse\tlog.cleanup.policy=compact@3;log.cleanup.policy=delete@5",
		"message.max.bytes\t1048588\t5\t3\tfalse\tfalse\tmessage.max.bytes=1048588@5",
		"node.id\t1\t4\t3\ttrue\tfalse\tnode.id=1@4",
		"nosuch\tnull\t2\t0\ttrue\ttrue\tnosuch=null@2",
		"other\tnull\t3\t0\ttrue\ttrue\tother=null@3",
		"super.users\tnull\t2\t0\ttrue\ttrue\tsuper.users=null@2",
		"listener.name.plaintext.max.connections\t600\t3\t3\ttrue\tfalse\tlistener.name.plaintext.max.connections=600@3",
		"log.cleanup.policy\tcompact\t3\t7\tfalse\tfalse\tlog.cleanup.policy=compact@3",
		"other\tnull\t3\t0\ttrue\ttrue\tother=null@3",
	})
}
