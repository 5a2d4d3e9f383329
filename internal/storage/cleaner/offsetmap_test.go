package cleaner

import (
	"crypto/md5"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"strconv"
	"testing"

	"barnabas/internal/kafka"
)

// The first vectors of the reference implementation: key 00..0f, input 00, 01, ...
func TestSipHashVectors(t *testing.T) {
	key := [2]uint64{0x0706050403020100, 0x0f0e0d0c0b0a0908}
	for n, want := range []string{"a3817f04ba25a8e66df67214c7550293", "da87c1d86b99af44347659119b22fc45", "8177228da4a45dc7fca38bdef60affe4"} {
		var in, out []byte
		for i := range n {
			in = append(in, byte(i))
		}
		d := sipHash(key, in)
		out = binary.LittleEndian.AppendUint64(out, d.lo)
		out = binary.LittleEndian.AppendUint64(out, d.hi)
		if got := hex.EncodeToString(out); got != want {
			t.Errorf("%d bytes: %s, want %s", n, got, want)
		}
	}
}

// The map holds what a Go map holds, up to its limit and not one key more.
func TestOffsetMapAgreesWithAMap(t *testing.T) {
	for _, load := range []float64{0.3, 0.9, 1} {
		rnd := rand.New(rand.NewPCG(1, 2))
		m := NewOffsetMap([2]uint64{1, 2}, 1000*entryBytes, load)
		for range 20 {
			m.Reset(1 << 40)
			want := map[string]kafka.Offset{}
			for o := kafka.Offset(0); o < 3000; o++ {
				key := strconv.Itoa(rnd.IntN(2000))
				_, known := want[key]
				ok := m.Put([]byte(key), o)
				if !ok && (known || len(want) < m.MaxKeys()) {
					t.Fatalf("load %v: key %d of %d refused, known %v", load, len(want), m.MaxKeys(), known)
				}
				if ok {
					want[key] = o
				}
			}
			if m.Len() != len(want) || m.Len() > m.MaxKeys() {
				t.Fatalf("load %v: %d keys, want %d, at most %d", load, m.Len(), len(want), m.MaxKeys())
			}
			for i := range 2000 {
				key := strconv.Itoa(i)
				o, known := want[key]
				if !known {
					o = kafka.NoOffset
				}
				if got := m.Get([]byte(key)); got != o {
					t.Fatalf("load %v: key %s at %d, want %d", load, key, got, o)
				}
			}
		}
	}
}

// The memory of the map stays within its buffer, and follows what can come.
func TestOffsetMapMemory(t *testing.T) {
	const buffer = 10 << 20
	m := NewOffsetMap([2]uint64{1, 2}, buffer, 0.9)
	if m.Bytes() != 0 {
		t.Errorf("%d bytes before Reset", m.Bytes())
	}
	m.Reset(1000)
	if m.Bytes() > 60_000 {
		t.Errorf("%d bytes for 1000 keys", m.Bytes())
	}
	for i := range 1000 {
		if !m.Put([]byte(strconv.Itoa(i)), kafka.Offset(i)) {
			t.Fatalf("key %d of 1000 did not fit", i)
		}
	}
	m.Reset(1 << 40)
	if m.Bytes() > buffer+shiftRoom*entryBytes {
		t.Errorf("%d bytes", m.Bytes())
	}
	if m.MaxKeys() != buffer/24*9/10 {
		t.Errorf("%d keys fit", m.MaxKeys())
	}
	m.Free()
	if m.Bytes() != 0 {
		t.Errorf("%d bytes after Free", m.Bytes())
	}
}

func BenchmarkOffsetMapPut(b *testing.B) {
	m := NewOffsetMap([2]uint64{1, 2}, 128<<20, 0.9)
	m.Reset(1 << 40)
	var key [16]byte
	for i := range b.N {
		binary.BigEndian.PutUint64(key[8:], uint64(i%5_000_000))
		m.Put(key[:], kafka.Offset(i))
	}
}

// BenchmarkDigest is what the digest of a key of 24 bytes costs, and would with other
// hashes.
func BenchmarkDigest(b *testing.B) {
	key := make([]byte, 24)
	var sum byte
	for name, digest := range map[string]func() byte{
		"siphash": func() byte { return byte(sipHash([2]uint64{1, 2}, key).lo) },
		"md5":     func() byte { h := md5.Sum(key); return h[0] },
		"sha256":  func() byte { h := sha256.Sum256(key); return h[0] },
	} {
		b.Run(name, func(b *testing.B) {
			for i := range b.N {
				key[0] = byte(i)
				sum += digest()
			}
		})
	}
	_ = sum
}
