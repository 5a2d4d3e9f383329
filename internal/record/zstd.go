package record

import (
	"errors"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// zstdMaxWindow is the largest window that Apache's decoder accepts.
const zstdMaxWindow = 128 << 20

// zstdDecoder streams through a window, whose size the frame names. Its memory
// is that of the window, whatever the frame unpacks to.
type zstdDecoder struct {
	src source
	zr  *zstd.Decoder
	buf [chunkSize]byte
}

var zstdDecoders sync.Pool

func newZstdDecoder(src []byte) (*zstdDecoder, error) {
	d, ok := zstdDecoders.Get().(*zstdDecoder)
	if !ok {
		zr, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(zstdMaxWindow), zstd.WithDecodeBuffersBelow(0))
		if err != nil {
			return nil, err
		}
		d = &zstdDecoder{zr: zr}
	}
	d.src.b = src
	if err := d.zr.Reset(&d.src); err != nil {
		return nil, err
	}
	return d, nil
}

func (d *zstdDecoder) next() ([]byte, error) {
	for {
		n, err := d.zr.Read(d.buf[:])
		if n > 0 {
			return d.buf[:n], nil
		}
		if errors.Is(err, io.EOF) {
			return nil, io.EOF
		}
		if err != nil {
			return nil, corruptStream(Zstd, err)
		}
	}
}

func (d *zstdDecoder) free() {
	d.src.b = nil
	if err := d.zr.Reset(nil); err != nil {
		return // closed: never by us, and no longer of use
	}
	zstdDecoders.Put(d)
}

// zstdWindow is the window of the frames that are written here, which is the
// memory that each reader needs. It is that of Kafka's default level.
const zstdWindow = 2 << 20

type zstdEncoder struct {
	*zstd.Encoder
	level zstd.EncoderLevel
}

// zstdEncoders has a pool for each level that the library knows.
var zstdEncoders [zstd.SpeedBestCompression + 1]sync.Pool

func newZstdEncoder(level int, out *output) (*zstdEncoder, error) {
	if level == 0 {
		level = 3
	}
	l := zstd.EncoderLevelFromZstd(level)
	if e, ok := zstdEncoders[l].Get().(*zstdEncoder); ok {
		e.Reset(out)
		return e, nil
	}
	w, err := zstd.NewWriter(out, zstd.WithEncoderLevel(l), zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true),
		zstd.WithWindowSize(zstdWindow), zstd.WithEncoderCRC(false))
	if err != nil {
		return nil, err
	}
	return &zstdEncoder{Encoder: w, level: l}, nil
}

func (e *zstdEncoder) free() {
	e.Reset(nil)
	zstdEncoders[e.level].Put(e)
}
