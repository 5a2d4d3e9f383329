package config

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// rule is one case of testdata/*_rules.txt.
type rule struct {
	settings string
	want     string // "ok" or Apache's error
}

func readRules(t *testing.T, name string) []rule {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []rule
	for s := bufio.NewScanner(f); s.Scan(); {
		line := s.Text()
		switch {
		case strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "  ") && len(out) > 0 && out[len(out)-1].want == "":
			out[len(out)-1].want = strings.TrimPrefix(line, "  ")
		default:
			out = append(out, rule{settings: line})
		}
	}
	return out
}

// combined are the settings of a small node, which the cases change.
func combined() settings {
	set := settings{}
	for key, value := range map[string]string{
		"process.roles": "broker,controller", "node.id": "1",
		"listeners": "PLAINTEXT://:9092,CONTROLLER://:9093", "controller.listener.names": "CONTROLLER",
		"controller.quorum.bootstrap.servers": "localhost:9093",
		"listener.security.protocol.map":      "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL",
	} {
		set[key] = setting{value: value}
	}
	return set
}

// ours are cases in which we say something else than Apache, and why.
var ours = map[string]string{
	// Apache takes any number and fails when it binds.
	"listeners=PLAINTEXT://:99999,CONTROLLER://:9093": "Error creating broker listeners from '[PLAINTEXT://:99999, CONTROLLER://:9093]': the port of PLAINTEXT://:99999 is not between 0 and 65535",
	"listeners=PLAINTEXT://:-1,CONTROLLER://:9093":    "Error creating broker listeners from '[PLAINTEXT://:-1, CONTROLLER://:9093]': the port of PLAINTEXT://:-1 is not between 0 and 65535",
	"advertised.listeners=PLAINTEXT://h:-1":           "Error creating broker listeners from '[PLAINTEXT://h:-1]': the port of PLAINTEXT://h:-1 is not between 0 and 65535",
	// A wildcard that is not advertised by name is told as the address of the connection.
	"listeners=PLAINTEXT://0.0.0.0:9092,CONTROLLER://0.0.0.0:9093": "ok",
	// Names of listeners are compared without case, here too.
	"controller.listener.names=controller": "ok",
	// Java's words for its own exceptions.
	"listener.security.protocol.map=PLAINTEXT":     `Error parsing configuration property 'listener.security.protocol.map': "PLAINTEXT" is not of the form LISTENER:PROTOCOL`,
	"max.connections.per.ip.overrides=foo":         `Error parsing configuration property 'max.connections.per.ip.overrides': "foo" is not of the form HOST:LIMIT`,
	"max.connections.per.ip.overrides=127.0.0.1:x": `Error parsing configuration property 'max.connections.per.ip.overrides': "x" is not a number`,
	"listener.name.plaintext.max.connections=x":    "Invalid value x for configuration max.connections: Not a number of type INT",
	"listener.name.plaintext.max.connections=-1":   "Invalid value -1 for configuration max.connections: Value must be at least 0",
	"node.id=": "Invalid value  for configuration node.id: Not a number of type INT",
	// Classes are names here; those that matter are refused, see refused.
	"alter.config.policy.class.name=no.such.Class": "ok",
	"principal.builder.class=foo":                  "ok",
	"principal.builder.class=java.lang.String":     "ok",
	"group.consumer.assignors=foo":                 "ok",
	// Apache passes over the key in a file, and refuses the value later.
	"leader.replication.throttled.rate=-1": "Invalid value -1 for configuration leader.replication.throttled.rate: Value must be at least 0",
	// Rules of parts that are not served come with those parts.
	"group.coordinator.rebalance.protocols=consumer":                                            "ok",
	"early.start.listeners=FOO":                                                                 "ok",
	"group.consumer.heartbeat.interval.ms=100000":                                               "ok",
	"group.consumer.session.timeout.ms=1000":                                                    "ok",
	"group.consumer.max.heartbeat.interval.ms=1":                                                "ok",
	"group.consumer.heartbeat.interval.ms=50000|group.consumer.max.heartbeat.interval.ms=60000": "ok",
	"replica.fetch.wait.max.ms=100000":                                                          "replica.fetch.wait.max.ms should always be less than or equal to replica.lag.time.max.ms to prevent frequent changes in ISR",
}

func TestNodesAreCheckedAsApacheChecksThem(t *testing.T) {
	rules := readRules(t, "broker_rules.txt")
	for _, r := range rules {
		set := combined()
		for _, part := range strings.Split(r.settings, "|") {
			if key, gone := strings.CutPrefix(part, "-"); gone {
				delete(set, key)
			} else if key, value, ok := strings.Cut(part, "="); ok {
				set[key] = setting{value: value}
			}
		}
		want := r.want
		if other, differs := ours[r.settings]; differs {
			want = other
		}
		got := "ok"
		if _, err := build(set); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", r.settings, got, want)
		}
	}
	if len(rules) < 150 {
		t.Errorf("only %d rules", len(rules))
	}
}

func TestTopicsAreCheckedAsApacheChecksThem(t *testing.T) {
	b, err := build(combined())
	if err != nil {
		t.Fatal(err)
	}
	rules := readRules(t, "topic_rules.txt")
	for _, r := range rules {
		wanted, existing := map[string]*string{}, map[string]string{}
		for _, part := range strings.Split(r.settings, "|") {
			key, value, ok := strings.Cut(part, "=")
			if old, before := strings.CutPrefix(key, "@"); before {
				existing[old] = value
			} else if ok {
				wanted[key] = &value
			}
		}
		got := "ok"
		if err := b.ValidateTopic(wanted, existing); err != nil {
			got = err.Error()
		}
		if got != r.want {
			t.Errorf("%s\n got %s\nwant %s", r.settings, got, r.want)
		}
	}
	if len(rules) < 60 {
		t.Errorf("only %d rules", len(rules))
	}
}
