package client_test

import (
	"errors"
	"slices"
	"testing"

	"barnabas/client"
	"barnabas/kafkatest"
)

func TestTopicsAreManaged(t *testing.T) {
	node := kafkatest.Start(t)
	admin, ctx := newAdmin(t, node), testContext(t)
	if err := admin.CreateTopics(ctx, client.NewTopic{Name: "a", Partitions: 2, Configs: map[string]string{"retention.ms": "5000"}}, client.NewTopic{Name: "b"}); err != nil {
		t.Fatal(err)
	}
	err := admin.CreateTopics(ctx, client.NewTopic{Name: "a"}, client.NewTopic{Name: "c c"}, client.NewTopic{Name: "d"})
	errorIs(t, err, func(err error) bool {
		return errors.Is(err, client.ErrTopicExists) && errors.Is(err, client.ErrInvalidTopic)
	}, "both errors")
	if resource, ok := errors.AsType[*client.ResourceError](err); !ok || resource.Resource != "topic a" {
		t.Errorf("%+v", resource)
	}
	names, err := admin.ListTopics(ctx)
	if err != nil || !slices.Equal(names, []string{"a", "b", "d"}) {
		t.Errorf("%v, %v", names, err)
	}
	if err := admin.CreatePartitions(ctx, "a", 5); err != nil {
		t.Fatal(err)
	}
	topics, err := admin.DescribeTopics(ctx, "a", "z")
	errorIs(t, err, func(err error) bool { return errors.Is(err, client.ErrUnknownTopic) }, "unknown topic")
	if a := topics["a"]; len(a.Partitions) != 5 || a.ID == [16]byte{} || a.Partitions[4].Leader < 0 {
		t.Errorf("%+v", a)
	}
	if err := admin.DeleteTopics(ctx, "b", "d"); err != nil {
		t.Fatal(err)
	}
	errorIs(t, admin.DeleteTopics(ctx, "b"), func(err error) bool { return errors.Is(err, client.ErrUnknownTopic) }, "unknown topic")
}

func TestConfigsAreChanged(t *testing.T) {
	node := kafkatest.Start(t, kafkatest.Topic("a", 1, "retention.ms=5000", "cleanup.policy=compact"))
	admin, ctx := newAdmin(t, node), testContext(t)
	of := client.TopicConfigs("a")
	if err := admin.AlterConfigs(ctx, of, client.Set("segment.ms", "7000"), client.Unset("retention.ms"), client.Append("cleanup.policy", "delete")); err != nil {
		t.Fatal(err)
	}
	entries, err := admin.DescribeConfigs(ctx, of)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]client.ConfigEntry{}
	for _, e := range entries {
		got[e.Name] = e
	}
	if got["segment.ms"].Value != "7000" || got["segment.ms"].Default || got["segment.ms"].Source != "DYNAMIC_TOPIC_CONFIG" || !got["retention.ms"].Default ||
		got["cleanup.policy"].Value != "compact,delete" {
		t.Errorf("%+v", got)
	}
	err = admin.AlterConfigs(ctx, of, client.Set("segment.ms", "x"))
	errorIs(t, err, func(err error) bool { _, name := client.Code(err); return name == "INVALID_CONFIG" }, "an invalid config")
}

func TestGroupsAndTheirOffsets(t *testing.T) {
	node := kafkatest.Start(t, kafkatest.Topic("a", 1))
	write(t, node, "a", "0", "1", "2")
	admin, ctx := newAdmin(t, node), testContext(t)
	consumer := newConsumer(t, with(node, "group.id", "g", "auto.offset.reset", "earliest", "client.id", "me"))
	if err := consumer.Subscribe([]string{"a"}, client.RebalanceListener{}); err != nil {
		t.Fatal(err)
	}
	same(t, poll(t, consumer, 3), "0", "1", "2")
	if err := consumer.CommitSync(ctx, nil); err != nil {
		t.Fatal(err)
	}
	groups, err := admin.DescribeConsumerGroups(ctx, "g")
	if err != nil {
		t.Fatal(err)
	}
	if g := groups["g"]; g.Type != "Classic" || g.State != "Stable" || len(g.Members) != 1 || g.Members[0].ClientID != "me" || !slices.Equal(g.Members[0].Assignment, []client.TopicPartition{a0}) {
		t.Errorf("%+v", g)
	}
	listed, err := admin.ListGroups(ctx)
	if err != nil || len(listed) != 1 || listed[0].GroupID != "g" || listed[0].State != "Stable" {
		t.Errorf("%+v, %v", listed, err)
	}
	errorIs(t, admin.DeleteConsumerGroups(ctx, "g"), func(err error) bool { return errors.Is(err, client.ErrGroupNotEmpty) }, "not empty")
	errorIs(t, admin.AlterConsumerGroupOffsets(ctx, "g", client.Offsets{a0: client.At(0)}), func(err error) bool { return errors.Is(err, client.ErrUnknownMember) }, "unknown member")
	if err := consumer.Close(); err != nil {
		t.Fatal(err)
	}
	if err := admin.AlterConsumerGroupOffsets(ctx, "g", client.Offsets{a0: {Offset: 1, Metadata: "by hand"}}); err != nil {
		t.Fatal(err)
	}
	offsets, err := admin.ListConsumerGroupOffsets(ctx, "g")
	if err != nil || offsets[a0].Offset != 1 || offsets[a0].Metadata != "by hand" {
		t.Errorf("%+v, %v", offsets, err)
	}
	if err := admin.DeleteConsumerGroupOffsets(ctx, "g", a0); err != nil {
		t.Fatal(err)
	}
	if offsets, err = admin.ListConsumerGroupOffsets(ctx, "g"); err != nil || len(offsets) != 0 {
		t.Errorf("%+v, %v", offsets, err)
	}
	_, err = admin.DescribeConsumerGroups(ctx, "nobody")
	errorIs(t, err, func(err error) bool { return errors.Is(err, client.ErrUnknownGroup) }, "unknown group")
}

func TestRecordsAreDeleted(t *testing.T) {
	node := kafkatest.Start(t, kafkatest.Topic("a", 1))
	write(t, node, "a", "0", "1", "2")
	admin, ctx := newAdmin(t, node), testContext(t)
	first, err := admin.DeleteRecords(ctx, map[client.TopicPartition]int64{a0: 2})
	if err != nil || first[a0] != 2 {
		t.Errorf("%v, %v", first, err)
	}
	earliest, err := admin.ListOffsets(ctx, client.EarliestOffset, a0)
	latest, err2 := admin.ListOffsets(ctx, client.LatestOffset, a0)
	late, err3 := admin.ListOffsets(ctx, client.TimestampOffset(1<<50), a0)
	if err := errors.Join(err, err2, err3); err != nil || earliest[a0] != 2 || latest[a0] != 3 || len(late) != 0 {
		t.Errorf("%v %v %v, %v", earliest, latest, late, err)
	}
	_, err = admin.DeleteRecords(ctx, map[client.TopicPartition]int64{a0: 9})
	errorIs(t, err, func(err error) bool { return errors.Is(err, client.ErrOffsetOutOfRange) }, "out of range")
}

func TestTheClusterIsDescribed(t *testing.T) {
	node := kafkatest.Start(t, kafkatest.Topic("a", 1))
	write(t, node, "a", "0")
	admin, ctx := newAdmin(t, node), testContext(t)
	cluster, err := admin.DescribeCluster(ctx)
	if err != nil || len(cluster.Nodes) != 1 || cluster.ID == "" {
		t.Errorf("%+v, %v", cluster, err)
	}
	features, err := admin.DescribeFeatures(ctx)
	if err != nil || features["metadata.version"].Finalized == 0 {
		t.Errorf("%+v, %v", features, err)
	}
	errorIs(t, admin.UpdateFeatures(ctx, client.Upgrade, map[string]int16{"metadata.version": 3000}), func(error) bool { return true }, "an error")
	dirs, err := admin.DescribeLogDirs(ctx)
	if err != nil || len(dirs) != 1 || dirs[0].Replicas[a0].Size == 0 {
		t.Errorf("%+v, %v", dirs, err)
	}
	producers, err := admin.DescribeProducers(ctx, a0)
	if err != nil || len(producers) != 1 || producers[0].TransactionStart != -1 {
		t.Errorf("%+v, %v", producers, err)
	}
}
