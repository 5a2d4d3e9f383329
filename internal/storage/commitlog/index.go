package commitlog

import (
	"encoding/binary"
	"io"
	"math"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
)

// Sizes of the entries of the index files.
const (
	offsetEntrySize = 8  // relative offset i32, position i32
	timeEntrySize   = 12 // timestamp i64, relative offset i32
)

// offsetEntry says that the batch that ends at base+rel begins at pos.
type offsetEntry struct{ rel, pos uint32 }

// timeEntry says that no record up to base+rel is later than timestamp.
type timeEntry struct {
	timestamp kafka.TimestampMs
	rel       uint32
}

func parseOffsetEntry(b []byte) offsetEntry {
	return offsetEntry{binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])}
}

func (e offsetEntry) appendTo(b []byte) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(b, e.rel), e.pos)
}

func parseTimeEntry(b []byte) timeEntry {
	return timeEntry{int64(binary.BigEndian.Uint64(b)), binary.BigEndian.Uint32(b[8:])}
}

func (e timeEntry) appendTo(b []byte) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(b, uint64(e.timestamp)), e.rel)
}

// indexKey is one way to look at the entries of an index file: by a field that
// grows from entry to entry.
type indexKey struct {
	size int // of an entry
	of   func(entry []byte) int64
}

func byOffset() indexKey {
	return indexKey{offsetEntrySize, func(e []byte) int64 { return int64(parseOffsetEntry(e).rel) }}
}

func byPosition() indexKey {
	return indexKey{offsetEntrySize, func(e []byte) int64 { return int64(parseOffsetEntry(e).pos) }}
}

func byTimestamp() indexKey {
	return indexKey{timeEntrySize, func(e []byte) int64 { return parseTimeEntry(e).timestamp }}
}

func byTimeOffset() indexKey {
	return indexKey{timeEntrySize, func(e []byte) int64 { return int64(parseTimeEntry(e).rel) }}
}

// pageBytes is how much of an index is read at once.
const pageBytes = 4096

// interpolations is how often the search guesses by proportion before it halves.
const interpolations = 3

// floorEntry finds the last of n entries whose key is at most target, and returns
// its number, or -1. entry is valid until page is used again. most is a key that
// the last entry is not likely to exceed: offsets grow almost evenly with their
// positions, so a guess by proportion finds the page at once and an index needs
// no copy in memory.
func floorEntry(f io.ReaderAt, n int, key indexKey, target, most int64, page []byte) (number int, entry []byte, err error) {
	perPage := pageBytes / key.size
	lo, hi := 0, (n-1)/perPage // pages that may hold the entry
	loKey, hiKey := int64(0), max(most, 1)
	best := -1
	for try := 0; n > 0 && lo <= hi; try++ {
		at := (lo + hi) / 2
		if try < interpolations && hiKey > loKey && target >= loKey {
			part := float64(target-loKey) / float64(hiKey-loKey)
			at = min(hi, lo+int(part*float64(hi-lo+1)))
		}
		first := at * perPage
		b := page[:min(perPage, n-first)*key.size]
		if _, err := f.ReadAt(b, int64(first)*int64(key.size)); err != nil {
			return -1, nil, err
		}
		firstKey, lastKey := key.of(b), key.of(b[len(b)-key.size:])
		switch {
		case target < firstKey:
			hi, hiKey = at-1, firstKey
		case target >= lastKey && at < hi:
			lo, loKey = at+1, lastKey
			best = first + len(b)/key.size - 1
		default:
			i := floorInPage(b, key, target)
			return first + i, b[i*key.size : (i+1)*key.size], nil
		}
	}
	if best < 0 {
		return -1, nil, nil
	}
	entry = page[:key.size]
	_, err = f.ReadAt(entry, int64(best)*int64(key.size))
	return best, entry, err
}

// floorInPage finds the last entry of b whose key is at most target. The first
// one's is.
func floorInPage(b []byte, key indexKey, target int64) int {
	lo, hi := 0, len(b)/key.size-1
	for lo < hi {
		mid := (lo + hi + 1) / 2
		if key.of(b[mid*key.size:]) <= target {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	return lo
}

// validEntries counts the entries at the start of an index file that are entries:
// a process that died leaves an index at its full, preallocated size, with zeros
// behind what was written. Keys grow, so only the first entry can be all zero and
// yet an entry (timestamp 0 at the base offset), and a file of one entry has been
// trimmed.
func validEntries(f vfs.File, key indexKey) (int, error) {
	size, err := f.Size()
	if err != nil {
		return 0, err
	}
	n := int(min(size/int64(key.size), math.MaxInt32))
	var e [timeEntrySize]byte
	isZero := func(i int) (bool, error) {
		if _, err := f.ReadAt(e[:key.size], int64(i)*int64(key.size)); err != nil {
			return false, err
		}
		return e == [timeEntrySize]byte{}, nil
	}
	if n <= 1 {
		return n, nil
	}
	if zero, err := isZero(n - 1); err != nil || !zero {
		return n, err
	}
	lo, hi := 0, n-1 // the entry at hi is zero
	for lo < hi {
		mid := (lo + hi) / 2
		zero, err := isZero(mid)
		if err != nil {
			return 0, err
		}
		if zero {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo, nil
}
