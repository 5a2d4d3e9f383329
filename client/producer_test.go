package client_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"barnabas/client"
	"barnabas/kafkatest"
)

func TestRecordsGoWhereTheyAreSent(t *testing.T) {
	node := kafkatest.Start(t, kafkatest.Topic("a", 3))
	producer := newProducer(t, with(node))
	stamp := time.UnixMilli(1_700_000_000_123)
	where, err := producer.SendSync(testContext(t), client.ProducerRecord{Topic: "a", Partition: new(int32(2)), Key: []byte("k"), Value: []byte("v"), Timestamp: stamp,
		Headers: []client.Header{{Key: "h", Value: []byte("x")}}})
	if err != nil || where.Partition != 2 || where.Offset != 0 || !where.Timestamp.Equal(stamp) {
		t.Fatalf("%+v, %v", where, err)
	}
	if where, err = producer.SendSync(testContext(t), client.ProducerRecord{Topic: "a", Partition: new(int32(2))}); err != nil || where.Offset != 1 {
		t.Fatalf("%+v, %v", where, err)
	}
	partitions, err := producer.PartitionsFor(testContext(t), "a")
	if err != nil || len(partitions) != 3 || partitions[2].Leader < 0 {
		t.Errorf("%+v, %v", partitions, err)
	}
}

// TestKeysGoWhereJavaSendsThem: murmur2 of the key, as Utils.murmur2 has it, positive,
// modulo the partitions. The numbers are those of a Java producer.
func TestKeysGoWhereJavaSendsThem(t *testing.T) {
	node := kafkatest.Start(t, kafkatest.Topic("a", 100))
	producer := newProducer(t, with(node))
	for key, hash := range map[string]int32{"21": -973932308, "foobar": -790332482, "a-little-bit-long-string": -985981536,
		"a-little-bit-longer-string": -1486304829, "lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971, "abc": 479470107} {
		want := (hash & 0x7fffffff) % 100
		if where, err := producer.SendSync(testContext(t), client.ProducerRecord{Topic: "a", Key: []byte(key)}); err != nil || where.Partition != want {
			t.Errorf("%s in partition %d, want %d, %v", key, where.Partition, want, err)
		}
	}
	// The empty key is a key.
	var at []int32
	for range 5 {
		where, err := producer.SendSync(testContext(t), client.ProducerRecord{Topic: "a", Key: []byte{}})
		if err != nil {
			t.Fatal(err)
		}
		at = append(at, where.Partition)
	}
	if want := int32(275646681 % 100); slices.ContainsFunc(at, func(p int32) bool { return p != want }) {
		t.Errorf("the empty key in partitions %v, want %d", at, want)
	}
}

// TestRecordsWithoutKeysStick to one partition for batch.size bytes, and then to
// another.
func TestRecordsWithoutKeysStick(t *testing.T) {
	node := kafkatest.Start(t, kafkatest.Topic("a", 50))
	producer := newProducer(t, with(node, "batch.size", "1000", "linger.ms", "50"))
	var mu sync.Mutex
	at := make([]int32, 90)
	for i := range at {
		producer.Send(testContext(t), client.ProducerRecord{Topic: "a", Value: make([]byte, 94)}, func(where client.RecordMetadata, err error) {
			mu.Lock()
			defer mu.Unlock()
			if at[i] = where.Partition; err != nil {
				t.Error(err)
			}
		})
	}
	if err := producer.Flush(testContext(t)); err != nil {
		t.Fatal(err)
	}
	runs := 1
	for i := 1; i < len(at); i++ {
		if at[i] != at[i-1] {
			runs++
		}
	}
	if runs < 2 || runs > 10 {
		t.Errorf("%d runs in %v", runs, at)
	}
}

func TestAFullBufferBlocksAndThenTimesOut(t *testing.T) {
	node := kafkatest.Start(t, kafkatest.Topic("a", 1))
	producer := newProducer(t, with(node, "buffer.memory", "10000", "linger.ms", "60000", "delivery.timeout.ms", "100000", "max.block.ms", "300"))
	// The buffer is emptied when it is full, whatever linger.ms says.
	for range 100 {
		producer.Send(testContext(t), client.ProducerRecord{Topic: "a", Value: make([]byte, 1000)}, nil)
	}
	if err := producer.Flush(testContext(t)); err != nil {
		t.Fatal(err)
	}
	if err := node.Stop(); err != nil {
		t.Fatal(err)
	}
	send := func(ctx context.Context, size int) (failed error) {
		producer.Send(ctx, client.ProducerRecord{Topic: "a", Value: make([]byte, size)}, func(_ client.RecordMetadata, err error) { failed = err })
		return failed
	}
	// failed of these is written by Close.
	full := func(n int) {
		producer.Send(testContext(t), client.ProducerRecord{Topic: "a", Value: make([]byte, n)}, func(client.RecordMetadata, error) {})
	}
	full(9000)
	errorIs(t, send(t.Context(), 2000), func(err error) bool { return errors.Is(err, client.ErrTimeout) }, "a timeout")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	errorIs(t, send(ctx, 2000), func(err error) bool { return errors.Is(err, context.Canceled) && !errors.Is(err, client.ErrTimeout) }, "the context's error")
	errorIs(t, send(t.Context(), 20000), func(err error) bool { return errors.Is(err, client.ErrRecordTooLarge) }, "too large")
	if err := node.Restart(); err != nil {
		t.Fatal(err)
	}
}

func TestATopicThatIsNotThereTimesOut(t *testing.T) {
	node := kafkatest.Start(t, kafkatest.Topic("a", 1), kafkatest.Config("auto.create.topics.enable", "false"))
	producer := newProducer(t, with(node, "max.block.ms", "200"))
	_, err := producer.SendSync(testContext(t), client.ProducerRecord{Topic: "b"})
	errorIs(t, err, func(err error) bool { return errors.Is(err, client.ErrTimeout) }, "a timeout")
	_, err = producer.SendSync(testContext(t), client.ProducerRecord{Topic: "a", Partition: new(int32(1))})
	errorIs(t, err, func(err error) bool { return errors.Is(err, client.ErrTimeout) }, "a timeout")
	_, err = producer.SendSync(testContext(t), client.ProducerRecord{Topic: "a b"})
	errorIs(t, err, func(err error) bool { return errors.Is(err, client.ErrInvalidTopic) }, "an invalid topic")
	// Without a callback Flush says so, once.
	producer.Send(testContext(t), client.ProducerRecord{Topic: "a b"}, nil)
	errorIs(t, producer.Flush(testContext(t)), func(err error) bool { return errors.Is(err, client.ErrInvalidTopic) }, "an invalid topic")
	if err := producer.Flush(testContext(t)); err != nil {
		t.Error(err)
	}
}

// TestDeliveryTimesOut against an address where nobody answers.
func TestDeliveryTimesOut(t *testing.T) {
	node := kafkatest.Start(t, kafkatest.Topic("a", 1))
	producer := newProducer(t, with(node, "delivery.timeout.ms", "1500", "request.timeout.ms", "1000", "linger.ms", "0"))
	if _, err := producer.SendSync(testContext(t), client.ProducerRecord{Topic: "a"}); err != nil {
		t.Fatal(err)
	}
	if err := node.Stop(); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	_, err := producer.SendSync(testContext(t), client.ProducerRecord{Topic: "a"})
	errorIs(t, err, func(err error) bool { return errors.Is(err, client.ErrTimeout) }, "a timeout")
	if took := time.Since(begun); took < 1500*time.Millisecond {
		t.Errorf("given up after %v", took)
	}
}

func TestACloseTellsWhatFailed(t *testing.T) {
	node := kafkatest.Start(t, kafkatest.Topic("a", 1, "max.message.bytes=2000"))
	producer := newProducer(t, with(node, "linger.ms", "60000", "delivery.timeout.ms", "100000"))
	told := make(chan error, 1)
	producer.Send(testContext(t), client.ProducerRecord{Topic: "a", Value: []byte("v")}, func(_ client.RecordMetadata, err error) { told <- err })
	producer.Send(testContext(t), client.ProducerRecord{Topic: "a", Value: []byte("v")}, nil)
	if err := producer.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-told:
		if err != nil {
			t.Error(err)
		}
	default:
		t.Error("Close returned before the callback")
	}
	_, err := producer.SendSync(testContext(t), client.ProducerRecord{Topic: "a"})
	errorIs(t, err, func(err error) bool { return errors.Is(err, client.ErrClosed) }, "closed")

	producer = newProducer(t, with(node))
	producer.Send(testContext(t), client.ProducerRecord{Topic: "a", Value: make([]byte, 10_000)}, nil)
	errorIs(t, producer.Close(), func(err error) bool { return errors.Is(err, client.ErrRecordTooLarge) }, "too large")
	errorIs(t, producer.Close(), func(err error) bool { return errors.Is(err, client.ErrRecordTooLarge) }, "the same again")
}

func TestAcksNone(t *testing.T) {
	node := kafkatest.Start(t, kafkatest.Topic("a", 1))
	producer := newProducer(t, with(node, "acks", "0"))
	if where, err := producer.SendSync(testContext(t), client.ProducerRecord{Topic: "a"}); err != nil || where.Offset != -1 {
		t.Errorf("%+v, %v", where, err)
	}
}

func TestPropertiesAreChecked(t *testing.T) {
	for _, p := range []client.Properties{
		{}, {"bootstrap.servers": "localhost:1", "acks": "7"}, {"bootstrap.servers": "localhost:1", "max.block.ms": "x"},
	} {
		if producer, err := client.NewProducer(p); err == nil {
			t.Errorf("%v is taken: %v", p, producer.Close())
		}
	}
}

// TestManyGoroutinesSend through a buffer that holds a few of their records.
func TestManyGoroutinesSend(t *testing.T) {
	node := kafkatest.Start(t, kafkatest.Topic("a", 3))
	producer := newProducer(t, with(node, "buffer.memory", "3000"))
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 100 {
				producer.Send(testContext(t), client.ProducerRecord{Topic: "a", Value: fmt.Append(nil, g, i)}, nil)
			}
		})
	}
	all.Wait()
	if err := producer.Flush(testContext(t)); err != nil {
		t.Fatal(err)
	}
}

// silent accepts connections and says nothing.
func silent(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}

func TestWhatDoesNotAnswerTimesOut(t *testing.T) {
	producer := newProducer(t, client.Properties{"bootstrap.servers": silent(t), "max.block.ms": "200"})
	_, err := producer.PartitionsFor(testContext(t), "a")
	errorIs(t, err, func(err error) bool { return errors.Is(err, client.ErrTimeout) }, "a timeout")
}
