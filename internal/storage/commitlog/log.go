package commitlog

import (
	"errors"
	"fmt"
	"sync/atomic"

	"barnabas/internal/kafka"
)

// ErrClosed says that the log was closed or abandoned.
var ErrClosed = errors.New("commitlog: closed")

// Log is one replica. All methods but Snapshot are called under its owner's
// append lock.
type Log struct {
	snap   atomic.Pointer[Snapshot]
	config atomic.Pointer[Config]
	// broken is set before the files are let go without having been synced.
	broken atomic.Bool

	// The rest is guarded by the owner's lock.
	env      *Env
	dir      string
	segments []*segment // by base; the last one is active; replaced, never changed
	act      active
	epochs   epochs

	start, end    kafka.Offset
	highWatermark kafka.Offset
	recoveryPoint kafka.Offset
	sealedBytes   int64 // of all segments but the active one

	producers producers
	snapshots []kafka.Offset // the producer snapshots in the folder, in order

	truncations uint64       // counts them, so that a flush under way notices
	flushing    kafka.Offset // the highest offset that a flush was begun for
	epochsDirty bool         // the file of the epochs is behind
	// The file lacks the epochs that begin at or above newEpochsFrom, if newEpochs says
	// so: what it has of those below is right.
	newEpochs     bool
	newEpochsFrom kafka.Offset
	dirty         bool         // something has been written since Open
	swap          *Replacement // cleaned segments that are being put in place
	short         bool         // ReserveAhead could not be kept for lack of space
	failed        error        // why the log takes no more calls

	first [1]*segment // what segments is at first: one object less per idle log
}

// usable returns the error that ended the log, if one did.
func (l *Log) usable() error { return l.failed }

// Err is the error that ended the log, or nil.
func (l *Log) Err() error { return l.failed }

// Usable says that the log takes more calls: an append that failed has left it as it
// was before.
func (l *Log) Usable() bool { return l.failed == nil }

// change is usable for those who are about to write.
func (l *Log) change() error {
	l.dirty = true
	return l.failed
}

// fail makes the log refuse all further changes: what is on disk is no longer
// what is known here.
func (l *Log) fail(err error) error {
	l.broken.Store(true)
	l.failed = fmt.Errorf("log %s has failed: %w", l.dir, err)
	return l.failed
}

func (l *Log) active() *segment { return l.segments[len(l.segments)-1] }

// Snapshot returns what is readable now. It is safe to call without the lock.
func (l *Log) Snapshot() *Snapshot { return l.snap.Load() }

// publish makes the state visible to readers.
func (l *Log) publish() {
	s := &Snapshot{
		log: l, dir: l.dir, segments: l.segments, epochs: l.epochs,
		start: l.start, end: l.end, highWatermark: l.highWatermark, lastStable: l.LastStableOffset(),
		position:  l.act.size,
		indexFile: l.act.indexFile, index: l.act.index,
		timeFile: l.act.timeFile, time: l.act.time,
		maxTimestamp: l.act.maxTimestamp, maxOffset: l.act.maxOffset,
		sealedBytes: l.sealedBytes,
	}
	l.snap.Store(s)
}

// LogStart is the first offset that may be read.
func (l *Log) LogStart() kafka.Offset { return l.start }

// LogEnd is the next offset.
func (l *Log) LogEnd() kafka.Offset { return l.end }

// HighWatermark is the offset below which everything is committed.
func (l *Log) HighWatermark() kafka.Offset { return l.highWatermark }

// RecoveryPoint is the offset below which everything has been synced.
func (l *Log) RecoveryPoint() kafka.Offset { return l.recoveryPoint }

// SealedEnd is the base offset of the active segment: what lies below it will not
// change and is to be flushed in the background after a roll.
func (l *Log) SealedEnd() kafka.Offset { return l.active().base }

// Size is the number of bytes of all segments.
func (l *Log) Size() int64 { return l.sealedBytes + l.act.size }

// Dir is the log's folder.
func (l *Log) Dir() string { return l.dir }

// LastStableOffset is the offset below which every transaction is decided.
func (l *Log) LastStableOffset() kafka.Offset {
	unstable := l.producers.firstUnstable()
	if unstable < 0 {
		return l.highWatermark
	}
	return min(max(unstable, l.start), l.highWatermark)
}

// SetHighWatermark sets the high watermark, clamped to [log start, log end], and
// returns it.
func (l *Log) SetHighWatermark(o kafka.Offset) kafka.Offset {
	o = min(max(o, l.start), l.end)
	if o != l.highWatermark {
		l.highWatermark = o
		l.producers.forgetEnded(o)
		l.publish()
	}
	return o
}

// IncrementLogStart raises the log start. kafka.ErrOffsetOutOfRange refuses an
// offset above the high watermark; one below the log start changes nothing.
func (l *Log) IncrementLogStart(o kafka.Offset) error {
	if err := l.usable(); err != nil {
		return err
	}
	if o > l.highWatermark {
		return kafka.ErrOffsetOutOfRange
	}
	if o > l.start {
		l.raiseStart(o)
		l.publish()
	}
	return nil
}

// raiseStart leaves the epoch file as it is: what is below the log start in it is
// dropped again by Open, so it can wait for the next time the file is written. The
// recovery point stays too (Apache raises it): the new start may lie in a batch
// that has not been synced.
func (l *Log) raiseStart(o kafka.Offset) {
	l.start = o
	if next, changed := l.epochs.truncateStart(o); changed {
		l.epochs, l.epochsDirty = next, true
	}
	ps := &l.producers
	ps.forgetEnded(o)
	ps.mapEnd = max(ps.mapEnd, o)
	ps.snapEnd = l.newestSnapshot(o)
}

// AssignEpoch notes that epoch begins at the log's end, as a new leader does
// before its first append. It touches no file: an epoch without a batch says nothing
// of any record, and the next one takes its place. Where it has batches they tell of
// it to recovery, until a recovery point above them is checkpointed (Checkpoint).
func (l *Log) AssignEpoch(epoch kafka.LeaderEpoch) error {
	if err := l.usable(); err != nil {
		return err
	}
	next, changed := l.epochs.assign(epoch, l.end)
	if !changed {
		return nil
	}
	l.epochs = next
	if !l.newEpochs {
		l.newEpochs, l.newEpochsFrom = true, l.end
	}
	l.publish()
	return nil
}

// LatestEpoch is the newest epoch in the log, or NoLeaderEpoch.
func (l *Log) LatestEpoch() kafka.LeaderEpoch { return l.epochs.latest() }

// EndOffsetForEpoch answers where epoch ends here: the largest epoch of the log
// that is not above it, and where that one ends. Both are -1 if that cannot be
// said.
func (l *Log) EndOffsetForEpoch(epoch kafka.LeaderEpoch) (kafka.LeaderEpoch, kafka.Offset) {
	return l.epochs.endOffset(epoch, l.end)
}

// ProducerState is what the log knows of one producer.
type ProducerState struct {
	ID               kafka.ProducerID
	Epoch            kafka.ProducerEpoch
	LastSequence     int32        // -1: none
	LastOffset       kafka.Offset // -1: none
	LastTimestamp    kafka.TimestampMs
	CoordinatorEpoch int32        // -1: none
	TxnStart         kafka.Offset // first offset of the open transaction; -1: none
}

// Producers appends the state of all producers to out.
func (l *Log) Producers(out []ProducerState) []ProducerState {
	for i := range l.producers.list {
		p := &l.producers.list[i]
		s := ProducerState{
			ID: p.id, Epoch: p.epoch, LastSequence: p.lastSequence(), LastOffset: kafka.NoOffset,
			LastTimestamp: p.lastTimestamp, CoordinatorEpoch: p.coordinatorEpoch, TxnStart: p.txnStart,
		}
		if last, ok := p.last(); ok {
			s.LastOffset = last.lastOffset
		}
		out = append(out, s)
	}
	return out
}

// HasOpenTxn says whether a producer has a transaction open in this epoch. The
// first batch of one that has not must be verified by its coordinator.
func (l *Log) HasOpenTxn(id kafka.ProducerID, epoch kafka.ProducerEpoch) bool {
	i := l.producers.find(id)
	return i >= 0 && l.producers.list[i].inTransaction(epoch)
}

// ProducerCount is the number of producers whose state is kept.
func (l *Log) ProducerCount() int { return len(l.producers.list) }

// ExpireProducers forgets producers that have been silent too long.
func (l *Log) ExpireProducers(now kafka.TimestampMs) { l.producers.expire(now, l.config.Load()) }

// Config is the configuration in force.
func (l *Log) Config() *Config { return l.config.Load() }

// SetConfig gives the log another configuration. It is never changed afterwards.
func (l *Log) SetConfig(c *Config) { l.config.Store(c) }

// SetDir tells the log that its folder has been renamed.
func (l *Log) SetDir(dir string) {
	l.dir = dir
	l.publish()
}
