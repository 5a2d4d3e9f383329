package client_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"go.uber.org/goleak"

	"barnabas/client"
	"barnabas/kafkatest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds what a test waits for.
const patience = 30 * time.Second

func testContext(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// with are properties of a client of the node.
func with(node *kafkatest.Node, pairs ...string) client.Properties {
	p := client.Properties{"bootstrap.servers": node.Addr()}
	for i := 0; i < len(pairs); i += 2 {
		p[pairs[i]] = pairs[i+1]
	}
	return p
}

func newProducer(t testing.TB, p client.Properties) *client.Producer {
	t.Helper()
	producer, err := client.NewProducer(p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { producer.Close() })
	return producer
}

// write writes values to a topic, one after the other.
func write(t testing.TB, node *kafkatest.Node, topic string, values ...string) {
	t.Helper()
	producer := newProducer(t, with(node))
	for i, v := range values {
		producer.Send(testContext(t), client.ProducerRecord{Topic: topic, Partition: new(int32(0)), Key: []byte(fmt.Sprint(i)), Value: []byte(v)}, nil)
	}
	if err := producer.Close(); err != nil {
		t.Fatal(err)
	}
}

// errorIs fails the test unless err is as wanted.
func errorIs(t testing.TB, err error, is func(error) bool, what string) {
	t.Helper()
	if err == nil || !is(err) {
		t.Fatalf("want %s, got %v", what, err)
	}
}

func newAdmin(t testing.TB, node *kafkatest.Node) *client.Admin {
	t.Helper()
	admin, err := client.NewAdmin(with(node))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { admin.Close() })
	return admin
}
