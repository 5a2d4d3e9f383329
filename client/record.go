package client

import (
	"cmp"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Record is a record that was read (ConsumerRecord): Topic, Partition, Offset, Key,
// Value, Headers, Timestamp, LeaderEpoch, and Attrs, whose TimestampType is 0 for
// CreateTime and 1 for LogAppendTime. A nil Value is a tombstone. It is the engine's
// own record, so reading costs no copy; its bytes stay valid as long as they are held.
type Record = kgo.Record

// Header is a header of a record.
type Header = kgo.RecordHeader

// ProducerRecord is a record to write.
type ProducerRecord struct {
	Topic string
	// Partition is where to write it; nil leaves the choice to the partitioner. A
	// partition that doesn't exist is waited for, for max.block.ms.
	Partition *int32
	// Key chooses the partition, as in the Java client: murmur2 of its bytes, modulo
	// the number of partitions. Without a key (nil, which is not the empty key) records
	// stick to one partition for about batch.size bytes.
	Key     []byte
	Value   []byte // nil is a tombstone
	Headers []Header
	// Timestamp is in milliseconds at the broker; zero is now.
	Timestamp time.Time
}

// RecordMetadata says where a record was written.
type RecordMetadata struct {
	TopicPartition
	// Offset is -1 with acks=0: nobody told.
	Offset int64
	// Timestamp is the one that was sent. With message.timestamp.type=LogAppendTime the
	// broker writes its own, which readers see.
	Timestamp time.Time
}

// TopicPartition names a partition.
type TopicPartition struct {
	Topic     string
	Partition int32
}

// String is as Kafka writes it: topic-partition.
func (p TopicPartition) String() string { return p.Topic + "-" + strconv.Itoa(int(p.Partition)) }

func compareTopicPartitions(a, b TopicPartition) int {
	return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
}

// OffsetAndMetadata is a committed offset: the one to read next.
type OffsetAndMetadata struct {
	Offset int64
	// LeaderEpoch is that of the last record before Offset; nil is not known.
	LeaderEpoch *int32
	// Metadata is a text of the application, at most offset.metadata.max.bytes long.
	Metadata string
}

// Offsets are committed offsets, or offsets to commit.
type Offsets map[TopicPartition]OffsetAndMetadata

// At is an OffsetAndMetadata without a leader epoch and without metadata.
func At(offset int64) OffsetAndMetadata { return OffsetAndMetadata{Offset: offset} }

// OffsetAndTimestamp is the answer to the question which record is the first of a time.
type OffsetAndTimestamp struct {
	Offset      int64
	Timestamp   time.Time
	LeaderEpoch *int32
}

// PartitionInfo is a partition as metadata has it.
type PartitionInfo struct {
	TopicPartition
	Leader   int32 // -1 when there is none
	Replicas []int32
	InSync   []int32
	Offline  []int32
}

func byTopic(partitions []TopicPartition) map[string][]int32 {
	m := make(map[string][]int32)
	for _, p := range partitions {
		m[p.Topic] = append(m[p.Topic], p.Partition)
	}
	return m
}

// epochOf is nil for what is not known.
func epochOf(epoch int32) *int32 {
	if epoch < 0 {
		return nil
	}
	return &epoch
}

func epochOrUnknown(epoch *int32) int32 {
	if epoch == nil {
		return -1
	}
	return *epoch
}
