package oracle

import (
	"context"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// groupsScene plays what the tools for groups say.
var groupsScene = scene{
	name: "groups", properties: []string{"group.initial.rebalance.delay.ms=0"}, files: []string{"groups.txt", "consumer-groups.txt"},
	prepare: map[string]func(*testing.T, stage){
		"groups.txt 1":           groupsOfTheSamples,
		"consumer-groups.txt 60": writes("off.csv", "gt,0,3\ngt,1,1\n"),
	},
}

// groupsOfTheSamples makes the classic groups that the samples find: gempty, which has
// offsets and no member, and gclassic, whose one member lives until the test ends.
func groupsOfTheSamples(t *testing.T, st stage) {
	t.Helper()
	recordsOfTheSamples(t, st)
	cl, err := kgo.NewClient(kgo.SeedBrokers(st.node.Address()), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	admin := kadm.NewClient(cl)
	if _, err := admin.CreateTopic(t.Context(), 3, 1, nil, "gt"); err != nil {
		t.Fatal(err)
	}
	var records []*kgo.Record
	for partition, count := range []int{16, 23, 21} {
		for range count {
			records = append(records, &kgo.Record{Topic: "gt", Partition: int32(partition), Value: []byte("v")})
		}
	}
	if err := cl.ProduceSync(t.Context(), records...).FirstErr(); err != nil {
		t.Fatal(err)
	}
	var deleted, offsets kadm.Offsets
	deleted.AddOffset("t1", 0, 1, -1)
	deleted.AddOffset("t1", 1, 9, -1)
	if answers, err := admin.DeleteRecords(t.Context(), deleted); err != nil || answers.Error() != nil {
		t.Fatal(err, answers)
	}
	for _, o := range []kadm.Offset{
		{Topic: "gt", Partition: 0, At: 0, LeaderEpoch: -1}, {Topic: "gt", Partition: 1, At: 0, LeaderEpoch: -1}, {Topic: "gt", Partition: 2, At: 5, LeaderEpoch: -1},
		{Topic: "t1", Partition: 0, At: 0, LeaderEpoch: -1}, {Topic: "t1", Partition: 1, At: 1, LeaderEpoch: -1}, {Topic: "t1", Partition: 2, At: 0, LeaderEpoch: -1},
		{Topic: "t1", Partition: 3, At: 1, LeaderEpoch: 0},
	} {
		offsets.Add(o)
	}
	if answers, err := admin.CommitOffsets(t.Context(), "gempty", offsets); err != nil || answers.Error() != nil {
		t.Fatal(err, answers)
	}
	memberOfTheSamples(t, st, len(records))
}

// memberOfTheSamples is the static member of gclassic: it reads and commits all.
func memberOfTheSamples(t *testing.T, st stage, records int) {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(st.node.Address()), kgo.ClientID("console-consumer"), kgo.ConsumerGroup("gclassic"), kgo.InstanceID("inst1"),
		kgo.Balancers(kgo.RangeBalancer()), kgo.ConsumeTopics("gt"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.DisableAutoCommit())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for read := 0; read < records; {
		fetches := cl.PollFetches(ctx)
		if err := ctx.Err(); err != nil {
			t.Fatalf("%d of %d records were read: %v", read, records, err)
		}
		read += fetches.NumRecords()
	}
	if err := cl.CommitUncommittedOffsets(ctx); err != nil {
		t.Fatal(err)
	}
}
