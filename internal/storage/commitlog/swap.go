package commitlog

import (
	"slices"

	"barnabas/internal/kafka"
)

// The swap of cleaned segments into the log goes by Apache's steps, so that each of
// the two finishes what the other has begun:
//
//	1. the new files are written as ".cleaned" and synced  (a crash: they are removed)
//	2. BeginSwap renames them to ".swap"                   (a crash in it: removed too)
//	3. Sync makes that durable                             (from here on: an opening ends the swap)
//	4. EndSwap renames the old ones to ".deleted" and the new ones to their names
//	5. the owner syncs the folder, and removes the old files after a while
//
// 1, 3 and 5 need no lock: a swap holds up appends for some renames, never for a sync.
//
// A truncation between BeginSwap and EndSwap makes the swap void: what it takes off
// must not come back with the next opening. Whoever removes segments calls voidSwap
// before.

// BeginSwap, under the lock, takes a finished replacement for what the log is going
// to have instead of the old segments. ErrStale says that some of those are no longer
// there; the replacement is then to be discarded.
func (l *Log) BeginSwap(r *Replacement) error {
	if err := l.change(); err != nil {
		return err
	}
	if l.swap != nil || l.indexOfRun(r.old) < 0 || l.dir != r.dir {
		return ErrStale
	}
	l.swap = r
	err := r.eachFile(func(o *output, suffix string) error {
		path := filePath(r.dir, o.segment.base, suffix)
		return l.env.FS.Rename(path+cleanedSuffix, path+swapSuffix)
	})
	if err != nil {
		return l.fail(err)
	}
	return nil
}

// SyncSwap makes the names durable, without the lock: after BeginSwap and again
// after EndSwap, before the old files are removed.
func (r *Replacement) SyncSwap() error { return r.log.env.FS.SyncDir(r.dir) }

// EndSwap, under the lock again, puts the new segments in place. Readers find the
// new ones before the old ones go, so that none meets a hole. ErrStale says that
// the swap became void meanwhile; its files are gone.
func (l *Log) EndSwap(r *Replacement) (g Garbage, err error) {
	if err := l.usable(); err != nil {
		return g, err
	}
	if l.swap != r {
		return g, ErrStale
	}
	l.swap = nil
	l.showSwapped(r)
	if err := l.endSwap(r, &g); err != nil {
		return g, l.fail(err)
	}
	return g, nil
}

// showSwapped lets readers see the new segments, whose files have the suffix ".swap".
func (l *Log) showSwapped(r *Replacement) {
	at := l.indexOfRun(r.old)
	if at < 0 {
		panic("BUG: commitlog: segments went while they were being replaced")
	}
	next := slices.Clone(l.segments[:at])
	for _, o := range r.outputs {
		next = append(next, o.segment)
		l.sealedBytes += o.segment.size
	}
	for _, s := range r.old {
		l.sealedBytes -= s.size
	}
	l.segments = append(next, l.segments[at+len(r.old):]...)
	l.publish()
}

func (l *Log) endSwap(r *Replacement, g *Garbage) error {
	replaced := func(base kafka.Offset) bool {
		return slices.ContainsFunc(r.outputs, func(o *output) bool { return o.segment.base == base })
	}
	for _, s := range r.old {
		s.retire()
		if err := deleteFiles(l.env, l.dir, s.base, g); err != nil {
			return err
		}
		// A producer snapshot belongs to the base of a segment.
		if !replaced(s.base) && l.hasSnapshot(s.base) {
			if err := deleteFile(l.env, l.dir, fileName(s.base, snapshotSuffix), g); err != nil {
				return err
			}
			l.forgetSnapshot(s.base)
			l.producers.snapEnd = l.newestSnapshot(l.start)
		}
	}
	for i := range r.outputs {
		o := r.outputs[i]
		for _, suffix := range segmentSuffixes {
			if suffix == txnIndexSuffix && !o.segment.hasTxnIndex.Load() {
				continue
			}
			path := filePath(r.dir, o.segment.base, suffix)
			if err := l.env.FS.Rename(path+swapSuffix, path); err != nil {
				return err
			}
		}
		o.segment.swapping.Store(false)
	}
	return nil
}

// indexOfRun is where in the log the segments stand one behind the other, or -1.
func (l *Log) indexOfRun(run []*segment) int {
	at := slices.Index(l.segments, run[0])
	if at < 0 || at+len(run) >= len(l.segments) || !slices.Equal(l.segments[at:at+len(run)], run) {
		return -1
	}
	return at
}

// voidSwap gives up a swap under way, durably, before segments are cut or removed.
func (l *Log) voidSwap() error {
	r := l.swap
	if r == nil {
		return nil
	}
	l.swap = nil
	// One file that is ".cleaned" again makes the others unfinished for an opening:
	// a part of them would not fit the segments that stay.
	first := filePath(r.dir, r.outputs[0].segment.base, logSuffix)
	if err := l.env.FS.Rename(first+swapSuffix, first+cleanedSuffix); err != nil {
		return l.fail(err)
	}
	if err := l.env.FS.SyncDir(l.dir); err != nil {
		return l.fail(err)
	}
	if err := r.removeFiles(swapSuffix); err != nil {
		return l.fail(err)
	}
	if err := l.env.FS.Remove(first + cleanedSuffix); err != nil {
		return l.fail(err)
	}
	if err := l.env.FS.SyncDir(l.dir); err != nil {
		return l.fail(err)
	}
	return nil
}
