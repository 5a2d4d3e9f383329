package record

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"barnabas/internal/kafka"
)

// What can be wrong with the bytes of a log or of a request. Every error of
// this package wraps one of them.
var (
	// ErrShort says that the bytes end before the entry does. At the end of a
	// file it is a torn tail, in a Fetch answer the partial last batch.
	ErrShort = errors.New("record: bytes end inside a batch")
	// ErrBadLength says that the length field cannot be true.
	ErrBadLength = errors.New("record: impossible batch length")
	// ErrBadMagic says that the entry is of no format that is known here.
	ErrBadMagic = errors.New("record: unknown magic")
	// ErrBadCRC says that the checksum does not fit the bytes.
	ErrBadCRC = errors.New("record: checksum mismatch")
	// ErrCorrupt says that the records section does not hold what the header
	// promises.
	ErrCorrupt = errors.New("record: malformed records")
	// ErrBadCodec says that the attributes name a compression codec that does
	// not exist.
	ErrBadCodec = errors.New("record: unknown compression codec")
	// ErrTooLarge says that a compressed record is larger than the reader
	// wants to see; nothing beyond the limit has been unpacked.
	ErrTooLarge = errors.New("record: decompressed record too large")
)

// Sizes and magics of the entries of a log.
const (
	// LogOverhead is the size of base offset and length, which no length counts.
	LogOverhead = 12
	// HeaderSize is the size of the header of a v2 batch.
	HeaderSize = 61
	// MinHeaderSize is what ParseHeader needs to know the size of any entry.
	MinHeaderSize = 17

	// MagicV2 is the one format that is written; 0 and 1 are only read.
	MagicV2 = 2
)

// Offsets of the header fields in a v2 batch.
const (
	posBaseOffset      = 0
	posLength          = 8
	posLeaderEpoch     = 12
	posMagic           = 16
	posCRC             = 17
	posAttributes      = 21
	posLastOffsetDelta = 23
	posBaseTimestamp   = 27
	posMaxTimestamp    = 35
	posProducerID      = 43
	posProducerEpoch   = 51
	posBaseSequence    = 53
	posCount           = 57
)

// NoSequence is the base sequence of a batch whose producer is not idempotent,
// and of control batches.
const NoSequence int32 = -1

// castagnoli is CRC-32C, the checksum of v2 batches.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// TimestampType says who set the timestamps of a batch.
type TimestampType int8

// The timestamp types, by their bit in the attributes.
const (
	CreateTime    TimestampType = 0
	LogAppendTime TimestampType = 1
)

// String is the name that Apache's tools print.
func (t TimestampType) String() string {
	if t == LogAppendTime {
		return "LogAppendTime"
	}
	return "CreateTime"
}

// Attributes are the flag bits of a batch.
type Attributes int16

const (
	codecMask          Attributes = 0x07
	logAppendTimeFlag  Attributes = 0x08
	transactionalFlag  Attributes = 0x10
	controlFlag        Attributes = 0x20
	deleteHorizonFlag  Attributes = 0x40
	knownAttributeBits            = codecMask | logAppendTimeFlag | transactionalFlag | controlFlag | deleteHorizonFlag
)

// Codec is the compression of the records section. It may name none that exists.
func (a Attributes) Codec() Codec { return Codec(a & codecMask) }

// TimestampType says who set the timestamps.
func (a Attributes) TimestampType() TimestampType {
	if a&logAppendTimeFlag != 0 {
		return LogAppendTime
	}
	return CreateTime
}

// IsTransactional says whether the batch belongs to a transaction.
func (a Attributes) IsTransactional() bool { return a&transactionalFlag != 0 }

// IsControl says whether the batch holds control records instead of data.
func (a Attributes) IsControl() bool { return a&controlFlag != 0 }

// HasDeleteHorizon says whether the base timestamp is a delete horizon.
func (a Attributes) HasDeleteHorizon() bool { return a&deleteHorizonFlag != 0 }

// Header is what the first HeaderSize bytes of an entry say. For entries of
// magic 0 and 1, which have far smaller headers, it holds what those know:
// BaseOffset and the last offset are the entry's own offset (which is the last
// one inside a compressed wrapper), producer fields are "none", Count is -1,
// and the leader epoch is unknown.
type Header struct {
	BaseOffset      kafka.Offset
	Size            int // of the whole entry, LogOverhead included
	LeaderEpoch     kafka.LeaderEpoch
	Magic           int8
	CRC             uint32
	Attributes      Attributes
	LastOffsetDelta int32
	BaseTimestamp   kafka.TimestampMs
	MaxTimestamp    kafka.TimestampMs
	ProducerID      kafka.ProducerID
	ProducerEpoch   kafka.ProducerEpoch
	BaseSequence    int32
	Count           int32
}

// ParseHeader reads the header of the entry at the start of b. It looks at the
// header alone: the rest of the entry need not be there (Header.Size says how
// long it is). ErrShort means that b must be longer: HeaderSize always suffices.
func ParseHeader(b []byte) (Header, error) {
	size, magic, err := entrySize(b)
	if err != nil {
		return Header{}, err
	}
	if magic < MagicV2 {
		return parseLegacyHeader(b, size, magic)
	}
	if len(b) < HeaderSize {
		return Header{}, ErrShort
	}
	return Batch(b).header(size), nil
}

// entrySize reads the fields that all formats share. What is impossible is
// reported before what is missing, so that a torn tail and a corrupt one are
// told apart as early as possible.
func entrySize(b []byte) (size int, magic int8, err error) {
	if len(b) < LogOverhead {
		return 0, 0, ErrShort
	}
	length := int32(binary.BigEndian.Uint32(b[posLength:]))
	if length < minLegacyLength {
		return 0, 0, fmt.Errorf("%w: %d bytes are less than the minimum of %d", ErrBadLength, length, minLegacyLength)
	}
	if len(b) < MinHeaderSize {
		return 0, 0, ErrShort
	}
	magic = int8(b[posMagic])
	if magic < 0 || magic > MagicV2 {
		return 0, 0, fmt.Errorf("%w: %d", ErrBadMagic, magic)
	}
	size = LogOverhead + int(length)
	if magic == MagicV2 && size < HeaderSize {
		return 0, 0, fmt.Errorf("%w: %d bytes are less than the header of %d", ErrBadLength, size, HeaderSize)
	}
	return size, magic, nil
}

// LastOffset is the offset of the last record that the producer sent.
func (h Header) LastOffset() kafka.Offset { return h.BaseOffset + kafka.Offset(h.LastOffsetDelta) }

// NextOffset is the first offset after the entry.
func (h Header) NextOffset() kafka.Offset { return h.LastOffset() + 1 }

// HasProducer says whether the batch comes from an idempotent producer.
func (h Header) HasProducer() bool { return h.ProducerID > kafka.NoProducerID }

// LastSequence is the sequence of the last record, or NoSequence.
func (h Header) LastSequence() int32 { return lastSequence(h.BaseSequence, h.LastOffsetDelta) }

// DeleteHorizon is when tombstones and abort markers of the batch may go; ok is
// false when none is set.
func (h Header) DeleteHorizon() (at kafka.TimestampMs, ok bool) {
	return h.BaseTimestamp, h.Attributes.HasDeleteHorizon()
}

func lastSequence(base, delta int32) int32 {
	if base == NoSequence {
		return NoSequence
	}
	return AddSequence(base, delta)
}

// AddSequence adds to a sequence number: after 2147483647 comes 0.
func AddSequence(sequence, n int32) int32 { return (sequence + n) & 0x7fffffff }
