package replica

import (
	"time"

	"barnabas/internal/base/vfs"
	"barnabas/internal/config"
	"barnabas/internal/kafka"
	"barnabas/internal/storage/commitlog"
	"barnabas/internal/storage/logdir"
)

// flushCheck is how often flush.ms is looked at unless
// log.flush.scheduler.interval.ms says otherwise.
const flushCheck = time.Second

// deleteCheck is how often folders and files are looked for whose delay is over.
const deleteCheck = time.Second

// chore is a piece of background work in a log directory. An error is one of the
// disk.
type chore struct {
	name  string
	every time.Duration
	do    func(now time.Time) error
	// first is when it is done for the first time, of retention alone; 0 means after
	// every.
	first time.Duration
	next  time.Time
}

// chores are the directory's background work.
func (d *Dir) chores(c *config.Broker) []chore {
	flush := c.Logs.FlushSchedulerInterval
	if flush == config.Forever {
		flush = flushCheck
	}
	return []chore{
		{name: "checkpoint recovery points", every: c.Logs.RecoveryPointInterval, do: func(time.Time) error { return d.checkpointRecovery() }},
		{name: "checkpoint log starts", every: c.Logs.StartOffsetCheckpointInterval, do: func(time.Time) error { return d.checkpointLogStarts() }},
		{name: "checkpoint high watermarks", every: c.Replication.HighWatermarkCheckpointInterval, do: func(time.Time) error { return d.checkpointHighWatermarks() }},
		{name: "flush by time", every: flush, do: func(now time.Time) error { d.flushDue(now); return nil }},
		{name: "delete old segments", every: c.Logs.RetentionCheckInterval, first: max(c.Logs.InitialTaskDelay, time.Millisecond), do: d.retain},
		{name: "remove deleted files", every: deleteCheck, do: d.removeDue},
		{name: "checkpoint cleaner offsets", every: deleteCheck, do: func(time.Time) error { return d.checkpointCleaned() }},
		{name: "open logs that had no space", every: deleteCheck, do: func(time.Time) error { return d.openWaiting() }},
		{name: "expire producers", every: c.Producers.IDExpirationCheckInterval, do: func(now time.Time) error { d.expireProducers(now); return nil }},
	}
}

// background does the chores until stop is closed or the directory fails.
func (d *Dir) background(stop <-chan struct{}) {
	now := d.m.env.now()
	chores := d.chores(d.m.config())
	for i := range chores {
		c := &chores[i]
		if c.next = now.Add(c.every); c.first > 0 {
			c.next = now.Add(c.first)
			d.nextCheck.Store(c.next.UnixMilli())
		}
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for d.Online() {
		wake := now.Add(time.Hour)
		for i := range chores {
			c := &chores[i]
			if !c.next.After(now) {
				if err := c.do(now); vfs.IsFull(err) {
					d.full(c.name, kafka.TopicPartition{}, err)
				} else if err != nil {
					d.fail(c.name, kafka.TopicPartition{}, err)
					return
				}
				c.next = now.Add(max(c.every, time.Millisecond))
			}
			if c.next.Before(wake) {
				wake = c.next
			}
		}
		timer.Reset(wake.Sub(d.m.env.now()))
		select {
		case <-stop:
			return
		case <-timer.C:
		}
		now = d.m.env.now()
	}
}

// checkpointRecovery writes what the logs keep in memory beside their bytes, and
// then how far each is synced.
func (d *Dir) checkpointRecovery() error {
	d.checkpointMu.Lock()
	defer d.checkpointMu.Unlock()
	offsets := map[kafka.TopicPartition]kafka.Offset{}
	for _, p := range d.list() {
		synced, ok, err := p.checkpointLog()
		if err != nil {
			return err
		}
		if ok {
			offsets[p.id.TopicPartition()] = synced
		}
	}
	return d.writeCheckpoint(logdir.RecoveryPoints, offsets)
}

// checkpointLog writes what the log keeps in memory of the batches below the recovery
// point that it returns; ok is false if there is no log.
func (p *Partition) checkpointLog() (synced kafka.Offset, ok bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.role.Load()
	if r.phase != online {
		return 0, false, nil
	}
	synced = p.flushedOffset()
	if p.appended || r.log.OwesEpochs(synced) {
		err = r.log.Checkpoint(synced)
		p.appended = err != nil
	}
	return synced, true, err
}

// checkpointLogStarts writes the log starts that are above the first segment's
// base offset; the others are found in the folders. Starts of removals that may
// be undone by a power cut are written too.
func (d *Dir) checkpointLogStarts() error {
	d.checkpointMu.Lock()
	defer d.checkpointMu.Unlock()
	if d.logsClosed {
		return nil
	}
	offsets := map[kafka.TopicPartition]kafka.Offset{}
	for _, p := range d.list() {
		if r := p.role.Load(); r.phase == online {
			start, ok := checkpointedStart(r.log.Snapshot())
			if due := kafka.Offset(p.startDue.Load()); due > 0 && due >= start {
				start, ok = due, true
			}
			if ok {
				offsets[p.id.TopicPartition()] = start
			}
		}
	}
	return d.writeCheckpoint(logdir.LogStartOffsets, offsets)
}

// checkpointedStart gives the log start if the folder does not tell it.
func checkpointedStart(snap *commitlog.Snapshot) (kafka.Offset, bool) {
	start := snap.LogStart()
	return start, start > 0 && snap.SegmentBase(start-1) != kafka.NoOffset
}

// checkpointHighWatermarks writes the high watermarks if one has moved.
func (d *Dir) checkpointHighWatermarks() error {
	if !d.highMoved.Swap(false) {
		return nil
	}
	d.checkpointMu.Lock()
	defer d.checkpointMu.Unlock()
	offsets := map[kafka.TopicPartition]kafka.Offset{}
	for _, p := range d.list() {
		if r := p.role.Load(); r.phase == online {
			offsets[p.id.TopicPartition()] = r.log.Snapshot().HighWatermark()
		}
	}
	err := d.writeCheckpoint(logdir.HighWatermarks, offsets)
	if err != nil {
		d.highMoved.Store(true)
	}
	return err
}

// writeCheckpoint keeps the entries of logs that are not open yet: a crash before
// they are must find them again.
func (d *Dir) writeCheckpoint(c logdir.Checkpoint, offsets map[kafka.TopicPartition]kafka.Offset) error {
	for tp, offset := range d.unopenedPoints(c) {
		if _, ok := offsets[tp]; !ok {
			offsets[tp] = offset
		}
	}
	return logdir.WriteCheckpoint(d.fs, d.path, c, offsets)
}

func (d *Dir) unopenedPoints(c logdir.Checkpoint) map[kafka.TopicPartition]kafka.Offset {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.unopened == 0 {
		return nil
	}
	switch c {
	case logdir.RecoveryPoints:
		return d.points.recovery
	case logdir.LogStartOffsets:
		return d.points.logStart
	}
	return d.points.high
}

// flushDue starts the syncs that flush.ms asks for.
func (d *Dir) flushDue(now time.Time) {
	if !d.m.timedFlush.Load() {
		return
	}
	for _, p := range d.list() {
		every, ok := p.role.Load().settings.flushInterval()
		if !ok {
			continue
		}
		var e effects
		p.mu.Lock()
		if r := p.role.Load(); r.phase == online && now.Sub(p.lastFlush) >= every && r.log.LogEnd() > p.flushedOffset() {
			p.wantFlushLocked(r.log.LogEnd(), &e)
		}
		p.mu.Unlock()
		p.settleNow(e)
	}
}

// expireProducers forgets producers that were silent for too long.
func (d *Dir) expireProducers(now time.Time) {
	for _, p := range d.list() {
		p.mu.Lock()
		if r := p.role.Load(); r.phase == online {
			r.log.ExpireProducers(now.UnixMilli())
		}
		p.mu.Unlock()
	}
}
