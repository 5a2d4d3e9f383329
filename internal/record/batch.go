package record

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"barnabas/internal/kafka"
)

// Batch is a view over the bytes of exactly one whole v2 batch. Next is where
// batches come from; its checks are what the accessors rely on. Setters write
// into the bytes.
type Batch []byte

// Next splits the first v2 batch off buf. Its length, its magic and the size of
// its header are checked, its checksum and its records are not. An empty buf
// gives ErrShort, as does one that ends inside a batch. Entries of magic 0 and 1
// are ErrBadMagic here: ParseHeader and Iterator read those.
func Next(buf []byte) (batch Batch, rest []byte, err error) {
	size, magic, err := entrySize(buf)
	if err != nil {
		return nil, buf, err
	}
	if magic != MagicV2 {
		return nil, buf, fmt.Errorf("%w: %d", ErrBadMagic, magic)
	}
	if size > len(buf) {
		return nil, buf, ErrShort
	}
	return Batch(buf[:size:size]), buf[size:], nil
}

func (b Batch) i64(pos int) int64 { return int64(binary.BigEndian.Uint64(b[pos:])) }
func (b Batch) i32(pos int) int32 { return int32(binary.BigEndian.Uint32(b[pos:])) }

// Header returns all header fields as a value.
func (b Batch) Header() Header { return b.header(LogOverhead + int(b.i32(posLength))) }

func (b Batch) header(size int) Header {
	_ = b[HeaderSize-1]
	return Header{
		BaseOffset:      b.BaseOffset(),
		Size:            size,
		LeaderEpoch:     b.LeaderEpoch(),
		Magic:           b.Magic(),
		CRC:             b.CRC(),
		Attributes:      b.Attributes(),
		LastOffsetDelta: b.LastOffsetDelta(),
		BaseTimestamp:   b.BaseTimestamp(),
		MaxTimestamp:    b.MaxTimestamp(),
		ProducerID:      b.ProducerID(),
		ProducerEpoch:   b.ProducerEpoch(),
		BaseSequence:    b.BaseSequence(),
		Count:           b.Count(),
	}
}

// BaseOffset is the offset of the first record that the producer sent.
func (b Batch) BaseOffset() kafka.Offset { return kafka.Offset(b.i64(posBaseOffset)) }

// LastOffset is the offset of the last record that the producer sent.
func (b Batch) LastOffset() kafka.Offset { return b.BaseOffset() + kafka.Offset(b.LastOffsetDelta()) }

// NextOffset is the first offset after the batch.
func (b Batch) NextOffset() kafka.Offset { return b.LastOffset() + 1 }

// Size is the number of bytes of the whole batch.
func (b Batch) Size() int { return len(b) }

// LeaderEpoch is the epoch of the leader that appended the batch.
func (b Batch) LeaderEpoch() kafka.LeaderEpoch { return kafka.LeaderEpoch(b.i32(posLeaderEpoch)) }

// Magic is the format, 2.
func (b Batch) Magic() int8 { return int8(b[posMagic]) }

// CRC is the checksum that the batch claims.
func (b Batch) CRC() uint32 { return binary.BigEndian.Uint32(b[posCRC:]) }

// Attributes are the flag bits.
func (b Batch) Attributes() Attributes {
	return Attributes(binary.BigEndian.Uint16(b[posAttributes:]))
}

// Codec is the compression of the records section.
func (b Batch) Codec() Codec { return b.Attributes().Codec() }

// TimestampType says who set the timestamps.
func (b Batch) TimestampType() TimestampType { return b.Attributes().TimestampType() }

// IsTransactional says whether the batch belongs to a transaction.
func (b Batch) IsTransactional() bool { return b.Attributes().IsTransactional() }

// IsControl says whether the batch holds control records instead of data.
func (b Batch) IsControl() bool { return b.Attributes().IsControl() }

// DeleteHorizon is when tombstones and abort markers of the batch may go; ok is
// false when none is set.
func (b Batch) DeleteHorizon() (at kafka.TimestampMs, ok bool) {
	return b.BaseTimestamp(), b.Attributes().HasDeleteHorizon()
}

// LastOffsetDelta is last offset minus base offset; compaction keeps it.
func (b Batch) LastOffsetDelta() int32 { return b.i32(posLastOffsetDelta) }

// BaseTimestamp is what the timestamp deltas of the records are added to. With a
// delete horizon it is that horizon.
func (b Batch) BaseTimestamp() kafka.TimestampMs { return b.i64(posBaseTimestamp) }

// MaxTimestamp is the largest timestamp of the records; with LogAppendTime it is
// the timestamp of every record.
func (b Batch) MaxTimestamp() kafka.TimestampMs { return b.i64(posMaxTimestamp) }

// ProducerID is the id of the idempotent producer, or kafka.NoProducerID.
func (b Batch) ProducerID() kafka.ProducerID { return kafka.ProducerID(b.i64(posProducerID)) }

// HasProducer says whether the batch comes from an idempotent producer.
func (b Batch) HasProducer() bool { return b.ProducerID() > kafka.NoProducerID }

// ProducerEpoch is the epoch of the idempotent producer, or kafka.NoProducerEpoch.
func (b Batch) ProducerEpoch() kafka.ProducerEpoch {
	return kafka.ProducerEpoch(binary.BigEndian.Uint16(b[posProducerEpoch:]))
}

// BaseSequence is the sequence of the first record, or NoSequence.
func (b Batch) BaseSequence() int32 { return b.i32(posBaseSequence) }

// LastSequence is the sequence of the last record that the producer sent, or
// NoSequence.
func (b Batch) LastSequence() int32 { return lastSequence(b.BaseSequence(), b.LastOffsetDelta()) }

// Count is the number of records that are in the batch. After compaction it may
// be smaller than the range of offsets, and even 0.
func (b Batch) Count() int32 { return b.i32(posCount) }

// Payload is the records section, compressed if the attributes say so.
func (b Batch) Payload() []byte { return b[HeaderSize:] }

// SetBaseOffset moves the batch to an offset. It lies outside the checksum.
func (b Batch) SetBaseOffset(o kafka.Offset) {
	binary.BigEndian.PutUint64(b[posBaseOffset:], uint64(o))
}

// SetLeaderEpoch names the leader that appends the batch. It lies outside the
// checksum.
func (b Batch) SetLeaderEpoch(e kafka.LeaderEpoch) {
	binary.BigEndian.PutUint32(b[posLeaderEpoch:], uint32(e))
}

// SetMaxTimestamp sets timestamp type and largest timestamp, and the checksum
// with them. A batch that has both already is left alone, so that a producer's
// own checksum travels on untouched wherever it can.
func (b Batch) SetMaxTimestamp(t TimestampType, max kafka.TimestampMs) {
	if b.TimestampType() == t && b.MaxTimestamp() == max {
		return
	}
	a := b.Attributes() & knownAttributeBits &^ logAppendTimeFlag
	if t == LogAppendTime {
		a |= logAppendTimeFlag
	}
	binary.BigEndian.PutUint16(b[posAttributes:], uint16(a))
	binary.BigEndian.PutUint64(b[posMaxTimestamp:], uint64(max))
	b.setCRC()
}

func (b Batch) setCRC() { binary.BigEndian.PutUint32(b[posCRC:], b.ComputeCRC()) }

// ComputeCRC is the checksum that the batch should claim.
func (b Batch) ComputeCRC() uint32 { return crc32.Checksum(b[posAttributes:], castagnoli) }

// CheckCRC returns ErrBadCRC when the bytes do not fit the checksum.
func (b Batch) CheckCRC() error {
	if stored, computed := b.CRC(), b.ComputeCRC(); stored != computed {
		return fmt.Errorf("%w: stored %d, computed %d", ErrBadCRC, stored, computed)
	}
	return nil
}
