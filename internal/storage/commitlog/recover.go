package commitlog

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/record"
)

// recover scans the segments that may hold bytes which were never synced: all from
// the one on in which the recovery point lies. After a clean stop none is. Below,
// only segments whose indexes are missing or damaged are read again.
func (ld *loader) recover() error {
	ld.trusted = len(ld.segments)
	if !ld.o.Clean {
		ld.dirty = true
		ld.trusted = max(0, floorSegment(ld.segments, ld.o.RecoveryPoint))
	}
	for i := range ld.trusted {
		if err := ld.repairIndexes(i); err != nil {
			return err
		}
	}
	if ld.trusted == len(ld.segments) {
		return nil
	}
	return ld.recoverFrom(ld.trusted)
}

// repairIndexes makes the indexes of a segment anew if they are not there.
func (ld *loader) repairIndexes(i int) error {
	s := ld.segments[i]
	txnErr := checkTxnIndex(ld.env, ld.dir, s)
	if txnErr != nil && !errors.Is(txnErr, errBadTxnIndex) {
		return txnErr
	}
	if ld.exists(s, indexSuffix) && ld.exists(s, timeIndexSuffix) && txnErr == nil {
		return nil
	}
	ld.dirty = true
	ld.report.IndexesRebuilt = append(ld.report.IndexesRebuilt, s.base)
	if err := ld.producersAt(s.base); err != nil {
		return err
	}
	if _, err := ld.recoverSegment(i); err != nil {
		return err
	}
	// These files are below the recovery point: no later flush covers them.
	if err := ld.syncSegment(s); err != nil {
		return err
	}
	return ld.env.FS.SyncDir(ld.dir)
}

// recoverFrom scans segments from i on and ends the log at the first bad bytes
// that no good ones follow.
func (ld *loader) recoverFrom(i int) error {
	for j := i; j < len(ld.segments); j++ {
		ld.progress.Segments++
		ld.progress.Bytes += ld.segments[j].size
	}
	for _, s := range ld.segments[:i] {
		ld.sealedBytes += s.size
	}
	// Later snapshots speak of bytes that have not been looked at.
	base := ld.segments[i].base
	if err := ld.removeSnapshots(func(o kafka.Offset) bool { return o > base || o <= ld.o.LogStart }); err != nil {
		return err
	}
	if err := ld.producersAt(base); err != nil {
		return err
	}
	for ; i < len(ld.segments); i++ {
		ps := &ld.producers
		ps.mapEnd = max(ps.mapEnd, ld.segments[i].base)
		if err := ld.takeSnapshot(synced); err != nil {
			return err
		}
		cut, err := ld.recoverSegment(i)
		if err != nil {
			return err
		}
		ld.report.SegmentsRecovered++
		ld.progress.SegmentsDone++
		ld.tellProgress()
		if err := ld.takeSnapshot(synced); err != nil {
			return err
		}
		if cut != nil {
			return nil
		}
		if i < len(ld.segments)-1 {
			ld.sealedBytes += ld.segments[i].size
		}
	}
	return nil
}

func (ld *loader) tellProgress() {
	if ld.o.Progress != nil {
		ld.o.Progress(ld.progress)
	}
}

// producersAt brings the producers' state to the base of a segment.
func (ld *loader) producersAt(base kafka.Offset) error {
	ld.start = max(ld.o.LogStart, ld.segments[0].base)
	bad, err := ld.loadSnapshot(ld.o.Now, base)
	ld.report.BadSnapshots = append(ld.report.BadSnapshots, bad...)
	if err != nil {
		return err
	}
	return ld.replayProducers(base)
}

// recovered is a segment while its indexes are made anew.
type recovered struct {
	act     active
	aborted []byte // the transaction index
	bad     *badBytes
}

// recoverSegment scans segment i and makes its indexes anew. What it learns of
// epochs and producers it adds to the log's. It returns a cut if the log ends in
// this segment before the file does.
func (ld *loader) recoverSegment(i int) (*Cut, error) {
	s := ld.segments[i]
	f, err := s.hold(ld.env, ld.dir, logSuffix, vfs.ReadWrite)
	if err != nil {
		return nil, err
	}
	defer f.Release()
	r := recovered{act: ld.emptyActive(s.base, ld.o.Now)}
	v := newVerifier(f, s.base, s.size)
	v.gapless = ld.o.Gapless && !ld.o.Clean
	if i+1 < len(ld.segments) {
		v.limit = ld.segments[i+1].base
	}
	cut, err := ld.scan(i, v, &r)
	if err == nil && cut == nil && v.gapless {
		cut, err = ld.gapBehind(i, v)
	}
	if err != nil {
		return nil, err
	}
	if cut != nil {
		if err := ld.dropBehind(i, cut); err != nil {
			return nil, err
		}
	}
	if err := ld.writeTxnIndex(s, r.aborted); err != nil {
		return nil, err
	}
	return cut, ld.finishRecovered(i, &r, cut, max(v.next, s.base))
}

// gapBehind returns a cut if offsets are missing between a segment and the next.
func (ld *loader) gapBehind(i int, v *verifier) (*Cut, error) {
	if i == len(ld.segments)-1 {
		return nil, nil
	}
	end, next := max(v.next, v.base), ld.segments[i+1].base
	if end >= next || end < ld.o.RecoveryPoint {
		return nil, nil
	}
	cut := &Cut{
		Segment: v.base, Position: v.size, Offset: end,
		Reason: fmt.Sprintf("offsets [%d, %d] are missing before the next segment", end, next-1),
	}
	return cut, ld.loseSegments(i+1, cut)
}

// finishRecovered writes the indexes. A segment that takes appends again is cut to
// its good bytes, even if it has no others: blocks may be reserved behind them.
// Of one in the middle of the log no byte is touched.
func (ld *loader) finishRecovered(i int, r *recovered, cut *Cut, end kafka.Offset) error {
	s, a := ld.segments[i], &r.act
	ends := cut != nil || i == len(ld.segments)-1
	a.reserved = a.size
	if ends {
		a.reserved = a.size + 1
	}
	s.indexEntries.Store(unknown)
	s.timeEntries.Store(unknown)
	if err := a.finish(ld.env, ld.dir, s); err != nil {
		return err
	}
	if ends {
		s.size = a.size
		ld.act, ld.end = *a, end
		return nil
	}
	size := s.size
	s.seal(a)
	s.size = size
	return nil
}

// scan reads the segment to its end, or to bytes that end the log.
func (ld *loader) scan(i int, v *verifier, r *recovered) (*Cut, error) {
	for {
		h, marker, err := v.batch()
		if err == nil {
			ld.learn(i, r, &h, marker)
			continue
		}
		bad := asBadBytes(err)
		if bad == nil {
			if err == io.EOF {
				err = nil
			}
			return nil, err
		}
		resume, cut, err := ld.judge(i, v, bad)
		if err != nil || cut != nil || resume < 0 {
			return cut, err
		}
		v.pos = resume
		r.act.size = resume
		r.act.sinceIndex = maxSegmentBytes // readers must be able to start behind the hole
	}
}

// learn takes over what a good batch says.
func (ld *loader) learn(i int, r *recovered, h *record.Header, marker *record.EndTxnMarker) {
	ld.report.BytesScanned += int64(h.Size)
	ld.progress.BytesDone += int64(h.Size)
	ld.tellProgress()
	r.act.grow(ld.o.Config, ld.segments[i].base, factsOfHeader(h))
	// The file may say of an epoch that it begins where the log ended before a crash.
	if h.Magic >= record.MagicV2 && h.LeaderEpoch >= max(0, ld.epochs.latest()) {
		if next, changed := ld.epochs.assign(h.LeaderEpoch, h.BaseOffset); changed {
			ld.epochs, ld.epochsDirty = next, true
		}
	}
	if aborted := ld.producers.replicate(h, marker); aborted != nil {
		r.aborted = aborted.appendTo(r.aborted)
	}
}

// judge decides what to do about bad bytes. Above the recovery point the log ends
// there, as with Apache. Below it everything has been synced once, and what is
// good behind the bad bytes stays: the scan goes on at resume, or, if it is
// negative, in the next segment.
//
// Bad bytes that reach over the recovery point are a torn end: what was written
// last may begin right behind what was synced.
func (ld *loader) judge(i int, v *verifier, bad *badBytes) (resume int64, cut *Cut, err error) {
	pos, h, behind, err := v.resync(bad)
	if err != nil {
		return 0, nil, err
	}
	s := ld.segments[i]
	d := Damage{Segment: s.base, From: bad.pos, To: v.size, FirstLost: v.next, Reason: bad.reason}
	resume, next := int64(-1), kafka.NoOffset
	switch {
	case behind && pos > bad.pos:
		resume, next, d.To = pos, h.BaseOffset, pos
	case i < len(ld.segments)-1:
		next = ld.segments[i+1].base
	}
	if next >= 0 && (i < ld.trusted || next > v.next && next <= ld.o.RecoveryPoint) {
		d.LastLost = max(next-1, d.FirstLost)
		ld.report.Damages = append(ld.report.Damages, d)
		return resume, nil, nil
	}
	cut = &Cut{Segment: s.base, Position: bad.pos, Offset: max(v.next, s.base), Bytes: v.size - bad.pos, Reason: bad.reason}
	if behind {
		if err := cut.lose(v, pos, h); err != nil {
			return 0, nil, err
		}
	}
	if err := ld.loseSegments(i+1, cut); err != nil {
		return 0, nil, err
	}
	if cut.Lost || ld.o.Clean || v.next < ld.o.RecoveryPoint {
		err = ld.keepTail(cut, v)
	}
	return 0, cut, err
}

// lose counts the good batches from one on among what a cut takes off.
func (c *Cut) lose(v *verifier, pos int64, h record.Header) error {
	for {
		if !c.Lost {
			c.Lost, c.FirstLost = true, h.BaseOffset
		}
		c.LastLost = max(c.LastLost, h.LastOffset())
		if pos += int64(h.Size); pos >= v.size {
			return nil
		}
		next, err := v.check(pos, h.NextOffset())
		if isBadBytes(err) {
			return nil
		}
		if err != nil {
			return err
		}
		h = next
	}
}

// loseSegments looks for good batches in the segments behind a cut.
func (ld *loader) loseSegments(from int, c *Cut) error {
	for _, s := range ld.segments[from:] {
		c.Bytes += s.size
		if s.size == 0 {
			continue
		}
		f, err := s.hold(ld.env, ld.dir, logSuffix, vfs.ReadWrite)
		if err != nil {
			return err
		}
		v := newVerifier(f, s.base, s.size)
		h, err := v.check(0, s.base)
		if err == nil {
			err = c.lose(v, 0, h)
		}
		f.Release()
		if err != nil && !isBadBytes(err) {
			return err
		}
	}
	return nil
}

// keepTail copies what is going to be cut off to a file beside the segment.
func (ld *loader) keepTail(c *Cut, v *verifier) (err error) {
	name := fileName(c.Segment, logSuffix+"."+strconv.FormatInt(c.Position, 10)+CutSuffix)
	f, err := ld.env.FS.Open(joinPath(ld.dir, name), vfs.CreateEmpty)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	for pos := c.Position; pos < v.size; {
		b, err := v.window(pos, int(min(verifyChunk, v.size-pos)))
		if err != nil {
			return err
		}
		if _, err := f.WriteAt(b, pos-c.Position); err != nil {
			return err
		}
		pos += int64(len(b))
	}
	c.Kept = append(c.Kept, name)
	if err := f.Sync(); err != nil {
		return err
	}
	return ld.env.FS.SyncDir(ld.dir)
}

// dropBehind takes the segments behind a cut out of the log, the last one first.
// Their files are removed, or kept under another name if anything that was cut off
// was good. All this comes before the cut itself: if it is interrupted, the next
// opening finds the bad bytes where they were and does the rest.
func (ld *loader) dropBehind(i int, cut *Cut) error {
	behind := slices.Clone(ld.segments[i+1:])
	ld.segments = slices.Clip(ld.segments[:i+1])
	retireAll(behind)
	slices.Reverse(behind)
	for _, s := range behind {
		if cut.Lost {
			name := fileName(s.base, logSuffix)
			if err := ld.env.FS.Rename(joinPath(ld.dir, name), joinPath(ld.dir, name+CutSuffix)); err != nil {
				return err
			}
			delete(ld.names, name)
			cut.Kept = append(cut.Kept, name+CutSuffix)
		}
		for _, suffix := range segmentSuffixes {
			if ld.exists(s, suffix) {
				if err := ld.remove(fileName(s.base, suffix)); err != nil {
					return err
				}
			}
		}
		if err := ld.removeSnapshot(s.base); err != nil {
			return err
		}
	}
	ld.report.Cuts = append(ld.report.Cuts, *cut)
	return ld.env.FS.SyncDir(ld.dir)
}

// writeTxnIndex replaces the transaction index of a segment. Without aborted
// transactions there is none, or an empty one where there was one.
func (ld *loader) writeTxnIndex(s *segment, entries []byte) error {
	if len(entries) == 0 && !s.hasTxnIndex.Load() {
		return nil
	}
	f, err := ld.env.FS.Open(filePath(ld.dir, s.base, txnIndexSuffix), vfs.CreateEmpty)
	if err != nil {
		return err
	}
	if len(entries) > 0 {
		_, err = f.WriteAt(entries, 0)
	}
	s.hasTxnIndex.Store(true)
	return errors.Join(err, f.Close())
}
