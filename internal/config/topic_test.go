package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// answered are the settings of the node and the topic that
// testdata/create_topic.txt and describe_topic.txt were taken from.
func answered(t *testing.T) (*Broker, map[string]string) {
	t.Helper()
	set := combined()
	for key, value := range map[string]string{
		"log.retention.hours": "100", "log.roll.hours": "24", "log.flush.scheduler.interval.ms": "5000", "log.roll.jitter.hours": "1",
		"log.segment.bytes": "2000000", "log.cleaner.min.cleanable.ratio": "1", "log.cleanup.policy": "compact,delete",
	} {
		set[key] = setting{value: value}
	}
	b, err := build(set)
	if err != nil {
		t.Fatal(err)
	}
	b, problems := b.With(Dynamic{Default: map[string]string{"min.insync.replicas": "1"}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return b, map[string]string{"retention.ms": " 5000 ", "min.cleanable.dirty.ratio": "1", "flush.messages": "+7", "internal.segment.bytes": "1000"}
}

func compareLines(t *testing.T, file string, got []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	compareText(t, file, got, strings.Split(strings.TrimSpace(string(text)), "\n")[1:])
}

func compareText(t *testing.T, what string, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		var g, w string
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			t.Errorf("%s, entry %d\n got %q\nwant %q", what, i+1, g, w)
		}
	}
}

func TestCreateTopicsAnswersTheConfigsThatApacheAnswers(t *testing.T) {
	b, overrides := answered(t)
	var got []string
	for _, e := range b.TopicSources(overrides) {
		got = append(got, fmt.Sprintf("%s\t%s\t%d", e.Name, *e.Value, e.Source))
	}
	compareLines(t, "create_topic.txt", got)
}

func TestDescribeConfigsAnswersTheTopicThatApacheAnswers(t *testing.T) {
	b, overrides := answered(t)
	var got []string
	for _, e := range b.DescribeTopic(overrides) {
		var synonyms []string
		for _, s := range e.Synonyms {
			synonyms = append(synonyms, fmt.Sprintf("%s=%s@%d", s.Name, s.Value, s.Source))
		}
		got = append(got, fmt.Sprintf("%s\t%s\t%d\t%d\t%s", e.Name, *e.Value, e.Source, e.Type, strings.Join(synonyms, ";")))
	}
	compareLines(t, "describe_topic.txt", got)
}

// TestDescribeConfigsAnswersTheBrokerThatApacheAnswers takes the settings from the
// answer: a source tells which layer each is from.
func TestDescribeConfigsAnswersTheBrokerThatApacheAnswers(t *testing.T) {
	text, err := os.ReadFile("testdata/describe_broker.txt")
	if err != nil {
		t.Fatal(err)
	}
	node, cluster, _ := strings.Cut(string(text), "\n\n")
	set, dynamic := settings{}, Dynamic{Default: map[string]string{}}
	lines := strings.Split(strings.TrimSpace(node), "\n")[1:]
	for _, line := range lines {
		cells := strings.Split(line, "\t")
		for _, synonym := range strings.Split(cells[6], ";") {
			name, rest, _ := strings.Cut(synonym, "=")
			at := strings.LastIndexByte(rest, '@')
			if name != cells[0] {
				continue
			}
			switch rest[at+1:] {
			case "4":
				set[name] = setting{value: rest[:at]}
			case "3":
				dynamic.Default[name] = rest[:at]
			}
		}
	}
	delete(set, "broker.id") // it follows node.id
	b, err := build(set)
	if err != nil {
		t.Fatal(err)
	}
	b, problems := b.With(dynamic)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	// While log.retention.ms is set on the running node, Apache shows other values
	// for these two than it lists as their sources.
	ours := strings.NewReplacer("log.retention.hours\t168\t", "log.retention.hours\t100\t", "log.retention.minutes\tnull\t", "log.retention.minutes\t77\t")
	for i := range lines {
		lines[i] = ours.Replace(lines[i])
	}
	var got []string
	for _, e := range b.DescribeBroker() {
		if !strings.HasPrefix(e.Name, "barnabas.") {
			got = append(got, entryLine(e))
		}
	}
	compareText(t, "the broker", got, lines)
	got = nil
	for _, e := range b.DescribeClusterDefault() {
		got = append(got, entryLine(e))
	}
	compareText(t, "the cluster default", got, strings.Split(strings.TrimSpace(cluster), "\n"))
}

func entryLine(e Entry) string {
	value := "null"
	if e.Value != nil {
		value = *e.Value
	}
	var synonyms []string
	for _, s := range e.Synonyms {
		if e.Sensitive {
			if s.Value != "" {
				return e.Name + " shows a secret"
			}
			s.Value = "null"
		}
		synonyms = append(synonyms, fmt.Sprintf("%s=%s@%d", s.Name, s.Value, s.Source))
	}
	return fmt.Sprintf("%s\t%s\t%d\t%d\t%t\t%t\t%s", e.Name, value, e.Source, e.Type, e.ReadOnly, e.Sensitive, strings.Join(synonyms, ";"))
}

func TestTopicTakesTheStrongestValue(t *testing.T) {
	b, overrides := answered(t)
	topic, err := b.Topic(overrides)
	if err != nil {
		t.Fatal(err)
	}
	if topic.RetentionMs != 5000 || topic.FlushMessages != 7 || topic.SegmentBytes != 1000 || topic.SegmentMs != 86400000 || !topic.Delete || !topic.Compact || topic.LogAppendTime {
		t.Errorf("got %+v", topic)
	}
	b, problems := b.With(Dynamic{
		Broker:  map[string]string{"log.retention.ms": "7", "log.segment.bytes": "1", "node.id": "9", "no.such.key": "1"},
		Default: map[string]string{"log.retention.ms": "8", "log.message.timestamp.type": "LogAppendTime"},
	})
	if len(problems) != 1 || problems[0].Error() != "dynamic configuration of broker: Invalid value 1 for configuration log.segment.bytes: Value must be at least 1048576" {
		t.Errorf("problems %v", problems)
	}
	topic, err = b.Topic(nil)
	if err != nil {
		t.Fatal(err)
	}
	if topic.RetentionMs != 7 || topic.SegmentBytes != 2000000 || !topic.LogAppendTime || b.Node.ID != 1 {
		t.Errorf("got %+v, node %d", topic, b.Node.ID)
	}
}

func TestTopicPassesOverWhatBreaksARule(t *testing.T) {
	b, _ := answered(t)
	topic, err := b.Topic(map[string]string{"segment.bytes": "5", "retention.ms": "9"})
	if err == nil || err.Error() != "Invalid value 5 for configuration segment.bytes: Value must be at least 1048576" {
		t.Errorf("error %v", err)
	}
	if topic.SegmentBytes != 2000000 || topic.RetentionMs != 9 {
		t.Errorf("got %+v", topic)
	}
}

func TestNegativeRetentionIsNoLimit(t *testing.T) {
	for _, key := range []string{"log.retention.ms", "log.retention.minutes", "log.retention.hours"} {
		set := combined()
		set[key] = setting{value: "-5"}
		b, err := build(set)
		if err != nil {
			t.Fatal(err)
		}
		if topic, err := b.Topic(nil); err != nil || topic.RetentionMs != -1 {
			t.Errorf("%s: %d, %v", key, topic.RetentionMs, err)
		}
	}
}
