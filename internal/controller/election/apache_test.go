package election

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"barnabas/internal/base/script"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/metarec"
)

// TestSameRecordsAsApacheKafka compares with what the class of Apache Kafka 4.4.0
// (PartitionChangeBuilder) made of random partitions and changes. A line is the
// input, a tab, the record's fields. Of 20,000 such lines all were equal but those
// of the two differences that elr.go names; 200 are kept.
func TestSameRecordsAsApacheKafka(t *testing.T) {
	f, err := os.Open("testdata/apache-4.4.0.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := 0
	for s := bufio.NewScanner(f); s.Scan(); lines++ {
		in, want, _ := strings.Cut(s.Text(), "\t")
		args := map[string]string{}
		for _, w := range strings.Fields(in) {
			key, value, _ := strings.Cut(w, "=")
			args[key] = value
		}
		if got := apacheLine(apacheChange(args).Record()); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", in, got, want)
		}
	}
	if lines < 200 {
		t.Fatalf("only %d lines", lines)
	}
}

func apacheChange(args map[string]string) Change {
	c := script.Command{Args: args}
	list := func(key string) []kafka.BrokerID { return ids(strings.TrimPrefix(args[key], "-")) }
	p := Partition{Replicas: list("replicas"), ISR: list("isr"), ELR: list("elr"), LastKnownELR: list("last"),
		Removing: list("removing"), Adding: list("adding"), Leader: kafka.BrokerID(c.Int("leader", 0))}
	for _, r := range p.Replicas {
		p.Directories = append(p.Directories, dir(byte(r)))
	}
	if args["recovering"] == "true" {
		p.Recovery = kafka.Recovering
	}
	rules := Rules{MetadataVersion: kafka.MetadataVersion(c.Int("mv", 0)), ELR: args["elrOn"] == "true", MinISR: int(c.Int("min", 0))}
	alive := list("alive")
	change := New(kafka.UUID{}, 0, p, rules, func(id kafka.BrokerID) bool { return slices.Contains(alive, id) })
	change.ISR = list("target")
	change.Kind = map[string]Kind{"online": Online, "preferred": Preferred, "unclean": Unclean}[args["kind"]]
	change.UncleanShutdown = kafka.BrokerID(c.Int("lost", 0))
	change.MovedBroker, change.MovedTo = kafka.BrokerID(c.Int("moved", 0)), dir(77)
	if args["recovered"] == "true" {
		change.Recovery = kafka.Recovered
	}
	return change
}

func apacheLine(r *metarec.PartitionChangeRecord) string {
	if r == nil {
		return "nothing"
	}
	list := func(v []kafka.BrokerID) string {
		switch {
		case v == nil:
			return "null"
		case len(v) == 0:
			return "-"
		}
		return strings.Trim(strings.ReplaceAll(fmt.Sprint(v), " ", ","), "[]")
	}
	directories := "null"
	if r.Directories != nil {
		directories = strings.Trim(strings.ReplaceAll(fmt.Sprint(dirNumbers(r.Directories)), " ", ","), "[]")
	}
	return fmt.Sprintf("isr=%s leader=%d replicas=%s removing=%s adding=%s elr=%s last=%s recovery=%d directories=%s",
		list(r.Isr), r.Leader, list(r.Replicas), list(r.RemovingReplicas), list(r.AddingReplicas),
		list(r.EligibleLeaderReplicas), list(r.LastKnownElr), r.LeaderRecoveryState, directories)
}
