package record

// Varints of the record format: zig-zag, seven bits a byte, the least
// significant first. Apache reads at most 5 bytes into an int and 10 into a
// long and lets bits beyond the width fall off the end; so do these.
const (
	maxVarint32 = 5
	maxVarint64 = 10
)

// varint32 reads an int. n is the number of bytes read, 0 when b ends inside
// the number, and -1 when the number has more than 5 bytes.
func varint32(b []byte) (v int32, n int) {
	u, n := uvarint32(b)
	return unzigzag32(u), n
}

// varint64 reads a long; n is as in varint32, with a limit of 10 bytes.
func varint64(b []byte) (v int64, n int) {
	u, n := uvarint64(b)
	return unzigzag64(u), n
}

func unzigzag64(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }
func unzigzag32(u uint32) int32 { return int32(u>>1) ^ -int32(u&1) }

// uvarint32 is varint32 before the sign is taken out. Numbers of one and two
// bytes, which nearly all are, need no loop.
func uvarint32(b []byte) (u uint32, n int) {
	if len(b) > 1 {
		if b[0] < 0x80 {
			return uint32(b[0]), 1
		}
		if b[1] < 0x80 {
			return uint32(b[0]&0x7f) | uint32(b[1])<<7, 2
		}
	}
	u64, n := longVarint(b, maxVarint32)
	return uint32(u64), n
}

// uvarint64 is uvarint32 for longs.
func uvarint64(b []byte) (u uint64, n int) {
	if len(b) > 1 {
		if b[0] < 0x80 {
			return uint64(b[0]), 1
		}
		if b[1] < 0x80 {
			return uint64(b[0]&0x7f) | uint64(b[1])<<7, 2
		}
	}
	return longVarint(b, maxVarint64)
}

func longVarint(b []byte, limit int) (u uint64, n int) {
	for i, c := range b {
		if i == limit {
			return 0, -1
		}
		u |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			return u, i + 1
		}
	}
	if len(b) >= limit {
		return 0, -1
	}
	return 0, 0
}

// appendVarint appends v. An int and a long of the same value have the same
// bytes, so one function serves both.
func appendVarint(b []byte, v int64) []byte {
	u := uint64(v<<1) ^ uint64(v>>63)
	for u >= 0x80 {
		b = append(b, byte(u)|0x80)
		u >>= 7
	}
	return append(b, byte(u))
}

// sizeVarint is the number of bytes that appendVarint appends.
func sizeVarint(v int64) int {
	u := uint64(v<<1) ^ uint64(v>>63)
	n := 1
	for u >= 0x80 {
		u >>= 7
		n++
	}
	return n
}
