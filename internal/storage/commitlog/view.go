package commitlog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sort"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/record"
)

// view is a segment as a reader sees it: how many bytes of it count, and the
// index entries that are not in its files yet. A view of a sealed segment has
// none; how many entries its files have is looked up when first needed.
type view struct {
	env     *Env
	dir     string
	segment *segment
	size    int64
	span    int64 // offsets from the base to the end, about

	sealed    bool
	indexFile int32
	index     []offsetEntry
	timeFile  int32
	time      []timeEntry
}

// activeView is the active segment as the log sees it under the lock.
func (l *Log) activeView() view {
	s := l.active()
	return view{
		env: l.env, dir: l.dir, segment: s, size: l.act.size, span: int64(l.end - s.base),
		indexFile: l.act.indexFile, index: l.act.index, timeFile: l.act.timeFile, time: l.act.time,
	}
}

// sealedView is a sealed segment whose successor begins at next.
func sealedView(env *Env, dir string, s *segment, next kafka.Offset) view {
	return view{env: env, dir: dir, segment: s, size: s.size, span: int64(next - s.base), sealed: true}
}

// place is where an entry of a log lies.
type place struct {
	pos        int64
	size       int
	base, last kafka.Offset
}

// seek finds the entry that holds target, or the first one behind it. found is
// false if the segment ends before it.
func (v *view) seek(target kafka.Offset) (at place, found bool, err error) {
	from, err := v.floorPosition(target)
	if err != nil {
		return place{}, false, err
	}
	f, err := v.hold(logSuffix)
	if err != nil {
		return place{}, false, err
	}
	defer f.Release()
	return v.scan(f, from, target)
}

// scan walks from an entry at or before target. An index is a hint: if it does
// not lead to an entry, the walk begins at the start of the segment. If it meets
// bad bytes, the first index entry behind target may lie behind them.
func (v *view) scan(f io.ReaderAt, from int64, target kafka.Offset) (at place, found bool, err error) {
	at, found, err = v.walk(f, from, target)
	if err != nil && from > 0 && isBadEntry(err) {
		at, found, err = v.walk(f, 0, target)
	}
	if err == nil || !isBadEntry(err) {
		return at, found, v.check(err)
	}
	behind, ok, indexErr := v.firstBehind(byOffset(), int64(target-v.segment.base)+1)
	if indexErr != nil {
		return place{}, false, indexErr
	}
	if ok {
		if at, ok := v.entryAt(f, int64(behind.pos)); ok && at.base <= target && target <= at.last {
			return at, true, v.check(nil)
		}
	}
	return place{}, false, v.check(err)
}

// walk goes from entry to entry until one ends at or behind target.
func (v *view) walk(f io.ReaderAt, from int64, target kafka.Offset) (at place, found bool, err error) {
	sc := scanner{f: f, pos: from, size: v.size, env: v.env}
	defer sc.close()
	for sc.next() {
		if h := &sc.header; h.LastOffset() >= target {
			return place{pos: sc.at, size: h.Size, base: h.BaseOffset, last: h.LastOffset()}, true, nil
		}
	}
	return place{}, false, sc.err
}

// check turns an error that comes of the segment having been removed or cut into
// ErrStale.
func (v *view) check(err error) error {
	if v.segment.gone.Load() {
		return ErrStale
	}
	if err != nil && !errors.Is(err, ErrStale) {
		return fmt.Errorf("segment %d: %w", v.segment.base, err)
	}
	return err
}

func (v *view) hold(suffix string) (*vfs.Shared, error) {
	f, err := v.segment.hold(v.env, v.dir, suffix, vfs.ReadWrite)
	return f, v.check(err)
}

func isBadEntry(err error) bool {
	return errors.Is(err, record.ErrBadLength) || errors.Is(err, record.ErrBadMagic)
}

// floorPosition is the position of the last indexed entry that ends at or before
// target; the walk to target begins there.
func (v *view) floorPosition(target kafka.Offset) (int64, error) {
	rel := int64(target - v.segment.base)
	i := sort.Search(len(v.index), func(i int) bool { return int64(v.index[i].rel) > rel })
	if i > 0 {
		return int64(v.index[i-1].pos), nil
	}
	var pos int64
	err := v.floorInFile(byOffset(), rel, v.span, func(_ int, entry []byte) {
		pos = int64(parseOffsetEntry(entry).pos)
	})
	if pos >= v.size {
		pos = 0 // nonsense: walk from the start
	}
	return pos, err
}

// floorInFile finds the floor of target in one of the index files and calls take
// with its number and bytes, if there is one.
func (v *view) floorInFile(key indexKey, target, most int64, take func(int, []byte)) error {
	suffix, n, err := v.fileEntries(key)
	if err != nil || n == 0 {
		return err
	}
	f, err := v.hold(suffix)
	if err != nil {
		return err
	}
	defer f.Release()
	b := v.env.getBlock()
	defer v.env.putBlock(b)
	number, entry, err := floorEntry(f, n, key, target, most, b[:])
	if err == nil && number >= 0 {
		take(number, entry)
	}
	return v.check(err)
}

// fileEntries is how many entries the index file of a key has.
func (v *view) fileEntries(key indexKey) (suffix string, n int, err error) {
	suffix, cached, counted := indexSuffix, &v.segment.indexEntries, v.indexFile
	if key.size == timeEntrySize {
		suffix, cached, counted = timeIndexSuffix, &v.segment.timeEntries, v.timeFile
	}
	if !v.sealed {
		return suffix, int(counted), nil
	}
	if n := cached.Load(); n != unknown {
		return suffix, int(n), nil
	}
	f, err := v.hold(suffix)
	if errors.Is(err, fs.ErrNotExist) {
		cached.Store(0) // without an index everything is walked
		return suffix, 0, nil
	}
	if err != nil {
		return suffix, 0, err
	}
	defer f.Release()
	n, err = validEntries(f, key)
	if err != nil {
		return suffix, 0, v.check(err)
	}
	cached.Store(int32(n))
	return suffix, n, nil
}

// firstBehind is the first entry of the offset index whose key is at least target.
// ok is false if there is none.
func (v *view) firstBehind(key indexKey, target int64) (entry offsetEntry, ok bool, err error) {
	_, n, err := v.fileEntries(key)
	if err != nil {
		return entry, false, err
	}
	number := -1
	err = v.floorInFile(key, target-1, max(v.span, v.size), func(i int, _ []byte) { number = i })
	if err != nil {
		return entry, false, err
	}
	if number+1 < n {
		entry, err = v.offsetEntry(number + 1)
		return entry, err == nil, err
	}
	i := sort.Search(len(v.index), func(i int) bool { return key.of(v.index[i].appendTo(nil)) >= target })
	if i == len(v.index) {
		return entry, false, nil
	}
	return v.index[i], true, nil
}

func (v *view) offsetEntry(number int) (offsetEntry, error) {
	f, err := v.hold(indexSuffix)
	if err != nil {
		return offsetEntry{}, err
	}
	defer f.Release()
	var b [offsetEntrySize]byte
	_, err = f.ReadAt(b[:], int64(number)*offsetEntrySize)
	return parseOffsetEntry(b[:]), v.check(err)
}
