package client_test

import (
	"context"
	"fmt"
	"log"
	"slices"
	"strings"

	"barnabas/client"
	"barnabas/kafkatest"
)

// startNode is a Kafka for the examples. Yours is at an address.
func startNode(topics ...kafkatest.Option) (*kafkatest.Node, client.Properties) {
	node, err := kafkatest.Open(topics...)
	if err != nil {
		log.Fatal(err)
	}
	return node, client.Properties{"bootstrap.servers": node.Addr()}
}

// and is properties with further ones.
func and(p client.Properties, pairs ...string) client.Properties {
	all := client.Properties{}
	for name, value := range p {
		all[name] = value
	}
	for i := 0; i < len(pairs); i += 2 {
		all[pairs[i]] = pairs[i+1]
	}
	return all
}

// Records are handed over, and one call tells whether all have arrived.
func ExampleProducer() {
	node, properties := startNode(kafkatest.Topic("orders", 1))
	defer node.Stop()
	ctx := context.Background()

	producer, err := client.NewProducer(properties)
	if err != nil {
		log.Fatal(err)
	}
	defer producer.Close()

	for _, order := range []string{"apples", "pears"} {
		producer.Send(ctx, client.ProducerRecord{Topic: "orders", Key: []byte("ann"), Value: []byte(order)}, nil)
	}
	if err := producer.Flush(ctx); err != nil {
		log.Fatal(err)
	}
	where, err := producer.SendSync(ctx, client.ProducerRecord{Topic: "orders", Value: []byte("plums")})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(where.TopicPartition, where.Offset)
	// Output: orders-0 2
}

// A member of a group reads, works, and commits what it has done.
func ExampleConsumer() {
	node, properties := startNode(kafkatest.Topic("orders", 1))
	defer node.Stop()
	ctx := context.Background()
	fill(ctx, properties, "orders", "apples", "pears")

	consumer, err := client.NewConsumer(and(properties, "group.id", "billing", "auto.offset.reset", "earliest", "enable.auto.commit", "false"))
	if err != nil {
		log.Fatal(err)
	}
	defer consumer.Close()
	if err := consumer.Subscribe([]string{"orders"}, client.RebalanceListener{}); err != nil {
		log.Fatal(err)
	}
	for read := 0; read < 2; {
		records, err := consumer.Poll(ctx)
		if err != nil {
			log.Fatal(err)
		}
		for record := range records.All() {
			fmt.Printf("%s at %d\n", record.Value, record.Offset)
		}
		read += records.Len()
		if err := consumer.CommitSync(ctx, nil); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// apples at 0
	// pears at 1
}

func ExampleAdmin() {
	node, properties := startNode()
	defer node.Stop()
	ctx := context.Background()

	admin, err := client.NewAdmin(properties)
	if err != nil {
		log.Fatal(err)
	}
	defer admin.Close()
	for range 2 {
		err := admin.CreateTopics(ctx, client.NewTopic{Name: "orders", Partitions: 3, Configs: map[string]string{"cleanup.policy": "compact"}})
		_, name := client.Code(err)
		fmt.Printf("%q\n", name)
	}
	topics, err := admin.DescribeTopics(ctx, "orders")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(topics["orders"].Partitions), "partitions")
	// Output:
	// ""
	// "TOPIC_ALREADY_EXISTS"
	// 3 partitions
}

// Read, process, write: what was read counts as read when what was written is committed,
// both or neither.
func ExampleProducer_InTransaction() {
	node, properties := startNode(kafkatest.Topic("orders", 1), kafkatest.Topic("bills", 1))
	defer node.Stop()
	ctx := context.Background()
	fill(ctx, properties, "orders", "apples", "pears", "plums")

	consumer, err := client.NewConsumer(and(properties, "group.id", "billing", "auto.offset.reset", "earliest",
		"enable.auto.commit", "false", "isolation.level", "read_committed"))
	if err != nil {
		log.Fatal(err)
	}
	defer consumer.Close()
	producer, err := client.NewProducer(and(properties, "transactional.id", "billing-1"))
	if err != nil {
		log.Fatal(err)
	}
	defer producer.Close()
	if err := producer.InitTransactions(ctx); err != nil {
		log.Fatal(err)
	}
	if err := consumer.Subscribe([]string{"orders"}, client.RebalanceListener{}); err != nil {
		log.Fatal(err)
	}

	for billed := 0; billed < 3; {
		orders, err := consumer.Poll(ctx)
		if err != nil {
			log.Fatal(err)
		}
		err = producer.InTransaction(ctx, func() error {
			read := client.Offsets{}
			for order := range orders.All() {
				bill := "bill for " + string(order.Value)
				producer.Send(ctx, client.ProducerRecord{Topic: "bills", Key: order.Key, Value: []byte(bill)}, nil)
				read[client.TopicPartition{Topic: order.Topic, Partition: order.Partition}] = client.At(order.Offset + 1)
			}
			return producer.SendOffsetsToTransaction(ctx, read, consumer.GroupMetadata())
		})
		switch {
		case client.IsFatal(err): // another process has taken over, for example
			log.Fatal(err)
		case err != nil: // aborted: the same records come again
			if err := consumer.Rewind(ctx); err != nil {
				log.Fatal(err)
			}
		default:
			billed += orders.Len()
		}
	}
	fmt.Println(strings.Join(read(ctx, properties, "bills", 3), ", "))
	// Output: bill for apples, bill for pears, bill for plums
}

// fill writes values to partition 0 of a topic.
func fill(ctx context.Context, properties client.Properties, topic string, values ...string) {
	producer, err := client.NewProducer(properties)
	if err != nil {
		log.Fatal(err)
	}
	for _, v := range values {
		producer.Send(ctx, client.ProducerRecord{Topic: topic, Partition: new(int32(0)), Value: []byte(v)}, nil)
	}
	if err := producer.Close(); err != nil {
		log.Fatal(err)
	}
}

// read reads n committed values of all partitions of a topic, in their order for one
// partition, else sorted.
func read(ctx context.Context, properties client.Properties, topic string, n int) (values []string) {
	consumer, err := client.NewConsumer(and(properties, "auto.offset.reset", "earliest", "isolation.level", "read_committed"))
	if err != nil {
		log.Fatal(err)
	}
	defer consumer.Close()
	partitions, err := consumer.PartitionsFor(ctx, topic)
	if err != nil {
		log.Fatal(err)
	}
	var all []client.TopicPartition
	for _, p := range partitions {
		all = append(all, p.TopicPartition)
	}
	if err := consumer.Assign(all...); err != nil {
		log.Fatal(err)
	}
	for len(values) < n {
		records, err := consumer.Poll(ctx)
		if err != nil {
			log.Fatal(err)
		}
		for record := range records.All() {
			values = append(values, string(record.Value))
		}
	}
	if len(all) > 1 {
		slices.Sort(values)
	}
	return values
}
