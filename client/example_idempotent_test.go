package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"

	"barnabas/client"
	"barnabas/kafkatest"
)

// ledger is the outside world of this example, a file: balances, and which payments are
// in them. Both change in one step, the renaming.
type ledger struct {
	path     string
	Balances map[string]int
	Applied  map[string]bool // by the payment's own id
}

func openLedger(path string) (*ledger, error) {
	l := &ledger{path: path, Balances: map[string]int{}, Applied: map[string]bool{}}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return nil, err
	}
	return l, json.Unmarshal(data, l)
}

// apply books a payment once, however often it comes.
func (l *ledger) apply(p payment) error {
	if l.Applied[p.ID] {
		return nil
	}
	l.Balances[p.Account] += p.Amount
	l.Applied[p.ID] = true
	data, err := json.Marshal(l)
	if err != nil {
		return err
	}
	if err := os.WriteFile(l.path+".new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(l.path+".new", l.path)
}

type payment struct {
	ID      string
	Account string
	Amount  int
}

// A world that knows nothing of Kafka's transactions is kept right by the business's own
// key: a record that comes twice, because a consumer died between its work and its
// commit, or because its sender sent it twice, changes nothing the second time. The
// offset is committed after the work, never before.
func Example_idempotentConsumption() {
	node, properties := startNode(kafkatest.Topic("payments", 1))
	defer node.Stop()
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "ledger")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	fill(ctx, properties, "payments", `{"ID":"p1","Account":"ann","Amount":10}`, `{"ID":"p2","Account":"bob","Amount":5}`,
		`{"ID":"p1","Account":"ann","Amount":10}`, `{"ID":"p3","Account":"ann","Amount":1}`)

	// The first consumer dies after its work, before its commit.
	for _, dies := range []bool{true, false} {
		books, err := openLedger(filepath.Join(dir, "ledger.json"))
		if err != nil {
			log.Fatal(err)
		}
		seen, err := book(ctx, and(properties, "group.id", "books", "auto.offset.reset", "earliest", "enable.auto.commit", "false"), books, 4, dies)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("seen", seen, "balances", books.Balances)
	}
	// Output:
	// seen 4 balances map[ann:11 bob:5]
	// seen 4 balances map[ann:11 bob:5]
}

// book applies n records.
func book(ctx context.Context, properties client.Properties, books *ledger, n int, dies bool) (seen int, err error) {
	consumer, err := client.NewConsumer(properties)
	if err != nil {
		return 0, err
	}
	defer consumer.Close()
	if err := consumer.Subscribe([]string{"payments"}, client.RebalanceListener{}); err != nil {
		return 0, err
	}
	for seen < n {
		records, err := consumer.Poll(ctx)
		if err != nil {
			return seen, err
		}
		for record := range records.All() {
			var p payment
			if err := json.Unmarshal(record.Value, &p); err != nil {
				return seen, err
			}
			if err := books.apply(p); err != nil {
				return seen, err
			}
			seen++
		}
		if dies {
			continue
		}
		if err := consumer.CommitSync(ctx, nil); err != nil {
			return seen, err
		}
	}
	return seen, nil
}
