package oracle

import (
	"encoding/binary"
	"fmt"
)

// batchSequences are Produce requests with one batch that is not as it should be.
// What was stored is read back at the end.
var batchSequences = []sequence{
	{"batches/length", func(s *Session) {
		var pairs []any
		for _, length := range []int32{0, 13, 14, 20, 40, 48, 49, -1, 2147483647} {
			pairs = append(pairs, fmt.Sprintf("length %d", length), good.mutated(put32(atLength, length)))
		}
		apart(s, "producer", pairs...)
	}},
	{"batches/length-beside-a-good-one", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 2)
		b := good.mutated(put32(atLength, 13))
		r := produceTo(9, 1, t, 0, b.Bytes())
		r.Topics[0].Partitions = append(r.Topics[0].Partitions, produceTo(9, 1, t, 1, good.Bytes()).Topics[0].Partitions...)
		c.Send(r)
	}},
	{"batches/magic", func(s *Session) {
		var pairs []any
		for _, magic := range []byte{0, 1, 3, 255} {
			pairs = append(pairs, fmt.Sprintf("magic %d", magic), good.mutated(func(b []byte) { b[atMagic] = magic }))
		}
		apart(s, "producer", pairs...)
	}},
	{"batches/crc", func(s *Session) {
		flipLast := func(b []byte) { b[len(b)-1] ^= 1 }
		pairs := []any{"crc", good.mutated(flipCRC), "body", good.mutated(flipLast)}
		for _, codec := range codecs {
			b := good.mutated(flipLast)
			b.Attributes = codec.number
			pairs = append(pairs, "body of "+codec.name, b)
		}
		apart(s, "producer", pairs...)
	}},
	{"batches/last-offset-delta", func(s *Session) {
		var pairs []any
		for _, delta := range []int32{0, 1, 2, 3, -1, -2, 2147483647, -2147483648} {
			pairs = append(pairs, fmt.Sprintf("delta %d", delta), good.with(put32(atLastDelta, delta)))
		}
		apart(s, "producer", pairs...)
	}},
	{"batches/count", func(s *Session) { counts(s, 0, "producer") }},
	{"batches/count-compressed", func(s *Session) { counts(s, gzipCodec, "producer") }},
	{"batches/count-decompressed", func(s *Session) { counts(s, zstdCodec, "uncompressed") }},
	{"batches/no-records", func(s *Session) {
		none := Batch{Timestamp: longAgo}
		packed := none
		packed.Attributes = gzipCodec
		apart(s, "producer",
			"count 0 delta -1", none,
			"count 0 delta 0", none.with(put32(atLastDelta, 0)),
			"count 1", none.with(put32(atLastDelta, 0), put32(atCount, 1)),
			"count 1 of gzip", packed.with(put32(atLastDelta, 0), put32(atCount, 1)))
	}},
	{"batches/base-offset", func(s *Session) {
		var pairs []any
		for _, offset := range []int64{1, 5, -1, 1 << 62, -1 << 63} {
			pairs = append(pairs, fmt.Sprintf("base offset %d", offset), good.mutated(put64(atBaseOffset, offset)))
		}
		apart(s, "producer", pairs...)
	}},
	{"batches/leader-epoch", func(s *Session) {
		var pairs []any
		for _, epoch := range []int32{0, 9, -2} {
			pairs = append(pairs, fmt.Sprintf("epoch %d", epoch), good.mutated(put32(atEpoch, epoch)))
		}
		apart(s, "producer", pairs...)
	}},
	{"batches/attributes", func(s *Session) { attributes(s, "producer") }},
	{"batches/attributes-recompressed", func(s *Session) { attributes(s, "lz4") }},
	{"batches/unknown-codec", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 1)
		for _, codec := range []int16{5, 6, 7} {
			for _, version := range []int16{3, 6, 7, 9} {
				b := good
				b.Attributes = codec
				c.Say("codec %d", codec).Send(produceTo(version, 1, t, 0, b.Bytes()))
			}
		}
		c.Send(fetch(12, at(t, 0, 0)))
	}},
	{"batches/zstd-needs-version-7", func(s *Session) {
		c := s.Conn("a")
		t := c.topic("t", 1)
		b := good
		b.Attributes = zstdCodec
		for version := int16(3); version <= 8; version++ {
			c.Send(produceTo(version, 1, t, 0, b.Bytes()))
		}
		z := c.topic("z", 1, "compression.type", "zstd")
		c.Say("recompressed").Send(produceTo(3, 1, z, 0, good.Bytes()))
		c.Say("by the topic").Send(fetch(12, at(z, 0, 0)))
		for _, version := range []int16{9, 10, 11} {
			c.Send(fetch(version, at(t, 0, 0), at(z, 0, 0)))
		}
	}},
	{"batches/control", func(s *Session) {
		control, transactional := good, good
		control.Attributes, transactional.Attributes = 0x20, 0x30
		transactional.Idempotent, transactional.ProducerID = true, 77
		apart(s, "producer", "control", control, "transactional control", transactional,
			"commit marker", Batch{Records: []Record{{Key: []byte{0, 0, 0, 1}, Value: make([]byte, 6)}}, Timestamp: longAgo,
				Attributes: 0x30, Idempotent: true, ProducerID: 77, Sequence: -1})
	}},
	{"batches/producer-fields", func(s *Session) { producerFields(s, "producer") }},
	{"batches/producer-fields-recompressed", func(s *Session) { producerFields(s, "gzip") }},
	{"batches/inner-offsets", func(s *Session) { innerOffsets(s, 0, "producer") }},
	{"batches/inner-offsets-compressed", func(s *Session) { innerOffsets(s, gzipCodec, "producer") }},
	{"batches/inner-offsets-recompressed", func(s *Session) { innerOffsets(s, 0, "lz4") }},
	{"batches/inner-offsets-decompressed", func(s *Session) { innerOffsets(s, snappyCodec, "uncompressed") }},
	{"batches/records", func(s *Session) { malformed(s, 0, "producer") }},
	{"batches/records-compressed", func(s *Session) { malformed(s, gzipCodec, "producer") }},
	{"batches/records-decompressed", func(s *Session) { malformed(s, zstdCodec, "uncompressed") }},
	{"batches/no-key-in-a-compacted-topic", func(s *Session) {
		c := s.Conn("a")
		compact, lz4 := c.topic("t", 1, "cleanup.policy", "compact"), c.topic("lz4", 1, "cleanup.policy", "delete,compact", "compression.type", "lz4")
		some := Batch{Records: filled(5, 3), Timestamp: longAgo}
		one := Batch{Records: filled(2, 3), Timestamp: longAgo}
		empty := Batch{Records: filled(2, 3), Timestamp: longAgo}
		one.Records[1].Key, some.Records[1].Key, some.Records[4].Key, empty.Records[0].Key = nil, nil, nil, []byte{}
		for _, t := range []topic{compact, lz4} {
			for _, codec := range []int16{0, gzipCodec, lz4Codec} {
				for what, b := range ordered[Batch]("all keys", good, "one key missing", one, "two keys missing", some, "an empty key", empty) {
					b.Attributes = codec
					c.Say("%s, codec %d", what, codec).Send(produceTo(9, 1, t, 0, b.Bytes()))
				}
			}
		}
		c.Say("version 7").Send(produceTo(7, 1, compact, 0, one.Bytes()))
		c.Send(fetch(12, at(compact, 0, 0), at(lz4, 0, 0)))
	}},
	{"batches/too-large", func(s *Session) {
		c := s.Conn("a")
		size := len(good.Bytes())
		exact := c.topic("exact", 1, "max.message.bytes", fmt.Sprint(size))
		less := c.topic("less", 1, "max.message.bytes", fmt.Sprint(size-1))
		zero := c.topic("zero", 1, "max.message.bytes", "0")
		unpacked := c.topic("unpacked", 1, "max.message.bytes", "300", "compression.type", "uncompressed")
		packed := Batch{Records: filled(1, 1000), Timestamp: longAgo, Attributes: gzipCodec}
		for _, version := range []int16{3, 8, 9} {
			c.Say("exact").Send(produceTo(version, 1, exact, 0, good.Bytes()))
			c.Say("one too many").Send(produceTo(version, 1, less, 0, good.Bytes()))
		}
		c.Say("nothing allowed").Send(produceTo(9, 1, zero, 0, good.Bytes()))
		c.Say("too large and bad CRC").Send(produceTo(9, 1, less, 0, badCRC.Bytes()))
		c.Say("small when packed").Send(produceTo(9, 1, unpacked, 0, packed.Bytes()))
		d := s.Conn("b")
		d.Say("too large").Post(produceTo(9, 0, less, 0, good.Bytes()))
		d.Send(fetch(12, at(exact, 0, 0), at(less, 0, 0), at(unpacked, 0, 0)))
	}},
	{"batches/too-large-decompressed", func(s *Session) {
		c := s.Conn("a")
		for _, compression := range []string{"producer", "uncompressed"} {
			t := c.topic(compression, 1, "max.decompressed.message.bytes", "500", "compression.type", compression)
			for _, codec := range []int16{0, gzipCodec, snappyCodec, lz4Codec, zstdCodec} {
				for _, size := range []int{400, 491, 492, 500, 501, 5000} {
					b := Batch{Records: filled(1, size), Timestamp: longAgo, Attributes: codec}
					c.Say("a record of %d, codec %d", size, codec).Send(produceTo(9, 1, t, 0, b.Bytes()))
				}
				b := Batch{Records: filled(3, 300), Timestamp: longAgo, Attributes: codec}
				c.Say("three records, codec %d", codec).Send(produceTo(9, 1, t, 0, b.Bytes()))
			}
			c.Send(fetch(12, at(t, 0, 0)))
		}
	}},
}

// apart sends each batch to a partition of its own and reads that one, so that
// what becomes of a batch does not move the others. Pairs are names and batches in
// turn.
func apart(s *Session, compression string, pairs ...any) {
	c := s.Conn("a")
	t := c.topic(compression, int32(len(pairs)/2), "compression.type", compression)
	partition := int32(0)
	for what, b := range ordered[Batch](pairs...) {
		c.Say("%s", what).Send(produceTo(9, 1, t, partition, b.Bytes()))
		c.Say("%s", what).Send(fetch(12, at(t, partition, 0)))
		partition++
	}
}

func counts(s *Session, codec int16, compression string) {
	b := good
	b.Attributes = codec
	var pairs []any
	for _, count := range []int32{0, -1, -2147483648, 1, 2, 3, 4, 2147483647} {
		pairs = append(pairs, fmt.Sprintf("count %d", count), b.with(put32(atCount, count)),
			fmt.Sprintf("count %d and last delta", count), b.with(put32(atCount, count), put32(atLastDelta, count-1)))
	}
	apart(s, compression, pairs...)
}

func attributes(s *Session, compression string) {
	b := good
	var pairs []any
	for _, bits := range []int16{0x40, 0x80, 0x100, 0x4000, -0x8000, -0x80} {
		b.Attributes = bits
		pairs = append(pairs, fmt.Sprintf("attributes %#x", uint16(bits)), b)
	}
	apart(s, compression, pairs...)
}

func producerFields(s *Session, compression string) {
	var pairs []any
	for _, f := range []struct {
		pid      int64
		epoch    int16
		sequence int32
	}{{700, 0, -1}, {701, 0, 0}, {702, 0, 7}, {703, -1, 0}, {704, 32767, 0}, {705, 0, 2147483647}, {-5, 0, 0}, {-1, 3, 5}, {-1, 0, -1}, {706, -2, 0}, {707, 0, -2}} {
		b := good
		b.Idempotent, b.ProducerID, b.Epoch, b.Sequence = true, f.pid, f.epoch, f.sequence
		pairs = append(pairs, fmt.Sprintf("producer %d epoch %d sequence %d", f.pid, f.epoch, f.sequence), b)
	}
	apart(s, compression, pairs...)
}

func innerOffsets(s *Session, codec int16, compression string) {
	r := Record{Key: []byte("k"), Value: []byte("v")}
	var pairs []any
	for _, offsets := range [][]int64{{0, 1}, {0, 2}, {1, 2}, {5, 6}, {1, 0}, {0, 0}, {-1, 0}} {
		b := Batch{Records: []Record{r, r}, Timestamp: longAgo, Attributes: codec}
		for _, offset := range offsets {
			b.Body = append(b.Body, encodeRecord(r, offset)...)
		}
		pairs = append(pairs, fmt.Sprintf("offsets %d", offsets), b)
	}
	apart(s, compression, pairs...)
}

// malformed sends single records that are not well-formed.
func malformed(s *Session, codec int16, compression string) {
	var pairs []any
	for what, body := range ordered[[]byte](malformedRecords()...) {
		pairs = append(pairs, what, Batch{Records: make([]Record, 1), Timestamp: longAgo, Attributes: codec, Body: body})
	}
	apart(s, compression, pairs...)
}

// malformedRecords are names and bodies in turn; some are only unusual.
func malformedRecords() []any {
	vi := func(n int64) []byte { return binary.AppendVarint(nil, n) }
	fields := func(parts ...[]byte) []byte {
		var all []byte
		for _, p := range parts {
			all = append(all, p...)
		}
		return append(vi(int64(len(all))), all...)
	}
	zero, k, v := []byte{0}, []byte{2, 'k'}, []byte{2, 'v'}
	whole := fields(zero, vi(0), vi(0), k, v, vi(0))
	return []any{
		"attributes 7", fields([]byte{7}, vi(0), vi(0), k, v, vi(0)),
		"length 0", zero,
		"length -5", vi(-5),
		"length beyond the end", append(vi(100), whole[1:]...),
		"length of less than its fields", append(vi(5), whole[1:]...),
		"length of more than its fields", fields(zero, vi(0), vi(0), k, v, vi(0), []byte("zz")),
		"key length -2", fields(zero, vi(0), vi(0), vi(-2), v, vi(0)),
		"key beyond the end", fields(zero, vi(0), vi(0), vi(50), []byte("k"), v, vi(0)),
		"key beyond the record", append(fields(zero, vi(0), vi(0), vi(6), []byte("k"), v, vi(0)), make([]byte, 9)...),
		"value length -2", fields(zero, vi(0), vi(0), k, vi(-2), vi(0)),
		"-1 headers", fields(zero, vi(0), vi(0), k, v, vi(-1)),
		"a header is missing", fields(zero, vi(0), vi(0), k, v, vi(1)),
		"a million headers", fields(zero, vi(0), vi(0), k, v, vi(1_000_000)),
		"a header without key", fields(zero, vi(0), vi(0), k, v, vi(1), vi(-1), vi(-1)),
		"a header without value", fields(zero, vi(0), vi(0), k, v, vi(1), []byte{2, 'h'}, vi(-1)),
		"a header with value length -3", fields(zero, vi(0), vi(0), k, v, vi(1), []byte{2, 'h'}, vi(-3)),
		"a header key that is not UTF-8", fields(zero, vi(0), vi(0), k, v, vi(1), []byte{2, 0xff}, vi(-1)),
		"a varint of 5 bytes", fields(zero, vi(0), []byte{0x80, 0x80, 0x80, 0x80, 0}, k, v, vi(0)),
		"a varint of 5 bytes, too large", fields(zero, vi(0), []byte{0x80, 0x80, 0x80, 0x80, 0x70}, k, v, vi(0)),
		"a varint of 6 bytes", fields(zero, vi(0), []byte{0x80, 0x80, 0x80, 0x80, 0x80, 0}, k, v, vi(0)),
		"a varlong of 10 bytes", fields(zero, []byte{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0}, vi(0), k, v, vi(0)),
		"a varlong of 11 bytes", fields(zero, []byte{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0}, vi(0), k, v, vi(0)),
		"nothing", []byte{},
		"one byte", []byte{0x10},
		"bytes behind the record", append(whole[:len(whole):len(whole)], 1, 2, 3),
	}
}
