package dumplog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/record"
)

// Sizes of index entries: relative offset i32 and position i32; timestamp i64 and
// relative offset i32.
const (
	offsetEntry = 8
	timeEntry   = 12

	wholeFile = 1<<31 - 1
)

// baseOffset is the offset in the name of a segment's file.
func baseOffset(file string) (int64, error) {
	name, _, _ := strings.Cut(filepath.Base(file), ".")
	return parseLong(name)
}

// beside is the file of the same segment with another ending, as an absolute
// path, which errors name.
func beside(file, ending string) (string, error) {
	path, err := filepath.Abs(file)
	name, _, _ := strings.Cut(filepath.Base(path), ".")
	return filepath.Join(filepath.Dir(path), name+ending), err
}

// openBeside opens the .log of the segment that an index belongs to.
func (d *dump) openBeside(file string) (*entries, error) {
	log, err := beside(file, ".log")
	if err != nil {
		return nil, err
	}
	return d.openEntries(log, wholeFile)
}

// corrupt is the error of an index that a broker would rebuild.
func corrupt(format string, args ...any) error {
	return &exception{"org.apache.kafka.storage.internals.log.CorruptIndexException", fmt.Sprintf(format, args...)}
}

// offsetIndex prints an .index file and holds it against the segment.
func (d *dump) offsetIndex(file string) (err error) {
	base, err := baseOffset(file)
	if err != nil {
		return err
	}
	log, err := d.openBeside(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.close()) }()
	b, err := vfs.ReadFile(d.fsys, file)
	if err != nil {
		return err
	}
	n := len(b) / offsetEntry
	if n == 0 {
		d.printf("%s is empty.\n", file)
		return nil
	}
	at := func(i int) (offset int64, position int64) {
		e := b[i*offsetEntry:]
		return base + int64(int32(binary.BigEndian.Uint32(e))), int64(int32(binary.BigEndian.Uint32(e[4:])))
	}
	if d.sanityOnly {
		last, _ := at(n - 1)
		if err := sane(file, "Index", last, base, len(b), offsetEntry); err != nil {
			return err
		}
		d.printf("%s passed sanity check.\n", file)
		return nil
	}
	for i := range n {
		offset, position := at(i)
		// After a crash many entries behind the last one are zero.
		if offset == base && i > 0 {
			return nil
		}
		if err := log.slice(position, d.maxMessageSize); err != nil {
			return err
		}
		e, err := log.next()
		if errors.Is(err, io.EOF) {
			return &exception{"java.util.NoSuchElementException", ""}
		}
		if err != nil {
			return err
		}
		if e.lastOffset() != offset {
			if err := d.note(indexMismatch, file, offset, e.lastOffset()); err != nil {
				return err
			}
		}
		if !d.verifyOnly {
			d.printf("offset: %d position: %d\n", offset, position)
		}
	}
	return nil
}

// sane is the check of a broker's start that both indexes have in common.
func sane(file, what string, last, base int64, length, entry int) error {
	path, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	found, than := "Corrupt index found, index file "+path, "the base offset"
	if what != "Index" {
		found, than = "Corrupt time index found, time index file ("+path+")", "the first offset"
	}
	switch {
	case last < base:
		return corrupt("%s has non-zero size but the last offset is %d which is less than %s %d", found, last, than, base)
	case length%entry != 0:
		return corrupt("%s file %s is corrupt, found %d bytes which is neither positive nor a multiple of %d", what, path, length, entry)
	}
	return nil
}

// timeIndex prints a .timeindex file and holds it against the segment.
func (d *dump) timeIndex(file string) (err error) {
	base, err := baseOffset(file)
	if err != nil {
		return err
	}
	log, err := d.openBeside(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.close()) }()
	positions, err := d.readPositions(file, base)
	if err != nil {
		return err
	}
	b, err := vfs.ReadFile(d.fsys, file)
	if err != nil {
		return err
	}
	n := len(b) / timeEntry
	at := func(i int) (timestamp, offset int64) {
		e := b[i*timeEntry:]
		return int64(binary.BigEndian.Uint64(e)), base + int64(int32(binary.BigEndian.Uint32(e[8:])))
	}
	if d.sanityOnly {
		if err := saneTimes(file, n, at, base, len(b)); err != nil {
			return err
		}
		d.printf("%s passed sanity check.\n", file)
		return nil
	}
	previous := kafka.NoTimestamp
	for i := range n {
		timestamp, offset := at(i)
		if offset == base && i > 0 {
			return nil
		}
		if err := log.slice(positions.before(offset), wholeFile); err != nil {
			return err
		}
		if err := d.checkTime(file, log, timestamp, offset, previous); err != nil {
			return err
		}
		if !d.verifyOnly {
			d.printf("timestamp: %d offset: %d\n", timestamp, offset)
		}
		previous = timestamp
	}
	return nil
}

func saneTimes(file string, n int, at func(int) (int64, int64), base int64, length int) error {
	last := base
	if n > 0 {
		first, _ := at(0)
		timestamp, offset := at(n - 1)
		if timestamp < first {
			path, err := filepath.Abs(file)
			if err != nil {
				return err
			}
			return corrupt("Corrupt time index found, time index file (%s) has non-zero size but the last timestamp is %d which is less than the first timestamp %d", path, timestamp, first)
		}
		last = offset
	}
	return sane(file, "Time index", last, base, length, timeEntry)
}

// checkTime holds one entry of a time index against the batch that it is about;
// log stands at or before that batch.
func (d *dump) checkTime(file string, log *entries, timestamp, offset, previous int64) error {
	e, err := log.next()
	for err == nil && e.lastOffset() < offset {
		e, err = log.next()
	}
	if errors.Is(err, io.EOF) {
		return d.note(offsetNotFound, file, offset, -1)
	}
	if err != nil {
		return err
	}
	if e.lastOffset() != offset {
		return d.note(offsetNotFound, file, offset, e.lastOffset())
	}
	largest := kafka.NoTimestamp
	var it record.Iterator
	defer it.Close()
	for it.Reset(e.bytes); it.Next(); {
		largest = max(largest, it.Record().Timestamp)
	}
	if err := it.Err(); err != nil {
		return brokenRecords(e, err)
	}
	if largest != timestamp {
		if err := d.note(timestampMismatch, file, timestamp, largest); err != nil {
			return err
		}
	}
	if previous >= timestamp {
		return d.note(timestampOrder, file, timestamp, previous)
	}
	return nil
}

// positions is an offset index that lookups go to.
type positions []struct{ offset, position int64 }

// readPositions reads the .index beside a file up to the zeros that a crash
// leaves. A segment whose index was never needed has none.
func (d *dump) readPositions(file string, base int64) (positions, error) {
	file, err := beside(file, ".index")
	if err != nil {
		return nil, err
	}
	if ok, err := vfs.Exists(d.fsys, file); err != nil || !ok {
		return nil, err
	}
	b, err := vfs.ReadFile(d.fsys, file)
	if err != nil {
		return nil, err
	}
	var out positions
	for ; len(b) >= offsetEntry; b = b[offsetEntry:] {
		offset := base + int64(int32(binary.BigEndian.Uint32(b)))
		if offset == base && len(out) > 0 {
			break
		}
		out = append(out, struct{ offset, position int64 }{offset, int64(int32(binary.BigEndian.Uint32(b[4:])))})
	}
	return out, nil
}

// before is the position of the entry at offset, else of the last one before it.
func (p positions) before(offset int64) int64 {
	position := int64(0)
	for _, e := range p {
		if e.offset > offset {
			break
		}
		position = e.position
		if e.offset == offset {
			break
		}
	}
	return position
}
