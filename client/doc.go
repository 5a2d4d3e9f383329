// Package client is Kafka's client for Go programs: Producer, Consumer and Admin, with
// the words, the properties and the promises of Apache's Java client. It works against
// any Kafka and knows nothing of this project's server. The engine is franz-go; Engine
// is the door to it.
//
// # Writing
//
//	producer, err := client.NewProducer(client.Properties{"bootstrap.servers": "localhost:9092"})
//	...
//	defer producer.Close()
//	producer.Send(ctx, client.ProducerRecord{Topic: "orders", Key: id, Value: order}, nil)
//	err = producer.Flush(ctx)
//
// Send hands over and returns; SendSync waits. Partitions are chosen as in Java: the one
// that was asked for, murmur2 of the key, or one for many records (KIP-794). Records are
// written once and in order as long as the producer lives (enable.idempotence=true). What
// waits is bounded by buffer.memory, for how long by max.block.ms and
// delivery.timeout.ms; both end in ErrTimeout.
//
// # Reading
//
//	consumer, err := client.NewConsumer(client.Properties{"bootstrap.servers": "localhost:9092", "group.id": "billing"})
//	...
//	defer consumer.Close()
//	err = consumer.Subscribe([]string{"orders"}, client.RebalanceListener{})
//	for {
//		records, err := consumer.Poll(ctx)
//		...
//		for record := range records.All() {
//			...
//		}
//	}
//
// Poll is the pace of all: calling it again says that what it returned before is
// processed, which is then what may be committed; rebalances and their listeners happen
// in it; and who stays away for max.poll.interval.ms has left the group. The context
// ends a Poll. Both group protocols are served (group.protocol), and Assign reads
// without a group.
//
// # Transactions
//
//	err = producer.InitTransactions(ctx)
//	err = producer.InTransaction(ctx, func() error {
//		producer.Send(ctx, result, nil)
//		return producer.SendOffsetsToTransaction(ctx, offsets, consumer.GroupMetadata())
//	})
//	switch {
//	case client.IsFatal(err):     // fenced, for example: close the producer
//	case err != nil:              // aborted: consumer.Rewind, and again
//	}
//
// # Managing
//
// Admin makes, describes, changes and deletes topics, configurations, groups, offsets,
// records, transactions and features.
//
// # Errors
//
// An error that a broker answered wraps Kafka's code: errors.Is(err,
// client.ErrTopicExists). The end of the caller's context is the context's error, the end
// of a limit of Kafka's is ErrTimeout. There are no panics. Nothing is left of a client
// after Close, no goroutine and no connection.
//
// # Properties
//
// Each property of Apache Kafka's three clients has an effect, or none, or is refused:
// an error of the constructor. What has no effect, is not known, or is for another kind
// of client is a line of the log, one for each reason.
//
// New and Options open franz-go's own client by the same properties, for tools that want
// the engine as it is.
//
// # What differs from Java
//
//   - Keys and values are bytes; there are no serializers and no interceptors.
//   - RecordMetadata has the record's own time, also with LogAppendTime.
//   - A batch may be larger than batch.size, up to max.request.size; batch.size is how
//     much goes to one partition before the next.
//   - In a transaction delivery.timeout.ms does not give up what may have been written;
//     max.block.ms ends the commit, and the abort.
//   - Offsets of a transaction are sent in the way before KIP-890 part 2, one request
//     more for each transaction.
//
// # What it costs
//
// Beside the engine alone a record that is sent costs no further allocation (one in all,
// about 150 bytes more of it: the record with its callback and its deadline) and a record
// that is polled none: go test -run XXX -bench 'Produce|Poll' -benchtime 200000x ./client
//
// # Who owns what
//
// The buffer's room, the state of a transaction and a consumer's places have a lock each.
// Consumer.polls is held by whoever moves the consumer on: Poll, a new subscription,
// Close, and the timer of max.poll.interval.ms.
//
// Files:
//
//	record.go                what is written and read
//	errors.go                Kafka's codes, and what to do about them
//	options.go               constructors' options, the engine's log
//	producer.go              Producer: open, flush, close
//	producer_send.go         Send; the partition that was asked for
//	producer_transactions.go the calls of transactions
//	transaction.go           where a transaction stands
//	transaction_offsets.go   a consumer's offsets in a transaction
//	delivery.go              delivery.timeout.ms
//	room.go                  buffer.memory
//	topics.go                metadata of topics
//	consumer.go              Consumer: open, subscribe, assign, close
//	consumer_poll.go         Poll; max.poll.interval.ms
//	consumer_rebalance.go    listeners; where partitions begin
//	consumer_reset.go        auto.offset.reset; lists of offsets
//	consumer_position.go     position, seek, pause
//	consumer_commit.go       commits
//	group_metadata.go        a consumer's place in its group
//	admin.go                 Admin: cluster, features, log directories
//	admin_topics.go          topics, records, configurations
//	admin_groups.go          groups and offsets
//	admin_transactions.go    transactions and producers
//	client.go                New and Options: the engine by properties
//	translate.go             properties with an effect, one by one, and the values that are refused
//	together.go              options that follow from several of them, and Kafka's defaults
//	without.go               properties without an effect, and why
//	check.go                 values, with Kafka's words for those that are wrong
package client
