package replica

import (
	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/record"
	"barnabas/internal/replica/purgatory"
	"barnabas/internal/storage/commitlog"
)

// placement is where a run of batches ended up.
type placement struct {
	logStart kafka.Offset
	// awaitFlush says that answers must wait until the batches are synced.
	awaitFlush bool
}

// writer is who has batches appended.
type writer int8

const (
	producers   writer = iota // batches of clients, validated
	coordinator               // batches of this node's own making
)

// appendLeader appends batches as the leader of the given epoch. out says what
// became of each; code refuses all of them. It is the one place where the append
// lock is held across a write.
func (p *Partition) appendLeader(from writer, epoch kafka.LeaderEpoch, in []record.Batch, guards []commitlog.Guard, out []commitlog.Appended, woken *purgatory.Woken) (placement, kafka.ErrorCode) {
	var e effects
	p.mu.Lock()
	r := p.role.Load()
	if code := r.forClient(epoch); code != kafka.ErrNone {
		p.mu.Unlock()
		return placement{}, code
	}
	sealed := r.log.SealedEnd()
	appendTo := r.log.AppendVerified
	if from == coordinator {
		appendTo = r.log.AppendCoordinator
	}
	err := appendTo(epoch, p.env.now().UnixMilli(), in, guards, out)
	bytes, messages := int64(0), int64(0)
	for i := range out {
		if out[i].Err == kafka.ErrNone && !out[i].Duplicate {
			bytes += int64(in[i].Size())
			messages += int64(out[i].Last - out[i].Base + 1)
		}
	}
	at := p.appendedLocked(r, sealed, bytes, &e)
	full := vfs.IsFull(err) && r.log.Usable()
	p.mu.Unlock()
	p.appendFailed(r, err, full)
	p.env.count.bytesIn.Add(bytes)
	p.env.count.messagesIn.Add(messages)
	p.settle(e, woken)
	return at, kafka.ErrNone
}

// appendedLocked does what follows an append of so many bytes. sealed is where the
// sealed segments ended before it.
func (p *Partition) appendedLocked(r *role, sealed kafka.Offset, bytes int64, e *effects) placement {
	p.unannounced += bytes
	p.appended = true
	at := placement{logStart: r.log.LogStart()}
	if s := r.log.SealedEnd(); s > sealed {
		p.wantFlushLocked(s, e) // a roll: what is sealed is synced in the background
	}
	end := r.log.LogEnd()
	if r.settings.flushDue(end - kafka.Offset(p.flushed.Load())) {
		at.awaitFlush = true
		p.wantFlushLocked(end, e)
	}
	p.advanceLocked(r, e)
	return at
}

// appendFailed tells the directory of an append that failed, if it did.
func (p *Partition) appendFailed(r *role, err error, full bool) {
	switch {
	case full:
		r.dir.full("append", p.id.TopicPartition(), err)
	case err != nil:
		r.dir.fail("append", p.id.TopicPartition(), err)
	}
}
