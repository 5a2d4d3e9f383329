package quorum

import (
	"fmt"

	"barnabas/internal/kafka"
	"barnabas/internal/metadata/metarec"
	"barnabas/internal/record"
)

// recordOverhead is more than what a record of a metadata batch takes beside its
// value: the lengths, one byte each for attributes, timestamp delta, null key and
// no headers, and the offset delta.
const recordOverhead = 20

// dataBatches puts framed metadata records into batches, one where that is
// possible. Their offsets count from base.
func dataBatches(frames [][]byte, how Atomicity, opts record.BatchOptions, now kafka.TimestampMs) ([]record.Batch, error) {
	var out []record.Batch
	for len(frames) > 0 {
		n := len(frames)
		if how == Divisible {
			n = fitting(frames)
		}
		if n > MaxBatchRecords {
			return nil, fmt.Errorf("%w: %d records, %d are allowed", ErrTooLarge, n, MaxBatchRecords)
		}
		b, err := dataBatch(frames[:n], opts, now)
		if err != nil {
			return nil, err
		}
		if b.Size() > MaxBatchBytes {
			return nil, fmt.Errorf("%w: %d bytes, %d are allowed", ErrTooLarge, b.Size(), MaxBatchBytes)
		}
		out, frames = append(out, b), frames[n:]
		opts.BaseOffset = b.NextOffset()
	}
	return out, nil
}

// fitting says how many records surely fit into one batch; one that is too large
// by itself counts, and is refused when its batch is built.
func fitting(frames [][]byte) int {
	size := record.HeaderSize
	for i, f := range frames {
		size += recordOverhead + len(f)
		if i == MaxBatchRecords || i > 0 && size > MaxBatchBytes {
			return i
		}
	}
	return len(frames)
}

func dataBatch(frames [][]byte, opts record.BatchOptions, now kafka.TimestampMs) (record.Batch, error) {
	var b record.Builder
	b.Reset(opts)
	for _, f := range frames {
		b.Append(record.Record{Timestamp: now, Value: f})
	}
	return b.Build()
}

// controlBatch puts control records of the metadata log into one batch.
func controlBatch(opts record.BatchOptions, now kafka.TimestampMs, records ...metarec.ControlRecord) (record.Batch, error) {
	opts.Control = true
	var b record.Builder
	b.Reset(opts)
	for _, r := range records {
		key, value, err := metarec.EncodeControl(r)
		if err != nil {
			return nil, err
		}
		b.Append(record.Record{Timestamp: now, Key: key, Value: value})
	}
	return b.Build()
}

// eachRecord calls visit for the records of b.
func eachRecord(b record.Batch, visit func(*record.Record) error) error {
	it := record.Iterator{MaxRecordSize: MaxBatchBytes}
	defer it.Close()
	for it.Reset(b); it.Next(); {
		if err := visit(it.Record()); err != nil {
			return err
		}
	}
	return it.Err()
}
