package chaos

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"barnabas/test/kit"
)

// TestKafkaStreamsIsExactlyOnce runs two applications of Apache's Kafka Streams (see
// java/Words.java) under kills of the node. Then they are killed themselves, and begin
// again without the state that they had on disk. Each input makes one output, so the
// outputs are known exactly.
func TestKafkaStreamsIsExactlyOnce(t *testing.T) {
	t.Logf("seed %d", *seed)
	install, err := kit.InstallApache()
	if err != nil {
		t.Fatal(err)
	}
	node := newNode(t)
	s := newShop(t, node.Address(), rand.New(rand.NewPCG(*seed, 1)))
	ctx, done := context.WithTimeout(context.Background(), 15*time.Minute)
	defer done()
	start := func() *javaProgram {
		p := newJavaProgram(t, install.Program("256m", "java/Words.java", node.Address(), t.TempDir()))
		if err := p.start(func([]byte) error { return nil }); err != nil {
			t.Fatal(err)
		}
		return p
	}
	streams := start()
	for range *restarts {
		s.trade(ctx, 300)
		s.waitFor(ctx, 0.5)
		restart(t, node)
	}
	s.trade(ctx, 300)
	s.waitFor(ctx, 0.9)
	if err := streams.signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	streams = start()
	s.trade(ctx, 300)
	s.waitFor(ctx, 1)
	s.tradeUntilPurged(ctx)
	if err := streams.end(); err != nil {
		t.Fatal(err)
	}
	s.checkCounts(ctx)
	s.checkTotals(ctx)
	checkCleanup(t, ctx, s.adm, internalTopics)
}

// shop produces the inputs, and knows the outputs.
type shop struct {
	*testing.T
	address string
	cl      *kgo.Client
	adm     *kadm.Client
	rng     *rand.Rand

	trades int
	counts map[string]int         // of words
	totals map[string]tradedTotal // by shop and minute
}

type tradedTotal struct{ pairs, sum int }

func newShop(t *testing.T, address string, rng *rand.Rand) *shop {
	createTopics(t, address, 2, "lines", "orders", "payments", "counts", "totals")
	cl, err := kgo.NewClient(kgo.SeedBrokers(address))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return &shop{T: t, address: address, cl: cl, adm: kadm.NewClient(cl), rng: rng, counts: map[string]int{}, totals: map[string]tradedTotal{}}
}

// trade sends n lines, n orders and their payments, in any order.
func (s *shop) trade(ctx context.Context, n int) {
	s.Helper()
	morning := time.Now().Add(-2 * time.Hour).Truncate(time.Hour)
	var records []*kgo.Record
	add := func(topic, key, value string, at time.Time) {
		records = append(records, &kgo.Record{Topic: topic, Key: []byte(key), Value: []byte(value), Timestamp: at})
	}
	for range n {
		s.trades++
		var words []string
		for range 1 + s.rng.IntN(4) {
			word := fmt.Sprint("word", s.rng.IntN(50))
			words = append(words, word)
			s.counts[word]++
		}
		ordered := morning.Add(time.Duration(s.rng.IntN(600_000)) * time.Millisecond)
		paid := ordered.Add(time.Duration(s.rng.IntN(300_000)) * time.Millisecond)
		order, name, amount := fmt.Sprint("order", s.trades), fmt.Sprint("shop", s.rng.IntN(5)), 1+s.rng.IntN(100)
		add("lines", order, strings.Join(words, " "), ordered)
		add("orders", order, name, ordered)
		add("payments", order, strconv.Itoa(amount), paid)
		window := fmt.Sprintf("%s@%d", name, paid.Truncate(time.Minute).UnixMilli())
		total := s.totals[window]
		s.totals[window] = tradedTotal{total.pairs + 1, total.sum + amount}
	}
	s.rng.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
	if err := s.cl.ProduceSync(ctx, records...).FirstErr(); err != nil {
		s.Fatal(err)
	}
}

// waitFor waits until a part of all outputs is there, if not all are there, of both
// applications.
func (s *shop) waitFor(ctx context.Context, part float64) {
	s.Helper()
	words := 0
	for _, n := range s.counts {
		words += n
	}
	for topic, all := range map[string]int{"counts": words, "totals": s.trades} {
		least := int(part * float64(all))
		waitFor(s.T, ctx, fmt.Sprintf("%d records of %s", least, topic), func() bool { return s.committed(ctx, topic) >= least })
	}
}

// committed is how many records of committed transactions a topic has.
func (s *shop) committed(ctx context.Context, topic string) int {
	wait(ctx, 200*time.Millisecond) // reading them is work
	asking, done := context.WithTimeout(ctx, 10*time.Second)
	defer done()
	records, err := committedRecords(asking, s.adm, s.address, topic)
	if err != nil {
		return -1 // the node may be starting
	}
	return len(records)
}

// outputs are all records of a topic, whose transactions are over.
func (s *shop) outputs(ctx context.Context, topic string) []*kgo.Record {
	s.Helper()
	if _, err := stable(ctx, s.adm, topic); err != nil {
		s.Fatal(err)
	}
	records, err := committedRecords(ctx, s.adm, s.address, topic)
	if err != nil {
		s.Fatal(err)
	}
	return records
}

// checkCounts: each word was counted once for each time it came.
func (s *shop) checkCounts(ctx context.Context) {
	s.Helper()
	seen := map[string]int{}
	for _, r := range s.outputs(ctx, "counts") {
		word := string(r.Key)
		seen[word]++
		if got := string(r.Value); got != strconv.Itoa(seen[word]) {
			s.Errorf("counts-%d@%d: %s came %s times, want %d", r.Partition, r.Offset, word, got, seen[word])
			seen[word], _ = strconv.Atoi(got)
		}
	}
	for word, n := range s.counts {
		if seen[word] != n {
			s.Errorf("%s came %d times, want %d", word, seen[word], n)
		}
	}
	s.Logf("%d words", len(seen))
}

// checkTotals: each payment of an order was added to the total of its minute once.
func (s *shop) checkTotals(ctx context.Context) {
	s.Helper()
	seen := map[string]tradedTotal{}
	for _, r := range s.outputs(ctx, "totals") {
		sum, err := strconv.Atoi(string(r.Value))
		before := seen[string(r.Key)]
		if err != nil || sum <= before.sum {
			s.Errorf("totals-%d@%d: %s is %s after %d", r.Partition, r.Offset, r.Key, r.Value, before.sum)
		}
		seen[string(r.Key)] = tradedTotal{before.pairs + 1, sum}
	}
	for window, total := range s.totals {
		if seen[window] != total {
			s.Errorf("%s is %+v, want %+v", window, seen[window], total)
		}
	}
	if len(seen) != len(s.totals) {
		s.Errorf("there are %d totals, want %d", len(seen), len(s.totals))
	}
	s.Logf("%d totals of %d trades", len(seen), s.trades)
}

// internalTopics are those that Streams makes for itself, and how they are cleaned up.
var internalTopics = map[string]string{
	"words-by-word-repartition":             "delete",
	"words-by-shop-repartition":             "delete",
	"words-counts-changelog":                "compact",
	"words-totals-changelog":                "compact,delete",
	"words-paid-this-join-store-changelog":  "delete",
	"words-paid-other-join-store-changelog": "delete",
}

// checkCleanup looks at the cleanup.policy of topics.
func checkCleanup(t *testing.T, ctx context.Context, adm *kadm.Client, policies map[string]string) {
	t.Helper()
	configs, err := adm.DescribeTopicConfigs(ctx, slices.Collect(maps.Keys(policies))...)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range configs {
		got := fmt.Sprint("none: ", c.Err)
		for _, config := range c.Configs {
			if config.Key == "cleanup.policy" {
				got = config.MaybeValue()
			}
		}
		if want := policies[c.Name]; got != want {
			t.Errorf("cleanup.policy of %s is %s, want %s", c.Name, got, want)
		}
	}
}

// tradeUntilPurged trades until Streams has deleted what it has repartitioned. It does
// when it commits, from time to time.
func (s *shop) tradeUntilPurged(ctx context.Context) {
	s.Helper()
	waitFor(s.T, ctx, "records of repartitioning are deleted", func() bool {
		s.trade(ctx, 1)
		s.waitFor(ctx, 1)
		return s.purged(ctx, "words-by-word-repartition") && s.purged(ctx, "words-by-shop-repartition")
	})
}

func (s *shop) purged(ctx context.Context, topic string) bool {
	s.Helper()
	starts, err := s.adm.ListStartOffsets(ctx, topic)
	if err != nil {
		s.Fatal(err)
	}
	deleted := false
	starts.Each(func(o kadm.ListedOffset) { deleted = deleted || o.Offset > 0 })
	return deleted
}
