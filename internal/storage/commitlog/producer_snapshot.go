package commitlog

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"

	"barnabas/internal/kafka"
)

// Layout of a producer snapshot: version i16, CRC-32C of all that follows u32,
// number of producers i32, then the producers.
const (
	snapshotVersion    = 1
	snapshotHeaderSize = 10
	snapshotEntrySize  = 46
	snapshotCRCStart   = 6
)

var errBadSnapshot = errors.New("bad producer snapshot")

// encodeSnapshot writes the state as Apache does: of each producer only the last
// batch, and the producers in the order in which Java's HashMap lists them, so
// that the files of two replicas can be compared byte by byte.
func (ps *producers) encodeSnapshot() []byte {
	be := binary.BigEndian
	b := make([]byte, snapshotHeaderSize, snapshotHeaderSize+len(ps.list)*snapshotEntrySize)
	be.PutUint16(b, snapshotVersion)
	be.PutUint32(b[6:], uint32(len(ps.list)))
	for _, i := range ps.javaOrder() {
		p := &ps.list[i]
		last, ok := p.last()
		if !ok {
			last = batchMeta{lastSequence: -1, lastOffset: kafka.NoOffset}
		}
		b = be.AppendUint64(b, uint64(p.id))
		b = be.AppendUint16(b, uint16(p.epoch))
		b = be.AppendUint32(b, uint32(last.lastSequence))
		b = be.AppendUint64(b, uint64(last.lastOffset))
		b = be.AppendUint32(b, uint32(last.offsetDelta))
		b = be.AppendUint64(b, uint64(p.lastTimestamp))
		b = be.AppendUint32(b, uint32(p.coordinatorEpoch))
		b = be.AppendUint64(b, uint64(p.txnStart))
	}
	be.PutUint32(b[2:], crc32.Checksum(b[snapshotCRCStart:], crc32.MakeTable(crc32.Castagnoli)))
	return b
}

// javaOrder lists the producers by the bucket that HashMap<Long, …> puts them in,
// and in a bucket by arrival, which is the order of the list. The table doubles
// when it is three quarters full and never shrinks.
func (ps *producers) javaOrder() []int32 {
	order := make([]int32, len(ps.list))
	for i := range order {
		order[i] = int32(i)
	}
	buckets := uint32(16)
	for ps.most > int(buckets)/4*3 {
		buckets *= 2
	}
	bucket := func(id kafka.ProducerID) uint32 {
		h := uint32(id) ^ uint32(id>>32)
		return (h ^ h>>16) & (buckets - 1)
	}
	slices.SortStableFunc(order, func(x, y int32) int {
		return cmp.Compare(bucket(ps.list[x].id), bucket(ps.list[y].id))
	})
	return order
}

// decodeSnapshot reads a snapshot file and calls take for each producer.
func decodeSnapshot(b []byte, take func(*producer)) error {
	be := binary.BigEndian
	if len(b) < snapshotHeaderSize {
		return fmt.Errorf("%w: %d bytes", errBadSnapshot, len(b))
	}
	if v := be.Uint16(b); v != snapshotVersion {
		return fmt.Errorf("%w: version %d", errBadSnapshot, v)
	}
	stored, computed := be.Uint32(b[2:]), crc32.Checksum(b[snapshotCRCStart:], crc32.MakeTable(crc32.Castagnoli))
	if stored != computed {
		return fmt.Errorf("%w: checksum %d, computed %d", errBadSnapshot, stored, computed)
	}
	n := be.Uint32(b[6:])
	if uint64(len(b)) < snapshotHeaderSize+uint64(n)*snapshotEntrySize {
		return fmt.Errorf("%w: %d producers in %d bytes", errBadSnapshot, n, len(b))
	}
	for i := range n {
		take(decodeSnapshotEntry(b[snapshotHeaderSize+i*snapshotEntrySize:]))
	}
	return nil
}

func decodeSnapshotEntry(b []byte) *producer {
	be := binary.BigEndian
	p := &producer{
		id:               kafka.ProducerID(be.Uint64(b)),
		epoch:            kafka.ProducerEpoch(be.Uint16(b[8:])),
		lastTimestamp:    int64(be.Uint64(b[26:])),
		coordinatorEpoch: int32(be.Uint32(b[34:])),
		txnStart:         max(kafka.Offset(be.Uint64(b[38:])), kafka.NoOffset),
	}
	if last := kafka.Offset(be.Uint64(b[14:])); last >= 0 {
		p.count = 1
		p.batches[0] = batchMeta{
			lastSequence: int32(be.Uint32(b[10:])),
			lastOffset:   last,
			offsetDelta:  int32(be.Uint32(b[22:])),
			timestamp:    p.lastTimestamp,
		}
	}
	return p
}
