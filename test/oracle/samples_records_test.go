package oracle

import (
	"errors"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// recordsOfTheSamples makes topic t1 anew with the records of Apache's run in the
// partitions to which chance had sent them there: a producer picks partitions for
// records without keys at random.
func recordsOfTheSamples(t *testing.T, st stage) {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(st.node.Address()), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	admin := kadm.NewClient(cl)
	if _, err := admin.DeleteTopics(t.Context(), "t1"); err != nil {
		t.Fatal(err)
	}
	if _, err := admin.CreateTopic(t.Context(), 4, 1, nil, "t1"); err != nil {
		t.Fatal(err)
	}
	text := func(s string) []byte { return []byte(s) }
	records := []*kgo.Record{
		{Partition: 0, Key: text("k"), Value: text("v"), Headers: []kgo.RecordHeader{{Key: "h1", Value: text("a")}, {Key: "h2", Value: text("b")}}},
		{Partition: 1, Value: text("one")}, {Partition: 1, Value: text("two")}, {Partition: 1, Value: text("")}, {Partition: 1, Value: text("three")},
		{Partition: 1, Key: text("k1"), Value: text("v1")},
		{Partition: 1, Key: text("k1"), Value: text("v1")}, {Partition: 1, Value: text("nokey")}, {Partition: 1, Key: text("k2"), Value: text("v2")},
		{Partition: 1, Value: text("x")},
		{Partition: 3},
	}
	begin := time.Now().Add(-time.Minute)
	for i, r := range records {
		r.Topic, r.Timestamp = "t1", begin.Add(time.Duration(i)*time.Millisecond)
		if err := cl.ProduceSync(t.Context(), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
}

// levelsOfTheSamples raises the features that a fresh format of ours leaves at 0
// to the levels of Apache's.
func levelsOfTheSamples(t *testing.T, st stage) {
	t.Helper()
	out := st.run(t, sample{args: []string{"kafka-features.sh", "--bootstrap-server", st.node.Address(), "upgrade", "--release-version", "4.4"}})
	if out.Exit != 0 {
		t.Fatalf("exit %d\n%s%s", out.Exit, out.Stdout, out.Stderr)
	}
}

// deletionsOfTheSamples makes the topics that the samples of delete-records and
// log-dirs find, and the first file of offsets.
func deletionsOfTheSamples(t *testing.T, st stage) {
	t.Helper()
	recordsOfTheSamples(t, st)
	cl, err := kgo.NewClient(kgo.SeedBrokers(st.node.Address()))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	for topic, partitions := range map[string]int32{"nosuch": 1, "ra": 2} {
		_, err := kadm.NewClient(cl).CreateTopic(t.Context(), partitions, 1, nil, topic)
		if err != nil && !errors.Is(err, kerr.TopicAlreadyExists) {
			t.Fatal(err)
		}
	}
	writes("dr.json", `{"partitions":[{"topic":"t1","partition":0,"offset":1},{"topic":"t1","partition":1,"offset":-1}],"version":1}`)(t, st)
}
