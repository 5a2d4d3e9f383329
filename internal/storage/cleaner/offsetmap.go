package cleaner

import (
	"math/bits"

	"barnabas/internal/kafka"
)

// entryBytes is the size of an entry of the map: a digest of 16 bytes and an offset.
// Apache's has the same size, so the same buffer holds the same number of keys.
const entryBytes = 24

// OffsetMap knows the last offset of each key of a part of a log. It keeps a digest of
// 128 bits for a key, by a hash whose key is drawn at random: nobody can make two keys
// that fall together, and chance lets it happen with n keys in n²/2¹²⁹ cases, as with
// the MD5 that Apache takes.
//
// Entries stand in the order of their digests, each as close behind its place as
// there is room, so a search for a key that is not there ends early even in a full
// map.
type OffsetMap struct {
	key    [2]uint64
	buffer int     // bytes that the entries may take
	load   float64 // the part of them that may be used

	entries []entry
	slots   uint64 // places that digests are spread over; behind them is room to shift
	limit   int
	count   int
}

// entry is one key; last is its offset plus one, 0 says that the entry is free.
type entry struct {
	digest digest
	last   int64
}

// shiftRoom is the number of entries behind the slots into which the last ones can
// be shifted. Runs of neighbours are shorter at any load that is allowed.
const shiftRoom = 4096

// NewOffsetMap returns a map that takes about buffer bytes at most and fills them up
// to the load factor (log.cleaner.io.buffer.load.factor). The key of its hash is to be
// random. It takes no memory before Reset.
func NewOffsetMap(key [2]uint64, buffer int, load float64) *OffsetMap {
	return &OffsetMap{key: key, buffer: buffer, load: min(max(load, 0), 1)}
}

// MaxKeys is how many keys fit.
func (m *OffsetMap) MaxKeys() int { return int(float64(m.buffer/entryBytes) * m.load) }

// Reset empties the map and makes room for as many keys as it is allowed to have, or
// for fewer if no more than most can come.
func (m *OffsetMap) Reset(most int64) {
	slots := m.buffer / entryBytes
	m.limit, m.count = m.MaxKeys(), 0
	if int64(m.limit) > most {
		m.limit = int(most)
		slots = min(slots, int(float64(most)/min(m.load, 0.9))+1)
	}
	size := slots + min(slots, shiftRoom)
	m.slots = uint64(slots)
	if cap(m.entries) >= size {
		m.entries = m.entries[:size]
		clear(m.entries)
		return
	}
	m.entries = nil // the old ones must be gone before there are new ones
	m.entries = make([]entry, size)
}

// Free gives the memory back. The map must be Reset before it is used again.
func (m *OffsetMap) Free() { m.entries, m.count, m.limit, m.slots = nil, 0, 0, 0 }

// Bytes is the memory that the map holds.
func (m *OffsetMap) Bytes() int { return cap(m.entries) * entryBytes }

// Len is the number of keys.
func (m *OffsetMap) Len() int { return m.count }

// place is where the search for a digest begins. It grows with the digest.
func (m *OffsetMap) place(d digest) uint64 {
	hi, _ := bits.Mul64(d.hi, m.slots)
	return hi
}

func (d digest) less(o digest) bool { return d.hi < o.hi || d.hi == o.hi && d.lo < o.lo }

// find returns the entry of a digest, or the one before which it belongs.
func (m *OffsetMap) find(d digest) (i int, found bool) {
	i = int(m.place(d))
	for ; i < len(m.entries); i++ {
		e := &m.entries[i]
		if e.last == 0 || !e.digest.less(d) {
			return i, e.last != 0 && e.digest == d
		}
	}
	return i, false
}

// Put notes that a key was seen at an offset, which is at or above all earlier ones.
// It says false if the map is full and does not know the key.
func (m *OffsetMap) Put(key []byte, o kafka.Offset) bool {
	d := sipHash(m.key, key)
	i, found := m.find(d)
	if found {
		m.entries[i].last = int64(o) + 1
		return true
	}
	if m.count >= m.limit || i == len(m.entries) {
		return false
	}
	end := i
	for m.entries[end].last != 0 {
		if end++; end == len(m.entries) {
			return false
		}
	}
	copy(m.entries[i+1:end+1], m.entries[i:end])
	m.entries[i] = entry{d, int64(o) + 1}
	m.count++
	return true
}

// Get returns the last offset of a key, or -1.
func (m *OffsetMap) Get(key []byte) kafka.Offset {
	i, found := m.find(sipHash(m.key, key))
	if !found {
		return kafka.NoOffset
	}
	return kafka.Offset(m.entries[i].last - 1)
}
