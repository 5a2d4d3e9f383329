package replica

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/storage/commitlog"
)

// removal is what retention takes from a log, and by which rules.
type removal struct {
	part  *Partition
	role  *role
	what  commitlog.Removal
	rules []removed
}

// removed is what one rule takes.
type removed struct {
	why      string
	segments int
	bytes    int64
}

// retain removes what is no longer to be kept from all logs of the directory
// (UnifiedLog.deleteOldSegments of Apache).
//
// The new log starts are on disk before the first file is renamed, and stay in
// the checkpoint until the names are durable. So a power cut at any moment leaves a
// log that begins where clients have seen it begin, or further on, without a hole.
// On a disk that is full the checkpoint cannot be written; then the order of the
// renames, oldest first, has to do.
func (d *Dir) retain(now time.Time) error {
	due, next := d.planRetention(now)
	d.nextDue.Store(next)
	d.nextCheck.Store(now.Add(d.m.config().Logs.RetentionCheckInterval).UnixMilli())
	if len(due) == 0 {
		return nil
	}
	for _, r := range due {
		r.part.startDue.Store(int64(r.what.Start))
	}
	if err := d.checkpointLogStarts(); err != nil && !vfs.IsFull(err) {
		return err
	}
	for _, r := range due {
		if err := d.carryOut(r, now); vfs.IsFull(err) && r.role.log.Usable() {
			d.full("delete old segments", r.part.id.TopicPartition(), err) // others may make room
		} else if err != nil {
			return fmt.Errorf("partition %s: %w", r.part.id.TopicPartition(), err)
		}
	}
	return nil
}

// planRetention finds out what is due, and when, as a timestamp, the next segment
// will be by its age; 0 if none ever is.
func (d *Dir) planRetention(now time.Time) (due []removal, next kafka.TimestampMs) {
	for _, p := range d.list() {
		r, at, err := p.planRetention(now.UnixMilli())
		p.retentionFailed(err, now)
		if err != nil {
			continue
		}
		if r.what.Segments > 0 {
			due = append(due, r)
		}
		if at > 0 && (next == 0 || at < next) {
			next = at
		}
	}
	return due, next
}

// retentionFailed notes why retention could not look at the log, and logs it when
// it is new. An error of the system is the directory's end, as that of any read.
func (p *Partition) retentionFailed(err error, now time.Time) {
	if err == nil {
		p.retentionFailure.Store(nil)
		return
	}
	r := p.role.Load()
	if r.phase != online {
		return // the log was closed under the reader
	}
	if system := (*fs.PathError)(nil); errors.As(err, &system) {
		r.dir.fail("look for old segments", p.id.TopicPartition(), err)
		return
	}
	if p.retentionFailure.Swap(&failure{err.Error(), now}) == nil {
		p.env.log.Error("retention cannot look at a log; nothing of it is deleted", "partition", p.id.TopicPartition().String(), "error", err)
	}
}

// failure is why something could not be done, and when.
type failure struct {
	text string
	at   time.Time
}

// planRetention finds out what of the partition is due. It takes no lock.
func (p *Partition) planRetention(now kafka.TimestampMs) (out removal, next kafka.TimestampMs, err error) {
	for range staleLimit {
		r := p.role.Load()
		if r.phase != online {
			return removal{}, 0, nil
		}
		out = removal{part: p, role: r}
		if next, err = out.plan(r.log.Snapshot(), now); !errors.Is(err, commitlog.ErrStale) {
			return out, next, err
		}
	}
	return removal{}, 0, nil // it changes as fast as it is looked at: the next check will see
}

// plan applies the rules in Apache's order.
func (r *removal) plan(snap *commitlog.Snapshot, now kafka.TimestampMs) (next kafka.TimestampMs, err error) {
	t := &r.role.settings.topic
	start := snap.LogStart()
	if err := r.apply(snap, commitlog.BelowLogStart(start), func() string { return fmt.Sprintf("below the log start %d", start) }); err != nil {
		return 0, err
	}
	if !t.Delete {
		return 0, nil
	}
	left := snap.Size() - r.what.Bytes
	if err := r.apply(snap, commitlog.BeyondBytes(left, t.RetentionBytes), func() string {
		return fmt.Sprintf("the log had %d bytes, retention.bytes is %d", left, t.RetentionBytes)
	}); err != nil {
		return 0, err
	}
	old := commitlog.OlderThan(now, t.RetentionMs)
	err = r.apply(snap, func(s commitlog.SegmentInfo) bool {
		if old(s) {
			return true
		}
		if t.RetentionMs >= 0 {
			next = s.LargestTimestamp + t.RetentionMs
		}
		return false
	}, func() string { return fmt.Sprintf("older than retention.ms of %d", t.RetentionMs) })
	return next, err
}

func (r *removal) apply(snap *commitlog.Snapshot, doomed commitlog.Doomed, why func() string) error {
	what, err := snap.Removable(r.what, doomed)
	if err != nil {
		return err
	}
	if n := what.Segments - r.what.Segments; n > 0 {
		r.rules = append(r.rules, removed{why(), n, what.Bytes - r.what.Bytes})
	}
	r.what = what
	return nil
}

// carryOut removes segments: from the log, then from the folder's names, and after
// file.delete.delay.ms from the disk.
func (d *Dir) carryOut(r removal, now time.Time) error {
	p := r.part
	p.mu.Lock()
	if at := p.role.Load(); at.phase != online || at.log != r.role.log {
		p.mu.Unlock()
		return nil
	}
	g, err := r.role.log.Remove(r.what, now.UnixMilli())
	p.appended = true // the epochs that ended are to leave their file
	p.mu.Unlock()
	if err != nil {
		return err
	}
	if err := g.Sync(d.fs); err != nil {
		return err
	}
	p.startDue.Store(0)
	d.deleteLater(deletion{files: g, at: now.Add(r.role.settings.topic.FileDeleteDelay)})
	for _, x := range r.rules {
		d.deletedSegments.Add(int64(x.segments))
		d.deletedBytes.Add(x.bytes)
		d.m.env.log.Info("deleted old segments", "partition", p.id.TopicPartition().String(), "segments", x.segments, "bytes", x.bytes,
			"because", x.why, "log_start", r.what.Start)
	}
	return nil
}
