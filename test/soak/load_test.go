package soak

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// place is where a record was acknowledged.
type place struct {
	topic     string
	partition int32
	offset    int64
}

// ledger remembers the acknowledged records by the hash of their value.
type ledger struct {
	mu     sync.Mutex
	acked  map[place][8]byte // guarded by mu
	closed bool              // guarded by mu
}

func newLedger() *ledger { return &ledger{acked: map[place][8]byte{}} }

func hash(value []byte) [8]byte {
	sum := sha256.Sum256(value)
	return [8]byte(sum[:8])
}

func (l *ledger) acknowledged(r *kgo.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.acked[place{r.Topic, r.Partition, r.Offset}] = hash(r.Value)
	}
}

// close ends the taking down of acknowledgements until open. The power is cut
// behind it: an answer after the cut comes from a machine that is off.
func (l *ledger) close() { l.setClosed(true) }

func (l *ledger) open() { l.setClosed(false) }

func (l *ledger) setClosed(closed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = closed
}

func (l *ledger) len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.acked)
}

// soakTopics are what the writers write to.
var soakTopics = []string{"soak-a", "soak-b"}

const soakPartitions = 3

func createTopics(bootstrap string, configs map[string]*string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cl, err := kgo.NewClient(kgo.SeedBrokers(bootstrap))
	if err != nil {
		return err
	}
	defer cl.Close()
	resp, err := kadm.NewClient(cl).CreateTopics(ctx, soakPartitions, 1, configs, soakTopics...)
	if err != nil {
		return err
	}
	return resp.Error()
}

// load is a set of writers, each with a codec of its own.
type load struct {
	cancel  context.CancelFunc
	clients []*kgo.Client
	done    sync.WaitGroup
}

var codecs = []kgo.CompressionCodec{kgo.NoCompression(), kgo.Lz4Compression(), kgo.ZstdCompression(), kgo.SnappyCompression()}

// startLoad starts writers that write until stop, or until the server is gone.
func startLoad(bootstrap string, l *ledger, seed uint64) (*load, error) {
	ctx, cancel := context.WithCancel(context.Background())
	ld := &load{cancel: cancel}
	for i, codec := range codecs {
		options := []kgo.Opt{kgo.SeedBrokers(bootstrap), kgo.ProducerBatchCompression(codec), kgo.RecordPartitioner(kgo.ManualPartitioner()),
			kgo.RequiredAcks(kgo.AllISRAcks())}
		if i%2 == 1 {
			options = append(options, kgo.DisableIdempotentWrite())
		}
		cl, err := kgo.NewClient(options...)
		if err != nil {
			cancel()
			return nil, err
		}
		ld.clients = append(ld.clients, cl)
		ld.done.Go(func() {
			write(ctx, cl, l, rand.New(rand.NewPCG(seed, uint64(i))))
		})
	}
	return ld, nil
}

// write sends small groups of records, one group at a time.
func write(ctx context.Context, cl *kgo.Client, l *ledger, rng *rand.Rand) {
	for ctx.Err() == nil {
		var group []*kgo.Record
		for range 1 + rng.IntN(40) {
			value := make([]byte, 8+rng.IntN(2000))
			binary.BigEndian.PutUint64(value, rng.Uint64())
			group = append(group, &kgo.Record{Topic: soakTopics[rng.IntN(len(soakTopics))], Partition: int32(rng.IntN(soakPartitions)), Value: value})
		}
		for _, result := range cl.ProduceSync(ctx, group...) {
			if result.Err == nil {
				l.acknowledged(result.Record)
			}
		}
	}
}

// stop ends the writers. Closing a client is what ends a send to a server that is
// gone: an idempotent record on its way is not given up otherwise.
func (ld *load) stop() {
	ld.cancel()
	for _, cl := range ld.clients {
		cl.Close()
	}
	ld.done.Wait()
}

// missing reads all partitions and returns what is wrong with the acknowledged
// records, a few examples at most.
func (l *ledger) missing(bootstrap string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	found, err := readAll(ctx, bootstrap)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var wrong []error
	for p, want := range l.acked {
		if got, ok := found[p]; !ok || got != want {
			wrong = append(wrong, fmt.Errorf("acknowledged record at %v: found %v, same value %v", p, ok, got == want))
		}
	}
	if len(wrong) > 5 {
		wrong = append(wrong[:5], fmt.Errorf("and %d more of %d", len(wrong)-5, len(l.acked)))
	}
	return errors.Join(wrong...)
}

func readAll(ctx context.Context, bootstrap string) (map[place][8]byte, error) {
	records, err := readRecords(ctx, bootstrap)
	found := map[place][8]byte{}
	for p, value := range records {
		found[p] = hash(value)
	}
	return found, err
}

// readRecords reads all partitions of soakTopics to their ends.
func readRecords(ctx context.Context, bootstrap string) (map[place][]byte, error) {
	starts := map[string]map[int32]kgo.Offset{}
	for _, topic := range soakTopics {
		starts[topic] = map[int32]kgo.Offset{}
		for p := range int32(soakPartitions) {
			starts[topic][p] = kgo.NewOffset().AtStart()
		}
	}
	cl, err := kgo.NewClient(kgo.SeedBrokers(bootstrap), kgo.ConsumePartitions(starts))
	if err != nil {
		return nil, err
	}
	defer cl.Close()
	ends, err := kadm.NewClient(cl).ListEndOffsets(ctx, soakTopics...)
	if err != nil {
		return nil, err
	}
	left := 0
	for _, partitions := range ends {
		for _, e := range partitions {
			if e.Err != nil {
				return nil, e.Err
			}
			if e.Offset > 0 {
				left++
			}
		}
	}
	found := map[place][]byte{}
	for left > 0 {
		fetches := cl.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			return nil, fmt.Errorf("%d partitions are not read to their ends: %w", left, err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			found[place{r.Topic, r.Partition, r.Offset}] = r.Value
			if e, _ := ends.Lookup(r.Topic, r.Partition); r.Offset == e.Offset-1 {
				left--
			}
		})
	}
	return found, nil
}
