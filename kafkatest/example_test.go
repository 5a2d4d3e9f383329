package kafkatest_test

import (
	"context"
	"fmt"
	"testing"

	"barnabas/kafkatest"

	"github.com/twmb/franz-go/pkg/kgo"
)

// A test that writes to Kafka and reads it back. In a test of yours the function is
// TestOrders, and t is given to you.
func ExampleStart() {
	testOrders := func(t testing.TB) {
		node := kafkatest.Start(t, kafkatest.Topic("orders", 3), kafkatest.Config("message.max.bytes", "10000"))
		client, err := kgo.NewClient(kgo.SeedBrokers(node.Addr()), kgo.ConsumeTopics("orders"),
			kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()

		record := &kgo.Record{Topic: "orders", Value: []byte("three apples")}
		if err := client.ProduceSync(t.Context(), record).FirstErr(); err != nil {
			t.Fatal(err)
		}
		client.PollFetches(t.Context()).EachRecord(func(r *kgo.Record) {
			if string(r.Value) != "three apples" {
				t.Errorf("read %q", r.Value)
			}
		})
	}
	_ = testOrders
}

// Without a testing.TB, as in TestMain.
func ExampleOpen() {
	node, err := kafkatest.Open(kafkatest.Topic("orders", 1))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer node.Stop()

	client, err := kgo.NewClient(kgo.SeedBrokers(node.Addr()), kgo.ConsumeTopics("orders"),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	ctx := context.Background()
	if err := client.ProduceSync(ctx, &kgo.Record{Topic: "orders", Value: []byte("three apples")}).FirstErr(); err != nil {
		fmt.Println(err)
		return
	}
	if err := node.Restart(); err != nil { // clients see a broker that was away for a moment
		fmt.Println(err)
		return
	}
	client.PollFetches(ctx).EachRecord(func(r *kgo.Record) {
		fmt.Printf("%s at offset %d\n", r.Value, r.Offset)
	})
	// Output: three apples at offset 0
}
