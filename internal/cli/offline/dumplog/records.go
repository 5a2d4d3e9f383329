package dumplog

import (
	"encoding/binary"
	"hash/crc32"
	"strings"

	"barnabas/internal/metadata/metarec"
	"barnabas/internal/record"
)

// records prints the records of an entry. last is the offset of the record before
// it, -1 at the start of the file.
func (d *dump) records(file string, e *entry, last int64) (int64, error) {
	var it record.Iterator
	defer it.Close()
	if e.magic < record.MagicV2 || e.batch.Codec() != record.None {
		// Apache unpacks a compressed batch before it prints its first record.
		for it.Reset(e.bytes); it.Next(); {
		}
		if err := it.Err(); err != nil {
			return 0, brokenRecords(e, err)
		}
	}
	for it.Reset(e.bytes); it.Next(); {
		r := it.Record()
		if int64(r.Offset) != last+1 {
			if err := d.note(notConsecutive, file, last, int64(r.Offset)); err != nil {
				return 0, err
			}
		}
		last = int64(r.Offset)
		control := e.magic >= record.MagicV2 && e.batch.IsControl()
		prefix := "| "
		if !d.skipMetadata {
			prefix = " "
			d.recordMetadata(e, r)
			if control {
				if err := d.controlRecord(r); err != nil {
					return 0, err
				}
			}
		}
		if d.printData && !control {
			if err := d.recordContents(r, prefix); err != nil {
				return 0, err
			}
		}
		d.printf("\n")
	}
	if err := it.Err(); err != nil {
		return 0, brokenRecords(e, err)
	}
	return last, nil
}

func brokenRecords(e *entry, err error) error {
	return invalidRecord("the entry at position %d: %s", e.position, err)
}

func (d *dump) recordMetadata(e *entry, r *record.Record) {
	timestampType := e.legacy.timestampType
	if e.magic >= record.MagicV2 {
		timestampType = e.batch.TimestampType().String()
	}
	d.printf("| offset: %d %s: %d keySize: %d valueSize: %d", r.Offset, timestampType, r.Timestamp, size(r.Key), size(r.Value))
	if e.magic < record.MagicV2 {
		crc, valid := messageCRC(e, r)
		d.printf(" isValid: %t crc: %d", valid, crc)
		return
	}
	sequence := record.NoSequence
	if base := e.batch.BaseSequence(); base >= 0 {
		sequence = record.AddSequence(base, int32(r.Offset-e.batch.BaseOffset()))
	}
	var keys []string
	for key := range r.Headers.All() {
		keys = append(keys, text(key))
	}
	d.printf(" sequence: %d headerKeys: [%s]", sequence, strings.Join(keys, ","))
}

func size(field []byte) int {
	if field == nil {
		return -1
	}
	return len(field)
}

// messageCRC is the checksum of a message of magic 0 or 1. Those inside a
// compressed one have been taken apart, so it is made anew from the parts; their
// attributes are 0.
func messageCRC(e *entry, r *record.Record) (crc uint32, valid bool) {
	if e.legacy.codec == record.None {
		return e.legacy.crc, e.legacy.valid
	}
	be := binary.BigEndian
	b := []byte{byte(e.magic), 0}
	if e.magic == 1 {
		b = be.AppendUint64(b, uint64(r.Timestamp))
	}
	for _, field := range [][]byte{r.Key, r.Value} {
		b = be.AppendUint32(b, uint32(int32(size(field))))
		b = append(b, field...)
	}
	return crc32.ChecksumIEEE(b), true
}

// controlRecord prints a control record, whose key says what it is.
func (d *dump) controlRecord(r *record.Record) error {
	t, err := record.ParseControlKey(r.Key)
	if err != nil {
		return invalidRecord("control record at offset %d: %s", r.Offset, err)
	}
	if t == record.ControlAbort || t == record.ControlCommit {
		marker, err := record.ParseEndTxnMarker(r.Key, r.Value)
		if err != nil {
			return invalidRecord("transaction marker at offset %d: %s", r.Offset, err)
		}
		d.printf(" endTxnMarker: %s coordinatorEpoch: %d", t, marker.CoordinatorEpoch)
		return nil
	}
	m, err := metarec.DecodeControl(r.Key, r.Value)
	if err != nil {
		return invalidRecord("control record at offset %d: %s", r.Offset, err)
	}
	name := ""
	switch t {
	case record.ControlLeaderChange:
		name = "LeaderChange:"
	case record.ControlSnapshotHeader:
		name = "SnapshotHeader"
	case record.ControlSnapshotFooter:
		name = "SnapshotFooter"
	case record.ControlKRaftVersion:
		name = "KRaftVersion"
	case record.ControlKRaftVoters:
		name = "KRaftVoters"
	default:
		d.printf(" controlType: %s(%d)", t, t)
		return nil
	}
	version := int16(binary.BigEndian.Uint16(r.Value)) // DecodeControl has read it
	d.printf(" %s %s", name, m.AppendJSON(nil, version))
	return nil
}

func (d *dump) recordContents(r *record.Record, prefix string) error {
	key, value, err := d.decode(r)
	if err != nil {
		return err
	}
	if key != nil {
		d.printf("%skey: %s", prefix, *key)
		prefix = " "
	}
	if value != nil {
		d.printf("%spayload: %s", prefix, *value)
	}
	return nil
}
