package client_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"barnabas/client"
	"barnabas/kafkatest"
)

func newConsumer(t testing.TB, p client.Properties) *client.Consumer {
	t.Helper()
	consumer, err := client.NewConsumer(p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { consumer.Close() })
	return consumer
}

// poll polls until there are n records, and returns their values.
func poll(t testing.TB, consumer *client.Consumer, n int) (values []string) {
	t.Helper()
	for len(values) < n {
		records, err := consumer.Poll(testContext(t))
		if err != nil {
			t.Fatalf("%v, so far %q", err, values)
		}
		for r := range records.All() {
			values = append(values, string(r.Value))
		}
	}
	return values
}

// pollNothing polls for a moment.
func pollNothing(t testing.TB, consumer *client.Consumer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(testContext(t), 50*time.Millisecond)
	defer cancel()
	records, err := consumer.Poll(ctx)
	if records.Len() > 0 || !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("%d records, %v", records.Len(), err)
	}
}

func same(t testing.TB, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("%q, want %q", got, want)
	}
}

var a0 = client.TopicPartition{Topic: "a"}

func TestPartitionsThatAreAssigned(t *testing.T) {
	node := kafkatest.Start(t, kafkatest.Topic("a", 2))
	write(t, node, "a", "0", "1", "2", "3", "4")
	consumer := newConsumer(t, with(node, "auto.offset.reset", "earliest", "max.poll.records", "2"))
	if err := consumer.Assign(a0); err != nil {
		t.Fatal(err)
	}
	if at, err := consumer.Position(testContext(t), a0); at != 0 || err != nil {
		t.Fatal(at, err)
	}
	records, err := consumer.Poll(testContext(t))
	if err != nil || records.Len() != 2 {
		t.Fatal(records.Len(), err)
	}
	if at, err := consumer.Position(testContext(t), a0); at != 2 || err != nil {
		t.Fatal(at, err)
	}
	same(t, poll(t, consumer, 3), "2", "3", "4")
	if err := consumer.Seek(a0, 3); err != nil {
		t.Fatal(err)
	}
	same(t, poll(t, consumer, 2), "3", "4")
	if err := errors.Join(consumer.SeekToBeginning(testContext(t)), consumer.Pause(a0)); err != nil {
		t.Fatal(err)
	}
	if paused := consumer.Paused(); !slices.Equal(paused, []client.TopicPartition{a0}) {
		t.Fatal(paused)
	}
	pollNothing(t, consumer)
	if err := consumer.Resume(a0); err != nil {
		t.Fatal(err)
	}
	same(t, poll(t, consumer, 5), "0", "1", "2", "3", "4")
	if err := consumer.SeekToEnd(testContext(t)); err != nil {
		t.Fatal(err)
	}
	write(t, node, "a", "5")
	same(t, poll(t, consumer, 1), "5")
	// Nothing is committed without a group.
	errorIs(t, consumer.CommitSync(testContext(t), nil), func(err error) bool { return errors.Is(err, client.ErrIllegalState) }, "illegal state")
	errorIs(t, consumer.Subscribe([]string{"a"}, client.RebalanceListener{}), func(err error) bool { return errors.Is(err, client.ErrIllegalState) }, "illegal state")
	errorIs(t, consumer.Seek(client.TopicPartition{Topic: "a", Partition: 1}, 0), func(err error) bool { return errors.Is(err, client.ErrIllegalState) }, "illegal state")
	if err := consumer.Unsubscribe(); err != nil {
		t.Fatal(err)
	}
	_, err = consumer.Poll(testContext(t))
	errorIs(t, err, func(err error) bool { return errors.Is(err, client.ErrIllegalState) }, "illegal state")
}

func TestOffsetsOfTimes(t *testing.T) {
	node := kafkatest.Start(t, kafkatest.Topic("a", 1))
	producer := newProducer(t, with(node))
	for i := range 3 {
		if _, err := producer.SendSync(testContext(t), client.ProducerRecord{Topic: "a", Timestamp: time.UnixMilli(int64(1000 * (i + 1)))}); err != nil {
			t.Fatal(err)
		}
	}
	consumer := newConsumer(t, with(node))
	found, err := consumer.OffsetsForTimes(testContext(t), map[client.TopicPartition]time.Time{a0: time.UnixMilli(1500)})
	if err != nil || found[a0].Offset != 1 || found[a0].Timestamp.UnixMilli() != 2000 {
		t.Errorf("%v, %v", found, err)
	}
	if found, err = consumer.OffsetsForTimes(testContext(t), map[client.TopicPartition]time.Time{a0: time.UnixMilli(3001)}); err != nil || len(found) != 0 {
		t.Errorf("%v, %v", found, err)
	}
	first, err := consumer.BeginningOffsets(testContext(t), a0)
	last, err2 := consumer.EndOffsets(testContext(t), a0)
	if err != nil || err2 != nil || first[a0] != 0 || last[a0] != 3 {
		t.Errorf("%v %v, %v %v", first, last, err, err2)
	}
	_, err = consumer.EndOffsets(testContext(t), client.TopicPartition{Topic: "b"})
	errorIs(t, err, func(err error) bool { return errors.Is(err, client.ErrUnknownTopic) }, "unknown topic")
}

func TestResets(t *testing.T) {
	node := kafkatest.Start(t, kafkatest.Topic("a", 1))
	producer := newProducer(t, with(node))
	for _, ago := range []time.Duration{72 * time.Hour, 2 * time.Hour, 0} {
		if _, err := producer.SendSync(testContext(t), client.ProducerRecord{Topic: "a", Timestamp: time.Now().Add(-ago), Value: []byte(ago.String())}); err != nil {
			t.Fatal(err)
		}
	}
	for reset, want := range map[string]int64{"earliest": 0, "latest": 3, "by_duration:P1D": 1, "by_duration:PT1H": 2} {
		consumer := newConsumer(t, with(node, "auto.offset.reset", reset))
		if err := consumer.Assign(a0); err != nil {
			t.Fatal(err)
		}
		if at, err := consumer.Position(testContext(t), a0); at != want || err != nil {
			t.Errorf("%s begins at %d, want %d, %v", reset, at, want, err)
		}
	}
	for _, group := range []string{"", "g"} {
		consumer := newConsumer(t, with(node, "auto.offset.reset", "none", "group.id", group))
		subscribe := consumer.Assign(a0)
		if group != "" {
			subscribe = errors.Join(consumer.Unsubscribe(), consumer.Subscribe([]string{"a"}, client.RebalanceListener{}))
		}
		if subscribe != nil {
			t.Fatal(subscribe)
		}
		_, err := consumer.Poll(testContext(t))
		errorIs(t, err, func(err error) bool { return errors.Is(err, client.ErrNoOffset) }, "no offset in group "+group)
		if err := consumer.Seek(a0, 2); err != nil {
			t.Fatal(err)
		}
		same(t, poll(t, consumer, 1), "0s")
		if err := consumer.Seek(a0, 100); err != nil {
			t.Fatal(err)
		}
		_, err = consumer.Poll(testContext(t))
		errorIs(t, err, func(err error) bool { return errors.Is(err, client.ErrOffsetOutOfRange) }, "out of range")
	}
	for _, wrong := range []string{"by_duration:1d", "by_duration:-PT1H", "by_duration:PT", "by_duration:", "sometime"} {
		if consumer, err := client.NewConsumer(with(node, "auto.offset.reset", wrong)); err == nil {
			t.Errorf("%s is taken, %v", wrong, consumer.Close())
		}
	}
}

// heard is what a listener heard.
type heard struct {
	mu    sync.Mutex
	lines []string
}

func (h *heard) hear(what string) func(context.Context, []client.TopicPartition) error {
	return func(_ context.Context, partitions []client.TopicPartition) error {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.lines = append(h.lines, what+fmt.Sprint(partitions))
		return nil
	}
}

func (h *heard) listener() client.RebalanceListener {
	return client.RebalanceListener{Assigned: h.hear("assigned"), Revoked: h.hear("revoked"), Lost: h.hear("lost")}
}

func (h *heard) all() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.lines, " ")
}

func committed(t testing.TB, node *kafkatest.Node, group string) map[string]int64 {
	t.Helper()
	consumer := newConsumer(t, with(node, "group.id", group))
	offsets, err := consumer.Committed(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]int64{}
	for tp, o := range offsets {
		at[tp.String()] = o.Offset
	}
	return at
}

func TestAMemberReadsAndCommits(t *testing.T) {
	node := kafkatest.Start(t, kafkatest.Topic("a", 1))
	write(t, node, "a", "0", "1", "2")
	var h heard
	properties := with(node, "group.id", "g", "auto.offset.reset", "earliest", "enable.auto.commit", "false")
	consumer := newConsumer(t, properties)
	if err := consumer.Subscribe([]string{"a"}, h.listener()); err != nil {
		t.Fatal(err)
	}
	if h.all() != "" {
		t.Error("the listener is called before Poll")
	}
	same(t, poll(t, consumer, 3), "0", "1", "2")
	if h.all() != "assigned[a-0]" {
		t.Error(h.all())
	}
	if m := consumer.GroupMetadata(); m.GroupID != "g" || m.MemberID == "" || m.GenerationID < 1 {
		t.Errorf("%+v", m)
	}
	if err := consumer.CommitSync(testContext(t), client.Offsets{a0: {Offset: 2, Metadata: "half"}}); err != nil {
		t.Fatal(err)
	}
	offsets, err := consumer.Committed(testContext(t), a0)
	if err != nil || offsets[a0].Offset != 2 || offsets[a0].Metadata != "half" {
		t.Errorf("%v, %v", offsets, err)
	}
	if err := consumer.Rewind(testContext(t)); err != nil {
		t.Fatal(err)
	}
	same(t, poll(t, consumer, 1), "2")
	var answered error = errors.New("not answered")
	consumer.CommitAsync(nil, func(_ client.Offsets, err error) { answered = err })
	if err := consumer.Close(); err != nil || answered != nil {
		t.Fatal(err, answered)
	}
	if h.all() != "assigned[a-0] revoked[a-0]" {
		t.Error(h.all())
	}
	if at := committed(t, node, "g"); at["a-0"] != 3 {
		t.Error(at)
	}
	_, err = consumer.Poll(testContext(t))
	errorIs(t, err, func(err error) bool { return errors.Is(err, client.ErrClosed) }, "closed")
}

// TestOffsetsAreCommittedByThemselves: what was polled before a Poll is; by Close all
// that was polled.
func TestOffsetsAreCommittedByThemselves(t *testing.T) {
	for _, manual := range []bool{false, true} {
		node := kafkatest.Start(t, kafkatest.Topic("a", 1))
		write(t, node, "a", "0", "1", "2")
		consumer := newConsumer(t, with(node, "group.id", "g", "auto.offset.reset", "earliest", "auto.commit.interval.ms", "1", "max.poll.records", "1"))
		begin := func() error { return consumer.Subscribe([]string{"a"}, client.RebalanceListener{}) }
		if manual {
			begin = func() error { return consumer.Assign(a0) }
		}
		if err := begin(); err != nil {
			t.Fatal(err)
		}
		same(t, poll(t, consumer, 1), "0")
		time.Sleep(2 * time.Millisecond) // the interval, not a condition: what is waited for comes below
		same(t, poll(t, consumer, 1), "1")
		// The Poll that returned 1 has had 0 committed, and 1 is not.
		for committed(t, node, "g")["a-0"] == 0 {
			if testContext(t).Err() != nil {
				t.Fatal("nothing is committed")
			}
		}
		if at := committed(t, node, "g"); at["a-0"] != 1 {
			t.Errorf("manual %v: %v", manual, at)
		}
		if err := consumer.Close(); err != nil {
			t.Fatal(err)
		}
		if at := committed(t, node, "g"); at["a-0"] != 2 {
			t.Errorf("manual %v: %v at the end", manual, at)
		}
	}
}

// TestTheEndIsCommitted: a consumer that begins at the end of a log goes on there, even
// if it has read nothing.
func TestTheEndIsCommitted(t *testing.T) {
	node := kafkatest.Start(t, kafkatest.Topic("a", 1))
	write(t, node, "a", "0", "1", "2")
	assigned := make(chan bool, 1)
	listener := client.RebalanceListener{Assigned: func(context.Context, []client.TopicPartition) error { assigned <- true; return nil }}
	consumer := newConsumer(t, with(node, "group.id", "g"))
	if err := consumer.Subscribe([]string{"a"}, listener); err != nil {
		t.Fatal(err)
	}
	for len(assigned) == 0 {
		pollNothing(t, consumer)
	}
	for {
		if at, err := consumer.Position(testContext(t), a0); err != nil || at != 3 {
			t.Fatal(at, err)
		}
		if err := consumer.CommitSync(testContext(t), nil); err != nil {
			t.Fatal(err)
		}
		if at := committed(t, node, "g"); at["a-0"] == 3 {
			break
		}
		pollNothing(t, consumer)
	}
	if err := consumer.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, node, "a", "3")
	consumer = newConsumer(t, with(node, "group.id", "g"))
	if err := consumer.Subscribe([]string{"a"}, client.RebalanceListener{}); err != nil {
		t.Fatal(err)
	}
	same(t, poll(t, consumer, 1), "3")
}

func TestAListenerSeeks(t *testing.T) {
	node := kafkatest.Start(t, kafkatest.Topic("a", 1))
	write(t, node, "a", "0", "1", "2")
	consumer := newConsumer(t, with(node, "group.id", "g", "auto.offset.reset", "none"))
	err := consumer.Subscribe([]string{"a"}, client.RebalanceListener{Assigned: func(context.Context, []client.TopicPartition) error {
		return consumer.Seek(a0, 1)
	}})
	if err != nil {
		t.Fatal(err)
	}
	same(t, poll(t, consumer, 2), "1", "2")
}

func TestAListenersErrorEndsPoll(t *testing.T) {
	node := kafkatest.Start(t, kafkatest.Topic("a", 1))
	consumer := newConsumer(t, with(node, "group.id", "g"))
	mine := errors.New("mine")
	err := consumer.Subscribe([]string{"a"}, client.RebalanceListener{Assigned: func(context.Context, []client.TopicPartition) error { return mine }})
	if err != nil {
		t.Fatal(err)
	}
	_, err = consumer.Poll(testContext(t))
	errorIs(t, err, func(err error) bool { return errors.Is(err, mine) }, "the listener's")
}

func TestPartitionsMoveInPollAlone(t *testing.T) {
	for _, strategy := range []string{"Range", "CooperativeSticky"} {
		t.Run(strategy, func(t *testing.T) {
			node := kafkatest.Start(t, kafkatest.Topic("a", 2))
			properties := with(node, "group.id", "g", "auto.offset.reset", "earliest", "heartbeat.interval.ms", "50",
				"partition.assignment.strategy", "org.apache.kafka.clients.consumer."+strategy+"Assignor")
			var one, two heard
			first, second := newConsumer(t, properties), newConsumer(t, properties)
			if err := errors.Join(first.Subscribe([]string{"a"}, one.listener()), second.Subscribe([]string{"a"}, two.listener())); err != nil {
				t.Fatal(err)
			}
			turns := func(until func() bool, consumers ...*client.Consumer) {
				for ctx := testContext(t); !until(); {
					if ctx.Err() != nil {
						t.Fatalf("one heard %s, two %s", one.all(), two.all())
					}
					for _, c := range consumers {
						pollNothing(t, c)
					}
				}
			}
			turns(func() bool { return len(first.Assignment()) == 2 }, first)
			before := one.all()
			turns(func() bool { return true }, second)
			if one.all() != before {
				t.Errorf("outside of Poll: %s", one.all())
			}
			turns(func() bool { return len(first.Assignment()) == 1 && len(second.Assignment()) == 1 }, first, second)
			if err := second.Close(); err != nil {
				t.Fatal(err)
			}
			turns(func() bool { return len(first.Assignment()) == 2 }, first)
		})
	}
}

func TestWhoDoesNotPollIsOut(t *testing.T) {
	node := kafkatest.Start(t, kafkatest.Topic("a", 1))
	write(t, node, "a", "0")
	var h heard
	consumer := newConsumer(t, with(node, "group.id", "g", "auto.offset.reset", "earliest", "max.poll.interval.ms", "300", "enable.auto.commit", "false"))
	if err := consumer.Subscribe([]string{"a"}, h.listener()); err != nil {
		t.Fatal(err)
	}
	same(t, poll(t, consumer, 1), "0")
	admin := newAdmin(t, node)
	for ctx := testContext(t); ; {
		groups, err := admin.DescribeConsumerGroups(ctx, "g")
		if err != nil {
			t.Fatal(err)
		}
		if len(groups["g"].Members) == 0 {
			break
		}
	}
	errorIs(t, consumer.CommitSync(testContext(t), nil), func(err error) bool { return errors.Is(err, client.ErrCommitFailed) }, "a failed commit")
	if h.all() != "assigned[a-0]" {
		t.Errorf("outside of Poll: %s", h.all())
	}
	same(t, poll(t, consumer, 1), "0")
	if h.all() != "assigned[a-0] lost[a-0] assigned[a-0]" {
		t.Error(h.all())
	}
}

func TestSubscriptionsChange(t *testing.T) {
	node := kafkatest.Start(t, kafkatest.Topic("a", 1), kafkatest.Topic("b1", 1), kafkatest.Topic("b2", 1), kafkatest.Topic("xb1", 1))
	for _, topic := range []string{"a", "b1", "b2", "xb1"} {
		write(t, node, topic, topic)
	}
	consumer := newConsumer(t, with(node, "group.id", "g", "auto.offset.reset", "earliest"))
	if err := consumer.Subscribe([]string{"a"}, client.RebalanceListener{}); err != nil {
		t.Fatal(err)
	}
	same(t, poll(t, consumer, 1), "a")
	if err := consumer.Subscribe([]string{"b1"}, client.RebalanceListener{}); err != nil {
		t.Fatal(err)
	}
	same(t, poll(t, consumer, 1), "b1")
	if err := consumer.SubscribePattern("b.", client.RebalanceListener{}); err != nil {
		t.Fatal(err)
	}
	same(t, poll(t, consumer, 1), "b2")
	if err := consumer.Unsubscribe(); err != nil || len(consumer.Assignment()) != 0 {
		t.Fatal(err, consumer.Assignment())
	}
	if at := committed(t, node, "g"); at["a-0"] != 1 || at["b1-0"] != 1 || at["b2-0"] != 1 || len(at) != 3 {
		t.Error(at)
	}
}
