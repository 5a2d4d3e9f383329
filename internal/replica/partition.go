package replica

import (
	"sync"
	"sync/atomic"
	"time"

	"barnabas/internal/kafka"
	"barnabas/internal/replica/isr"
	"barnabas/internal/replica/purgatory"
	"barnabas/internal/storage/commitlog"
)

// Partition is one replica that this node hosts.
type Partition struct {
	id  kafka.TopicIDPartition
	env *env
	seq uint64 // creation order; a run of appends is grouped by it

	role atomic.Pointer[role] // written under mu

	highWaits  purgatory.Offsets  // appends that wait for the high watermark
	flushWaits purgatory.Offsets  // appends that wait to be synced
	watchers   purgatory.Watchers // fetches that wait for data

	flushed  atomic.Int64 // kafka.Offset: all below it is synced; written under mu
	belowMin atomic.Bool  // fewer in sync than min.insync.replicas; written under mu

	// startDue is the log start (kafka.Offset) of a removal whose names are not
	// durable yet, 0 for none. Owned by the directory's background goroutine.
	startDue         atomic.Int64
	retentionFailure atomic.Pointer[failure]

	mu sync.Mutex // THE append lock: log, and all below
	// wanted is what the metadata says, which a log that is still being opened
	// waits to hear.
	wanted registration
	// leader is nil while this node does not lead.
	leader *isr.Leader
	// unannounced counts bytes appended since the high watermark last moved.
	unannounced int64
	appended    bool // since the log was last checkpointed
	flushWanted kafka.Offset
	flushing    bool          // a flush is under way or on its way
	flushEnded  chan struct{} // closed when a flush ends, made by who waits for it
	lastFlush   time.Time
}

// phase is where a replica is in its life here.
type phase int8

const (
	opening phase = iota // its log is being opened, perhaps recovered
	online
	offline // its log directory has failed
	stopped // deleted, moved away, or the node stops
)

// role is what a replica is at one moment. It is immutable.
type role struct {
	phase    phase
	log      *commitlog.Log // nil while opening
	dir      *Dir
	settings *settings

	leaderID       kafka.BrokerID
	leaderEpoch    kafka.LeaderEpoch
	partitionEpoch kafka.PartitionEpoch
	epochStart     kafka.Offset // where the epoch of this leader begins
	// code is ErrNone while this node serves clients as the leader, and else
	// what they are told.
	code kafka.ErrorCode
}

// ID names the partition.
func (p *Partition) ID() kafka.TopicIDPartition { return p.id }

// checkEpoch compares a client's idea of the leader epoch with the truth.
func (r *role) checkEpoch(epoch kafka.LeaderEpoch) kafka.ErrorCode {
	switch {
	case epoch == kafka.NoLeaderEpoch || epoch == r.leaderEpoch:
		return kafka.ErrNone
	case epoch < r.leaderEpoch:
		return kafka.ErrFencedLeaderEpoch
	}
	return kafka.ErrUnknownLeaderEpoch
}

// gone is the error of a replica whose log went away under a reader.
func (r *role) gone() kafka.ErrorCode {
	switch {
	case r.phase == offline:
		return kafka.ErrKafkaStorageError
	case r.code != kafka.ErrNone:
		return r.code
	}
	return kafka.ErrNotLeaderOrFollower
}

// forClient says why a client that names a leader epoch is not served, or gives
// ErrNone.
func (r *role) forClient(epoch kafka.LeaderEpoch) kafka.ErrorCode {
	if r.phase == offline {
		return kafka.ErrKafkaStorageError
	}
	if code := r.checkEpoch(epoch); code != kafka.ErrNone {
		return code
	}
	return r.code
}

// highWatermark is the offset below which everything is committed.
func (p *Partition) highWatermark() kafka.Offset {
	if log := p.role.Load().log; log != nil {
		return log.Snapshot().HighWatermark()
	}
	return 0
}

// flushedOffset is the offset below which everything is synced.
func (p *Partition) flushedOffset() kafka.Offset { return kafka.Offset(p.flushed.Load()) }

// effects are what a change under the append lock has to be followed by once the
// lock is free.
type effects struct {
	moved         bool // the high watermark
	highWatermark kafka.Offset
	marked        bool  // readers see something new:
	bytes         int64 // so many bytes, or purgatory.Event
	flush         bool  // a flush is to be started
	propose       bool  // an ISR proposal is to be sent
	proposal      isr.Proposal
}

// settle does what has to follow. Watchers that this wakes are added to woken,
// for the caller to wake when it has done what is more urgent.
func (p *Partition) settle(e effects, woken *purgatory.Woken) {
	if e.flush {
		p.role.Load().dir.flushes.submit((*flushTask)(p))
	}
	if e.propose {
		p.env.alter.propose(p, e.proposal)
	}
	if e.moved {
		p.highWaits.Reached(e.highWatermark).Complete(kafka.ErrNone)
	}
	if e.marked {
		p.watchers.Changed(e.bytes, woken)
	}
}

// advanceLocked moves the high watermark as far as it may go now, and notes in e
// what follows from it.
func (p *Partition) advanceLocked(r *role, e *effects) {
	if p.leader == nil {
		return
	}
	counted := r.log.LogEnd()
	if r.settings.flushEach {
		counted = min(counted, kafka.Offset(p.flushed.Load()))
	}
	next := p.leader.LocalEnd(counted)
	p.belowMin.Store(p.leader.BelowMinISR())
	if !e.propose {
		e.proposal, e.propose = p.leader.Proposal()
	}
	before, stable := r.log.HighWatermark(), r.log.LastStableOffset()
	if next <= before {
		return
	}
	e.highWatermark, e.moved = r.log.SetHighWatermark(next), true
	if !r.dir.highMoved.Load() {
		r.dir.highMoved.Store(true)
	}
	e.marked, e.bytes = true, p.unannounced
	if stable < before && r.log.LastStableOffset() > stable {
		// The end of a transaction lets readers of committed data see more than
		// the bytes that came just now.
		e.bytes = purgatory.Event
	}
	p.unannounced = 0
}

// wantFlushLocked asks for everything below upTo to be synced.
func (p *Partition) wantFlushLocked(upTo kafka.Offset, e *effects) {
	p.flushWanted = max(p.flushWanted, upTo)
	if !p.flushing {
		p.flushing, e.flush = true, true
	}
}

// endWaits ends everything that waits for the partition, after its role has
// changed.
func (p *Partition) endWaits(code kafka.ErrorCode) {
	p.highWaits.Drain().Complete(code)
	p.flushWaits.Drain().Complete(code)
	var woken purgatory.Woken
	p.watchers.Changed(purgatory.Event, &woken)
	p.env.wake(&woken)
}
