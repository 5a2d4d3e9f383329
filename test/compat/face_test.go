package compat

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"strings"
	"testing"
	"time"

	kafkaclient "barnabas/client"
	"barnabas/test/kit"
)

// faceServers are the servers that a scenario of package client is played on: Apache
// Kafka, so that the client is known to be right, and this project's.
type faceServers int

const (
	onApache faceServers = 1 << iota
	onOurs
	onBoth = onApache | onOurs
)

var faceScenarios = []struct {
	name string
	on   faceServers
	play func(t *testing.T, f face)
}{
	{"a transaction is seen when it is committed", onBoth, committedIsSeen},
	{"a transaction of offsets alone", onBoth, offsetsAlone},
	{"a transaction of records and offsets", onBoth, recordsAndOffsets},
	{"an aborted transaction whose records all failed", onBoth, nothingArrived},
	{"the second producer fences the first", onBoth, secondFencesFirst},
	{"a transaction that took too long", onBoth, tookTooLong},
	{"a member that is gone can't move offsets", onBoth, goneMember},
	{"transactions are described and ended", onBoth, transactionsDescribed},
	{"read, process, write", onBoth, readProcessWrite},
	{"a member of the classic protocol", onBoth, func(t *testing.T, f face) { memberReads(t, f, "classic") }},
	{"a member of the consumer protocol", onBoth, func(t *testing.T, f face) { memberReads(t, f, "consumer") }},
	{"partitions move in the classic protocol", onBoth, func(t *testing.T, f face) { partitionsMove(t, f, "classic") }},
	{"partitions move in the consumer protocol", onBoth, func(t *testing.T, f face) { partitionsMove(t, f, "consumer") }},
	{"patterns in the classic protocol", onBoth, func(t *testing.T, f face) { patterns(t, f, "classic") }},
	{"patterns in the consumer protocol", onBoth, func(t *testing.T, f face) { patterns(t, f, "consumer") }},
	{"no poll in the classic protocol", onBoth, func(t *testing.T, f face) { noPoll(t, f, "classic") }},
	{"no poll in the consumer protocol", onBoth, func(t *testing.T, f face) { noPoll(t, f, "consumer") }},
}

// TestClientFace plays the scenarios of package client.
func TestClientFace(t *testing.T) {
	apache, err := kit.InstallApache()
	if err != nil {
		t.Fatal(err)
	}
	ours, err := kit.BuildBarnabas(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []struct {
		name   string
		which  faceServers
		server kit.Server
	}{{"apache", onBoth, apache}, {"barnabas", onOurs, ours}} {
		t.Run(s.name, func(t *testing.T) {
			node, err := kit.NewNode(s.server, filepath.Join(t.TempDir(), "node"), "group.initial.rebalance.delay.ms=0", "group.consumer.heartbeat.interval.ms=500",
				"group.consumer.min.heartbeat.interval.ms=100", "transaction.abort.timed.out.transaction.cleanup.interval.ms=500", "auto.create.topics.enable=false")
			if err != nil {
				t.Fatal(err)
			}
			node.EndWith(t)
			if err := node.Start(); err != nil {
				t.Fatal(err)
			}
			for i, scenario := range faceScenarios {
				if scenario.on&s.which == 0 {
					continue
				}
				t.Run(scenario.name, func(t *testing.T) {
					scenario.play(t, face{t, node.Address(), fmt.Sprintf("face%d", i)})
				})
			}
		})
	}
}

// face is what a scenario has: a server, and names of its own.
type face struct {
	t         *testing.T
	bootstrap string
	prefix    string
}

func (f face) context() context.Context {
	ctx, cancel := context.WithTimeout(f.t.Context(), 2*time.Minute)
	f.t.Cleanup(cancel)
	return ctx
}

func (f face) name(s string) string { return f.prefix + "-" + s }

func (f face) at(topic string, partition int32) kafkaclient.TopicPartition {
	return kafkaclient.TopicPartition{Topic: f.name(topic), Partition: partition}
}

func (f face) properties(pairs []string) kafkaclient.Properties {
	p := kafkaclient.Properties{"bootstrap.servers": f.bootstrap}
	for i := 0; i < len(pairs); i += 2 {
		p[pairs[i]] = pairs[i+1]
	}
	return p
}

func (f face) must(errs ...error) {
	f.t.Helper()
	if err := errors.Join(errs...); err != nil {
		f.t.Fatal(err)
	}
}

// refused fails unless err is one of the targets.
func (f face) refused(err, target error) {
	f.t.Helper()
	if !errors.Is(err, target) {
		f.t.Fatalf("want %v, got %v", target, err)
	}
}

func (f face) topic(name string, partitions int32) {
	f.t.Helper()
	f.must(f.admin().CreateTopics(f.context(), kafkaclient.NewTopic{Name: f.name(name), Partitions: partitions, ReplicationFactor: 1}))
}

func (f face) admin() *kafkaclient.Admin {
	f.t.Helper()
	admin, err := kafkaclient.NewAdmin(f.properties(nil))
	f.must(err)
	f.t.Cleanup(func() { admin.Close() })
	return admin
}

func (f face) producer(pairs ...string) *kafkaclient.Producer {
	f.t.Helper()
	producer, err := kafkaclient.NewProducer(f.properties(pairs))
	f.must(err)
	f.t.Cleanup(func() { producer.Close() })
	return producer
}

// transactional is a producer that is ready for transactions.
func (f face) transactional(id string, pairs ...string) *kafkaclient.Producer {
	f.t.Helper()
	producer := f.producer(append([]string{"transactional.id", f.name(id)}, pairs...)...)
	f.must(producer.InitTransactions(f.context()))
	return producer
}

func (f face) send(p *kafkaclient.Producer, topic, value string) {
	p.Send(f.context(), kafkaclient.ProducerRecord{Topic: f.name(topic), Value: []byte(value)}, nil)
}

func (f face) consumer(pairs ...string) *kafkaclient.Consumer {
	f.t.Helper()
	consumer, err := kafkaclient.NewConsumer(f.properties(append([]string{"auto.offset.reset", "earliest", "enable.auto.commit", "false"}, pairs...)))
	f.must(err)
	f.t.Cleanup(func() { consumer.Close() })
	return consumer
}

// poll polls until there are n values.
func (f face) poll(consumer *kafkaclient.Consumer, n int) (values []string) {
	f.t.Helper()
	for ctx := f.context(); len(values) < n; {
		records, err := consumer.Poll(ctx)
		if err != nil {
			f.t.Fatalf("%v, so far %q", err, values)
		}
		for r := range records.All() {
			values = append(values, string(r.Value))
		}
	}
	return values
}

// pollOnce polls for a moment, and gives what there was.
func (f face) pollOnce(consumer *kafkaclient.Consumer) (values []string) {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.context(), 100*time.Millisecond)
	defer cancel()
	records, err := consumer.Poll(ctx)
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		f.t.Fatal(err)
	}
	for r := range records.All() {
		values = append(values, string(r.Value))
	}
	return values
}

// isStable waits until what is committed of partition 0 of a topic, up to its end, are
// these values: the coordinator answers a commit before its markers are written.
func (f face) isStable(topic, want string) {
	f.t.Helper()
	got := f.stable(topic)
	for ctx := f.context(); got != want; got = f.stable(topic) {
		if ctx.Err() != nil {
			f.t.Fatalf("got %q, want %q", got, want)
		}
	}
}

func (f face) stable(topic string) string {
	f.t.Helper()
	consumer := f.consumer("isolation.level", "read_committed")
	tp := f.at(topic, 0)
	f.must(consumer.Assign(tp))
	end, err := consumer.EndOffsets(f.context(), tp)
	f.must(err)
	var values []string
	for {
		at, err := consumer.Position(f.context(), tp)
		f.must(err)
		if at >= end[tp] {
			return strings.Join(values, " ")
		}
		values = append(values, f.pollOnce(consumer)...)
	}
}

func (f face) committed(group string) kafkaclient.Offsets {
	f.t.Helper()
	offsets, err := f.admin().ListConsumerGroupOffsets(f.context(), f.name(group))
	f.must(err)
	return offsets
}

func (f face) equal(got, want any) {
	f.t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		f.t.Fatalf("got %v, want %v", got, want)
	}
}

// until plays turns until a condition holds.
func (f face) until(holds func() bool, turn func()) {
	f.t.Helper()
	for ctx := f.context(); !holds(); turn() {
		if ctx.Err() != nil {
			f.t.Fatal("it never came")
		}
	}
}

// heard is a listener that writes down what it hears.
type heard []string

func (h *heard) hear(what string) func(context.Context, []kafkaclient.TopicPartition) error {
	return func(_ context.Context, partitions []kafkaclient.TopicPartition) error {
		if len(partitions) > 0 {
			*h = append(*h, fmt.Sprint(what, len(partitions)))
		}
		return nil
	}
}

func (h *heard) listener() kafkaclient.RebalanceListener {
	return kafkaclient.RebalanceListener{Assigned: h.hear("assigned"), Revoked: h.hear("revoked"), Lost: h.hear("lost")}
}

func (h *heard) String() string { return strings.Join(*h, " ") }
