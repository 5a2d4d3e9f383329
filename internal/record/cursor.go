package record

import (
	"errors"
	"fmt"
	"io"
	"math"

	"barnabas/internal/kafka"
)

// DefaultMaxRecordSize is Kafka's default for max.decompressed.message.bytes:
// as good as no limit.
const DefaultMaxRecordSize = math.MaxInt32 - 8

// cursor goes through the records of one entry. Iterator and Walker are its two
// faces.
type cursor struct {
	stream
	maxRecordSize int
	compressed    bool
	left          int32 // records that are still to come
	err           error

	baseOffset    kafka.Offset
	baseTimestamp kafka.TimestampMs
	appendTime    bool // every record has the timestamp below
	timestamp     kafka.TimestampMs

	legacy legacySet // where records come from when magic is 0 or 1
}

// reset starts over with the entry. What is wrong with it is told by err.
func (c *cursor) reset(entry []byte, maxRecordSize int) {
	c.close()
	c.maxRecordSize = maxRecordSize
	if maxRecordSize <= 0 {
		c.maxRecordSize = DefaultMaxRecordSize
	}
	c.err = c.openEntry(entry)
}

// close gives buffers back; there is no next record any more.
func (c *cursor) close() {
	c.stream.close()
	c.left, c.legacy = 0, legacySet{}
}

func (c *cursor) openEntry(entry []byte) error {
	size, magic, err := entrySize(entry)
	if err != nil {
		return err
	}
	if size != len(entry) {
		return fmt.Errorf("%w: %d, but there are %d bytes", ErrBadLength, size, len(entry))
	}
	if magic < MagicV2 {
		return c.legacy.open(entry, magic, c.maxRecordSize)
	}
	b := Batch(entry)
	count := b.Count()
	if count < 0 {
		return errBody(fmt.Sprintf("found invalid record count %d", count))
	}
	a := b.Attributes()
	c.baseOffset, c.baseTimestamp = b.BaseOffset(), b.BaseTimestamp()
	c.appendTime, c.timestamp = a.TimestampType() == LogAppendTime, b.MaxTimestamp()
	c.compressed = a.Codec() != None
	if count == 0 {
		// What compaction leaves of a batch to keep its producer's state.
		return nil
	}
	c.left = count
	return c.stream.open(a.Codec(), b.Payload(), magic)
}

// next reads one record into r, or, when r is nil, passes it over and reads f
// alone. It says false at the end and after an error.
func (c *cursor) next(f *bodyFields, r *Record) bool {
	if c.left <= 0 || c.err != nil {
		return false
	}
	if err := c.read(f, r); err != nil {
		c.fail(err)
		return false
	}
	if c.left--; c.left == 0 {
		// Nothing may follow the last record: as with Apache it is the last
		// record that is refused then.
		end, err := c.atEnd()
		if err == nil && !end {
			err = errBody("records follow the last one")
		}
		if err != nil {
			c.fail(err)
			return false
		}
	}
	if r != nil {
		r.Offset, r.Timestamp = c.offsetOf(f), c.timestampOf(f)
	}
	return true
}

func (c *cursor) fail(err error) {
	if errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, ErrCorrupt) {
		err = errBody("the bytes end before the last record")
	}
	c.err = err
}

func (c *cursor) offsetOf(f *bodyFields) kafka.Offset {
	return c.baseOffset + kafka.Offset(f.offsetDelta)
}

func (c *cursor) timestampOf(f *bodyFields) kafka.TimestampMs {
	if c.appendTime {
		return c.timestamp
	}
	return c.baseTimestamp + f.timestampDelta
}

// read reads the next record of a v2 batch. The way through the middle is the
// record that lies in one piece, which is every record of a plain batch.
func (c *cursor) read(f *bodyFields, r *Record) error {
	u, n := uvarint32(c.buf)
	size := unzigzag32(u)
	if n > 0 {
		c.buf = c.buf[n:]
	} else {
		var err error
		if size, err = c.varint32(); err != nil {
			return err
		}
	}
	if size < 0 {
		return errBody(fmt.Sprintf("found invalid record size %d", size))
	}
	if c.compressed && int(size) > c.maxRecordSize {
		return fmt.Errorf("%w: %d bytes, %d are allowed", ErrTooLarge, size, c.maxRecordSize)
	}
	if int(size) > len(c.buf) {
		if r == nil {
			return c.skim(int(size), f)
		}
		if err := c.need(int(size)); err != nil {
			return err
		}
	}
	body := c.buf[:size:size]
	c.buf = c.buf[size:]
	if r == nil {
		return skimBody(body, f)
	}
	return parseBody(body, f, r)
}

// skimBody is parseBody for those who want no key, value or header. It is the
// inner loop of every Produce request, and written out for that reason.
func skimBody(b []byte, f *bodyFields) error {
	if len(b) == 0 {
		return errBody("empty record")
	}
	b = b[1:]
	ts, n := uvarint64(b)
	if n <= 0 {
		return errBody("bad timestamp delta")
	}
	b = b[n:]
	off, n := uvarint32(b)
	if n <= 0 {
		return errBody("bad offset delta")
	}
	b = b[n:]
	f.timestampDelta, f.offsetDelta = unzigzag64(ts), unzigzag32(off)
	var ok bool
	if f.keySize, b, ok = passField(b); !ok {
		return errBody("key ends after the record")
	}
	if f.valueSize, b, ok = passField(b); !ok {
		return errBody("value ends after the record")
	}
	if len(b) == 1 && b[0] == 0 {
		return nil // no headers: nearly always
	}
	count, n := varint32(b)
	if n <= 0 || count < 0 {
		return errBody("impossible number of headers")
	}
	return checkHeaders(b[n:], count)
}

// skim is skimBody for a record that lies across chunks: its key and value are
// passed over chunk by chunk, so that a record that unpacks to a gigabyte costs
// the memory of a chunk.
func (c *cursor) skim(size int, f *bodyFields) error {
	end := c.passed + size
	if err := c.skip(1); err != nil {
		return err
	}
	var err error
	if f.timestampDelta, err = c.varint64(); err != nil {
		return err
	}
	if f.offsetDelta, err = c.varint32(); err != nil {
		return err
	}
	if f.keySize, err = c.skipField(end); err != nil {
		return err
	}
	if f.valueSize, err = c.skipField(end); err != nil {
		return err
	}
	count, err := c.varint32()
	if err != nil {
		return err
	}
	if count < 0 {
		return errBody("impossible number of headers")
	}
	for range count {
		key, err := c.skipField(end)
		if err != nil {
			return err
		}
		if key < 0 {
			return errBody("null header key")
		}
		if _, err = c.skipField(end); err != nil {
			return err
		}
	}
	if c.passed != end {
		return errBody("record size differs from its fields")
	}
	return nil
}

// skipField passes over a length and as many bytes, which must end before the
// record does.
func (c *cursor) skipField(end int) (size int32, err error) {
	if size, err = c.varint32(); err != nil {
		return 0, err
	}
	if size < 0 {
		return -1, nil
	}
	if int(size) > end-c.passed {
		return 0, errBody("field ends after the record")
	}
	return size, c.skip(int(size))
}
