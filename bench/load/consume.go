package load

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Consume reads partitions from their start, each on a connection of its own with
// one Fetch at a time.
type Consume struct {
	Address     string
	Topic       Topic
	Connections int
	FetchBytes  int   // partition.max.bytes of each Fetch
	Bytes       int64 // in all; partitions are read again and again
	End         int64 // offset at which a partition is begun anew
}

// Run runs the load to its end. Result.Requests counts fetches.
func (l Consume) Run() (Result, error) {
	consumers := make([]*consumer, l.Connections)
	for i := range consumers {
		c, err := net.DialTimeout("tcp", l.Address, patience)
		if err != nil {
			return Result{}, err
		}
		defer c.Close()
		consumers[i] = newConsumer(c, l, int32(i)%l.Topic.Partitions)
	}
	began := time.Now()
	errs := make([]error, len(consumers))
	var all sync.WaitGroup
	for i, c := range consumers {
		all.Go(func() { errs[i] = c.run(l.Bytes/int64(l.Connections), l.End) })
	}
	all.Wait()
	result := Result{Wall: time.Since(began)}
	for _, c := range consumers {
		result.Requests += c.fetches
		result.Bytes += c.bytes
		result.Records += c.records
		result.Latencies = append(result.Latencies, c.latencies...)
	}
	return result, errors.Join(errs...)
}

// consumer is one connection with a fetch session of one partition.
type consumer struct {
	c         net.Conn
	req       *kmsg.FetchRequest
	partition *kmsg.FetchRequestTopicPartition // inside req
	frame     []byte
	answer    []byte

	fetches, bytes, records int64
	latencies               Latencies
}

func newConsumer(c net.Conn, l Consume, partition int32) *consumer {
	req := kmsg.NewPtrFetchRequest()
	req.SetVersion(17)
	req.MaxWaitMillis, req.MinBytes, req.MaxBytes = 500, 1, 50<<20
	t := kmsg.NewFetchRequestTopic()
	t.TopicID = l.Topic.ID
	p := kmsg.NewFetchRequestTopicPartition()
	p.Partition, p.PartitionMaxBytes = partition, int32(l.FetchBytes)
	p.CurrentLeaderEpoch = -1
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	return &consumer{c: c, req: req, partition: &req.Topics[0].Partitions[0], answer: make([]byte, 0, l.FetchBytes+4096)}
}

// run reads until it has so many bytes; at offset end it starts over.
func (c *consumer) run(bytes, end int64) error {
	if err := c.c.SetDeadline(time.Now().Add(2*patience + time.Duration(bytes>>20)*50*time.Millisecond)); err != nil {
		return err
	}
	for c.bytes < bytes {
		if c.partition.FetchOffset >= end {
			c.partition.FetchOffset = 0
		}
		c.frame = formatter.AppendRequest(c.frame[:0], c.req, correlationID)
		began := time.Now()
		if _, err := c.c.Write(c.frame); err != nil {
			return err
		}
		if err := c.receive(); err != nil {
			return err
		}
		c.latencies = append(c.latencies, time.Since(began))
		batches, err := c.parse()
		if err != nil {
			return err
		}
		if err := c.advance(batches); err != nil {
			return err
		}
		c.req.SessionEpoch++
		c.fetches++
	}
	return nil
}

// receive reads one answer; length and beginning come with the same read.
func (c *consumer) receive() error {
	c.answer = c.answer[:0]
	for {
		if frame, rest, ok := cutFrame(c.answer); ok {
			if len(rest) > 0 {
				return fmt.Errorf("%d bytes behind the answer to fetch %d", len(rest), c.fetches)
			}
			c.answer = frame
			return nil
		}
		if len(c.answer) == cap(c.answer) {
			return fmt.Errorf("an answer of more than %d bytes", cap(c.answer))
		}
		n, err := c.c.Read(c.answer[len(c.answer):cap(c.answer)])
		c.answer = c.answer[:len(c.answer)+n]
		if err != nil {
			return fmt.Errorf("after %d fetches: %w", c.fetches, err)
		}
	}
}

// parse returns the batches of an answer with one partition. Its fields: length 4,
// correlation id 4, tags 1, throttle 4, error 2, session 4, topics; topic id 16,
// partitions; index 4, error 2, high watermark 8, last stable offset 8, log start
// 8, aborted, preferred replica 4, records.
func (c *consumer) parse() ([]byte, error) {
	const errorAt, sessionAt, topicsAt = 13, 15, 19
	b := c.answer
	if len(b) < topicsAt+1+16+1+38 {
		return nil, fmt.Errorf("fetch %d: an answer of %d bytes, without the partition", c.fetches, len(b))
	}
	if code := int16(binary.BigEndian.Uint16(b[errorAt:])); code != 0 {
		return nil, fmt.Errorf("fetch %d: error code %d", c.fetches, code)
	}
	c.req.SessionID = int32(binary.BigEndian.Uint32(b[sessionAt:]))
	if b[topicsAt] != 2 || b[topicsAt+17] != 2 {
		return nil, fmt.Errorf("fetch %d: not one topic with one partition", c.fetches)
	}
	b = b[topicsAt+18:]
	if code := int16(binary.BigEndian.Uint16(b[4:])); code != 0 {
		return nil, fmt.Errorf("fetch %d: partition's error code %d", c.fetches, code)
	}
	b = b[30:]
	if b[0] > 1 {
		return nil, fmt.Errorf("fetch %d: aborted transactions where none are asked for", c.fetches)
	}
	b = b[5:]
	size, n := binary.Uvarint(b)
	if n <= 0 || size == 0 || int(size-1) > len(b)-n {
		return nil, fmt.Errorf("fetch %d: records of %d bytes in %d", c.fetches, size, len(b))
	}
	return b[n : n+int(size-1)], nil
}

// advance moves the offset behind the last whole batch.
func (c *consumer) advance(b []byte) error {
	whole := 0
	for len(b) >= batchHeader {
		n := 12 + int(binary.BigEndian.Uint32(b[8:]))
		if n > len(b) {
			break
		}
		next := int64(binary.BigEndian.Uint64(b)) + int64(binary.BigEndian.Uint32(b[23:])) + 1
		if next <= c.partition.FetchOffset {
			return fmt.Errorf("fetch at offset %d: a batch that ends before %d", c.partition.FetchOffset, next)
		}
		c.records += next - c.partition.FetchOffset
		c.partition.FetchOffset = next
		c.bytes += int64(n)
		whole++
		b = b[n:]
	}
	if whole == 0 {
		return errors.Join(fmt.Errorf("fetch at offset %d: no whole batch in %d bytes", c.partition.FetchOffset, len(b)), io.ErrUnexpectedEOF)
	}
	return nil
}
