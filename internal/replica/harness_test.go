package replica

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/internal/base/vfs"
	"barnabas/internal/base/wheel"
	"barnabas/internal/config"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/image"
	"barnabas/internal/metadata/metarec"
	"barnabas/internal/record"
	"barnabas/internal/replica/purgatory"
)

// node is a Manager with all that it needs around it.
type node struct {
	t      testing.TB
	m      *Manager
	disks  map[string]vfs.FS
	dirIDs map[string]kafka.UUID
	config *config.Broker
	img    *image.Image
	logs   *lockedBuffer
	wheel  *wheel.Wheel
	stop   chan struct{}
	wheels sync.WaitGroup
	// enlist answers for the transaction coordinator; nil: it knows no transaction.
	enlist func(Enlistment, func([]kafka.ErrorCode))
	// flushed is told of syncs, if not nil.
	flushed func(time.Duration)

	mu       sync.Mutex
	assigned []string // guarded by mu
	failed   []kafka.UUID
	fatal    error
	alters   []*kmsg.AlterPartitionRequest
	answer   func(*kmsg.AlterPartitionRequest) (*kmsg.AlterPartitionResponse, error)
}

// Enlist implements Transactions.
func (n *node) Enlist(e Enlistment, answer func([]kafka.ErrorCode)) {
	if n.enlist != nil {
		n.enlist(e, answer)
		return
	}
	answer(allCodes(e, kafka.ErrInvalidTxnState))
}

func allCodes(e Enlistment, code kafka.ErrorCode) []kafka.ErrorCode {
	codes := make([]kafka.ErrorCode, len(e.Partitions))
	for i := range codes {
		codes[i] = code
	}
	return codes
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

const self kafka.BrokerID = 1

func topicID(name string) kafka.UUID {
	id := kafka.UUID{15: 1}
	copy(id[:], name)
	return id
}

// newNode makes a node on the given disks, by directory name.
func newNode(t testing.TB, disks map[string]vfs.FS, overrides ...string) *node {
	t.Helper()
	c, _, err := config.Load(config.Options{Environ: []string{"HOME=/home"}, Overrides: append([]string{"log.dirs=/data"}, overrides...)})
	if err != nil {
		t.Fatal(err)
	}
	n := &node{t: t, disks: disks, config: c, img: image.Empty(), dirIDs: map[string]kafka.UUID{}, logs: &lockedBuffer{}}
	return n
}

func oneDisk() map[string]vfs.FS { return map[string]vfs.FS{"/data": vfs.NewMem(nil)} }

// open opens the Manager; it does not apply anything yet.
func (n *node) open() error {
	n.wheel = wheel.New(time.Millisecond, time.Now())
	n.stop = make(chan struct{})
	n.wheels.Go(func() { n.wheel.Run(time.Now, n.stop) })
	o := Options{
		ID: self, Config: n.config, Files: vfs.NewCache(100, nil), Wheel: n.wheel, Now: time.Now,
		Random: rand.NewChaCha8([32]byte{1}), Log: slog.New(slog.NewTextHandler(n.logs, nil)),
		Controller: n, BrokerEpoch: func() kafka.BrokerEpoch { return 77 }, Membership: n, Transactions: n,
		Fatal:   func(err error) { n.mu.Lock(); n.fatal = err; n.mu.Unlock() },
		Flushed: n.flushed,
	}
	o.Random = &lockedReader{r: o.Random}
	for _, path := range strings.Split("/data,/data2,/data3", ",") {
		fsys, ok := n.disks[path]
		if !ok {
			continue
		}
		if err := errors.Join(fsys.MkdirAll(path), fsys.SyncDir("/")); err != nil {
			n.t.Fatal(err)
		}
		n.dirIDs[path] = kafka.UUID{0: 0xd, 6: 0x40, 15: byte(len(o.Dirs))}
		o.Dirs = append(o.Dirs, DirOptions{Path: path, ID: n.dirIDs[path], FS: fsys})
	}
	var err error
	if n.m, err = Open(o); err != nil {
		close(n.stop)
		n.wheels.Wait()
	}
	return err
}

type lockedReader struct {
	mu sync.Mutex
	r  io.Reader
}

func (r *lockedReader) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.r.Read(p)
}

// start opens the Manager and applies the image that the node has.
func (n *node) start() *node {
	n.t.Helper()
	if err := n.open(); err != nil {
		n.t.Fatal(err)
	}
	n.m.Apply(image.Diff(image.Empty(), n.img))
	select {
	case <-n.m.Recovered():
	case <-time.After(30 * time.Second):
		n.t.Fatal("not recovered after 30 s")
	}
	return n
}

func (n *node) close() {
	n.m.Close(5)
	close(n.stop)
	n.wheels.Wait()
}

// AlterPartition implements Controller.
func (n *node) AlterPartition(q *kmsg.AlterPartitionRequest, done func(*kmsg.AlterPartitionResponse, error)) {
	n.mu.Lock()
	n.alters = append(n.alters, q)
	answer := n.answer
	n.mu.Unlock()
	if answer == nil {
		return
	}
	done(answer(q))
}

// asked gives the AlterPartition requests so far.
func (n *node) asked() []*kmsg.AlterPartitionRequest {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.alters)
}

// AssignDirectory and DirectoryFailed implement Membership.
func (n *node) AssignDirectory(topic kafka.UUID, partition int32, dir kafka.UUID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.assigned = append(n.assigned, fmt.Sprintf("%s-%d %d", bytes.TrimRight(topic[:15], "\x00"), partition, dir[15]))
}

func (n *node) DirectoryFailed(dir kafka.UUID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.failed = append(n.failed, dir)
}

// replay changes the image and, if the node runs, applies the change.
func (n *node) replay(records ...metarec.Message) {
	n.t.Helper()
	b := image.NewBuilder(n.img)
	for _, r := range records {
		if err := b.Replay(r); err != nil {
			n.t.Fatal(err)
		}
	}
	img, delta := b.Build(image.Position{Offset: n.img.Position.Offset + 1})
	n.img = img
	if n.m != nil {
		n.m.Apply(delta)
	}
}

func topicRecords(name string, partitions int, more ...string) []metarec.Message {
	t := metarec.NewTopicRecord()
	t.Name, t.TopicID = name, topicID(name)
	out := []metarec.Message{t}
	for i := range partitions {
		p := metarec.NewPartitionRecord()
		p.PartitionID, p.TopicID = int32(i), t.TopicID
		p.Replicas, p.Isr, p.Leader, p.LeaderEpoch = []kafka.BrokerID{self}, []kafka.BrokerID{self}, self, 0
		p.Directories = []kafka.UUID{kafka.DirectoryUnassigned}
		out = append(out, p)
	}
	for _, kv := range more {
		key, value, _ := strings.Cut(kv, "=")
		c := metarec.NewConfigRecord()
		c.ResourceType, c.ResourceName, c.Name, c.Value = int8(image.TopicResource), name, key, &value
		out = append(out, c)
	}
	return out
}

// create makes a topic that this node leads alone, with configuration.
func (n *node) create(name string, partitions int, more ...string) {
	n.t.Helper()
	n.replay(topicRecords(name, partitions, more...)...)
}

func (n *node) remove(name string) {
	n.t.Helper()
	r := metarec.NewRemoveTopicRecord()
	r.TopicID = topicID(name)
	n.replay(r)
}

// bump raises the leader epoch of a partition, with a leader.
func (n *node) lead(name string, partition int32, leader kafka.BrokerID) {
	n.t.Helper()
	r := metarec.NewPartitionChangeRecord()
	r.TopicID, r.PartitionID, r.Leader = topicID(name), partition, leader
	n.replay(r)
}

// batch builds a batch of n records of 10 bytes; producer may be nil.
func batch(n int, producer *record.Producer) []byte {
	b := record.NewBuilder(record.BatchOptions{Producer: producer})
	for i := range n {
		b.Append(record.Record{Offset: kafka.Offset(i), Timestamp: time.Now().UnixMilli(), Value: fmt.Appendf(nil, "value-%04d", i)})
	}
	out, err := b.Build()
	if err != nil {
		panic(err)
	}
	return out
}

// produced is a Produce request and what became of it.
type produced struct {
	Produce
	placed, answered atomic.Int32
	done             chan struct{}
}

func (p *produced) Placed(*Produce) {
	if p.answered.Load() > 0 {
		panic("placed after the answer")
	}
	p.placed.Add(1)
}

func (p *produced) Answered(*Produce) {
	p.answered.Add(1)
	close(p.done) // panics if it is the second time
}

// put is one batch for one partition.
type put struct {
	topic     string
	partition int32
	records   []byte
}

func newProduce(acks int16, timeout time.Duration, puts ...put) *produced {
	p := &produced{Produce: Produce{Version: 12, Acks: acks, Timeout: timeout}, done: make(chan struct{})}
	p.Caller = p
	for _, x := range puts {
		out := kmsg.NewProduceResponseTopicPartition()
		out.Partition = x.partition
		p.Appends = append(p.Appends, Append{Topic: x.topic, Records: x.records, Out: &out})
	}
	return p
}

// produce sends one request and waits for its answer.
func (n *node) produce(acks int16, puts ...put) *produced {
	n.t.Helper()
	p := newProduce(acks, 30*time.Second, puts...)
	n.m.Produce([]*Produce{&p.Produce})
	p.wait(n.t)
	return p
}

func (p *produced) wait(t testing.TB) {
	t.Helper()
	select {
	case <-p.done:
	case <-time.After(60 * time.Second):
		t.Fatal("a produce request was not answered")
	}
}

func (p *produced) code(i int) kafka.ErrorCode { return kafka.ErrorCode(p.Appends[i].Out.ErrorCode) }

// must fails the test unless the request was answered without an error at this
// base offset.
func (p *produced) must(t testing.TB, base int64) {
	t.Helper()
	if out := p.Appends[0].Out; out.ErrorCode != 0 || out.BaseOffset != base {
		t.Fatalf("produce: %v at %d, want offset %d", p.code(0), out.BaseOffset, base)
	}
}

// fetched is a Fetch request and its answer.
type fetched struct {
	Fetch
	deny   map[string]bool
	done   chan struct{}
	answer *FetchAnswer
}

func (f *fetched) MayRead(_ *Fetch, topic string) bool { return !f.deny[topic] }

func (f *fetched) Fetched(_ *Fetch, a *FetchAnswer) {
	f.answer = a
	close(f.done)
}

// from is a partition to fetch.
type from struct {
	topic     string
	partition int32
	offset    int64
}

// fetchOptions are what a Fetch may say; zero values are sensible.
type fetchOptions struct {
	version          int16 // 17
	wait             time.Duration
	minBytes         int32 // 1
	maxBytes         int32 // 1 MiB
	partitionBytes   int32 // 1 MiB
	committed        bool
	id, epoch        int32
	forget           []from
	leaderEpoch      int32 // 0: not checked
	lastFetchedEpoch int32 // 0: not checked; else one more than the epoch
}

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

func newFetch(o fetchOptions, parts ...from) *fetched {
	q := kmsg.NewPtrFetchRequest()
	q.Version = or(o.version, 17)
	q.MaxWaitMillis, q.MinBytes, q.MaxBytes = int32(o.wait.Milliseconds()), or(o.minBytes, 1), or(o.maxBytes, 1<<20)
	q.SessionID, q.SessionEpoch = o.id, o.epoch
	if o.committed {
		q.IsolationLevel = 1
	}
	for _, p := range parts {
		part := kmsg.NewFetchRequestTopicPartition()
		part.Partition, part.FetchOffset, part.PartitionMaxBytes = p.partition, p.offset, or(o.partitionBytes, 1<<20)
		part.CurrentLeaderEpoch = or(o.leaderEpoch, -1)
		part.LastFetchedEpoch = o.lastFetchedEpoch - 1
		q.Topics = append(q.Topics, kmsg.FetchRequestTopic{Topic: p.topic, TopicID: topicID(p.topic), Partitions: []kmsg.FetchRequestTopicPartition{part}})
	}
	for _, p := range o.forget {
		q.ForgottenTopics = append(q.ForgottenTopics, kmsg.FetchRequestForgottenTopic{Topic: p.topic, TopicID: topicID(p.topic), Partitions: []int32{p.partition}})
	}
	f := &fetched{done: make(chan struct{})}
	f.Request, f.Caller = q, f
	return f
}

// fetch sends a request and waits for its answer.
func (n *node) fetch(o fetchOptions, parts ...from) *fetched {
	n.t.Helper()
	f := newFetch(o, parts...)
	n.m.Fetch(&f.Fetch)
	f.wait(n.t)
	return f
}

func (f *fetched) wait(t testing.TB) {
	t.Helper()
	select {
	case <-f.done:
	case <-time.After(60 * time.Second):
		t.Fatal("a fetch request was not answered")
	}
}

// show is an answer as text: error, high watermark, and the records' offsets.
func (f *fetched) show() string {
	var out []string
	if f.answer.Response.ErrorCode != 0 {
		out = append(out, kafka.ErrorCode(f.answer.Response.ErrorCode).String())
	}
	i := 0
	for _, t := range f.answer.Response.Topics {
		for _, p := range t.Partitions {
			s := f.answer.Records[i]
			i++
			text := fmt.Sprintf("%s-%d", or(t.Topic, "?"), p.Partition)
			if p.ErrorCode != 0 {
				text += " " + kafka.ErrorCode(p.ErrorCode).String()
			} else {
				text += fmt.Sprintf(" hw=%d", p.HighWatermark)
			}
			if p.LastStableOffset != p.HighWatermark {
				text += fmt.Sprintf(" lso=%d", p.LastStableOffset)
			}
			if p.DivergingEpoch.Epoch >= 0 {
				text += fmt.Sprintf(" diverging=%d@%d", p.DivergingEpoch.Epoch, p.DivergingEpoch.EndOffset)
			}
			for _, a := range p.AbortedTransactions {
				text += fmt.Sprintf(" aborted=%d@%d", a.ProducerID, a.FirstOffset)
			}
			if s.Length > 0 {
				text += " " + offsetsIn(s.File, s.Position, s.Length)
			}
			out = append(out, text)
		}
	}
	f.answer.Release()
	return strings.Join(out, "; ")
}

func offsetsIn(file *vfs.Shared, at, n int64) string {
	raw := make([]byte, n)
	if _, err := file.ReadAt(raw, at); err != nil {
		return err.Error()
	}
	var out []string
	for len(raw) > 0 {
		b, rest, err := record.Next(raw)
		if err != nil {
			out = append(out, fmt.Sprintf("+%d", len(raw)))
			break
		}
		out = append(out, fmt.Sprintf("%d..%d", b.BaseOffset(), b.LastOffset()))
		raw = rest
	}
	return "[" + strings.Join(out, " ") + "]"
}

func (n *node) listOffset(topic string, timestamp int64) string {
	q := kmsg.NewListOffsetsRequestTopicPartition()
	q.Timestamp, q.CurrentLeaderEpoch = timestamp, -1
	a := n.m.ListOffsets(topic, kafka.NoBroker, kafka.ReadUncommitted, &q)
	return fmt.Sprintf("%v %d epoch %d", kafka.ErrorCode(a.ErrorCode), a.Offset, a.LeaderEpoch)
}

type (
	kmsgAlter   = kmsg.AlterPartitionRequest
	kmsgAltered = kmsg.AlterPartitionResponse
)

// alteredAs answers each proposal as the controller does when it takes it, or
// refuses each with a code.
func alteredAs(q *kmsgAlter, code kafka.ErrorCode) *kmsgAltered {
	a := kmsg.NewPtrAlterPartitionResponse()
	for _, t := range q.Topics {
		out := kmsg.AlterPartitionResponseTopic{TopidID: t.TopicID}
		for _, p := range t.Partitions {
			x := kmsg.NewAlterPartitionResponseTopicPartition()
			x.Partition, x.ErrorCode, x.LeaderEpoch, x.PartitionEpoch = p.Partition, int16(code), p.LeaderEpoch, p.PartitionEpoch+1
			x.LeaderRecoveryState = p.LeaderRecoveryState
			for _, m := range p.NewEpochISR {
				x.ISR = append(x.ISR, m.BrokerID)
			}
			out.Partitions = append(out.Partitions, x)
		}
		a.Topics = append(a.Topics, out)
	}
	return a
}

type purgatoryWoken = purgatory.Woken

func newEpochRequest(current, epoch int32) kmsg.OffsetForLeaderEpochRequestTopicPartition {
	q := kmsg.NewOffsetForLeaderEpochRequestTopicPartition()
	q.CurrentLeaderEpoch, q.LeaderEpoch = current, epoch
	return q
}

// configDynamic is one dynamic configuration of all brokers.
func configDynamic(key, value string) config.Dynamic {
	return config.Dynamic{Default: map[string]string{key: value}}
}
