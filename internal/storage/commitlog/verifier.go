package commitlog

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/record"
)

// Sizes of what recovery reads at once.
const (
	verifyChunk = 1 << 20
	// crcStart is where in a batch the bytes begin that its checksum covers.
	crcStart = 21
)

// badBytes says why the bytes at a position are no good batch.
type badBytes struct {
	pos    int64
	size   int // what the header claims, 0 if there is none
	reason string
}

func (b *badBytes) Error() string { return fmt.Sprintf("position %d: %s", b.pos, b.reason) }

// verifier reads a segment file from front to back and checks every batch whole.
// It never holds more than a chunk of it, whatever a batch claims of its size,
// except for entries of old formats and control batches.
type verifier struct {
	f    vfs.File
	base kafka.Offset // of the segment
	// gapless refuses batches that leave a gap behind the one before.
	gapless bool
	// limit is the base offset of the next segment, or -1.
	limit kafka.Offset
	pos   int64
	size  int64 // of the file
	next  kafka.Offset

	buf   []byte
	start int64 // file position of buf[0]
}

func newVerifier(f vfs.File, base kafka.Offset, size int64) *verifier {
	return &verifier{f: f, base: base, size: size, next: base, limit: kafka.NoOffset}
}

// window returns n bytes at a position, read a chunk at a time.
func (v *verifier) window(pos int64, n int) ([]byte, error) {
	if off := pos - v.start; off >= 0 && off+int64(n) <= int64(len(v.buf)) {
		return v.buf[off : off+int64(n)], nil
	}
	want := int(min(max(int64(n), verifyChunk), v.size-pos))
	if want < n {
		return nil, io.ErrUnexpectedEOF
	}
	if cap(v.buf) < want {
		v.buf = make([]byte, want)
	}
	v.buf, v.start = v.buf[:want], pos
	if _, err := v.f.ReadAt(v.buf, pos); err != nil {
		v.buf = v.buf[:0]
		return nil, err
	}
	return v.buf[:n], nil
}

// batch checks the batch at the verifier's position and goes behind it. marker is
// set if it ends a transaction. At the end of the file the error is io.EOF; a
// *badBytes says that what is there is not a batch that belongs there; other
// errors are the disk's.
func (v *verifier) batch() (h record.Header, marker *record.EndTxnMarker, err error) {
	if v.pos == v.size {
		return h, nil, io.EOF
	}
	h, err = v.check(v.pos, v.next)
	if err != nil {
		return h, nil, err
	}
	switch {
	case v.gapless && h.BaseOffset > v.next && v.pos > 0:
		return h, nil, &badBytes{v.pos, 0, fmt.Sprintf("offset %d, expected %d", h.BaseOffset, v.next)}
	case h.LastOffset()-v.base > maxRelativeOffset:
		return h, nil, &badBytes{v.pos, 0, fmt.Sprintf("offset %d does not fit into segment %d", h.LastOffset(), v.base)}
	case v.limit >= 0 && h.LastOffset() >= v.limit:
		return h, nil, &badBytes{v.pos, 0, fmt.Sprintf("offset %d belongs to the next segment", h.LastOffset())}
	}
	if h.HasProducer() && h.Attributes.IsControl() {
		entry, err := v.window(v.pos, h.Size)
		if err != nil {
			return h, nil, err
		}
		if marker, err = markerOf(&h, entry); err != nil {
			return h, nil, &badBytes{v.pos, h.Size, err.Error()}
		}
	}
	v.pos += int64(h.Size)
	v.next = h.NextOffset()
	return h, marker, nil
}

// check says whether there is a good batch at pos that may follow offsets below
// next.
func (v *verifier) check(pos int64, next kafka.Offset) (record.Header, error) {
	b, err := v.window(pos, int(min(record.HeaderSize, v.size-pos)))
	if err != nil {
		return record.Header{}, err
	}
	h, err := record.ParseHeader(b)
	switch {
	case errors.Is(err, record.ErrShort):
		return h, &badBytes{pos, 0, "the file ends inside a header"}
	case err != nil:
		return h, &badBytes{pos, 0, err.Error()}
	case pos+int64(h.Size) > v.size:
		return h, &badBytes{pos, h.Size, fmt.Sprintf("the file ends inside a batch of %d bytes", h.Size)}
	case h.LastOffset() < next || h.LastOffset() < h.BaseOffset:
		return h, &badBytes{pos, h.Size, fmt.Sprintf("offsets [%d, %d], expected %d or more", h.BaseOffset, h.LastOffset(), next)}
	}
	if h.Magic < record.MagicV2 || h.Size <= verifyChunk {
		return h, v.checkWhole(pos, &h)
	}
	return h, v.checkChunks(pos, &h)
}

func (v *verifier) checkWhole(pos int64, h *record.Header) error {
	entry, err := v.window(pos, h.Size)
	if err != nil {
		return err
	}
	if err := record.Verify(entry); err != nil {
		return &badBytes{pos, h.Size, err.Error()}
	}
	return nil
}

// checkChunks computes the checksum of a large batch piece by piece.
func (v *verifier) checkChunks(pos int64, h *record.Header) error {
	table := crc32.MakeTable(crc32.Castagnoli)
	var sum uint32
	for at, end := pos+crcStart, pos+int64(h.Size); at < end; {
		b, err := v.window(at, int(min(verifyChunk, end-at)))
		if err != nil {
			return err
		}
		sum = crc32.Update(sum, table, b)
		at += int64(len(b))
	}
	if sum != h.CRC {
		return &badBytes{pos, h.Size, fmt.Sprintf("%v: stored %d, computed %d", record.ErrBadCRC, h.CRC, sum)}
	}
	return nil
}

// resync looks for the next good batch behind bad bytes: first where the bad one
// claims to end, then anywhere. ok is false if there is none. Bytes inside a value
// that look like a batch with a fitting offset would deceive it; they would have
// to lie in a batch that is damaged.
func (v *verifier) resync(bad *badBytes) (pos int64, h record.Header, ok bool, err error) {
	if at := bad.pos + int64(bad.size); bad.size > 0 && at < v.size {
		if h, err := v.check(at, v.next); err == nil {
			return at, h, true, nil
		} else if !isBadBytes(err) {
			return 0, h, false, err
		}
	}
	for pos = bad.pos; pos+record.HeaderSize <= v.size; pos++ {
		if pos, ok, err = v.nextCandidate(pos); err != nil || !ok {
			return 0, h, false, err
		}
		h, err := v.check(pos, v.next)
		if err == nil {
			return pos, h, true, nil
		}
		if !isBadBytes(err) {
			return 0, h, false, err
		}
	}
	return 0, h, false, nil
}

// nextCandidate finds the next position at which the header of a current batch
// might begin.
func (v *verifier) nextCandidate(pos int64) (int64, bool, error) {
	const magicAt = record.MinHeaderSize - 1
	for pos+record.HeaderSize <= v.size {
		n := int(min(verifyChunk, v.size-pos))
		b, err := v.window(pos, n)
		if err != nil {
			return 0, false, err
		}
		for i := 0; i+record.HeaderSize <= n; i++ {
			if b[i+magicAt] != record.MagicV2 {
				continue
			}
			h, err := record.ParseHeader(b[i:])
			if err == nil && v.plausible(pos+int64(i), &h) {
				return pos + int64(i), true, nil
			}
		}
		pos += int64(n - record.HeaderSize + 1)
	}
	return 0, false, nil
}

func (v *verifier) plausible(pos int64, h *record.Header) bool {
	return pos+int64(h.Size) <= v.size && h.BaseOffset >= v.next && h.LastOffset() >= h.BaseOffset && h.Count >= 0
}

// asBadBytes returns err if it says that bytes are bad, and nil if it is one of the
// disk.
func asBadBytes(err error) *badBytes {
	bad, _ := err.(*badBytes)
	return bad
}

func isBadBytes(err error) bool {
	return asBadBytes(err) != nil
}
