package record

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"barnabas/internal/kafka"
)

// Entries of magic 0 and 1: one message each, or a wrapper whose value is a
// compressed set of them. They are read only, from folders that were written
// before Kafka 0.11. After offset and length come
//
//	crc u32 (IEEE) of all that follows it; magic i8; attributes i8;
//	timestamp i64 (magic 1); key length i32, key; value length i32, value
const (
	posLegacyCRC        = 12
	posLegacyAttributes = 17
	posLegacyTimestamp  = 18
	// minLegacyLength is the smallest length field of any format.
	minLegacyLength = 14
)

// message is a parsed legacy entry. Key and value alias it.
type message struct {
	offset     kafka.Offset
	magic      int8
	attributes Attributes
	timestamp  kafka.TimestampMs
	key, value []byte
}

func parseLegacyHeader(b []byte, size int, magic int8) (Header, error) {
	if len(b) < posLegacyTimestamp+8*int(magic) {
		return Header{}, ErrShort
	}
	h := Header{
		BaseOffset:    kafka.Offset(binary.BigEndian.Uint64(b)),
		Size:          size,
		LeaderEpoch:   kafka.NoLeaderEpoch,
		Magic:         magic,
		CRC:           binary.BigEndian.Uint32(b[posLegacyCRC:]),
		Attributes:    Attributes(b[posLegacyAttributes]) & (codecMask | logAppendTimeFlag),
		BaseTimestamp: kafka.NoTimestamp,
		MaxTimestamp:  kafka.NoTimestamp,
		ProducerID:    kafka.NoProducerID,
		ProducerEpoch: kafka.NoProducerEpoch,
		BaseSequence:  NoSequence,
		Count:         -1,
	}
	if magic == 1 {
		h.BaseTimestamp = int64(binary.BigEndian.Uint64(b[posLegacyTimestamp:]))
		h.MaxTimestamp = h.BaseTimestamp
	} else {
		h.Attributes &= codecMask
	}
	return h, nil
}

// parseMessage takes a whole legacy entry apart.
func parseMessage(b []byte) (m message, err error) {
	size, magic, err := entrySize(b)
	if err != nil {
		return m, err
	}
	if magic >= MagicV2 || size != len(b) {
		return m, fmt.Errorf("%w: magic %d among messages of magic 0 and 1", ErrBadMagic, magic)
	}
	h, err := parseLegacyHeader(b, size, magic)
	if err != nil {
		return m, errBody("message ends inside its header")
	}
	m = message{offset: h.BaseOffset, magic: magic, attributes: h.Attributes, timestamp: h.MaxTimestamp}
	rest := b[posLegacyTimestamp+8*int(magic):]
	if m.key, rest, err = cutLegacyField(rest); err != nil {
		return m, err
	}
	if m.value, rest, err = cutLegacyField(rest); err != nil {
		return m, err
	}
	if len(rest) > 0 {
		return m, errBody("message longer than its fields")
	}
	return m, nil
}

func cutLegacyField(b []byte) (field, rest []byte, err error) {
	if len(b) < 4 {
		return nil, nil, errBody("message ends inside a field")
	}
	size := int32(binary.BigEndian.Uint32(b))
	b = b[4:]
	if size < 0 {
		return nil, b, nil
	}
	if int(size) > len(b) {
		return nil, nil, errBody("field ends after the message")
	}
	return b[:size:size], b[size:], nil
}

func checkLegacyCRC(b []byte) error {
	stored, computed := binary.BigEndian.Uint32(b[posLegacyCRC:]), crc32.ChecksumIEEE(b[posMagic:])
	if stored != computed {
		return fmt.Errorf("%w: stored %d, computed %d", ErrBadCRC, stored, computed)
	}
	return nil
}

// Verify checks an entry of any magic: that the bytes are exactly one entry and
// fit its checksum. The records inside are not looked at.
func Verify(entry []byte) error {
	size, magic, err := entrySize(entry)
	if err != nil {
		return err
	}
	if size != len(entry) {
		return fmt.Errorf("%w: %d, but there are %d bytes", ErrBadLength, size, len(entry))
	}
	if magic < MagicV2 {
		return checkLegacyCRC(entry)
	}
	return Batch(entry).CheckCRC()
}

// legacySet is what a cursor walks in an entry of magic 0 or 1.
type legacySet struct {
	messages []byte // the entry itself, or the set unpacked from the wrapper
	wrapper  message
	nested   bool
	base     kafka.Offset // added to the offsets inside a wrapper of magic 1
	opened   bool
}

func (l *legacySet) isOpen() bool { return l.opened }

func (l *legacySet) open(entry []byte, magic int8, limit int) error {
	l.opened = true
	outer, err := parseMessage(entry)
	if err != nil {
		return err
	}
	codec := outer.attributes.Codec()
	if codec == None {
		l.messages = entry
		return nil
	}
	if codec == Zstd {
		return errBody("zstd in a message of magic 0 or 1")
	}
	if outer.value == nil {
		return errBody("compressed message without a value")
	}
	l.nested, l.wrapper = true, outer
	if l.messages, err = unpack(codec, outer.value, magic, limit); err != nil {
		return err
	}
	if len(l.messages) == 0 {
		return errBody("compressed message with no messages in it")
	}
	return l.findBase(magic)
}

// findBase works out the offset of the first message of a wrapper. In magic 1
// the offsets inside count from 0 and the wrapper has the last one's; a wrapper
// at 0 is taken to have no offset yet.
func (l *legacySet) findBase(magic int8) error {
	if magic == 0 {
		return nil
	}
	var last kafka.Offset
	for rest := l.messages; len(rest) > 0; {
		size, _, err := entrySize(rest)
		if err != nil || size > len(rest) {
			return errBody("compressed message ends inside a message")
		}
		last = kafka.Offset(binary.BigEndian.Uint64(rest))
		rest = rest[size:]
	}
	if l.wrapper.offset == 0 {
		return nil
	}
	if l.wrapper.offset < last {
		return errBody("wrapper's offset is below the last inner one")
	}
	l.base = l.wrapper.offset - last
	return nil
}

// unpack unpacks a whole stream of at most limit bytes.
func unpack(codec Codec, src []byte, magic int8, limit int) ([]byte, error) {
	dec, err := newDecoder(codec, src, magic)
	if err != nil {
		return nil, err
	}
	defer dec.free()
	var out []byte
	for {
		chunk, err := dec.next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		if len(chunk) > limit-len(out) {
			return nil, fmt.Errorf("%w: %d bytes are allowed", ErrTooLarge, limit)
		}
		out = append(out, chunk...)
	}
}

// nextLegacy is next for entries of magic 0 and 1.
func (c *cursor) nextLegacy(f *bodyFields, r *Record) bool {
	l := &c.legacy
	if c.err != nil || len(l.messages) == 0 {
		return false
	}
	m, err := l.cut()
	if err != nil {
		c.err = err
		return false
	}
	if l.nested {
		if m.attributes.Codec() != None {
			c.err = errBody("compressed message inside a compressed one")
			return false
		}
		m.offset += l.base
		if m.magic == 1 && l.wrapper.attributes.TimestampType() == LogAppendTime {
			m.timestamp = l.wrapper.timestamp
		}
	}
	// The walker's accessors add deltas to bases: here there are no deltas.
	*f = bodyFields{keySize: fieldSize(m.key), valueSize: fieldSize(m.value)}
	c.baseOffset, c.baseTimestamp, c.appendTime = m.offset, m.timestamp, false
	if r != nil {
		*r = Record{Offset: m.offset, Timestamp: m.timestamp, Key: m.key, Value: m.value}
	}
	return true
}

func (l *legacySet) cut() (message, error) {
	size, _, err := entrySize(l.messages)
	if err != nil {
		return message{}, err
	}
	if size > len(l.messages) {
		return message{}, errBody("compressed message ends inside a message")
	}
	m, err := parseMessage(l.messages[:size:size])
	l.messages = l.messages[size:]
	return m, err
}

func fieldSize(b []byte) int32 {
	if b == nil {
		return -1
	}
	return int32(len(b))
}
