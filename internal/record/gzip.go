package record

import (
	"errors"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// gzipDecoder reads as java.util.zip.GZIPInputStream does: members may follow
// one another, and what follows the last one and is no member is ignored.
type gzipDecoder struct {
	src   source
	zr    gzip.Reader
	begun bool // the first member has been opened
	open  bool // a member is being read
	buf   [chunkSize]byte
}

var gzipDecoders = sync.Pool{New: func() any { return new(gzipDecoder) }}

func newGzipDecoder(src []byte) *gzipDecoder {
	d := gzipDecoders.Get().(*gzipDecoder)
	d.src.b, d.begun, d.open = src, false, false
	return d
}

func (d *gzipDecoder) next() ([]byte, error) {
	for {
		if !d.open {
			if err := d.zr.Reset(&d.src); err != nil {
				d.src.b = nil
				if d.begun {
					return nil, io.EOF
				}
				return nil, corruptStream(Gzip, err)
			}
			d.zr.Multistream(false)
			d.begun, d.open = true, true
		}
		n, err := d.zr.Read(d.buf[:])
		if n > 0 {
			// An error that came with bytes comes again without them.
			return d.buf[:n], nil
		}
		if errors.Is(err, io.EOF) {
			d.open = false
		} else if err != nil {
			return nil, corruptStream(Gzip, err)
		}
	}
}

func (d *gzipDecoder) free() {
	d.src.b = nil
	gzipDecoders.Put(d)
}

// gzipEncoder is a gzip.Writer that knows its pool.
type gzipEncoder struct {
	*gzip.Writer
	level int
}

// gzipEncoders has a pool for each level from -1 to 9.
var gzipEncoders [11]sync.Pool

func newGzipEncoder(level int, out *output) (*gzipEncoder, error) {
	if level == 0 {
		level = gzip.DefaultCompression
	}
	level = min(max(level, gzip.DefaultCompression), gzip.BestCompression)
	if e, ok := gzipEncoders[level+1].Get().(*gzipEncoder); ok {
		e.Reset(out)
		return e, nil
	}
	w, err := gzip.NewWriterLevel(out, level)
	if err != nil {
		return nil, err
	}
	return &gzipEncoder{Writer: w, level: level}, nil
}

func (e *gzipEncoder) free() {
	e.Reset(nil)
	gzipEncoders[e.level+1].Put(e)
}
