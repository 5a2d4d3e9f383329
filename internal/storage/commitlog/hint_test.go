package commitlog

import (
	"bytes"
	"encoding/binary"
	"testing"

	"barnabas/internal/record"
)

// A place that was found in a segment is worth nothing in another of the same base
// offset, however much what lies there now looks like the entry that is expected.
func TestHintsHoldInTheirOwnSegmentOnly(t *testing.T) {
	fx := newFixture(t)
	fx.append(sizedBatch(1, 100, 1), sizedBatch(1, 100, 1), sizedBatch(1, 100, 1))
	slice, err := fx.log.Snapshot().Read(ReadRequest{UpTo: 3, MaxBytes: 1 << 20})
	must(t, err)
	slice.Release()
	hint := slice.End
	if hint.Offset != 3 || hint.Position != fx.log.Size() {
		t.Fatalf("hint %+v", hint)
	}
	_, err = fx.log.TruncateTo(0, 0)
	must(t, err)

	// The first record of three has, at that very position, the header of a batch at
	// offset 3.
	forged := sizedBatch(1, 20, 1)
	binary.BigEndian.PutUint64(forged, 3)
	value := bytes.Repeat([]byte("v"), int(hint.Position)+len(forged))
	at := bytes.Index(threeRecords(t, value), value)
	copy(value[int(hint.Position)-at:], forged)
	fx.append(threeRecords(t, value), batch(1, 1))

	for _, r := range []ReadRequest{{From: 3, UpTo: 4, MaxBytes: 1 << 20}, {From: 3, UpTo: 4, MaxBytes: 1 << 20, Hint: hint}} {
		slice, err := fx.log.Snapshot().Read(r)
		must(t, err)
		slice.Release()
		if slice.FirstOffset != 3 || slice.Position <= hint.Position {
			t.Errorf("with hint %+v: offset %d at position %d", r.Hint, slice.FirstOffset, slice.Position)
		}
	}
}

func threeRecords(t *testing.T, first []byte) record.Batch {
	b := record.NewBuilder(record.BatchOptions{})
	b.Append(record.Record{Timestamp: 1, Value: first})
	b.Append(record.Record{Timestamp: 1})
	b.Append(record.Record{Timestamp: 1})
	batch, err := b.Build()
	must(t, err)
	return record.Batch(batch)
}
