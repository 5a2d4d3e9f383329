package record

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/pierrec/lz4/v4"
)

// The LZ4 frame format, as far as Kafka uses it: version 1, independent blocks.
const (
	lz4Magic        = 0x184D2204
	lz4Flags        = 0x60 // version 1, independent blocks, nothing optional
	lz4BlockDesc    = 0x40 // blocks of 64 KiB
	lz4BlockSize    = 64 << 10
	lz4Uncompressed = 1 << 31 // bit of a block length: the block is stored
	lz4MaxRatio     = 255     // no block unpacks to more times its size

	lz4FlagVersion       = 0xC0
	lz4FlagIndependent   = 0x20
	lz4FlagBlockChecksum = 0x10
	lz4FlagContentSize   = 0x08
	lz4FlagChecksum      = 0x04
	lz4FlagReserved      = 0x03
)

var (
	errLZ4Short      = errors.New("stream ended prematurely")
	errLZ4Magic      = errors.New("invalid magic bytes")
	errLZ4Flags      = errors.New("unsupported frame descriptor")
	errLZ4HeaderHash = errors.New("frame descriptor corrupted")
	errLZ4Block      = errors.New("block exceeds the maximum size")
	errLZ4BlockHash  = errors.New("block checksum mismatch")
)

// lz4Decoder reads what Apache's Lz4BlockInputStream reads and refuses what
// that refuses, such as dependent blocks: whoever stored them would store what
// no Java consumer can read. The checksum of the content is passed over, as
// there; what follows the frame is ignored.
type lz4Decoder struct {
	src       []byte
	magic     int8
	begun     bool
	done      bool
	flags     byte
	blockSize int
	buf       []byte
}

var lz4Decoders = sync.Pool{New: func() any { return new(lz4Decoder) }}

func newLZ4Decoder(src []byte, magic int8) *lz4Decoder {
	d := lz4Decoders.Get().(*lz4Decoder)
	d.src, d.magic, d.begun, d.done = src, magic, false, false
	return d
}

func (d *lz4Decoder) next() ([]byte, error) {
	if !d.begun {
		if err := d.readHeader(); err != nil {
			return nil, corruptStream(LZ4, err)
		}
		d.begun = true
	}
	for !d.done {
		chunk, err := d.readBlock()
		if err != nil {
			return nil, corruptStream(LZ4, err)
		}
		if len(chunk) > 0 {
			return chunk, nil
		}
	}
	return nil, io.EOF
}

func (d *lz4Decoder) readHeader() error {
	if len(d.src) < 6 {
		return errLZ4Short
	}
	if binary.LittleEndian.Uint32(d.src) != lz4Magic {
		return errLZ4Magic
	}
	flags, desc := d.src[4], d.src[5]
	if flags&(lz4FlagVersion|lz4FlagIndependent|lz4FlagReserved) != lz4Flags {
		return fmt.Errorf("%w: flags %#x", errLZ4Flags, flags)
	}
	if desc&0x8f != 0 || desc>>4 < 4 {
		return fmt.Errorf("%w: block descriptor %#x", errLZ4Flags, desc)
	}
	d.flags, d.blockSize = flags, 1<<(2*(desc>>4)+8)
	end := 6
	if flags&lz4FlagContentSize != 0 {
		end += 8
	}
	if len(d.src) <= end {
		return errLZ4Short
	}
	// The frames of magic 0 have a checksum over too many bytes; it is not checked.
	if d.magic > 0 && d.src[end] != byte(xxh32(d.src[4:end])>>8) {
		return errLZ4HeaderHash
	}
	d.src = d.src[end+1:]
	return nil
}

func (d *lz4Decoder) readBlock() ([]byte, error) {
	if len(d.src) < 4 {
		return nil, errLZ4Short
	}
	word := binary.LittleEndian.Uint32(d.src)
	d.src = d.src[4:]
	size := int(word &^ lz4Uncompressed)
	if size == 0 {
		d.done = true
		if d.flags&lz4FlagChecksum != 0 && len(d.src) < 4 {
			return nil, errLZ4Short
		}
		return nil, nil
	}
	if size > d.blockSize {
		return nil, errLZ4Block
	}
	if size > len(d.src) {
		return nil, errLZ4Short
	}
	block := d.src[:size]
	d.src = d.src[size:]
	if d.flags&lz4FlagBlockChecksum != 0 {
		if len(d.src) < 4 {
			return nil, errLZ4Short
		}
		if binary.LittleEndian.Uint32(d.src) != xxh32(block) {
			return nil, errLZ4BlockHash
		}
		d.src = d.src[4:]
	}
	if word&lz4Uncompressed != 0 {
		return block, nil
	}
	if need := min(d.blockSize, size*lz4MaxRatio); cap(d.buf) < need {
		d.buf = make([]byte, need)
	}
	n, err := lz4.UncompressBlock(block, d.buf[:min(cap(d.buf), d.blockSize)])
	if err != nil {
		return nil, err
	}
	return d.buf[:n], nil
}

func (d *lz4Decoder) free() {
	d.src = nil
	if cap(d.buf) > maxPooled {
		d.buf = nil
	}
	lz4Decoders.Put(d)
}

// lz4Default is the level that means the fast compressor; every other level is
// the depth of the thorough one.
const lz4Default = 9

// lz4Encoder writes the stream of Apache's Lz4BlockOutputStream; at the default
// level the bytes are the same.
type lz4Encoder struct {
	out   *output
	level int
	fast  lz4.CompressorCCompat
	high  lz4.CompressorHC
	fill  int
	buf   [lz4BlockSize]byte
}

// lz4Encoders are apart, since the thorough compressor has the larger tables.
var lz4FastEncoders, lz4HighEncoders sync.Pool

func newLZ4Encoder(level int, out *output) *lz4Encoder {
	if level == 0 {
		level = lz4Default
	}
	pool := &lz4HighEncoders
	if level == lz4Default {
		pool = &lz4FastEncoders
	}
	e, ok := pool.Get().(*lz4Encoder)
	if !ok {
		e = new(lz4Encoder)
	}
	e.out, e.level, e.fill = out, level, 0
	e.high.Level = lz4Depth(level)
	header := []byte{0, 0, 0, 0, lz4Flags, lz4BlockDesc, 0}
	binary.LittleEndian.PutUint32(header, lz4Magic)
	header[6] = byte(xxh32(header[4:6]) >> 8)
	out.b = append(out.b, header...)
	return e
}

// lz4Depth maps Kafka's levels 1 to 17 to the library's 1 to 9.
func lz4Depth(level int) lz4.CompressionLevel {
	depths := [...]lz4.CompressionLevel{lz4.Level1, lz4.Level2, lz4.Level3, lz4.Level4, lz4.Level5, lz4.Level6, lz4.Level7, lz4.Level8, lz4.Level9}
	return depths[min(max(level, 1), len(depths))-1]
}

func (e *lz4Encoder) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		if e.fill == len(e.buf) {
			if err := e.flush(); err != nil {
				return 0, err
			}
		}
		n := copy(e.buf[e.fill:], rest)
		rest = rest[n:]
		e.fill += n
	}
	return len(p), nil
}

func (e *lz4Encoder) flush() error {
	at := len(e.out.b)
	block := e.buf[:e.fill]
	e.out.b = slices.Grow(e.out.b, 4+lz4.CompressBlockBound(e.fill))
	room := e.out.b[at+4 : cap(e.out.b)]
	var n int
	var err error
	if e.level == lz4Default {
		n, err = e.fast.CompressBlock(block, room)
	} else {
		n, err = e.high.CompressBlock(block, room)
	}
	if err != nil {
		return err
	}
	word := uint32(n)
	if n == 0 || n >= e.fill {
		n = copy(room, block)
		word = uint32(n) | lz4Uncompressed
	}
	e.out.b = e.out.b[:at+4+n]
	binary.LittleEndian.PutUint32(e.out.b[at:], word)
	e.fill = 0
	return nil
}

func (e *lz4Encoder) Close() error {
	if e.fill > 0 {
		if err := e.flush(); err != nil {
			return err
		}
	}
	e.out.b = append(e.out.b, 0, 0, 0, 0)
	return nil
}

func (e *lz4Encoder) free() {
	e.out = nil
	if e.level == lz4Default {
		lz4FastEncoders.Put(e)
	} else {
		lz4HighEncoders.Put(e)
	}
}
