package replica

import (
	"sync"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/storage/commitlog"
	"barnabas/internal/storage/logdir"
)

func (m *Manager) stopping() bool {
	select {
	case <-m.stop:
		return true
	default:
		return false
	}
}

// Close stops serving, closes every log and leaves the directories as a clean
// shutdown does, in Apache's order: high watermarks, logs, recovery points, log
// starts, and the mark last. Directories that have failed, or whose logs were not
// all open yet, get no mark. Apply is not called any more.
func (m *Manager) Close(epoch kafka.BrokerEpoch) {
	m.closing.Do(func() {
		close(m.stop)
		m.env.alter.close()
		m.loops.Wait() // the chores, and what is being opened
		if m.started {
			m.closeDirs(epoch)
		} else {
			m.putBackMarks()
		}
		m.sessions.Clear(releaseSession)
		for _, d := range m.dirs {
			d.flushes.close()
		}
		m.env.answers.close()
	})
}

// closeDirs closes all directories at once.
func (m *Manager) closeDirs(epoch kafka.BrokerEpoch) {
	for _, d := range m.dirs {
		d.highMoved.Store(true)
		d.keep("checkpoint high watermarks", d.checkpointHighWatermarks)
		d.keep("checkpoint cleaner offsets", d.checkpointCleaned)
	}
	var closed sync.WaitGroup
	for _, d := range m.dirs {
		closed.Go(func() { d.close(epoch) })
	}
	closed.Wait()
}

// putBackMarks leaves directories that were never used as they were found.
func (m *Manager) putBackMarks() {
	for _, d := range m.dirs {
		if d.clean.Clean {
			d.keep("mark a clean shutdown", func() error { return logdir.WriteCleanShutdown(d.fs, d.path, d.clean.BrokerEpoch) })
		}
	}
}

// keep does something of a stop for a directory that works, and takes it out of
// service if that fails. Where there is no space for it the directory gets no mark.
func (d *Dir) keep(doing string, do func() error) {
	if !d.Online() {
		return
	}
	err := do()
	if vfs.IsFull(err) {
		if !d.unkept.Swap(true) {
			d.m.env.log.Warn("a log directory is full and cannot be left as a clean stop does: the next start recovers it", "dir", d.path, "while", doing, "error", err)
		}
	} else if err != nil {
		d.fail(doing, kafka.TopicPartition{}, err)
	}
}

// close closes the directory's logs, a few at once.
func (d *Dir) close(epoch kafka.BrokerEpoch) {
	d.checkpointMu.Lock()
	d.logsClosed = true
	d.checkpointMu.Unlock()
	partitions := d.list()
	queue := make(chan *Partition, len(partitions))
	for _, p := range partitions {
		queue <- p
	}
	close(queue)
	points := newOffsets()
	var workers sync.WaitGroup
	for range max(1, d.m.config().Logs.RecoveryThreadsPerDataDir) {
		workers.Go(func() {
			for p := range queue {
				d.closeLog(p, points)
			}
		})
	}
	workers.Wait()
	d.keep("checkpoint recovery points", func() error { return d.writeCheckpoint(logdir.RecoveryPoints, points.recovery) })
	d.keep("checkpoint log starts", func() error { return d.writeCheckpoint(logdir.LogStartOffsets, points.logStart) })
	d.mu.Lock()
	whole := d.unopened == 0
	d.mu.Unlock()
	if whole && !d.unkept.Load() {
		d.keep("mark a clean shutdown", func() error { return logdir.WriteCleanShutdown(d.fs, d.path, epoch) })
	}
}

// offsets are what closed logs leave for the checkpoints.
type offsets struct {
	mu                 sync.Mutex
	recovery, logStart map[kafka.TopicPartition]kafka.Offset // guarded by mu
}

func newOffsets() *offsets {
	return &offsets{recovery: map[kafka.TopicPartition]kafka.Offset{}, logStart: map[kafka.TopicPartition]kafka.Offset{}}
}

func (d *Dir) closeLog(p *Partition, points *offsets) {
	log := p.leave(stopped)
	if log == nil {
		return
	}
	p.awaitFlush()
	tp := p.id.TopicPartition()
	snap := log.Snapshot()
	d.keep("close "+tp.String(), func() error {
		p.mu.Lock()
		defer p.mu.Unlock()
		return log.Close()
	})
	if !d.Online() {
		return
	}
	recovery := snap.LogEnd()
	if log.Err() != commitlog.ErrClosed {
		recovery = p.flushedOffset() // there was no space to close it
	}
	points.mu.Lock()
	defer points.mu.Unlock()
	points.recovery[tp] = recovery
	if start, ok := checkpointedStart(snap); ok {
		points.logStart[tp] = start
	}
}
