package oracle

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Record is a record of a hand-made batch.
type Record struct {
	Key, Value []byte
	Timestamp  int64 // added to the batch's
	Headers    []kmsg.Header
}

// Batch describes a batch to be produced. It is written by this package, not by
// the product's own code, so that a mistake there cannot hide itself.
type Batch struct {
	Records    []Record
	Timestamp  int64 // of the first record; Kafka's base timestamp
	Idempotent bool  // ProducerID, Epoch and Sequence are set
	ProducerID int64
	Epoch      int16
	Sequence   int32
	// Attributes has the codec in its lowest bits; the records are compressed by
	// it.
	Attributes int16
	// Body, if set, is written in the place of Records, which still count.
	Body []byte
	// Payload, if set, is written in the place of the compressed records.
	Payload []byte
	// Mutate, if set, changes the bytes; the CRC is computed before it.
	Mutate func([]byte)
	// MutateBeforeCRC, if set, changes the bytes before the CRC is computed.
	MutateBeforeCRC func([]byte)
}

// filled makes n records with values of the given size.
func filled(n, size int) []Record {
	var out []Record
	for i := range n {
		out = append(out, Record{Key: fmt.Appendf(nil, "k%d", i), Value: []byte(strings.Repeat("x", size)), Timestamp: int64(i)})
	}
	return out
}

// encodeRecords is the records of a batch, not compressed, and the largest of
// their timestamps.
func encodeRecords(records []Record) (body []byte, maxTimestamp int64) {
	for i, r := range records {
		if i == 0 || r.Timestamp > maxTimestamp {
			maxTimestamp = r.Timestamp
		}
		body = append(body, encodeRecord(r, int64(i))...)
	}
	return body, maxTimestamp
}

// encodeRecord is one record with the given offset in its batch.
func encodeRecord(r Record, offset int64) []byte {
	rec := []byte{0}
	rec = binary.AppendVarint(rec, r.Timestamp)
	rec = binary.AppendVarint(rec, offset)
	rec = appendVarBytes(rec, r.Key)
	rec = appendVarBytes(rec, r.Value)
	rec = binary.AppendVarint(rec, int64(len(r.Headers)))
	for _, h := range r.Headers {
		rec = appendVarBytes(rec, []byte(h.Key))
		rec = appendVarBytes(rec, h.Value)
	}
	return append(binary.AppendVarint(nil, int64(len(rec))), rec...)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Bytes is the batch on the wire.
func (b Batch) Bytes() []byte {
	body, maxTimestamp := encodeRecords(b.Records)
	if b.Body != nil {
		body = b.Body
	}
	body = compress(b.Attributes&7, body)
	if b.Payload != nil {
		body = b.Payload
	}
	pid, epoch, sequence := int64(-1), int16(-1), int32(-1)
	if b.Idempotent {
		pid, epoch, sequence = b.ProducerID, b.Epoch, b.Sequence
	}
	out := make([]byte, batchHeader, batchHeader+len(body))
	binary.BigEndian.PutUint32(out[8:], uint32(batchHeader-12+len(body)))
	binary.BigEndian.PutUint32(out[12:], 0xffffffff)
	out[16] = 2
	binary.BigEndian.PutUint16(out[21:], uint16(b.Attributes))
	binary.BigEndian.PutUint32(out[23:], uint32(len(b.Records)-1))
	binary.BigEndian.PutUint64(out[27:], uint64(b.Timestamp))
	binary.BigEndian.PutUint64(out[35:], uint64(b.Timestamp+maxTimestamp))
	binary.BigEndian.PutUint64(out[43:], uint64(pid))
	binary.BigEndian.PutUint16(out[51:], uint16(epoch))
	binary.BigEndian.PutUint32(out[53:], uint32(sequence))
	binary.BigEndian.PutUint32(out[57:], uint32(len(b.Records)))
	out = append(out, body...)
	if b.MutateBeforeCRC != nil {
		b.MutateBeforeCRC(out)
	}
	binary.BigEndian.PutUint32(out[17:], crc32.Checksum(out[21:], castagnoli))
	if b.Mutate != nil {
		b.Mutate(out)
	}
	return out
}

func appendVarBytes(dst, b []byte) []byte {
	if b == nil {
		return binary.AppendVarint(dst, -1)
	}
	dst = binary.AppendVarint(dst, int64(len(b)))
	return append(dst, b...)
}

// produceRequest is a Produce of one record set to one partition by name.
func produceRequest(version int16, acks int16, topic string, partition int32, records []byte) *kmsg.ProduceRequest {
	r := At(version, kmsg.NewPtrProduceRequest())
	r.Acks, r.TimeoutMillis = acks, 10_000
	rt := kmsg.NewProduceRequestTopic()
	rt.Topic = topic
	rp := kmsg.NewProduceRequestTopicPartition()
	rp.Partition, rp.Records = partition, records
	rt.Partitions = append(rt.Partitions, rp)
	r.Topics = append(r.Topics, rt)
	return r
}

// produce writes a batch that must be accepted.
func produce(c *Conn, topic string, partition int32, b Batch) {
	resp := c.Ask(produceRequest(11, -1, topic, partition, b.Bytes())).(*kmsg.ProduceResponse)
	if len(resp.Topics) != 1 || resp.Topics[0].Partitions[0].ErrorCode != 0 {
		check(fmt.Errorf("produce to %s-%d: %+v", topic, partition, resp.Topics))
	}
}

// awaitLeader waits until every partition of a topic has a leader that answers,
// and the metadata says so.
func (c *Conn) awaitLeader(topic string, partitions int32) {
	deadline := time.Now().Add(30 * time.Second)
	for time.Now().Before(deadline) {
		if c.leads(topic, partitions) && c.known(topic, partitions) {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	check(errors.New("no leader for " + topic))
}

// known says whether the metadata has leaders for all partitions.
func (c *Conn) known(topic string, partitions int32) bool {
	r := metadata(9, topic)
	r.AllowAutoTopicCreation = false
	resp := c.Ask(r).(*kmsg.MetadataResponse)
	if len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != int(partitions) {
		return false
	}
	return !slices.ContainsFunc(resp.Topics[0].Partitions, func(p kmsg.MetadataResponseTopicPartition) bool { return p.ErrorCode != 0 })
}

// leads says whether the leaders of all partitions answer.
func (c *Conn) leads(topic string, partitions int32) bool {
	r := At(10, kmsg.NewPtrListOffsetsRequest())
	r.ReplicaID, r.TimeoutMillis = -1, 1000
	rt := kmsg.NewListOffsetsRequestTopic()
	rt.Topic = topic
	for p := range partitions {
		rp := kmsg.NewListOffsetsRequestTopicPartition()
		rp.Partition, rp.CurrentLeaderEpoch, rp.Timestamp = p, -1, -1
		rt.Partitions = append(rt.Partitions, rp)
	}
	r.Topics = append(r.Topics, rt)
	resp := c.Ask(r).(*kmsg.ListOffsetsResponse)
	if len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != int(partitions) {
		return false
	}
	for _, p := range resp.Topics[0].Partitions {
		if p.ErrorCode != 0 {
			return false
		}
	}
	return true
}
