package client

import (
	"slices"
	"strings"
	"testing"

	"barnabas/internal/kafka"
)

// The orders are those in which Apache Kafka 4.4.0's tools printed the same names.
func TestOrderOfJavaMaps(t *testing.T) {
	groups := strings.Fields("console-consumer-86478 console-consumer-10001 gempty gempty848 test-group-1795961378950 gver gconsumer " +
		"perf-consumer-32096 perf-consumer-75793 gclassic perf-consumer-54328 console-consumer-90244 console-consumer-11110")
	inserted := append(slices.Clone(groups[7:]), groups[:7]...)
	if got := asInHashMap(inserted, stringHash, smallestTable); !slices.Equal(got, groups) {
		t.Errorf("groups: %v", got)
	}
	partitions := []kafka.TopicPartition{{Topic: "gt", Partition: 0}, {Topic: "gt", Partition: 1}, {Topic: "gt", Partition: 2},
		{Topic: "t1", Partition: 0}, {Topic: "t1", Partition: 1}, {Topic: "t1", Partition: 2}, {Topic: "t1", Partition: 3}}
	want := []kafka.TopicPartition{{Topic: "t1", Partition: 3}, {Topic: "gt", Partition: 2}, {Topic: "t1", Partition: 2}, {Topic: "gt", Partition: 1},
		{Topic: "t1", Partition: 1}, {Topic: "gt", Partition: 0}, {Topic: "t1", Partition: 0}}
	if got := asInHashMap(partitions, partitionHash, smallestTable); !slices.Equal(got, want) {
		t.Errorf("partitions: %v", got)
	}
	if got := stringHash("a\U0001F600"); got != 97*31*31+0xd83d*31+0xde00 {
		t.Errorf("a hash over two UTF-16 units is %d", got)
	}
}
