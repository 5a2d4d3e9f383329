package cleaner

import (
	"encoding/binary"
	"math/bits"
)

// digest stands for a key in the map. Two keys of one digest would be taken for one.
type digest struct{ hi, lo uint64 }

// sipHash is SipHash-2-4 with 128 bits of output (Aumasson, Bernstein): a keyed hash.
func sipHash(key [2]uint64, b []byte) digest {
	v0 := key[0] ^ 0x736f6d6570736575
	v1 := key[1] ^ 0x646f72616e646f6d ^ 0xee
	v2 := key[0] ^ 0x6c7967656e657261
	v3 := key[1] ^ 0x7465646279746573
	size := uint64(len(b))
	for ; len(b) >= 8; b = b[8:] {
		m := binary.LittleEndian.Uint64(b)
		v3 ^= m
		v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
		v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
		v0 ^= m
	}
	m := size << 56
	for i, c := range b {
		m |= uint64(c) << (8 * i)
	}
	v3 ^= m
	v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	v0 ^= m
	v2 ^= 0xee
	v0, v1, v2, v3 = sipRounds4(v0, v1, v2, v3)
	lo := v0 ^ v1 ^ v2 ^ v3
	v1 ^= 0xdd
	v0, v1, v2, v3 = sipRounds4(v0, v1, v2, v3)
	return digest{hi: v0 ^ v1 ^ v2 ^ v3, lo: lo}
}

func sipRounds4(v0, v1, v2, v3 uint64) (a, b, c, d uint64) {
	for range 4 {
		v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	}
	return v0, v1, v2, v3
}

func sipRound(v0, v1, v2, v3 uint64) (a, b, c, d uint64) {
	v0 += v1
	v2 += v3
	v1 = bits.RotateLeft64(v1, 13) ^ v0
	v3 = bits.RotateLeft64(v3, 16) ^ v2
	v0 = bits.RotateLeft64(v0, 32)
	v2 += v1
	v0 += v3
	v1 = bits.RotateLeft64(v1, 17) ^ v2
	v3 = bits.RotateLeft64(v3, 21) ^ v0
	v2 = bits.RotateLeft64(v2, 32)
	return v0, v1, v2, v3
}
