package oracle

import (
	"bytes"

	"github.com/klauspost/compress/s2"
	"github.com/pierrec/lz4/v4"
)

// codecSequences are batches of each codec: what topics make of them, and streams
// that are unusual or broken.
var codecSequences = []sequence{
	{"codecs/as-produced", func(s *Session) { eachCodec(s, "producer") }},
	{"codecs/topic-uncompressed", func(s *Session) { eachCodec(s, "uncompressed") }},
	{"codecs/topic-gzip", func(s *Session) { eachCodec(s, "gzip") }},
	{"codecs/topic-snappy", func(s *Session) { eachCodec(s, "snappy") }},
	{"codecs/topic-lz4", func(s *Session) { eachCodec(s, "lz4") }},
	{"codecs/topic-zstd", func(s *Session) { eachCodec(s, "zstd") }},
	{"codecs/topic-zstd-with-append-time", func(s *Session) { eachCodec(s, "zstd", "message.timestamp.type", "LogAppendTime") }},
	{"codecs/levels", func(s *Session) {
		c := s.Conn("a")
		for _, codec := range []string{"gzip", "lz4", "zstd"} {
			for what, level := range ordered[string]("lowest", map[string]string{"gzip": "1", "lz4": "1", "zstd": "-7"}[codec],
				"highest", map[string]string{"gzip": "9", "lz4": "17", "zstd": "22"}[codec]) {
				t := c.topic(codec+"-"+what, 1, "compression.type", codec, "compression."+codec+".level", level)
				b := Batch{Records: filled(20, 200), Timestamp: longAgo}
				c.Say("%s, %s level", codec, what).Send(produceTo(9, 1, t, 0, b.Bytes()))
				c.Send(fetch(12, at(t, 0, 0)))
			}
		}
	}},
	{"codecs/large-batches", func(s *Session) {
		c := s.Conn("a")
		t, u := c.topic("t", 1), c.topic("u", 1, "compression.type", "uncompressed")
		for _, codec := range codecs {
			b := Batch{Records: filled(40, 5000), Timestamp: longAgo, Attributes: codec.number}
			c.Say("%s", codec.name).Send(produceTo(9, 1, t, 0, b.Bytes()))
			c.Say("%s", codec.name).Send(produceTo(9, 1, u, 0, b.Bytes()))
		}
		c.Send(fetch(12, at(t, 0, 0), at(u, 0, 0)))
	}},
	{"codecs/gzip-streams", func(s *Session) {
		good := twoRecords()
		g := compress(gzipCodec, good)
		flipped := bytes.Clone(g)
		flipped[len(flipped)-6] ^= 1
		streams(s, gzipCodec,
			"whole", g,
			"garbage", []byte("garbage garbage garbage"),
			"empty", []byte{},
			"three bytes cut", g[:len(g)-3],
			"trailer cut", g[:len(g)-8],
			"three bytes more", append(bytes.Clone(g), 1, 2, 3),
			"thirty zeros more", append(bytes.Clone(g), make([]byte, 30)...),
			"two members", append(compress(gzipCodec, good[:10]), compress(gzipCodec, good[10:])...),
			"another member behind", append(bytes.Clone(g), g...),
			"wrong sum", flipped)
	}},
	{"codecs/snappy-streams", func(s *Session) {
		good := twoRecords()
		header := xerialHeader
		old := bytes.Clone(header)
		old[11] = 0
		join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
		x := join(header, xerialChunk(good))
		streams(s, snappyCodec,
			"whole", x,
			"raw", s2.EncodeSnappy(nil, good),
			"two chunks", join(header, xerialChunk(good[:9]), xerialChunk(good[9:])),
			"two streams", join(header, xerialChunk(good[:9]), header, xerialChunk(good[9:])),
			"three bytes more", join(x, []byte{1, 2, 3}),
			"four bytes more", join(x, []byte{1, 2, 3, 4}),
			"four zeros more", join(x, make([]byte, 4)),
			"empty", []byte{},
			"header alone", header,
			"part of the header", header[:12],
			"version 0", join(old, xerialChunk(good)),
			"a byte cut", x[:len(x)-1],
			"garbage", []byte("garbage garbage garbage"))
	}},
	{"codecs/lz4-streams", func(s *Session) {
		good := twoRecords()
		frame := func(b []byte, options ...lz4.Option) []byte {
			var out bytes.Buffer
			w := lz4.NewWriter(&out)
			check(w.Apply(append([]lz4.Option{lz4.BlockSizeOption(lz4.Block64Kb), lz4.ChecksumOption(false)}, options...)...))
			mustWrite(w, b)
			return out.Bytes()
		}
		flipped := func(b []byte, at int) []byte {
			b = bytes.Clone(b)
			b[len(b)-at] ^= 1
			return b
		}
		plain, summed, blocks := frame(good), frame(good, lz4.ChecksumOption(true)), frame(good, lz4.BlockChecksumOption(true))
		header := flipped(plain, len(plain)-6)
		streams(s, lz4Codec,
			"whole", plain,
			"content sum", summed,
			"block sums", blocks,
			"content size", frame(good, lz4.SizeOption(uint64(len(good)))),
			"wrong content sum", flipped(summed, 1),
			"wrong block sum", flipped(blocks, 5),
			"wrong header sum", header,
			"no end mark", plain[:len(plain)-4],
			"five bytes more", append(bytes.Clone(plain), 1, 2, 3, 4, 5),
			"two frames", append(frame(good[:9]), frame(good[9:])...),
			"empty", []byte{},
			"garbage", []byte("garbage garbage garbage"))
	}},
	{"codecs/zstd-streams", func(s *Session) {
		good := twoRecords()
		z := compress(zstdCodec, good)
		skippable := []byte{0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 9, 9}
		streams(s, zstdCodec,
			"whole", z,
			"a byte cut", z[:len(z)-1],
			"three bytes more", append(bytes.Clone(z), 1, 2, 3),
			"two frames", append(compress(zstdCodec, good[:9]), compress(zstdCodec, good[9:])...),
			"another frame behind", append(bytes.Clone(z), z...),
			"a skippable frame before", append(bytes.Clone(skippable), z...),
			"a skippable frame behind", append(bytes.Clone(z), skippable...),
			"empty", []byte{},
			"garbage", []byte("garbage garbage garbage"))
	}},
}

// eachCodec sends a batch of each codec to a topic that wants its records in one
// way, and reads what was stored.
func eachCodec(s *Session, compression string, configs ...string) {
	c := s.Conn("a")
	t := c.topic("t", 1, append([]string{"compression.type", compression}, configs...)...)
	for _, codec := range []int16{0, gzipCodec, snappyCodec, lz4Codec, zstdCodec} {
		b := Batch{Records: filled(10, 100), Timestamp: longAgo, Attributes: codec}
		c.Say("codec %d", codec).Send(produceTo(9, 1, t, 0, b.Bytes()))
	}
	c.Send(fetch(12, at(t, 0, 0)))
}

// twoRecords are the records of a batch.
func twoRecords() []byte {
	r := Record{Key: []byte("k"), Value: []byte("v")}
	return append(encodeRecord(r, 0), encodeRecord(r, 1)...)
}

// streams sends batches of two records that are compressed as given: names and
// bytes in turn.
func streams(s *Session, codec int16, pairs ...any) {
	for _, compression := range []string{"producer", "uncompressed"} {
		var batches []any
		for what, payload := range ordered[[]byte](pairs...) {
			batches = append(batches, what+" to "+compression,
				Batch{Records: make([]Record, 2), Timestamp: longAgo, Attributes: codec, Payload: payload})
		}
		apart(s, compression, batches...)
	}
}
