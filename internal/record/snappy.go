package record

import (
	"encoding/binary"
	"errors"
	"io"
	"sync"

	"github.com/klauspost/compress/s2"
)

// snappyHeader opens a stream of org.xerial.snappy: magic, version 1, oldest
// compatible version 1. Chunks follow: a big-endian length and a snappy block.
var snappyHeader = [...]byte{0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0, 0, 0, 0, 1, 0, 0, 0, 1}

const (
	snappyMagicSize = 8
	// snappyBlockSize is how much org.xerial.snappy packs into a chunk.
	snappyBlockSize = 32 << 10
)

var (
	errSnappyChunk   = errors.New("impossible chunk")
	errSnappyVersion = errors.New("unsupported version")
)

// snappyDecoder reads as SnappyInputStream does: a stream without the header is
// one bare block, headers may come again between chunks (and only there is their
// version looked at), and less than a length at the end is ignored.
type snappyDecoder struct {
	src   []byte
	begun bool
	buf   []byte
}

var snappyDecoders = sync.Pool{New: func() any { return new(snappyDecoder) }}

func newSnappyDecoder(src []byte) *snappyDecoder {
	d := snappyDecoders.Get().(*snappyDecoder)
	d.src, d.begun = src, false
	return d
}

func (d *snappyDecoder) next() ([]byte, error) {
	if !d.begun {
		d.begun = true
		if len(d.src) == 0 {
			return nil, corruptStream(Snappy, io.ErrUnexpectedEOF)
		}
		if !hasSnappyHeader(d.src) {
			block := d.src
			d.src = nil
			if chunk, err := d.unpack(block); err != nil || len(chunk) > 0 {
				return chunk, err
			}
			return nil, io.EOF
		}
		d.src = d.src[len(snappyHeader):]
	}
	for len(d.src) >= 4 {
		size := binary.BigEndian.Uint32(d.src)
		if size == binary.BigEndian.Uint32(snappyHeader[:]) {
			if len(d.src) < len(snappyHeader) {
				return nil, corruptStream(Snappy, errSnappyChunk)
			}
			if !hasSnappyHeader(d.src) {
				return nil, io.EOF
			}
			if int32(binary.BigEndian.Uint32(d.src[snappyMagicSize:])) < 1 {
				return nil, corruptStream(Snappy, errSnappyVersion)
			}
			d.src = d.src[len(snappyHeader):]
			continue
		}
		if uint64(size) > uint64(len(d.src)-4) {
			return nil, corruptStream(Snappy, errSnappyChunk)
		}
		block := d.src[4 : 4+size]
		d.src = d.src[4+size:]
		if chunk, err := d.unpack(block); err != nil || len(chunk) > 0 {
			return chunk, err
		}
	}
	return nil, io.EOF
}

func hasSnappyHeader(b []byte) bool {
	return len(b) >= len(snappyHeader) && string(b[:snappyMagicSize]) == string(snappyHeader[:snappyMagicSize])
}

// unpack unpacks one block. No element of three bytes gives more than 64, so a
// block that promises more than that is refused before memory is taken for it.
func (d *snappyDecoder) unpack(block []byte) ([]byte, error) {
	size, err := s2.DecodedLen(block)
	if err != nil {
		return nil, corruptStream(Snappy, err)
	}
	if size/22 > len(block) {
		return nil, corruptStream(Snappy, errSnappyChunk)
	}
	if cap(d.buf) < size {
		d.buf = make([]byte, max(size, snappyBlockSize))
	}
	out, err := s2.Decode(d.buf[:cap(d.buf)], block)
	if err != nil {
		return nil, corruptStream(Snappy, err)
	}
	return out, nil
}

func (d *snappyDecoder) free() {
	d.src = nil
	if cap(d.buf) > maxPooled {
		d.buf = nil
	}
	snappyDecoders.Put(d)
}

// snappyEncoder writes the stream of SnappyOutputStream.
type snappyEncoder struct {
	out  *output
	fill int
	buf  [snappyBlockSize]byte
}

var snappyEncoders = sync.Pool{New: func() any { return new(snappyEncoder) }}

func newSnappyEncoder(out *output) *snappyEncoder {
	e := snappyEncoders.Get().(*snappyEncoder)
	e.out, e.fill = out, 0
	out.b = append(out.b, snappyHeader[:]...)
	return e
}

func (e *snappyEncoder) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		n := copy(e.buf[e.fill:], rest)
		rest = rest[n:]
		if e.fill += n; e.fill == len(e.buf) {
			e.flush()
		}
	}
	return len(p), nil
}

func (e *snappyEncoder) flush() {
	at := len(e.out.b)
	bound := s2.MaxEncodedLen(e.fill)
	e.out.b = append(e.out.b, make([]byte, 4+bound)...)
	packed := s2.EncodeSnappy(e.out.b[at+4:], e.buf[:e.fill])
	binary.BigEndian.PutUint32(e.out.b[at:], uint32(len(packed)))
	e.out.b = e.out.b[:at+4+len(packed)]
	e.fill = 0
}

func (e *snappyEncoder) Close() error {
	if e.fill > 0 {
		e.flush()
	}
	return nil
}

func (e *snappyEncoder) free() {
	e.out = nil
	snappyEncoders.Put(e)
}
