package oracle

import (
	"encoding/binary"
	"fmt"
	"time"
)

// describeBatches prints the headers of the batches in a record set. The CRC
// stands for everything that is not printed; it is left out where the server
// wrote the time into the batch.
func describeBatches(b []byte) []string {
	var out []string
	for len(b) >= 61 {
		size := int(binary.BigEndian.Uint32(b[8:])) + 12
		if size < 61 || size > len(b) {
			break
		}
		out = append(out, describeBatch(b[:size]))
		b = b[size:]
	}
	if len(b) > 0 {
		out = append(out, fmt.Sprintf("%d bytes of a further batch", len(b)))
	}
	return out
}

func describeBatch(b []byte) string {
	i64 := func(at int) int64 { return int64(binary.BigEndian.Uint64(b[at:])) }
	attributes := binary.BigEndian.Uint16(b[21:])
	crc := fmt.Sprintf("%08x", binary.BigEndian.Uint32(b[17:]))
	maxTimestamp := fmt.Sprint(i64(35))
	if d := time.Since(time.UnixMilli(i64(35))); d > -time.Hour && d < time.Hour {
		maxTimestamp, crc = "<now>", "<varies>"
	}
	if attributes&7 != 0 {
		crc = "<of a codec>"
	}
	pid := "none"
	if i64(43) >= 0 {
		pid, crc = "set", "<varies>"
	}
	size := fmt.Sprint(len(b))
	if attributes&7 != 0 {
		size = "<of a codec>"
	}
	return fmt.Sprintf("base %d last %d epoch %d attributes %#x max timestamp %s pid %s pepoch %d seq %d count %d size %s crc %s",
		i64(0), i64(0)+int64(binary.BigEndian.Uint32(b[23:])), int32(binary.BigEndian.Uint32(b[12:])), attributes, maxTimestamp, pid,
		int16(binary.BigEndian.Uint16(b[51:])), int32(binary.BigEndian.Uint32(b[53:])), binary.BigEndian.Uint32(b[57:]), size, crc)
}
