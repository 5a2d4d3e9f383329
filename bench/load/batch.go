package load

import (
	"encoding/binary"
	"hash/crc32"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

const batchHeader = 61

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// encodeBatch is the largest batch of at most size bytes whose records have
// values of recordBytes, no keys and the time of now.
func encodeBatch(size, recordBytes int) (batch []byte, records int) {
	value := make([]byte, recordBytes)
	for i := range value {
		value[i] = 'A' + byte(i*7%26)
	}
	b := make([]byte, batchHeader, max(size, batchHeader))
	for {
		record := []byte{0, 0} // attributes, timestamp delta
		record = binary.AppendVarint(record, int64(records))
		record = binary.AppendVarint(record, -1)
		record = binary.AppendVarint(record, int64(recordBytes))
		record = append(record, value...)
		record = binary.AppendVarint(record, 0)
		length := binary.AppendVarint(nil, int64(len(record)))
		if records > 0 && len(b)+len(length)+len(record) > size {
			break
		}
		b = append(append(b, length...), record...)
		records++
	}
	now := uint64(time.Now().UnixMilli())
	binary.BigEndian.PutUint32(b[8:], uint32(len(b)-12))
	b[16] = 2 // magic
	binary.BigEndian.PutUint32(b[23:], uint32(records-1))
	binary.BigEndian.PutUint64(b[27:], now)
	binary.BigEndian.PutUint64(b[35:], now)
	for i := 43; i < 57; i++ { // no producer id, epoch, sequence
		b[i] = 0xff
	}
	binary.BigEndian.PutUint32(b[57:], uint32(records))
	binary.BigEndian.PutUint32(b[17:], crc32.Checksum(b[21:], castagnoli))
	return b, records
}

// produceFrame is a whole Produce request of one batch, its length first.
func produceFrame(topic Topic, partition int32, acks int16, batch []byte) []byte {
	req := kmsg.NewPtrProduceRequest()
	req.SetVersion(13)
	req.Acks, req.TimeoutMillis = acks, 30_000
	t := kmsg.NewProduceRequestTopic()
	t.TopicID = topic.ID
	p := kmsg.NewProduceRequestTopicPartition()
	p.Partition, p.Records = partition, batch
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	return formatter.AppendRequest(nil, req, correlationID)
}

// produceErrorAt is where the partition's error code stands in the answer to
// produceFrame, length included: length 4, correlation id 4, tags 1, topics 1,
// topic id 16, partitions 1, index 4.
const produceErrorAt = 31
