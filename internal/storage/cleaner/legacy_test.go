package cleaner

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"hash/crc32"
	"testing"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/record"
	"barnabas/internal/storage/commitlog"
)

// message builds an entry of magic 0 or 1, as Kafka wrote them before 0.11; a nil
// value makes a tombstone.
func message(offset kafka.Offset, magic, attributes byte, at kafka.TimestampMs, key string, value []byte) []byte {
	be := binary.BigEndian
	body := []byte{magic, attributes}
	if magic == 1 {
		body = be.AppendUint64(body, uint64(at))
	}
	for _, field := range [][]byte{[]byte(key), value} {
		if field == nil {
			body = be.AppendUint32(body, 0xffffffff)
			continue
		}
		body = append(be.AppendUint32(body, uint32(len(field))), field...)
	}
	b := be.AppendUint64(nil, uint64(offset))
	b = be.AppendUint32(b, uint32(4+len(body)))
	b = be.AppendUint32(b, crc32.ChecksumIEEE(body))
	return append(b, body...)
}

// wrapper is a compressed entry of magic 1 that holds one message for each key, with
// offsets that count from 0, and whose own is that of the last.
func wrapper(t *testing.T, last kafka.Offset, at kafka.TimestampMs, keys ...string) []byte {
	t.Helper()
	var inner bytes.Buffer
	w := gzip.NewWriter(&inner)
	for i, key := range keys {
		_, err := w.Write(message(kafka.Offset(i), 1, 0, at, key, []byte("wrapped")))
		must(t, err)
	}
	must(t, w.Close())
	return message(last, 1, byte(record.Gzip), at, "", inner.Bytes())
}

// TestOldFormatsAreCleaned cleans a log that begins with entries of magic 0 and 1:
// those of which all stays are left as they are, a wrapper of which a part stays becomes
// a batch of magic 2, and a tombstone stays until delete.retention.ms after the last
// clean segment was written.
func TestOldFormatsAreCleaned(t *testing.T) {
	r := oldLog(t)
	r.put("c", "1")
	r.put("d", "1")
	r.roll()
	r.run()
	r.expect(1, 3, 6, 7, 8, 10, 11, 12)
	all, _ := readAll(t, r.log.Snapshot(), false)
	if f := all[2]; f.header.Magic != 2 || f.header.BaseOffset != 6 || f.header.Attributes.Codec() != record.Gzip ||
		string(f.Key) != "e" || string(f.Value) != "wrapped" || f.Timestamp != r.now {
		t.Errorf("what is left of the wrapper: %q=%q %+v", f.Key, f.Value, f.header)
	}
	for i, entry := range [][]byte{
		message(1, 0, 0, 0, "b", []byte("1")), wrapper(t, 8, r.now, "x", "y"), message(10, 1, 0, r.now, "a", []byte("3")),
	} {
		if !bytes.Contains(r.first(), entry) {
			t.Errorf("entry %d is not there as it was", i)
		}
	}

	// Such a batch has no leader epoch, to whoever reads the log anew.
	r.log.Abandon()
	must(t, r.mem.Remove(testDir+"/leader-epoch-checkpoint"))
	r.open(commitlog.Options{})
	if s := r.log.Snapshot(); s.EpochOf(6) != kafka.NoLeaderEpoch || s.EpochOf(11) != 0 {
		t.Errorf("epochs %d and %d", s.EpochOf(6), s.EpochOf(11))
	}
	if text, err := vfs.ReadFile(r.mem, testDir+"/leader-epoch-checkpoint"); err != nil || string(text) != "0\n1\n0 11\n" {
		t.Errorf("%q, %v", text, err)
	}

	// The tombstone's segment is as old as the last clean one.
	r.now += 5000
	r.put("f", "1")
	r.roll()
	r.run()
	r.expect(1, 3, 6, 7, 8, 10, 11, 12, 13)
	r.put("e", "") // now the last clean one is 5 s younger
	r.roll()
	r.run()
	r.expect(1, 7, 8, 10, 11, 12, 13, 14)
	r.log.Abandon()
	if report := r.open(commitlog.Options{}); len(report.Cuts)+len(report.Damages) > 0 {
		t.Errorf("%+v", report)
	}
	r.expect(1, 7, 8, 10, 11, 12, 13, 14)
}

// A record that lies in a wrapper beside one that stays does not come back when the
// tombstone of its key goes.
func TestDeletedKeysOfWrappersStayDeleted(t *testing.T) {
	r := oldLog(t)
	for _, key := range []string{"c", "f", "g"} {
		r.put(key, map[string]string{"f": "1", "g": "1"}[key])
		r.roll()
		r.run()
		r.now += 5000
	}
	all, _ := readAll(t, r.log.Snapshot(), false)
	for _, f := range all {
		if string(f.Key) == "c" {
			t.Errorf("at offset %d: %q", f.Offset, f.Value)
		}
	}
}

// oldLog is a log with a sealed segment of old formats, up to offset 10.
func oldLog(t *testing.T) *rig {
	r := newRig(t, func(r *rig) {
		r.clean.SegmentBytes = 1 // no segments are joined
		var log []byte
		for _, entry := range [][]byte{
			message(0, 0, 0, 0, "a", []byte("1")),
			message(1, 0, 0, 0, "b", []byte("1")),
			message(2, 1, 0, r.now, "a", []byte("2")),
			message(3, 1, 0, r.now, "gone", nil),
			wrapper(t, 6, r.now, "c", "d", "e"),
			wrapper(t, 8, r.now, "x", "y"),
			message(9, 1, 0, r.now, "d", []byte("1")),
			message(10, 1, 0, r.now, "a", []byte("3")),
		} {
			log = append(log, entry...)
		}
		must(t, r.mem.MkdirAll(testDir))
		must(t, vfs.WriteFile(r.mem, testDir+"/00000000000000000000.log", log))
	})
	r.log.Abandon()
	r.open(commitlog.Options{})
	if end := r.log.LogEnd(); end != 11 {
		t.Fatalf("the log ends at %d", end)
	}
	r.roll()
	return r
}

// first is the file of the first segment.
func (r *rig) first() []byte {
	r.t.Helper()
	b, err := vfs.ReadFile(r.mem, testDir+"/00000000000000000000.log")
	must(r.t, err)
	return b
}
