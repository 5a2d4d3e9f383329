package record

import (
	"errors"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
)

const (
	// zstdMaxWindow is the largest window that Apache's decoder accepts.
	zstdMaxWindow = 128 << 20
	// zstdUsualWindow is the largest that levels below 20 name. Decoders for wider
	// ones are not kept.
	zstdUsualWindow = 8 << 20
	// zstdSmall is the size of a stream that is tried in one go, with room for
	// zstdRoom bytes, before it is read through a window. That is faster, and
	// needs no window, of which a Java producer's frames name 2 MiB even where
	// they hold a hundred bytes.
	zstdSmall = 32 << 10
	zstdRoom  = 256 << 10
)

// zstdDecoder unpacks small streams whole, if what comes out is small as well,
// and others through a window, whose size the frame names: then its memory is
// that of the window, whatever the frame unpacks to.
type zstdDecoder struct {
	src    source
	zr     *zstd.Decoder
	wide   bool
	stream bool
	buf    []byte
}

var zstdDecoders sync.Pool

// hasWideWindow says whether the payload of a batch opens with a zstd frame that
// needs more memory than is kept in pools. Frames behind the first are not asked;
// they may not have wider windows than its kind.
func hasWideWindow(c Codec, payload []byte) bool {
	if c != Zstd {
		return false
	}
	var h zstd.Header
	if h.Decode(payload) != nil {
		return false
	}
	if h.SingleSegment {
		return h.FrameContentSize > zstdUsualWindow
	}
	return h.WindowSize > zstdUsualWindow
}

func newZstdDecoder(src []byte) (*zstdDecoder, error) {
	wide, window := hasWideWindow(Zstd, src), uint64(zstdUsualWindow)
	if wide {
		window = zstdMaxWindow
	} else if d, ok := zstdDecoders.Get().(*zstdDecoder); ok {
		d.src.b, d.stream = src, false
		return d, nil
	}
	zr, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(window), zstd.WithDecodeBuffersBelow(0), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		return nil, err
	}
	return &zstdDecoder{src: source{src}, zr: zr, wide: wide, buf: make([]byte, zstdRoom)}, nil
}

func (d *zstdDecoder) next() ([]byte, error) {
	if !d.stream {
		if chunk, err := d.unpackSmall(); !errors.Is(err, zstd.ErrDecoderSizeExceeded) {
			return chunk, err
		}
		if err := d.zr.Reset(&d.src); err != nil {
			return nil, err
		}
		d.stream = true
	}
	for {
		n, err := d.zr.Read(d.buf[:chunkSize])
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

// unpackSmall unpacks all that is left, or says zstd.ErrDecoderSizeExceeded.
func (d *zstdDecoder) unpackSmall() ([]byte, error) {
	if len(d.src.b) > zstdSmall {
		return nil, zstd.ErrDecoderSizeExceeded
	}
	chunk, err := d.zr.DecodeAll(d.src.b, d.buf[:0])
	switch {
	case errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return nil, err
	case err != nil:
		return nil, corruptStream(Zstd, err)
	case len(chunk) == 0:
		return nil, io.EOF
	}
	d.src.b = nil
	return chunk, nil
}

func (d *zstdDecoder) free() {
	d.src.b = nil
	if d.wide {
		d.zr.Close()
		return
	}
	if err := d.zr.Reset(nil); err != nil {
		return // only a closed one refuses, which nobody can use again
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
