package dumplog

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"path/filepath"

	"barnabas/internal/base/vfs"
	"barnabas/internal/record"
)

// A producer snapshot: version i16, CRC-32C of the rest u32, count i32, and for
// each producer id i64, epoch i16, last sequence i32, last offset i64, offset
// delta i32, timestamp i64, coordinator epoch i32, first offset of its open
// transaction i64.
const (
	snapshotHeader   = 10
	snapshotProducer = 46
)

// producers prints a .snapshot file. A corrupt one is a complaint, no failure.
func (d *dump) producers(file string) error {
	b, err := vfs.ReadFile(d.fsys, file)
	if err != nil {
		return err
	}
	be := binary.BigEndian
	if len(b) < snapshotHeader {
		return d.errorf("Snapshot failed schema validation: null\n")
	}
	if version := int16(be.Uint16(b)); version != 1 {
		return d.errorf("Snapshot failed schema validation: Snapshot contained an unknown file version %d\n", version)
	}
	count, rest := int64(int32(be.Uint32(b[6:]))), int64(len(b)-snapshotHeader)
	switch {
	case count > rest:
		return d.errorf("Snapshot failed schema validation: Tried to allocate a collection of size %d, but there are only %d bytes remaining.\n", count, rest)
	case count*snapshotProducer > rest:
		return d.errorf("Snapshot failed schema validation: null\n")
	}
	if stored, computed := be.Uint32(b[2:]), crc32.Checksum(b[6:], crc32.MakeTable(crc32.Castagnoli)); stored != computed {
		return d.errorf("Snapshot is corrupt (CRC is no longer valid). Stored crc: %d. Computed crc: %d\n", stored, computed)
	}
	for i := range count {
		p := b[snapshotHeader+i*snapshotProducer:]
		timestamp, first := int64(be.Uint64(p[26:])), int64(be.Uint64(p[38:]))
		d.printf("producerId: %d producerEpoch: %d coordinatorEpoch: %d currentTxnFirstOffset: %s lastTimestamp: %d",
			int64(be.Uint64(p)), int16(be.Uint16(p[8:])), int32(be.Uint32(p[34:])), optionalLong(first, first >= 0), timestamp)
		sequence, last, delta := int32(be.Uint32(p[10:])), int64(be.Uint64(p[14:])), int32(be.Uint32(p[22:]))
		if last >= 0 {
			d.printf(" firstSequence: %d lastSequence: %d lastOffset: %d offsetDelta: %d timestamp: %d", record.AddSequence(sequence, -delta), sequence, last, delta, timestamp)
		}
		d.printf("\n")
	}
	return nil
}

// abortedTxn is the size of an entry of a .txnindex: version i16, producer id
// i64, first offset i64, last offset i64, last stable offset i64.
const abortedTxn = 34

// abortedTxns prints a .txnindex file. One that is not there is empty, since most
// segments have none.
func (d *dump) abortedTxns(file string) error {
	if _, err := baseOffset(file); err != nil {
		return err
	}
	if ok, err := vfs.Exists(d.fsys, file); err != nil || !ok {
		return err
	}
	b, err := vfs.ReadFile(d.fsys, file)
	if err != nil {
		return err
	}
	be := binary.BigEndian
	for ; len(b) >= abortedTxn; b = b[abortedTxn:] {
		if version := int16(be.Uint16(b)); version != 0 {
			path, err := filepath.Abs(file)
			if err != nil {
				return err
			}
			return &exception{"org.apache.kafka.common.KafkaException", fmt.Sprintf("Unexpected aborted transaction version %d in transaction index %s, supported version range is 0 to 0", version, path)}
		}
		d.printf("version: 0 producerId: %d firstOffset: %d lastOffset: %d lastStableOffset: %d\n",
			int64(be.Uint64(b[2:])), int64(be.Uint64(b[10:])), int64(be.Uint64(b[18:])), int64(be.Uint64(b[26:])))
	}
	return nil
}
