package replica

import (
	"errors"

	"barnabas/internal/kafka"
	"barnabas/internal/replica/purgatory"
	"barnabas/internal/storage/commitlog"
)

// flushTask syncs a partition's log once. It is the group commit: one sync is
// under way per log, and all that was appended meanwhile rides on the next one.
type flushTask Partition

func (t *flushTask) run() {
	p := (*Partition)(t)
	p.mu.Lock()
	r := p.role.Load()
	if r.phase != online {
		p.flushEndedLocked()
		p.mu.Unlock()
		return
	}
	upTo := p.flushWanted
	f, dirty := r.log.BeginFlush(upTo)
	p.mu.Unlock()
	if dirty {
		begun := p.env.now()
		if err := f.Sync(); err != nil {
			// The directory is gone for good: what failed to be synced may never
			// be read back, so nothing may be acknowledged any more. Nor if the log
			// was given up meanwhile, but that is no fault of the directory.
			if !errors.Is(err, commitlog.ErrClosed) {
				r.dir.fail("sync", p.id.TopicPartition(), err)
			}
			p.mu.Lock()
			p.flushEndedLocked()
			p.mu.Unlock()
			return
		}
		if p.env.flushed != nil {
			p.env.flushed(p.env.now().Sub(begun))
		}
	}
	var e effects
	p.mu.Lock()
	if dirty {
		r.log.EndFlush(f)
	}
	p.flushed.Store(int64(max(upTo, r.log.RecoveryPoint())))
	p.lastFlush = p.env.now()
	p.flushEndedLocked()
	if p.flushWanted > upTo {
		p.wantFlushLocked(p.flushWanted, &e)
	}
	p.advanceLocked(r, &e)
	p.mu.Unlock()
	// The next sync starts before this one's waits are told, so that answers are
	// written while the disk works.
	var woken purgatory.Woken
	p.settle(e, &woken)
	p.flushWaits.Reached(upTo).Complete(kafka.ErrNone)
	p.env.wake(&woken)
}

// flushEndedLocked notes that no flush is under way.
func (p *Partition) flushEndedLocked() {
	p.flushing = false
	if p.flushEnded != nil {
		close(p.flushEnded)
		p.flushEnded = nil
	}
}

// awaitFlush waits until no flush is under way. The caller has set a role in
// which none is started any more.
func (p *Partition) awaitFlush() {
	p.mu.Lock()
	if !p.flushing {
		p.mu.Unlock()
		return
	}
	if p.flushEnded == nil {
		p.flushEnded = make(chan struct{})
	}
	ended := p.flushEnded
	p.mu.Unlock()
	<-ended
}
