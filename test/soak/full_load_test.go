package soak

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// Topics and groups beside soakTopics.
const (
	probeTopic = "soak-probe" // what the test itself writes
	trimTopic  = "soak-trim"  // whose records are deleted
	fullGroup  = "soak-readers"
)

// fullBook is what the writers were promised. A record names its writer and number.
type fullBook struct {
	mu      sync.Mutex
	acked   map[string]place // guarded by mu
	written int64            // bytes that were sent; guarded by mu
	limit   int64            // of written; guarded by mu
	errs    []error          // what must not happen; guarded by mu
}

func newFullBook() *fullBook { return &fullBook{acked: map[string]place{}} }

// recordName is the writer and number at the start of a record.
func recordName(value []byte) string {
	name, _, _ := bytes.Cut(value, []byte(" "))
	return string(name)
}

func (b *fullBook) acknowledged(r *kgo.Record) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.acked[recordName(r.Value)] = place{r.Topic, r.Partition, r.Offset}
}

func (b *fullBook) len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.acked)
}

// allow lets the writers write more.
func (b *fullBook) allow(bytes int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.limit = b.written + bytes
}

// take asks to write some bytes.
func (b *fullBook) take(bytes int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.written+bytes > b.limit {
		return false
	}
	b.written += bytes
	return true
}

func (b *fullBook) wrong(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.errs = append(b.errs, err)
}

func (b *fullBook) err() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return errors.Join(b.errs[:min(5, len(b.errs))]...)
}

// fullLoad is all that goes on beside the test: writers, readers, committers, and
// somebody who makes and deletes topics.
type fullLoad struct {
	cancel  context.CancelFunc
	clients []*kgo.Client
	done    sync.WaitGroup

	mu    sync.Mutex
	turns map[string]int // what each worker has got through; guarded by mu
}

func (l *fullLoad) turn(who string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turns[who]++
}

// took says which workers have got through nothing since the turns before.
func (l *fullLoad) stuck(before map[string]int) (out []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for who, n := range l.turns {
		if n <= before[who] {
			out = append(out, who)
		}
	}
	slices.Sort(out)
	return out
}

func (l *fullLoad) now() map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := map[string]int{}
	for who, n := range l.turns {
		out[who] = n
	}
	return out
}

const fullReaders = 2

func (f *fullTest) setUp() {
	f.t.Helper()
	if err := createTopics(f.node.Address(), nil); err != nil {
		f.t.Fatal(err)
	}
	ctx, cancel := f.context()
	defer cancel()
	admin := f.admin()
	defer admin.Close()
	resp, err := admin.CreateTopics(ctx, 1, 1, map[string]*string{"retention.bytes": ptr("3000000")}, probeTopic, trimTopic)
	if err == nil {
		err = resp.Error()
	}
	if err != nil {
		f.t.Fatal(err)
	}
	f.book.allow(fullRound / 2)
}

func (f *fullTest) context() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), time.Minute)
}

func (f *fullTest) client(more ...kgo.Opt) *kgo.Client {
	f.t.Helper()
	cl, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(f.node.Address())}, more...)...)
	if err != nil {
		f.t.Fatal(err)
	}
	return cl
}

func (f *fullTest) admin() *kadm.Client {
	f.t.Helper()
	a := kadm.NewClient(f.client())
	a.SetTimeoutMillis(2000)
	return a
}

func (f *fullTest) startLoad() {
	f.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	l := &fullLoad{cancel: cancel, turns: map[string]int{}}
	f.load = l
	worker := func(who string, cl *kgo.Client, do func(context.Context, string, *kgo.Client)) {
		l.turns[who] = 0
		l.clients = append(l.clients, cl)
		l.done.Go(func() { do(ctx, who, cl) })
	}
	for i, codec := range codecs {
		worker(fmt.Sprint("writer", i), f.client(kgo.ProducerBatchCompression(codec), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.RequiredAcks(kgo.AllISRAcks())), f.write)
	}
	for i := range fullReaders {
		worker(fmt.Sprint("reader", i), f.client(kgo.ConsumerGroup(fullGroup), kgo.ConsumeTopics(soakTopics...), kgo.DisableAutoCommit(),
			kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchMaxWait(200*time.Millisecond)), f.read)
	}
	worker("committer", f.client(), f.commit)
	worker("admin", f.client(), f.churn)
	worker("watcher", f.client(), f.watch)
}

func (f *fullTest) stopLoad() {
	f.t.Helper()
	f.load.cancel()
	for _, cl := range f.load.clients {
		cl.CloseAllowingRebalance()
	}
	f.load.done.Wait()
	if err := f.book.err(); err != nil {
		f.t.Fatal(err)
	}
}

// write sends small groups of records, each with its number, until ctx ends. It is
// idempotent and tries forever: no error may reach it.
func (f *fullTest) write(ctx context.Context, who string, cl *kgo.Client) {
	for number := 0; ctx.Err() == nil; {
		var group []*kgo.Record
		size := int64(0)
		for i := range 1 + number%13 {
			value := fmt.Appendf(nil, "%s/%d ", who, number)
			value = append(value, strings.Repeat("x", number*7919%3000)...)
			group = append(group, &kgo.Record{Topic: soakTopics[number%len(soakTopics)], Partition: int32((number + i) % soakPartitions), Value: value})
			size += int64(len(value))
			number++
		}
		for !f.book.take(size) {
			select {
			case <-ctx.Done():
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
		for _, result := range cl.ProduceSync(ctx, group...) {
			if result.Err == nil {
				f.book.acknowledged(result.Record)
			} else if ctx.Err() == nil {
				f.book.wrong(fmt.Errorf("%s: %w", who, result.Err))
			}
		}
		f.load.turn(who)
	}
}

// read consumes as a member of a group and commits what it has read. A commit may
// fail for want of space; its turn is one that did not.
func (f *fullTest) read(ctx context.Context, who string, cl *kgo.Client) {
	for ctx.Err() == nil {
		fetches := cl.PollFetches(ctx)
		fetches.EachError(func(topic string, partition int32, err error) {
			if ctx.Err() == nil && !errors.Is(err, context.Canceled) && !kerr.IsRetriable(err) {
				f.book.wrong(fmt.Errorf("%s: %s-%d: %w", who, topic, partition, err))
			}
		})
		short, cancel := context.WithTimeout(ctx, 2*time.Second)
		if cl.CommitUncommittedOffsets(short) == nil {
			f.load.turn(who)
		}
		cancel()
	}
}

// commit commits one offset after another.
func (f *fullTest) commit(ctx context.Context, who string, _ *kgo.Client) {
	cl, err := newGroupClient(f.node.Address())
	if err != nil {
		f.book.wrong(err)
		return
	}
	defer cl.Close()
	for ctx.Err() == nil {
		offset := f.commits.next(who)
		err := commitOffset(ctx, cl, who, offset)
		if err == nil {
			f.commits.acknowledged(who, offset)
			f.load.turn(who)
		} else if ctx.Err() == nil && !kerr.IsRetriable(err) {
			f.book.wrong(fmt.Errorf("commit: %w", err))
		}
		pause(ctx, 5*time.Millisecond)
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// churn makes, looks at and deletes topics. What fails must be worth another try.
func (f *fullTest) churn(ctx context.Context, who string, cl *kgo.Client) {
	admin := kadm.NewClient(cl)
	admin.SetTimeoutMillis(1000)
	for n := 0; ctx.Err() == nil; n++ {
		topic := fmt.Sprint("soak-churn-", n)
		err := f.makeAndDelete(ctx, admin, topic)
		if err == nil {
			f.load.turn(who)
		} else if ctx.Err() == nil && !kerr.IsRetriable(err) && !errors.Is(err, kerr.RequestTimedOut) {
			f.book.wrong(fmt.Errorf("%s: %w", topic, err))
		}
		pause(ctx, 50*time.Millisecond)
	}
}

func (f *fullTest) makeAndDelete(ctx context.Context, admin *kadm.Client, topic string) error {
	made, err := admin.CreateTopics(ctx, 2, 1, nil, topic)
	if err == nil {
		err = made.Error()
	}
	if err != nil {
		return err
	}
	if _, err := admin.DescribeTopicConfigs(ctx, topic); err != nil {
		return err
	}
	gone, err := admin.DeleteTopics(ctx, topic)
	if err == nil {
		err = gone.Error()
	}
	return err
}

// watch looks at the offsets of the readers' group, which never go back.
func (f *fullTest) watch(ctx context.Context, who string, cl *kgo.Client) {
	admin, seen := kadm.NewClient(cl), map[string]int64{}
	for ctx.Err() == nil {
		offsets, err := admin.FetchOffsets(ctx, fullGroup)
		if err == nil {
			err = offsets.Error()
		}
		if err != nil && ctx.Err() == nil && !kerr.IsRetriable(err) {
			f.book.wrong(fmt.Errorf("offsets of %s: %w", fullGroup, err))
		}
		offsets.Each(func(o kadm.OffsetResponse) {
			key := fmt.Sprint(o.Topic, "-", o.Partition)
			if o.At < seen[key] {
				f.book.wrong(fmt.Errorf("the committed offset of %s went back from %d to %d", key, seen[key], o.At))
			}
			seen[key] = o.At
		})
		if err == nil {
			f.load.turn(who)
		}
		pause(ctx, 20*time.Millisecond)
	}
}

// probeBatch is a batch of one large record, which a full disk has no room for.
func probeBatch() []byte {
	value := bytes.Repeat([]byte("p"), 64<<10)
	body := binary.AppendVarint([]byte{0, 0, 0, 1}, int64(len(value))) // attributes, time and offset deltas, no key
	body = append(append(body, value...), 0)
	record := append(binary.AppendVarint(nil, int64(len(body))), body...)
	b := kmsg.RecordBatch{
		PartitionLeaderEpoch: -1, Magic: 2, FirstTimestamp: time.Now().UnixMilli(), MaxTimestamp: time.Now().UnixMilli(),
		ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1, NumRecords: 1, Records: record,
	}
	b.Length = int32(49 + len(record))
	raw := b.AppendTo(nil)
	binary.BigEndian.PutUint32(raw[17:], crc32.Checksum(raw[21:], crc32.MakeTable(crc32.Castagnoli)))
	return raw
}

// probe sends one batch and gives the error of its answer.
func (f *fullTest) probe() error {
	f.t.Helper()
	ctx, cancel := f.context()
	defer cancel()
	versions := kversion.Stable()
	versions.SetMaxKeyVersion(int16(kmsg.Produce), 12) // the last that names topics
	cl := f.client(kgo.MaxVersions(versions))
	defer cl.Close()
	req := kmsg.NewPtrProduceRequest()
	req.Acks, req.TimeoutMillis = -1, 5000
	p := kmsg.NewProduceRequestTopicPartition()
	p.Records = probeBatch()
	req.Topics = []kmsg.ProduceRequestTopic{{Topic: probeTopic, Partitions: []kmsg.ProduceRequestTopicPartition{p}}}
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		f.t.Fatalf("a produce request gets no answer: %v", err)
	}
	return kerr.ErrorForCode(resp.Topics[0].Partitions[0].ErrorCode)
}
