package oracle

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// describeBatches prints the headers of the batches in a record set, and a sum
// of their records, taken after decompression: servers need not compress alike.
func (t *Transcript) describeBatches(b []byte) []string {
	var out []string
	for len(b) >= batchHeader {
		size := int(binary.BigEndian.Uint32(b[8:])) + 12
		if size < batchHeader || size > len(b) {
			break
		}
		out = append(out, t.describeBatch(b[:size]))
		b = b[size:]
	}
	if len(b) > 0 {
		out = append(out, fmt.Sprintf("%d bytes of a further batch", len(b)))
	}
	return out
}

// batchHeader is the size of a batch without its records.
const batchHeader = 61

func (t *Transcript) describeBatch(b []byte) string {
	i64 := func(at int) int64 { return int64(binary.BigEndian.Uint64(b[at:])) }
	i32 := func(at int) int32 { return int32(binary.BigEndian.Uint32(b[at:])) }
	attributes := binary.BigEndian.Uint16(b[21:])
	crc := "right"
	if binary.BigEndian.Uint32(b[17:]) != crc32.Checksum(b[21:], castagnoli) {
		crc = "wrong"
	}
	size := fmt.Sprint(len(b))
	if attributes&7 != 0 {
		size = "<of a codec>"
	}
	records := "unreadable"
	if plain, err := decompress(attributes&7, b[batchHeader:]); err == nil {
		records = fmt.Sprintf("%d bytes %08x", len(plain), crc32.ChecksumIEEE(plain))
	}
	return fmt.Sprintf("base %d last %d epoch %d magic %d crc %s attributes %#x times %s to %s pid %s pepoch %d seq %d count %d size %s records %s",
		i64(0), i64(0)+int64(i32(23)), i32(12), b[16], crc, attributes, timeOr(i64(27)), timeOr(i64(35)), t.pid(i64(43)),
		int16(binary.BigEndian.Uint16(b[51:])), i32(53), i32(57), size, records)
}
