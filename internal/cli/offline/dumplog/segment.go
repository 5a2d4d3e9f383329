package dumplog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"path/filepath"
	"strings"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/record"
)

// minEntry is the smallest length that an entry of a log can name.
const minEntry = 14

// entry is a batch, or a message of magic 0 or 1, in a file.
type entry struct {
	position int64
	bytes    []byte // all of it
	magic    int8
	batch    record.Batch // of magic 2
	legacy   legacyHeader // of magic 0 and 1
}

// lastOffset is the offset of the entry's last record.
func (e *entry) lastOffset() int64 {
	if e.magic >= record.MagicV2 {
		return int64(e.batch.LastOffset())
	}
	return e.legacy.offset
}

// legacyHeader is what comes before the key in an entry of magic 0 or 1.
type legacyHeader struct {
	offset        int64
	crc           uint32
	valid         bool
	codec         record.Codec
	timestampType string
	timestamp     int64
}

// entries reads one entry after another from a range of a file. It stops before
// an entry that the range does not hold whole.
type entries struct {
	name     string
	file     vfs.File
	size     int64 // of the file
	pos, end int64
	buf      []byte

	// look is called now and then; its error ends the reading.
	look func(pos int64) error
	seen int64 // where it was called last
}

// lookEvery is after how many bytes entries.look is called.
const lookEvery = 4 << 20

// openEntries opens the first limit bytes of a file.
func (d *dump) openEntries(name string, limit int64) (*entries, error) {
	file, err := d.fsys.Open(name, vfs.Read)
	if err != nil {
		return nil, err
	}
	size, err := file.Size()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	end := min(size, limit)
	return &entries{name: name, file: file, size: size, end: end, look: func(pos int64) error {
		d.progress(fmt.Sprintf("%s, %d of %d MB", filepath.Base(name), pos>>20, end>>20))
		return d.ctx.Err()
	}}, nil
}

// next returns the next entry, valid until the call after it; io.EOF is the end.
func (r *entries) next() (*entry, error) {
	if r.pos >= r.end-record.MinHeaderSize {
		return nil, io.EOF
	}
	if r.pos-r.seen >= lookEvery {
		r.seen = r.pos
		if err := r.look(r.pos); err != nil {
			return nil, err
		}
	}
	var head [record.MinHeaderSize]byte
	if _, err := r.file.ReadAt(head[:], r.pos); err != nil {
		return nil, err
	}
	length := int64(int32(binary.BigEndian.Uint32(head[8:])))
	if length < minEntry {
		return nil, &exception{"org.apache.kafka.common.errors.CorruptRecordException",
			fmt.Sprintf("Found record size %d smaller than minimum record overhead (%d) in file %s.", length, minEntry, r.name)}
	}
	size := record.LogOverhead + length
	if r.pos > r.end-size {
		return nil, io.EOF
	}
	if int64(cap(r.buf)) < size {
		r.buf = make([]byte, size)
	}
	e := &entry{position: r.pos, bytes: r.buf[:size], magic: int8(head[16])}
	if _, err := r.file.ReadAt(e.bytes, r.pos); err != nil {
		return nil, err
	}
	r.pos += size
	return e, e.parse()
}

func (e *entry) parse() error {
	if e.magic >= record.MagicV2 {
		e.batch = e.bytes
		if len(e.bytes) < record.HeaderSize {
			return invalidRecord("the batch at position %d has %d bytes, less than a header", e.position, len(e.bytes))
		}
		return nil
	}
	header := 18 + 8*int(max(e.magic, 0))
	if e.magic < 0 || len(e.bytes) < header {
		return invalidRecord("the message at position %d has magic %d and %d bytes", e.position, e.magic, len(e.bytes))
	}
	attributes := record.Attributes(e.bytes[17])
	e.legacy = legacyHeader{
		offset:        int64(binary.BigEndian.Uint64(e.bytes)),
		crc:           binary.BigEndian.Uint32(e.bytes[12:]),
		valid:         binary.BigEndian.Uint32(e.bytes[12:]) == crc32.ChecksumIEEE(e.bytes[16:]),
		codec:         attributes.Codec(),
		timestampType: "NoTimestampType",
		timestamp:     kafka.NoTimestamp,
	}
	if e.magic == 1 {
		e.legacy.timestampType = attributes.TimestampType().String()
		e.legacy.timestamp = int64(binary.BigEndian.Uint64(e.bytes[18:]))
	}
	return nil
}

func invalidRecord(format string, args ...any) error {
	return &exception{"org.apache.kafka.common.InvalidRecordException", fmt.Sprintf(format, args...)}
}

// slice moves to a range that begins at a position that an index names.
func (r *entries) slice(position, limit int64) error {
	if position > r.size || position < 0 {
		return &exception{"java.lang.IllegalArgumentException",
			fmt.Sprintf("Slice from position %d exceeds end position of FileRecords(size=%d, file=%s, start=0, end=2147483647)", position, r.size, r.name)}
	}
	r.pos, r.end = position, min(r.size, position+limit)
	return nil
}

func (r *entries) close() error { return r.file.Close() }

// segment prints a .log file or a .checkpoint of the metadata log.
func (d *dump) segment(file string) (err error) {
	if err := d.segmentTitle(file); err != nil {
		return err
	}
	r, err := d.openEntries(file, d.maxBytes)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	valid, last := int64(0), int64(-1)
	for {
		e, err := r.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := d.entryLine(e); err != nil {
			return err
		}
		if d.deep {
			if last, err = d.records(file, e, last); err != nil {
				return err
			}
		}
		valid += int64(len(e.bytes))
	}
	if rest := r.end - valid; rest > 0 && d.maxBytes == 1<<31-1 {
		d.printf("Found %d invalid bytes at the end of %s\n", rest, filepath.Base(file))
	}
	return nil
}

// segmentTitle prints what the name of the file says.
func (d *dump) segmentTitle(file string) error {
	name := filepath.Base(file)
	if filepath.Ext(name) == ".log" {
		base, _, _ := strings.Cut(name, ".")
		offset, err := parseLong(base)
		if err != nil {
			return err
		}
		d.printf("Log starting offset: %d\n", offset)
		return nil
	}
	if name == "bootstrap.checkpoint" {
		d.printf("KRaft bootstrap snapshot\n")
		return nil
	}
	// <offset, 20 digits>-<epoch, 10 digits>.checkpoint
	if len(name) < 31 {
		return &exception{"java.lang.StringIndexOutOfBoundsException", fmt.Sprintf("begin 0, end 20, length %d", len(name))}
	}
	offset, err := parseLong(name[:20])
	if err != nil {
		return err
	}
	epoch, err := parseLong(name[21:31])
	if err != nil {
		return err
	}
	d.printf("Snapshot end offset: %d, epoch: %d\n", offset, epoch)
	return nil
}

// entryLine prints the header of an entry.
func (d *dump) entryLine(e *entry) error {
	codec, crc, valid := e.legacy.codec, e.legacy.crc, e.legacy.valid
	timestampType, timestamp := e.legacy.timestampType, e.legacy.timestamp
	if e.magic >= record.MagicV2 {
		b := e.batch
		horizon, ok := b.DeleteHorizon()
		d.printf("baseOffset: %d lastOffset: %d count: %d baseSequence: %d lastSequence: %d producerId: %d producerEpoch: %d partitionLeaderEpoch: %d isTransactional: %t isControl: %t deleteHorizonMs: %s",
			b.BaseOffset(), b.LastOffset(), b.Count(), b.BaseSequence(), b.LastSequence(), b.ProducerID(), b.ProducerEpoch(), b.LeaderEpoch(), b.IsTransactional(), b.IsControl(), optionalLong(horizon, ok))
		codec, crc, valid = b.Codec(), b.CRC(), b.CheckCRC() == nil
		timestampType, timestamp = b.TimestampType().String(), b.MaxTimestamp()
	} else {
		d.printf("offset: %d", e.legacy.offset)
	}
	if !codec.Valid() {
		return &exception{"java.lang.IllegalArgumentException", fmt.Sprintf("Unknown compression type id: %d", codec)}
	}
	d.printf(" position: %d %s: %d size: %d magic: %d compresscodec: %s crc: %d isvalid: %t\n",
		e.position, timestampType, timestamp, len(e.bytes), e.magic, codec, crc, valid)
	return nil
}
