package replica

import (
	"errors"
	"io/fs"

	"barnabas/internal/kafka"
	"barnabas/internal/replica/isr"
	"barnabas/internal/replica/purgatory"
	"barnabas/internal/storage/commitlog"
)

// registration is what the metadata says of a partition.
type registration struct {
	isr.Registration
	leader kafka.BrokerID
}

// follow lets the partition be what the metadata says. An older registration
// than the one it knows is ignored.
func (p *Partition) follow(reg registration) {
	p.mu.Lock()
	if reg.PartitionEpoch < p.wanted.PartitionEpoch || reg.LeaderEpoch < p.wanted.LeaderEpoch {
		p.mu.Unlock()
		return
	}
	p.wanted = reg
	p.assume(*p.role.Load())
}

// assume takes on the wanted role, with what next says of the log. It is called
// with the append lock and gives it back.
func (p *Partition) assume(next role) {
	old := p.role.Load()
	next.leaderID, next.leaderEpoch, next.partitionEpoch = p.wanted.leader, p.wanted.LeaderEpoch, p.wanted.PartitionEpoch
	next.code = kafka.ErrNotLeaderOrFollower
	var e effects
	var err error
	if next.phase == online {
		err = p.assumeLocked(old, &next)
	}
	p.role.Store(&next)
	if err == nil && next.phase == online {
		p.advanceLocked(&next, &e)
		if next.settings.flushEach && next.log.LogEnd() > p.flushedOffset() {
			// What a crash left unsynced is not counted before it is synced.
			p.wantFlushLocked(next.log.LogEnd(), &e)
		}
	}
	p.mu.Unlock()
	if err != nil {
		next.dir.fail("become leader", p.id.TopicPartition(), err)
		return
	}
	if old.leaderEpoch != next.leaderEpoch || old.code != next.code {
		p.endWaits(kafka.ErrNotLeaderOrFollower)
	}
	p.settleNow(e)
}

// assumeLocked makes or updates the leader's state, or drops it.
func (p *Partition) assumeLocked(old, next *role) error {
	if next.leaderID != p.env.self {
		p.leader = nil
		p.belowMin.Store(false)
		return nil
	}
	next.code = kafka.ErrNone
	if p.leader != nil && old.leaderEpoch == next.leaderEpoch {
		p.leader.Update(p.wanted.Registration)
		return nil
	}
	if next.log.LatestEpoch() < next.leaderEpoch {
		if err := next.log.AssignEpoch(next.leaderEpoch); err != nil {
			return err
		}
	}
	next.epochStart = next.log.LogEnd()
	p.leader = isr.NewLeader(isr.Start{
		Local:         p.env.self,
		Registration:  p.wanted.Registration,
		HighWatermark: next.log.HighWatermark(),
		LogEnd:        next.log.HighWatermark(), // advanceLocked counts what there is
		EpochStart:    next.epochStart,
		MinISR:        next.settings.topic.MinInsyncReplicas,
		MaxLag:        p.env.lag,
		Now:           p.env.now(),
	})
	return nil
}

// settleNow is settle for those who have nothing more urgent to do.
func (p *Partition) settleNow(e effects) {
	var woken purgatory.Woken
	p.settle(e, &woken)
	p.env.wake(&woken)
}

// opened gives the partition its log. From now on it serves. It is false when the
// replica was given up meanwhile: then the log is not its own.
func (p *Partition) opened(log *commitlog.Log) bool {
	p.mu.Lock()
	old := p.role.Load()
	if old.phase != opening {
		p.mu.Unlock()
		return false
	}
	next := *old
	next.phase, next.log = online, log
	log.SetConfig(next.settings.log)
	p.flushed.Store(int64(log.RecoveryPoint()))
	p.lastFlush = p.env.now()
	// Nobody may see an open log that is not led yet: to a coordinator that waits
	// for it, its leadership would look like one that is over.
	p.assume(next)
	return true
}

// configure gives the partition other settings.
func (p *Partition) configure(s *settings) {
	var e effects
	p.mu.Lock()
	next := *p.role.Load()
	next.settings = s
	p.role.Store(&next)
	if next.phase == online {
		next.log.SetConfig(s.log)
		if p.leader != nil {
			p.leader.SetMinISR(s.topic.MinInsyncReplicas)
		}
		if end := next.log.LogEnd(); s.flushDue(end - p.flushedOffset()) {
			p.wantFlushLocked(end, &e)
		}
		p.advanceLocked(&next, &e)
	}
	p.mu.Unlock()
	p.settleNow(e)
}

// leave ends the partition's service, for good: with phase offline when its
// directory has failed, else with stopped. When it returns, nothing of it touches
// the log any more, which is handed to the caller; it is nil if there is none, or
// if the partition had left before.
func (p *Partition) leave(to phase) *commitlog.Log {
	p.mu.Lock()
	next := *p.role.Load()
	if next.phase >= to {
		p.mu.Unlock()
		return nil
	}
	log, code := next.log, kafka.ErrNotLeaderOrFollower
	if to == offline {
		code = kafka.ErrKafkaStorageError
	}
	if next.phase == offline {
		log = nil // was handed out then
	}
	next.phase, next.code = to, code
	p.leader = nil
	p.belowMin.Store(false)
	p.role.Store(&next)
	p.mu.Unlock()
	p.endWaits(code)
	return log
}

// readFailed takes in an error of reading the log, and says what clients are
// told. Bytes that make no sense are the log's trouble alone; an error of the
// system is the directory's.
func (p *Partition) readFailed(r *role, err error) kafka.ErrorCode {
	if now := p.role.Load(); now.phase != online {
		return now.gone() // the log was closed under the reader
	}
	var system *fs.PathError
	if !errors.As(err, &system) {
		p.env.log.Error("cannot read a log", "partition", p.id.TopicPartition().String(), "error", err)
		return kafka.ErrCorruptMessage
	}
	r.dir.fail("read", p.id.TopicPartition(), err)
	return kafka.ErrKafkaStorageError
}
