package replica

import (
	"errors"
	"math"
	"sync"
	"time"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/storage/cleaner"
)

// cleaners compacts the partitions whose cleanup.policy says so: as many at once as
// log.cleaner.threads, the one that needs it most first. A thread that finds nothing
// sleeps for log.cleaner.backoff.ms. Settings are read anew for each cleaning.
type cleaners struct {
	m    *Manager
	pace pacer

	mu      sync.Mutex
	running []bool                          // guarded by mu; which threads there are
	busy    map[kafka.TopicPartition]bool   // guarded by mu; being cleaned
	logs    map[*Partition]*cleaningHistory // guarded by mu
	total   CleanerStats                    // guarded by mu
}

// cleaningHistory is what is known of the cleanings of a partition.
type cleaningHistory struct {
	last   LastCleaning
	aside  string // why it is not cleaned any more; "": it is
	small  bool   // because the map was too small for it
	warned bool   // of a disk that was full
}

// LastCleaning is the last run over a partition since the node was started.
type LastCleaning struct {
	At    time.Time // its end; zero: there was none
	Took  time.Duration
	Stats cleaner.Stats
}

// CleanerStats are the numbers of all cleanings since the node was started.
type CleanerStats struct {
	Runs, Failures     int64
	BytesRead          int64 // in both passes
	BytesWritten       int64
	Seconds            float64 // of all threads
	LastEnd            time.Time
	LastSeconds        float64
	LastBufferUse      float64 // the part of the map's room that the last run used
	LastRecopy         float64 // the part of the bytes that it kept
	MaxDirtyRatio      float64 // of the logs when they were looked at last
	MaxCompactionDelay time.Duration
	Threads            int
}

func newCleaners(m *Manager) *cleaners {
	return &cleaners{m: m, busy: map[kafka.TopicPartition]bool{}, logs: map[*Partition]*cleaningHistory{}}
}

// run keeps as many threads at work as the configuration asks for, until the node
// stops. It waits for them.
func (c *cleaners) run() {
	if !c.m.config().Cleaner.Enable {
		return // log.cleaner.enable is read at the start
	}
	var threads sync.WaitGroup
	defer threads.Wait()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		for _, id := range c.missing(c.m.config().Cleaner.Threads) {
			threads.Go(func() { c.thread(id) })
		}
		timer.Reset(cleanerSupervision)
		select {
		case <-c.m.stop:
			return
		case <-timer.C:
		}
	}
}

// cleanerSupervision is how soon another number of threads takes effect.
const cleanerSupervision = time.Second

// missing notes and returns the threads that are to be started.
func (c *cleaners) missing(want int) (ids []int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id := range want {
		if id == len(c.running) {
			c.running = append(c.running, false)
		}
		if !c.running[id] {
			c.running[id] = true
			ids = append(ids, id)
		}
	}
	return ids
}

// thread cleans until the node stops, or until there are to be fewer threads.
func (c *cleaners) thread(id int) {
	defer func() {
		c.mu.Lock()
		c.running[id] = false
		c.mu.Unlock()
	}()
	key := [2]uint64{c.m.env.draw(), c.m.env.draw()}
	for {
		settings := c.m.config().Cleaner
		if id >= settings.Threads {
			return
		}
		keys := cleaner.NewOffsetMap(key, mapBytes(settings.DedupeBufferBytes, settings.Threads), settings.LoadFactor)
		for c.cleanOne(keys, settings.IOBufferBytes/settings.Threads/2) {
		}
		keys.Free()
		if !c.sleep(settings.Backoff) {
			return
		}
	}
}

// mapBytes is a thread's part of log.cleaner.dedupe.buffer.size. Like Apache's it is
// below 2 GiB.
func mapBytes(all int64, threads int) int { return int(min(all/int64(threads), math.MaxInt32)) }

// sleep waits, and says false if the node stops.
func (c *cleaners) sleep(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-c.m.stop:
		return false
	case <-timer.C:
		return true
	}
}

// candidate is a partition that wants to be cleaned.
type candidate struct {
	part   *Partition
	role   *role
	bounds cleaner.Range
}

// cleanOne cleans the partition that needs it most, and says whether there was one.
func (c *cleaners) cleanOne(keys *cleaner.OffsetMap, bufferBytes int) bool {
	if c.m.stopping() {
		return false
	}
	next, ok := c.take()
	if !ok {
		return false
	}
	defer c.release(next.part)
	topic := &next.role.settings.topic
	t := &cleaningTarget{c: c, part: next.part, role: next.role}
	begun := c.m.env.now()
	dirty, stats, err := cleaner.Clean(t, next.bounds, cleaner.Config{
		SegmentBytes: int64(topic.SegmentBytes), IndexBytes: int64(topic.SegmentIndexBytes),
		DeleteRetentionMs: topic.DeleteRetentionMs, MaxRecordSize: topic.MaxDecompressedMessageBytes, BufferBytes: bufferBytes,
	}, keys, begun.UnixMilli())
	ended := c.m.env.now()
	c.note(next.part, stats, ended, ended.Sub(begun), err)
	if err != nil {
		return c.failed(next, err)
	}
	d := next.role.dir
	if err := d.setCleaned(next.part, dirty); err != nil {
		d.fail("checkpoint cleaner offsets", next.part.id.TopicPartition(), err)
		return false
	}
	c.m.env.log.Debug("cleaned a log", "partition", next.part.id.TopicPartition().String(), "first_dirty", dirty,
		"bytes_before", stats.BytesRead, "bytes_after", stats.BytesWritten, "took", ended.Sub(begun))
	return true
}

// take chooses the dirtiest of the partitions that are due, and marks it busy.
func (c *cleaners) take() (best candidate, ok bool) {
	now := c.m.env.now().UnixMilli()
	maxRatio, maxDelay := 0.0, int64(0)
	var due []candidate
	for _, p := range c.m.all() {
		r := p.role.Load()
		if r.phase != online || !r.settings.topic.Compact || c.isAside(p) {
			continue
		}
		bounds, err := c.measure(p, r, now)
		if err != nil {
			c.failed(candidate{p, r, bounds}, err)
			continue
		}
		maxRatio, maxDelay = max(maxRatio, bounds.Ratio()), max(maxDelay, bounds.DelayMs)
		if bounds.Due(r.settings.topic.MinCleanableDirtyRatio) {
			due = append(due, candidate{p, r, bounds})
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total.MaxDirtyRatio, c.total.MaxCompactionDelay = maxRatio, time.Duration(maxDelay)*time.Millisecond
	for _, x := range due {
		if !c.busy[x.part.id.TopicPartition()] && (!ok || x.bounds.Ratio() > best.bounds.Ratio()) {
			best, ok = x, true
		}
	}
	if ok {
		c.busy[best.part.id.TopicPartition()] = true
	}
	return best, ok
}

// measure says what of a partition can be cleaned. A checkpoint that cannot be right
// is forgotten.
func (c *cleaners) measure(p *Partition, r *role, now kafka.TimestampMs) (cleaner.Range, error) {
	checkpoint, known := r.dir.cleanedOffset(p.id.TopicPartition())
	if !known {
		checkpoint = kafka.NoOffset
	}
	topic, snap := &r.settings.topic, r.log.Snapshot()
	if sealed := snap.SegmentBase(snap.LogEnd()); p.flushedOffset() < sealed {
		p.flushSealed(sealed)
	}
	bounds, err := cleaner.Measure(snap, checkpoint, p.flushedOffset(),
		cleaner.Rules{MinLagMs: topic.MinCompactionLagMs, MaxLagMs: topic.MaxCompactionLagMs}, now)
	if err != nil {
		return bounds, err
	}
	if bounds.Reset != "" {
		c.m.env.log.Warn("the offset up to which a log was cleaned makes no sense; all of it is taken for dirty",
			"partition", p.id.TopicPartition().String(), "offset", checkpoint, "reason", bounds.Reset)
	}
	if bounds.Reset != "" || bounds.BelowStart {
		r.dir.moveCleaned(p, bounds.FirstDirty)
	}
	return bounds, nil
}

// flushSealed has the sealed segments synced: only what is synced is cleaned, and
// what recovery found unsynced waits for the next roll else.
func (p *Partition) flushSealed(upTo kafka.Offset) {
	var e effects
	p.mu.Lock()
	if p.role.Load().phase == online {
		p.wantFlushLocked(upTo, &e)
	}
	p.mu.Unlock()
	p.settleNow(e)
}

func (c *cleaners) release(p *Partition) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.busy, p.id.TopicPartition())
}

// history is what is known of a partition's cleanings. c.mu is held.
func (c *cleaners) history(p *Partition) *cleaningHistory {
	h := c.logs[p]
	if h == nil {
		h = &cleaningHistory{}
		c.logs[p] = h
	}
	return h
}

func (c *cleaners) isAside(p *Partition) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.logs[p]
	return h != nil && h.aside != ""
}

// resettled lets logs be cleaned again that were set aside for want of memory: there may
// be more now.
func (c *cleaners) resettled() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, h := range c.logs {
		if h.small {
			h.aside, h.small = "", false
		}
	}
}

// forget drops what is known of a partition that is gone.
func (c *cleaners) forget(p *Partition) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.logs, p)
}

// note adds a run to the numbers.
func (c *cleaners) note(p *Partition, s cleaner.Stats, at time.Time, took time.Duration, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &c.total
	t.BytesRead += s.BytesMapped + s.BytesRead
	t.BytesWritten += s.BytesWritten
	t.Seconds += took.Seconds()
	if err != nil {
		t.Failures++
		return
	}
	t.Runs++
	t.LastEnd, t.LastSeconds = at, took.Seconds()
	t.LastBufferUse = float64(s.Keys) / float64(max(1, s.MaxKeys))
	t.LastRecopy = float64(s.BytesWritten) / float64(max(1, s.BytesRead))
	c.history(p).last = LastCleaning{At: at, Took: took, Stats: s}
}

// failed takes in an error, and says whether the thread goes on at once. What the log
// is to blame for sets it aside until the next start; an error of the system is the
// directory's, but for a full disk: nothing is lost by cleaning later.
func (c *cleaners) failed(x candidate, err error) bool {
	if now := x.part.role.Load(); now.phase != online || now.log != x.role.log || isRetry(err) {
		return false
	}
	tp := x.part.id.TopicPartition()
	switch {
	case vfs.IsFull(err) && x.part.logUsable(x.role):
		c.mu.Lock()
		h := c.history(x.part)
		first := !h.warned
		h.warned = true
		c.mu.Unlock()
		if first {
			c.m.env.log.Warn("cannot clean a log: the disk is full; it is tried again", "partition", tp.String(), "dir", x.role.dir.path, "error", err)
		}
		return false
	case isSystem(err):
		x.role.dir.fail("clean", tp, err)
		return false
	}
	c.mu.Lock()
	h := c.history(x.part)
	h.aside, h.small = err.Error(), errors.Is(err, cleaner.ErrMapTooSmall)
	c.mu.Unlock()
	c.m.env.log.Error("a log cannot be cleaned and is set aside until the next start; the others go on", "partition", tp.String(), "dir", x.role.dir.path, "reason", err)
	return true
}

// errCleaningStopped ends a cleaning whose partition is gone or whose node stops.
var errCleaningStopped = errors.New("replica: cleaning stopped")
