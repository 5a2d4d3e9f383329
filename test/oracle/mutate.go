package oracle

import (
	"encoding/binary"
	"iter"
)

// Where the fields of a batch are.
const (
	atBaseOffset    = 0
	atLength        = 8
	atEpoch         = 12
	atMagic         = 16
	atCRC           = 17
	atAttributes    = 21
	atLastDelta     = 23
	atBaseTimestamp = 27
	atMaxTimestamp  = 35
	atProducerID    = 43
	atProducerEpoch = 51
	atSequence      = 53
	atCount         = 57
)

func put16(at int, v int16) func([]byte) {
	return func(b []byte) { binary.BigEndian.PutUint16(b[at:], uint16(v)) }
}

func put32(at int, v int32) func([]byte) {
	return func(b []byte) { binary.BigEndian.PutUint32(b[at:], uint32(v)) }
}

func put64(at int, v int64) func([]byte) {
	return func(b []byte) { binary.BigEndian.PutUint64(b[at:], uint64(v)) }
}

// with is b with its bytes changed before the CRC is computed.
func (b Batch) with(changes ...func([]byte)) Batch {
	b.MutateBeforeCRC = func(bytes []byte) {
		for _, change := range changes {
			change(bytes)
		}
	}
	return b
}

// mutated is b with its bytes changed after the CRC is computed.
func (b Batch) mutated(change func([]byte)) Batch {
	b.Mutate = change
	return b
}

// flipCRC makes the CRC wrong.
func flipCRC(b []byte) { b[atCRC+3] ^= 1 }

// ordered is names and values in turn, as pairs.
func ordered[V any](pairs ...any) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for i := 0; i < len(pairs); i += 2 {
			if !yield(pairs[i].(string), pairs[i+1].(V)) {
				return
			}
		}
	}
}
