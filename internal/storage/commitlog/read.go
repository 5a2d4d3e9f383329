package commitlog

import (
	"io"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/record"
)

// ReadRequest says what to read.
type ReadRequest struct {
	From     kafka.Offset
	UpTo     kafka.Offset // exclusive: high watermark, last stable offset or log end
	MaxBytes int
	// WholeFirst returns the first batch whole even if it is larger than MaxBytes.
	WholeFirst bool
	// Hint is where the reader's last slice ended (Slice.End). It saves the search
	// if From is there, and is ignored if it is not. The zero Hint is none.
	Hint Position
}

// Position is the place of an offset in the files. It holds in the very segment that
// it was found in: one that a truncation has cut or a cleaning has put in its place
// bears the same base offset, but at the same position may have the middle of a
// record, which a client can make look like a header.
type Position struct {
	segment  *segment
	Position int64
	Offset   kafka.Offset
}

// Slice is a range of whole batches of one segment file, but for the last batch,
// which MaxBytes may cut. It begins with the batch that holds the offset asked
// for, or the first one behind it.
type Slice struct {
	// File is held for the reader, who calls Release once. It is nil if Length is 0.
	File             *vfs.Shared
	Position, Length int64
	// FirstOffset is the base offset of the first batch, FirstSize its size, which
	// Length may be less than. They are known for an empty slice too, unless From
	// is at or above UpTo.
	FirstOffset kafka.Offset
	FirstSize   int
	// Segment is the base offset of the segment.
	Segment kafka.Offset
	// End is where the reader will go on if the slice reaches UpTo; else zero.
	End Position
}

// Release gives the file back.
func (s *Slice) Release() {
	if s.File != nil {
		s.File.Release()
		s.File = nil
	}
}

// Read finds a slice. kafka.ErrOffsetOutOfRange refuses an offset outside the log;
// ErrStale asks for a new snapshot. An offset at or above UpTo gives an empty
// slice.
func (s *Snapshot) Read(r ReadRequest) (Slice, error) {
	if r.From < s.start || r.From > s.end {
		return Slice{}, kafka.ErrOffsetOutOfRange
	}
	if r.From >= min(r.UpTo, s.end) {
		return Slice{FirstOffset: r.From, Segment: s.SegmentBase(r.From)}, nil
	}
	i := floorSegment(s.segments, r.From)
	if i < 0 {
		return Slice{}, kafka.ErrOffsetOutOfRange
	}
	for ; i < len(s.segments); i++ {
		v := s.view(i)
		slice, found, err := s.readSegment(&v, i, r)
		if err != nil || found {
			return slice, err
		}
		// All batches of the segment end before From: compaction can leave a gap
		// at its end.
	}
	return Slice{FirstOffset: s.end, Segment: s.segments[len(s.segments)-1].base}, nil
}

func (s *Snapshot) readSegment(v *view, i int, r ReadRequest) (slice Slice, found bool, err error) {
	f, err := v.hold(logSuffix)
	if err != nil {
		return Slice{}, false, err
	}
	defer func() {
		if slice.File == nil {
			f.Release()
		}
	}()
	first, found, err := v.first(f, r)
	if err != nil || !found {
		return Slice{}, false, err
	}
	slice = Slice{Position: first.pos, FirstOffset: first.base, FirstSize: first.size, Segment: v.segment.base}
	most := int64(r.MaxBytes)
	if r.WholeFirst {
		most = max(most, int64(first.size))
	}
	limit, atEnd, err := s.limit(v, f, i, r.UpTo, first.pos+most, first.pos)
	if err != nil {
		return Slice{}, false, err
	}
	slice.Length = min(most, limit-first.pos)
	if slice.Length <= 0 {
		slice.Length = 0
		return slice, true, v.check(nil)
	}
	if atEnd && first.pos+slice.Length == limit {
		slice.End = Position{segment: v.segment, Position: limit, Offset: r.UpTo}
	}
	slice.File = f
	if err := v.check(nil); err != nil {
		slice.File = nil
		return Slice{}, false, err
	}
	return slice, true, nil
}

// first finds the entry to begin with.
func (v *view) first(f *vfs.Shared, r ReadRequest) (place, bool, error) {
	if r.Hint.segment == v.segment && r.Hint.Offset == r.From {
		if at, ok := v.entryAt(f, r.Hint.Position); ok && at.base <= r.From && r.From <= at.last {
			return at, true, nil
		}
	}
	from, err := v.floorPosition(r.From)
	if err != nil {
		return place{}, false, err
	}
	return v.scan(f, from, r.From)
}

// entryAt reads the header at a position; ok is false if there is none.
func (v *view) entryAt(f io.ReaderAt, pos int64) (place, bool) {
	if pos+record.MinHeaderSize >= v.size {
		return place{}, false
	}
	b := v.env.getBlock()
	defer v.env.putBlock(b)
	n := min(smallRead, v.size-pos)
	if _, err := f.ReadAt(b[:n], pos); err != nil {
		return place{}, false
	}
	h, err := record.ParseHeader(b[:n])
	if err != nil || pos+int64(h.Size) > v.size {
		return place{}, false
	}
	return place{pos: pos, size: h.Size, base: h.BaseOffset, last: h.LastOffset()}, true
}

// limit is the position in segment i up to which offsets below upTo lie, or any
// smaller one that is at or behind enough. atEnd says that it is upTo's own.
// from is an entry that is below upTo.
func (s *Snapshot) limit(v *view, f *vfs.Shared, i int, upTo kafka.Offset, enough, from int64) (pos int64, atEnd bool, err error) {
	if upTo >= s.end {
		return v.size, i == len(s.segments)-1, nil
	}
	if i+1 < len(s.segments) && s.segments[i+1].base <= upTo {
		return v.size, false, nil
	}
	floor, err := v.floorPosition(upTo)
	if err != nil {
		return 0, false, err
	}
	if floor >= enough {
		return floor, false, nil
	}
	at, found, err := v.scan(f, max(floor, from), upTo)
	if err != nil {
		return 0, false, err
	}
	if !found {
		return v.size, false, nil
	}
	return at.pos, at.base == upTo, nil
}

// AbortedTxns appends to out the aborted transactions that a reader of slice, who
// asked for offset from, must know of.
func (s *Snapshot) AbortedTxns(from kafka.Offset, slice Slice, out []AbortedTxn) ([]AbortedTxn, error) {
	i := floorSegment(s.segments, slice.Segment)
	if i < 0 || s.segments[i].base != slice.Segment {
		return out, ErrStale
	}
	upTo, err := s.boundBehind(i, slice)
	if err != nil {
		return out, err
	}
	return s.abortedFrom(i, from, upTo, out)
}

// boundBehind is an offset that no record of the slice reaches, as tight as the
// index tells.
func (s *Snapshot) boundBehind(i int, slice Slice) (kafka.Offset, error) {
	v := s.view(i)
	entry, ok, err := v.firstBehind(byPosition(), slice.Position+slice.Length)
	if err != nil || ok {
		return v.segment.base + kafka.Offset(entry.rel), err
	}
	if i+1 < len(s.segments) {
		return s.segments[i+1].base, nil
	}
	return s.end, nil
}

// AbortedBetween appends to out all transactions that were aborted with records
// below upTo and a marker at or above from.
func (s *Snapshot) AbortedBetween(from, upTo kafka.Offset, out []AbortedTxn) ([]AbortedTxn, error) {
	return s.abortedFrom(max(0, floorSegment(s.segments, from)), from, upTo, out)
}

// abortedFrom reads the transaction indexes from segment i on until one says that
// everything below upTo had been decided.
func (s *Snapshot) abortedFrom(i int, from, upTo kafka.Offset, out []AbortedTxn) ([]AbortedTxn, error) {
	b := s.log.env.getBlock()
	defer s.log.env.putBlock(b)
	for done := false; i < len(s.segments) && !done; i++ {
		v := s.view(i)
		if !v.segment.hasTxnIndex.Load() {
			continue
		}
		f, err := v.hold(txnIndexSuffix)
		if err != nil {
			return out, err
		}
		err = eachAborted(f, b[:], func(t AbortedTxn) bool {
			if t.LastOffset >= from && t.FirstOffset < upTo && t.LastOffset < s.end {
				out = append(out, t)
			}
			done = t.LastStableOffset >= upTo
			return !done
		})
		f.Release()
		if err := v.check(err); err != nil {
			return out, err
		}
	}
	return out, nil
}
