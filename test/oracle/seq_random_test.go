package oracle

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

var walks = flag.Int("walks", 6, "how many random walks of each kind")

// randomSequences are walks: whatever comes to the dice, the same for both
// servers. No topic is compressed anew, since sizes would differ then.
func randomSequences() []sequence {
	var out []sequence
	for seed := range uint64(*walks) {
		out = append(out,
			sequence{fmt.Sprintf("random/walk-%d", seed), func(s *Session) { newWalk(s, seed).steps(250) }},
			sequence{fmt.Sprintf("random/topics-%d", seed), func(s *Session) { newTopicWalk(s, seed).steps(60) }})
	}
	return out
}

// walk is a walk on its way.
type walk struct {
	r         *rand.Rand
	c         *Conn
	topics    []topic
	ends      map[string]int64 // of partitions, as they were answered
	producers []*walkingProducer
	session   int32 // 0: none
	epoch     int32
	version   int16 // of the session
}

// walkingProducer is an idempotent producer; it uses one partition.
type walkingProducer struct {
	id    int64
	epoch int16
	next  int32
	where int
}

const walkPartitions = 2

func newWalk(s *Session, seed uint64) *walk {
	w := &walk{r: rand.New(rand.NewPCG(seed, 4711)), c: s.Conn("a"), ends: map[string]int64{}}
	configs := [][]string{
		{"segment.index.bytes", "60", "index.interval.bytes", "200"},
		{"compression.type", []string{"producer", "uncompressed"}[seed%2], "max.message.bytes", "3000"},
		{"message.timestamp.type", "LogAppendTime", "cleanup.policy", "compact,delete"},
	}
	for i, c := range configs {
		w.topics = append(w.topics, w.c.topic(fmt.Sprint("t", i), walkPartitions, c...))
	}
	for i := range 3 {
		w.producers = append(w.producers, &walkingProducer{id: w.c.producerID(), where: i})
	}
	return w
}

// steps takes n steps.
func (w *walk) steps(n int) {
	for range n {
		switch w.r.IntN(12) {
		case 0, 1, 2:
			w.produce()
		case 3, 4:
			w.produceIdempotent()
		case 5, 6:
			w.fetch()
		case 7, 8:
			w.fetchInSession()
		case 9, 10:
			w.lookUp()
		case 11:
			w.c.Send(describeProducers(w.topics[w.r.IntN(3)].name, 0, 1))
		}
	}
}

// place is a topic and partition.
func (w *walk) place() (topic, int32) {
	return w.topics[w.r.IntN(len(w.topics))], int32(w.r.IntN(walkPartitions))
}

func (w *walk) pick(values ...int64) int64 { return values[w.r.IntN(len(values))] }

// batch is any batch, mostly a good one.
func (w *walk) batch() Batch {
	b := Batch{Records: filled(1+w.r.IntN(6), w.r.IntN(400)), Timestamp: longAgo + w.r.Int64N(5000)}
	for i := range b.Records {
		b.Records[i].Timestamp = w.r.Int64N(200) - 50
	}
	b.Attributes = int16(w.pick(0, 0, 0, gzipCodec, snappyCodec, lz4Codec, zstdCodec))
	switch w.r.IntN(25) {
	case 0:
		b.Mutate = flipCRC
	case 1:
		return b.with(put32(atLastDelta, int32(w.r.IntN(5))))
	case 2:
		return b.with(put32(atCount, int32(w.r.IntN(5))))
	case 3:
		b.Mutate = put64(atBaseOffset, w.r.Int64N(5))
	case 4:
		b.Records[0].Key = nil
	case 5:
		b.Records[0].Value = make([]byte, 4000)
	case 6:
		b.Records[0].Headers = []kmsg.Header{{Key: "h"}, {Key: "", Value: []byte("v")}}
	}
	return b
}

func (w *walk) produce() {
	t, partition := w.place()
	w.send(t, partition, w.batch())
}

func (w *walk) send(t topic, partition int32, b Batch) *kmsg.ProduceResponse {
	version, acks := int16(7+w.r.IntN(7)), int16(w.pick(1, -1))
	resp := w.c.Send(produceTo(version, acks, t, partition, b.Bytes())).(*kmsg.ProduceResponse)
	if p := resp.Topics[0].Partitions[0]; p.ErrorCode == 0 {
		end := &w.ends
		at := fmt.Sprint(t.name, partition)
		(*end)[at] = max((*end)[at], p.BaseOffset+int64(len(b.Records)))
	}
	return resp
}

func (w *walk) produceIdempotent() {
	p := w.producers[w.r.IntN(len(w.producers))]
	b := Batch{Records: filled(1+w.r.IntN(4), 10), Timestamp: longAgo + w.r.Int64N(5000), Idempotent: true, ProducerID: p.id, Epoch: p.epoch, Sequence: p.next}
	switch w.r.IntN(10) {
	case 0:
		b.Sequence = max(0, p.next-int32(len(b.Records)))
	case 1:
		b.Sequence++
	case 2:
		b.Sequence = 0
	case 3:
		b.Epoch, b.Sequence = p.epoch+1, 0
	case 4:
		b.Epoch--
	}
	if b.Epoch < 0 {
		b.Epoch = 0
	}
	w.c.Say("producer %d epoch %d sequence %d", slices.Index(w.producers, p), b.Epoch, b.Sequence)
	resp := w.send(w.topics[p.where], 0, b)
	if a := resp.Topics[0].Partitions[0]; a.ErrorCode == 0 {
		if b.Epoch > p.epoch {
			p.epoch, p.next = b.Epoch, 0
		}
		p.next = max(p.next, b.Sequence+int32(len(b.Records)))
	}
}

// want is any part of a partition.
func (w *walk) want() want {
	t, partition := w.place()
	end := w.ends[fmt.Sprint(t.name, partition)]
	offset := w.r.Int64N(end + 2)
	if w.r.IntN(10) == 0 {
		offset = w.pick(-1, end, end+5)
	}
	p := at(t, partition, offset).limit(int32(w.pick(1, 100, 500, 2000, 1<<20, 1<<20)))
	if w.r.IntN(6) == 0 {
		p = p.epochs(int32(w.pick(-1, 0, 0, 1)), int32(w.pick(-1, 0, 0, 1)))
	}
	return p
}

func (w *walk) wants(n int) []want {
	var out []want
	seen := map[string]bool{}
	for range n {
		p := w.want()
		if name := fmt.Sprint(p.topic.name, p.Partition); !seen[name] {
			seen[name] = true
			out = append(out, p)
		}
	}
	return out
}

func (w *walk) fetch() {
	r := fetch(int16(4+w.r.IntN(15)), w.wants(1+w.r.IntN(4))...)
	r.MaxBytes = int32(w.pick(1, 700, 3000, 50<<20))
	r.IsolationLevel = int8(w.r.IntN(2))
	w.c.Send(r)
}

// fetchInSession begins a session, or goes on with the one that there is.
func (w *walk) fetchInSession() {
	if w.session == 0 {
		w.version = int16(w.pick(7, 12, 13, 18))
		w.epoch = 0
		w.session = w.c.Say("create").Send(inSession(fetch(w.version, w.wants(1+w.r.IntN(5))...), 0, 0)).(*kmsg.FetchResponse).SessionID
		return
	}
	w.epoch++
	r := inSession(fetch(w.version, w.wants(w.r.IntN(3))...), w.session, w.epoch)
	r.MaxBytes = int32(w.pick(1, 700, 3000, 50<<20))
	switch w.r.IntN(12) {
	case 0:
		t, partition := w.place()
		forget(r, t, partition)
	case 1:
		r.SessionEpoch = -1
		w.session = 0
	case 2:
		r.SessionEpoch++
		w.epoch--
	}
	if resp := w.c.Send(r).(*kmsg.FetchResponse); resp.SessionID == 0 && r.SessionEpoch == w.epoch {
		w.session = 0
	}
}

// lookUp asks where something is.
func (w *walk) lookUp() {
	t, partition := w.place()
	if w.r.IntN(4) == 0 {
		w.c.Send(offsetForLeaderEpoch(int16(2+w.r.IntN(3)), t.name, partition, int32(w.pick(-1, 0, 1)), int32(w.pick(-1, 0, 1, 5))))
		return
	}
	at := w.pick(-1, -2, -3, longAgo, longAgo+w.r.Int64N(5200), longAgo+w.r.Int64N(5200))
	if t == w.topics[2] && at == -3 {
		at = -1 // batches of one millisecond are a matter of luck
	}
	w.c.listOffsets(int16(1+w.r.IntN(11)), t, partition, at)
}

// topicWalk creates, enlarges, deletes and describes topics.
type topicWalk struct {
	r     *rand.Rand
	c     *Conn
	names []string
	ids   [][16]byte // of topics that are or were there
}

func newTopicWalk(s *Session, seed uint64) *topicWalk {
	w := &topicWalk{r: rand.New(rand.NewPCG(seed, 815)), c: s.Conn("a"), ids: [][16]byte{{1: 1}}}
	for _, name := range []string{"a.b", "a_b", "c", "d", "e"} {
		w.names = append(w.names, s.Topic(name))
	}
	return w
}

func (w *topicWalk) steps(n int) {
	for range n {
		switch w.r.IntN(8) {
		case 0, 1, 2:
			w.create()
		case 3:
			w.enlarge()
		case 4:
			w.delete()
		case 5:
			r := metadata(int16(4+w.r.IntN(10)), w.some()...)
			r.AllowAutoTopicCreation = false
			w.c.Send(r)
		case 6:
			r := describeTopicPartitions(int32(w.r.IntN(8)), w.names...)
			if w.r.IntN(2) == 0 {
				r.Cursor = cursor(w.name(), int32(w.r.IntN(4)))
			}
			w.c.Send(r)
		case 7:
			w.c.Send(describeConfigs(4, configResource(kmsg.ConfigResourceTypeTopic, w.name(), "retention.ms", "cleanup.policy", "segment.bytes")))
		}
	}
}

func (w *topicWalk) name() string { return w.names[w.r.IntN(len(w.names))] }

// some is a few names, maybe one twice.
func (w *topicWalk) some() []string {
	var out []string
	for range 1 + w.r.IntN(3) {
		out = append(out, w.name())
	}
	return out
}

func (w *topicWalk) create() {
	r := createTopics(int16(2 + w.r.IntN(6)))
	r.ValidateOnly = w.r.IntN(4) == 0
	for _, name := range w.some() {
		t := newTopic(name, []int32{1, 1, 2, 3, 0, -1}[w.r.IntN(6)], []int16{1, 1, 1, -1, 2}[w.r.IntN(5)])
		if w.r.IntN(3) == 0 {
			config := kmsg.NewCreateTopicsRequestTopicConfig()
			config.Name = []string{"retention.ms", "cleanup.policy", "segment.bytes", "nosuch"}[w.r.IntN(4)]
			config.Value = &[]string{"2000000", "compact", "x", ""}[w.r.IntN(4)]
			t.Configs = append(t.Configs, config)
		}
		r.Topics = append(r.Topics, t)
	}
	resp := w.c.Send(r).(*kmsg.CreateTopicsResponse)
	for _, t := range resp.Topics {
		if t.ErrorCode != 0 || r.ValidateOnly {
			continue
		}
		asked := r.Topics[slices.IndexFunc(r.Topics, func(q kmsg.CreateTopicsRequestTopic) bool { return q.Topic == t.Topic })]
		w.c.awaitLeader(t.Topic, max(1, asked.NumPartitions))
		id := w.c.Ask(metadata(12, t.Topic)).(*kmsg.MetadataResponse).Topics[0].TopicID
		w.c.s.out.uuid(reflect.ValueOf(id))
		w.ids = append(w.ids, id)
	}
}

func (w *topicWalk) enlarge() {
	r := createPartitions(int16(w.r.IntN(4)), w.name(), int32(w.r.IntN(5)))
	r.ValidateOnly = w.r.IntN(4) == 0
	if w.r.IntN(4) == 0 {
		r.Topics[0].Assignment = []kmsg.CreatePartitionsRequestTopicAssignment{{Replicas: []int32{1}}}
	}
	resp := w.c.Send(r).(*kmsg.CreatePartitionsResponse)
	if resp.Topics[0].ErrorCode == 0 && !r.ValidateOnly {
		w.c.awaitLeader(r.Topics[0].Topic, r.Topics[0].Count)
	}
}

func (w *topicWalk) delete() {
	r := deleteTopics(int16(1+w.r.IntN(6)), w.some()...)
	if w.r.IntN(2) == 0 && r.Version == 6 {
		r.Topics = append(r.Topics[:0], kmsg.DeleteTopicsRequestTopic{TopicID: w.ids[w.r.IntN(len(w.ids))]})
	}
	for _, t := range w.c.Send(r).(*kmsg.DeleteTopicsResponse).Topics {
		if t.ErrorCode == 0 {
			w.c.awaitGone(*t.Topic)
		}
	}
}
