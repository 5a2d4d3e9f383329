package xxh3

import (
	"encoding/binary"
	"math/bits"
)

// The primes of xxHash.
const (
	prime32x1 = 0x9E3779B1
	prime32x2 = 0x85EBCA77
	prime32x3 = 0xC2B2AE3D

	prime64x1 = 0x9E3779B185EBCA87
	prime64x2 = 0xC2B2AE3D27D4EB4F
	prime64x3 = 0x165667B19E3779F9
	prime64x4 = 0x85EBCA77C2B2AE63
	prime64x5 = 0x27D4EB2F165667C5

	primeMx1 = 0x165667919E3779F9
	primeMx2 = 0x9FB21C651E98DF25
)

// The shape of long inputs: a stripe goes into the accumulators at once, and a block
// of stripes uses the secret up.
const (
	stripe         = 64
	secretStep     = 8
	stripesInAll   = (len(secret) - stripe) / secretStep
	block          = stripe * stripesInAll
	secretLast     = len(secret) - stripe - 7
	secretMerge    = 11
	secretScramble = len(secret) - stripe
)

// Sum64 is the hash of b.
func Sum64(b []byte) uint64 {
	switch n := len(b); {
	case n == 0:
		return avalanche64(secret64(56) ^ secret64(64))
	case n <= 3:
		return sum1to3(b)
	case n <= 8:
		return sum4to8(b)
	case n <= 16:
		return sum9to16(b)
	case n <= 128:
		return sum17to128(b)
	case n <= 240:
		return sum129to240(b)
	}
	return sumLong(b)
}

func secret64(at int) uint64 {
	s := secret[at : at+8]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

func secret32(at int) uint64 { return secret64(at) & 0xffffffff }

func u32(b []byte, at int) uint64 { return uint64(binary.LittleEndian.Uint32(b[at:])) }
func u64(b []byte, at int) uint64 { return binary.LittleEndian.Uint64(b[at:]) }

func avalanche64(h uint64) uint64 {
	h = (h ^ h>>33) * prime64x2
	h = (h ^ h>>29) * prime64x3
	return h ^ h>>32
}

func avalanche(h uint64) uint64 {
	h = (h ^ h>>37) * primeMx1
	return h ^ h>>32
}

// fold multiplies to 128 bits and folds them into 64.
func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

func sum1to3(b []byte) uint64 {
	n := len(b)
	combined := uint64(b[n-1]) | uint64(n)<<8 | uint64(b[0])<<16 | uint64(b[n/2])<<24
	return avalanche64(combined ^ secret32(0) ^ secret32(4))
}

func sum4to8(b []byte) uint64 {
	n := len(b)
	h := (u32(b, n-4) | u32(b, 0)<<32) ^ secret64(8) ^ secret64(16)
	h ^= bits.RotateLeft64(h, 49) ^ bits.RotateLeft64(h, 24)
	h *= primeMx2
	h ^= h>>35 + uint64(n)
	h *= primeMx2
	return h ^ h>>28
}

func sum9to16(b []byte) uint64 {
	n := len(b)
	low := secret64(24) ^ secret64(32) ^ u64(b, 0)
	high := secret64(40) ^ secret64(48) ^ u64(b, n-8)
	return avalanche(uint64(n) + bits.ReverseBytes64(low) + high + fold(low, high))
}

// mix16 mixes 16 bytes with 16 bytes of the secret.
func mix16(b []byte, at, secretAt int) uint64 {
	return fold(u64(b, at)^secret64(secretAt), u64(b, at+8)^secret64(secretAt+8))
}

func sum17to128(b []byte) uint64 {
	n := len(b)
	h := uint64(n) * prime64x1
	for i := (n - 1) / 32; i >= 0; i-- {
		h += mix16(b, 16*i, 32*i) + mix16(b, n-16*(i+1), 32*i+16)
	}
	return avalanche(h)
}

func sum129to240(b []byte) uint64 {
	n := len(b)
	h := uint64(n) * prime64x1
	for i := range 8 {
		h += mix16(b, 16*i, 16*i)
	}
	h = avalanche(h)
	for i := 8; i < n/16; i++ {
		h += mix16(b, 16*i, 16*(i-8)+3)
	}
	return avalanche(h + mix16(b, n-16, 136-17))
}

func sumLong(b []byte) uint64 {
	acc := [8]uint64{prime32x3, prime64x1, prime64x2, prime64x3, prime64x4, prime32x2, prime64x5, prime32x1}
	n := len(b)
	blocks := (n - 1) / block
	for i := range blocks {
		for s := range stripesInAll {
			accumulate(&acc, b[i*block+s*stripe:], s*secretStep)
		}
		scramble(&acc)
	}
	for s := range (n - 1 - blocks*block) / stripe {
		accumulate(&acc, b[blocks*block+s*stripe:], s*secretStep)
	}
	accumulate(&acc, b[n-stripe:], secretLast)

	h := uint64(n) * prime64x1
	for i := range 4 {
		h += fold(acc[2*i]^secret64(secretMerge+16*i), acc[2*i+1]^secret64(secretMerge+16*i+8))
	}
	return avalanche(h)
}

func accumulate(acc *[8]uint64, b []byte, secretAt int) {
	for i := range acc {
		v := u64(b, 8*i)
		k := v ^ secret64(secretAt+8*i)
		acc[i^1] += v
		acc[i] += (k & 0xffffffff) * (k >> 32)
	}
}

func scramble(acc *[8]uint64) {
	for i := range acc {
		acc[i] = (acc[i] ^ acc[i]>>47 ^ secret64(secretScramble+8*i)) * prime32x1
	}
}
