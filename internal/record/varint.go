package record

// Varints of the record format: zig-zag, seven bits a byte, the least
// significant first. Apache reads at most 5 bytes into an int and 10 into a
// long and lets bits beyond the width fall off the end; so do these.

// varint32 reads an int. n is the number of bytes read, 0 when b ends inside
// the number, and -1 when the number has more than 5 bytes.
func varint32(b []byte) (v int32, n int) {
	if len(b) > 0 && b[0] < 0x80 {
		return int32(b[0]>>1) ^ -int32(b[0]&1), 1
	}
	var u uint32
	for i, c := range b {
		if i == 5 {
			return 0, -1
		}
		u |= uint32(c&0x7f) << (7 * i)
		if c < 0x80 {
			return int32(u>>1) ^ -int32(u&1), i + 1
		}
	}
	if len(b) >= 5 {
		return 0, -1
	}
	return 0, 0
}

// varint64 reads a long; n is as in varint32, with a limit of 10 bytes.
func varint64(b []byte) (v int64, n int) {
	if len(b) > 0 && b[0] < 0x80 {
		return int64(b[0]>>1) ^ -int64(b[0]&1), 1
	}
	var u uint64
	for i, c := range b {
		if i == 10 {
			return 0, -1
		}
		u |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			return int64(u>>1) ^ -int64(u&1), i + 1
		}
	}
	if len(b) >= 10 {
		return 0, -1
	}
	return 0, 0
}

const (
	maxVarint32 = 5
	maxVarint64 = 10
)

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
