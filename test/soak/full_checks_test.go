package soak

import (
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// alive fails the test if the server has ended, or something that must not happen
// has.
func (f *fullTest) alive() {
	f.t.Helper()
	select {
	case <-f.node.Ended():
		f.t.Fatal("the server has ended")
	default:
	}
	if err := f.book.err(); err != nil {
		f.t.Fatal(err)
	}
}

// fill takes all space, until a producer is told so.
func (f *fullTest) fill() {
	f.t.Helper()
	waitUntil(f.t, "a producer is told that the disk is full", func() bool {
		f.alive()
		f.disk.fill(f.t)
		err := f.probe()
		if err != nil && !errors.Is(err, kerr.KafkaStorageError) {
			f.t.Fatalf("a producer is told %v", err)
		}
		return err != nil
	})
}

// progress waits until every worker has got through with something.
func (f *fullTest) progress(when string) {
	f.t.Helper()
	before := f.load.now()
	var stuck []string
	deadline := time.Now().Add(time.Minute)
	for {
		f.alive()
		f.book.allow(fullRound / 4)
		if stuck = f.load.stuck(before); len(stuck) == 0 {
			return
		}
		if time.Now().After(deadline) {
			f.t.Fatalf("%s: nothing comes of %v in a minute", when, stuck)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// answers is what must work while the disk is full: reads of all kinds, and what
// makes room. victim is a topic that is there to be deleted.
func (f *fullTest) answers(victim string) {
	f.t.Helper()
	ctx, cancel := f.context()
	defer cancel()
	admin := f.admin()
	defer admin.Close()
	must := func(what string, err error) {
		f.t.Helper()
		if err != nil {
			f.t.Fatalf("the disk is full: %s: %v", what, err)
		}
	}
	f.alive()
	_, err := admin.ListTopics(ctx)
	must("metadata", err)
	_, err = admin.DescribeTopicConfigs(ctx, soakTopics...)
	must("configurations", err)
	_, err = admin.ListGroups(ctx)
	must("list of groups", err)
	f.online()
	_, err = readAll(ctx, f.node.Address())
	must("read all", err)
	f.trim(admin)
	changed, err := admin.AlterTopicConfigs(ctx, []kadm.AlterConfig{{Name: "retention.bytes", Value: ptr("2000000")}}, trimTopic)
	must("lower the retention", err)
	for _, c := range changed {
		must("lower the retention", c.Err)
	}
	gone, err := admin.DeleteTopics(ctx, victim)
	must("delete a topic", err)
	must("delete a topic", gone.Error())
}

// make makes topics.
func (f *fullTest) make(topics ...string) {
	f.t.Helper()
	admin := f.admin()
	defer admin.Close()
	waitUntil(f.t, "topics are made", func() bool {
		ctx, cancel := f.context()
		defer cancel()
		resp, err := admin.CreateTopics(ctx, 1, 1, nil, topics...)
		if err != nil {
			return false
		}
		for _, r := range resp {
			if r.Err != nil && !errors.Is(r.Err, kerr.TopicAlreadyExists) {
				return false
			}
		}
		return true
	})
}

// trim deletes a record, and checks that it counts.
func (f *fullTest) trim(admin *kadm.Client) {
	f.t.Helper()
	ctx, cancel := f.context()
	defer cancel()
	ends, err := admin.ListEndOffsets(ctx, probeTopic)
	if err != nil {
		f.t.Fatal(err)
	}
	var offsets kadm.Offsets
	end, _ := ends.Lookup(probeTopic, 0)
	offsets.Add(kadm.Offset{Topic: probeTopic, At: end.Offset})
	resp, err := admin.DeleteRecords(ctx, offsets)
	if err == nil {
		err = resp.Error()
	}
	if err != nil {
		f.t.Fatalf("records cannot be deleted: %v", err)
	}
	if r, _ := resp.Lookup(probeTopic, 0); r.LowWatermark != end.Offset {
		f.t.Fatalf("records below %d were to be deleted, and the log begins at %d", end.Offset, r.LowWatermark)
	}
}

// online checks that no log directory is offline.
func (f *fullTest) online() {
	f.t.Helper()
	if n := metric(f.t, metricsPage(f.t, f.node), "kafka_log_logmanager_offlinelogdirectorycount"); n != 0 {
		f.t.Fatalf("%v log directories are offline", n)
	}
}

// worksAgain is what must work once there is space.
func (f *fullTest) worksAgain(round int) {
	f.t.Helper()
	f.alive()
	f.online()
	waitUntil(f.t, "a producer is served", func() bool { return f.probe() == nil })
	topic := fmt.Sprint("soak-made-", round)
	f.make(topic)
	ctx, cancel := f.context()
	defer cancel()
	cl := f.client()
	defer cl.Close()
	if err := cl.ProduceSync(ctx, &kgo.Record{Topic: topic, Value: []byte("first")}).FirstErr(); err != nil {
		f.t.Fatalf("the new topic: %v", err)
	}
}

// whole reads everything and holds it against what was promised.
func (f *fullTest) whole(when string) map[place][8]byte {
	f.t.Helper()
	ctx, cancel := f.context()
	defer cancel()
	records, err := readRecords(ctx, f.node.Address())
	if err != nil {
		f.t.Fatalf("%s: %v", when, err)
	}
	at, found := map[string]place{}, map[place][8]byte{}
	for p, value := range records {
		name := recordName(value)
		if other, twice := at[name]; twice {
			f.t.Errorf("%s: record %s is there twice, at %v and %v", when, name, other, p)
		}
		at[name], found[p] = p, hash(value)
	}
	for name, p := range maps.Clone(f.book.acked) {
		if at[name] != p {
			f.t.Errorf("%s: record %s was acknowledged at %v and is at %v", when, name, p, at[name])
		}
	}
	if err := f.commits.check(f.node.Address()); err != nil {
		f.t.Errorf("%s: %v", when, err)
	}
	if f.t.Failed() {
		f.t.FailNow()
	}
	return found
}
