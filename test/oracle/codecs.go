package oracle

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// The codecs of batches, by the number in their attributes.
const (
	gzipCodec = iota + 1
	snappyCodec
	lz4Codec
	zstdCodec
)

// codecs are all of them, with their names.
var codecs = []struct {
	number int16
	name   string
}{{gzipCodec, "gzip"}, {snappyCodec, "snappy"}, {lz4Codec, "lz4"}, {zstdCodec, "zstd"}}

// xerialHeader begins a snappy stream of Java's library; chunks with their lengths
// follow.
var xerialHeader = []byte{0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0, 0, 0, 0, 1, 0, 0, 0, 1}

// compress is b in the form in which clients send it.
func compress(codec int16, b []byte) []byte {
	var out bytes.Buffer
	switch codec {
	case gzipCodec:
		w := gzip.NewWriter(&out)
		mustWrite(w, b)
	case snappyCodec:
		out.Write(xerialHeader)
		out.Write(xerialChunk(b))
	case lz4Codec:
		w := lz4.NewWriter(&out)
		check(w.Apply(lz4.BlockSizeOption(lz4.Block64Kb), lz4.ChecksumOption(false)))
		mustWrite(w, b)
	case zstdCodec:
		w, err := zstd.NewWriter(&out)
		check(err)
		mustWrite(w, b)
	default:
		out.Write(b)
	}
	return out.Bytes()
}

func mustWrite(w io.WriteCloser, b []byte) {
	_, err := w.Write(b)
	check(err)
	check(w.Close())
}

// xerialChunk is one chunk of a xerial stream.
func xerialChunk(b []byte) []byte {
	c := s2.EncodeSnappy(nil, b)
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(c))), c...)
}

func decompress(codec uint16, b []byte) ([]byte, error) {
	switch codec {
	case 0:
		return b, nil
	case gzipCodec:
		r, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(r)
	case snappyCodec:
		return decompressSnappy(b)
	case lz4Codec:
		return io.ReadAll(lz4.NewReader(bytes.NewReader(b)))
	case zstdCodec:
		r, err := zstd.NewReader(bytes.NewReader(b))
		if err != nil {
			return nil, err
		}
		defer r.Close()
		return io.ReadAll(r)
	}
	return nil, fmt.Errorf("codec %d", codec)
}

func decompressSnappy(b []byte) ([]byte, error) {
	if !bytes.HasPrefix(b, xerialHeader[:8]) || len(b) < len(xerialHeader) {
		return s2.Decode(nil, b)
	}
	var out []byte
	for b = b[len(xerialHeader):]; len(b) >= 4; {
		n := int(binary.BigEndian.Uint32(b))
		if n > len(b)-4 {
			return nil, io.ErrUnexpectedEOF
		}
		plain, err := s2.Decode(nil, b[4:4+n])
		if err != nil {
			return nil, err
		}
		out, b = append(out, plain...), b[4+n:]
	}
	return out, nil
}
