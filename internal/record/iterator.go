package record

import "barnabas/internal/kafka"

// Iterator reads the records of one entry of a log: of a v2 batch, or of an
// entry of magic 0 or 1 with what is nested in it. It unpacks compressed entries
// as it goes. The zero value is ready for Reset.
//
//	var it record.Iterator
//	defer it.Close()
//	for it.Reset(batch); it.Next(); {
//		use(it.Record())
//	}
//	if err := it.Err(); err != nil { ... }
type Iterator struct {
	// MaxRecordSize is the size from which a compressed record is ErrTooLarge;
	// 0 is DefaultMaxRecordSize.
	MaxRecordSize int

	c      cursor
	fields bodyFields
	record Record
}

// Reset starts over with an entry, which must be whole.
func (it *Iterator) Reset(entry []byte) { it.c.reset(entry, it.MaxRecordSize) }

// Next goes to the next record. It says false at the end and at an error.
func (it *Iterator) Next() bool {
	if it.c.legacy.isOpen() {
		return it.c.nextLegacy(&it.fields, &it.record)
	}
	return it.c.next(&it.fields, &it.record)
}

// Record is the record that Next went to. It and its bytes are valid until the
// next call of Next, Reset or Close; the bytes of a plain batch live as long as
// the batch.
func (it *Iterator) Record() *Record { return &it.record }

// Err is the error that ended the iteration, or nil.
func (it *Iterator) Err() error { return it.c.err }

// Close gives buffers back. The iterator may be Reset again.
func (it *Iterator) Close() { it.c.close() }

// Walker is an Iterator for those who want no keys, values and headers: it
// checks them and passes them over.
type Walker struct {
	// MaxRecordSize is as in Iterator.
	MaxRecordSize int

	c      cursor
	fields bodyFields
}

// Reset starts over with an entry, which must be whole.
func (w *Walker) Reset(entry []byte) { w.c.reset(entry, w.MaxRecordSize) }

// Next goes to the next record. It says false at the end and at an error.
func (w *Walker) Next() bool {
	if w.c.legacy.isOpen() {
		return w.c.nextLegacy(&w.fields, nil)
	}
	return w.c.next(&w.fields, nil)
}

// Offset is the offset of the record.
func (w *Walker) Offset() kafka.Offset { return w.c.offsetOf(&w.fields) }

// Timestamp is the timestamp of the record.
func (w *Walker) Timestamp() kafka.TimestampMs { return w.c.timestampOf(&w.fields) }

// KeySize is the size of the key, -1 for null.
func (w *Walker) KeySize() int { return int(w.fields.keySize) }

// ValueSize is the size of the value, -1 for null.
func (w *Walker) ValueSize() int { return int(w.fields.valueSize) }

// Err is the error that ended the walk, or nil.
func (w *Walker) Err() error { return w.c.err }

// Close gives buffers back. The walker may be Reset again.
func (w *Walker) Close() { w.c.close() }
