package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"slices"
	"strconv"

	"barnabas/client"
	"barnabas/kafkatest"
)

// table is a database of this example: an order and its line in the outbox are written
// in one transaction of the database, and a line has a number that only grows.
type table struct {
	orders []string
	outbox []outboxLine
}

type outboxLine struct {
	number  int64
	payload string
}

func (t *table) insert(order string) {
	t.orders = append(t.orders, order)
	t.outbox = append(t.outbox, outboxLine{int64(len(t.outbox) + 1), "created " + order})
}

func (t *table) after(number int64) []outboxLine {
	i, _ := slices.BinarySearchFunc(t.outbox, number+1, func(l outboxLine, n int64) int { return int(l.number - n) })
	return t.outbox[i:]
}

// The outbox: what a service writes to its database goes to a topic, each line once,
// whatever dies when.
//
// The relay keeps how far it is in Kafka, in the same transaction as the records: as the
// offset of a group that nobody is a member of. If it dies between the commit and
// anything else, the next relay reads from there how far the last one has come; and its
// InitTransactions has made sure that the last one can't write any more. Nothing has to
// be updated in the database, which may drop lines below that offset.
func Example_outbox() {
	node, properties := startNode(kafkatest.Topic("events", 1), kafkatest.Topic("outbox-progress", 1))
	defer node.Stop()
	ctx := context.Background()
	db := &table{}
	for _, order := range []string{"apples", "pears", "plums"} {
		db.insert(order)
	}

	// The first relay dies after it has sent two of three lines; the second does all.
	errDied := errors.New("the power is gone")
	first, err := startRelay(ctx, properties)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(first.run(ctx, db, func(sent int) error {
		if sent == 2 {
			return errDied
		}
		return nil
	}))
	second, err := startRelay(ctx, properties)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(second.run(ctx, db, func(int) error { return nil }))
	db.insert("quinces")
	fmt.Println(second.run(ctx, db, func(int) error { return nil }))

	// The first comes back to life, and can't go on with what it had begun.
	err = first.producer.CommitTransaction(ctx)
	if client.IsAbortable(err) { // a partition refused a record; the coordinator knows why
		err = first.producer.AbortTransaction(ctx)
	}
	fmt.Println(client.IsFatal(err), errors.Is(err, client.ErrProducerFenced))
	first.close()
	second.close()
	for _, event := range read(ctx, properties, "events", 4) {
		fmt.Println(event)
	}
	// Output:
	// the power is gone
	// <nil>
	// <nil>
	// true true
	// created apples
	// created pears
	// created plums
	// created quinces
}

// relay carries lines of the outbox to the topic.
type relay struct {
	producer *client.Producer
	admin    *client.Admin
	progress client.TopicPartition // the offset of the group here is the number of the last line
	group    client.GroupMetadata
	done     int64
}

func startRelay(ctx context.Context, properties client.Properties) (*relay, error) {
	producer, err := client.NewProducer(and(properties, "transactional.id", "outbox-relay"))
	if err != nil {
		return nil, err
	}
	admin, err := client.NewAdmin(properties)
	if err != nil {
		return nil, err
	}
	r := &relay{producer: producer, admin: admin, progress: client.TopicPartition{Topic: "outbox-progress"},
		group: client.GroupMetadata{GroupID: "outbox-relay", GenerationID: -1}}
	// First the relay before is fenced, and what it left is ended; then its progress
	// can't change any more.
	if err := producer.InitTransactions(ctx); err != nil {
		return nil, err
	}
	offsets, err := admin.ListConsumerGroupOffsets(ctx, r.group.GroupID)
	if err != nil {
		return nil, err
	}
	r.done = offsets[r.progress].Offset
	return r, nil
}

// run carries what is new. After each line it asks whether to go on, for the sake of the
// example.
func (r *relay) run(ctx context.Context, db *table, goOn func(sent int) error) error {
	lines := db.after(r.done)
	if len(lines) == 0 {
		return nil
	}
	if err := r.producer.BeginTransaction(); err != nil {
		return err
	}
	for i, line := range lines {
		r.producer.Send(ctx, client.ProducerRecord{Topic: "events", Key: []byte(strconv.FormatInt(line.number, 10)), Value: []byte(line.payload)}, nil)
		if err := goOn(i + 1); err != nil {
			return err // died: nobody aborts
		}
	}
	last := lines[len(lines)-1].number
	if err := r.producer.SendOffsetsToTransaction(ctx, client.Offsets{r.progress: client.At(last)}, r.group); err != nil {
		return err
	}
	if err := r.producer.CommitTransaction(ctx); err != nil {
		return err
	}
	r.done = last
	return nil
}

func (r *relay) close() {
	r.producer.Close()
	r.admin.Close()
}
