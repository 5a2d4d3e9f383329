package record

import (
	"fmt"
	"io"
)

// Codec is a compression codec, by its number in the attributes.
type Codec uint8

// The codecs of the format.
const (
	None Codec = iota
	Gzip
	Snappy
	LZ4
	Zstd
)

var codecNames = [...]string{"none", "gzip", "snappy", "lz4", "zstd"}

// Valid says whether the number names a codec. Three bits have room for more.
func (c Codec) Valid() bool { return int(c) < len(codecNames) }

// String is Kafka's name.
func (c Codec) String() string {
	if c.Valid() {
		return codecNames[c]
	}
	return fmt.Sprintf("unknown(%d)", uint8(c))
}

// Compression is a codec and how hard it tries. Level is in the terms of
// Kafka's compression.gzip.level, compression.lz4.level and
// compression.zstd.level; 0 is the default of each (-1, 9 and 3). Levels that
// the libraries here do not know are mapped to their nearest.
type Compression struct {
	Codec Codec
	Level int
}

// decoder unpacks one stream, a chunk at a time, so that a walk over a batch
// needs the memory of a chunk, not of the batch.
type decoder interface {
	// next returns the next chunk, which is never empty and is valid until
	// the next call. io.EOF says that the stream has ended as it should, and
	// says so again when asked again.
	next() ([]byte, error)
	// free gives the decoder back to its pool.
	free()
}

// newDecoder returns a decoder from the codec's pool. The magic of the entry
// matters to LZ4 alone, whose frames had a wrong header checksum in magic 0.
func newDecoder(c Codec, src []byte, magic int8) (decoder, error) {
	switch c {
	case Gzip:
		return newGzipDecoder(src), nil
	case Snappy:
		return newSnappyDecoder(src), nil
	case LZ4:
		return newLZ4Decoder(src, magic), nil
	case Zstd:
		return newZstdDecoder(src)
	}
	return nil, fmt.Errorf("%w: %d", ErrBadCodec, c)
}

// encoder packs one stream onto the end of an output.
type encoder interface {
	io.Writer
	// Close ends the stream.
	Close() error
	// free gives the encoder back to its pool.
	free()
}

// newEncoder returns an encoder from the pool of the codec and level.
func newEncoder(c Compression, out *output) (encoder, error) {
	switch c.Codec {
	case Gzip:
		return newGzipEncoder(c.Level, out)
	case Snappy:
		return newSnappyEncoder(out), nil
	case LZ4:
		return newLZ4Encoder(c.Level, out), nil
	case Zstd:
		return newZstdEncoder(c.Level, out)
	}
	return nil, fmt.Errorf("%w: %d", ErrBadCodec, c.Codec)
}

// output is the growing end of a batch.
type output struct{ b []byte }

func (o *output) Write(p []byte) (int, error) {
	o.b = append(o.b, p...)
	return len(p), nil
}

// source is the compressed bytes as a reader. It is not a bytes.Reader, since
// the zstd library unpacks those whole, whatever their size.
type source struct{ b []byte }

func (s *source) Read(p []byte) (int, error) {
	if len(s.b) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.b)
	s.b = s.b[n:]
	return n, nil
}

func (s *source) ReadByte() (byte, error) {
	if len(s.b) == 0 {
		return 0, io.EOF
	}
	c := s.b[0]
	s.b = s.b[1:]
	return c, nil
}

const (
	// chunkSize is the unpacked size of a chunk of the codecs that have no
	// blocks of their own.
	chunkSize = 32 << 10
	// maxPooled is the largest buffer that goes back to a pool with its owner.
	maxPooled = 1 << 20
)

// corruptStream makes an error of a codec an error of this package. It hides the
// error itself, since some wrap io.EOF, which means something else here.
func corruptStream(c Codec, err error) error {
	return fmt.Errorf("%w: %s stream: %v", ErrCorrupt, c, err)
}
