package replica

import (
	"cmp"
	"errors"
	"slices"

	"barnabas/internal/kafka"
	"barnabas/internal/replica/why"
	"barnabas/internal/storage/commitlog"
)

// PartitionReasons says why old records of a partition are still there.
type PartitionReasons struct {
	Partition int32        `json:"partition"`
	Reasons   []why.Reason `json:"reasons"`
	Facts     why.Facts    `json:"facts"`
}

// Why says of each partition of a topic that lies here what keeps its old records,
// in order of the partitions. It is empty if none does.
func (m *Manager) Why(topic string) []PartitionReasons {
	var out []PartitionReasons
	for _, p := range m.all() {
		if p.id.Topic != topic {
			continue
		}
		f := m.facts(p)
		out = append(out, PartitionReasons{Partition: p.id.Partition, Reasons: why.Explain(&f, m.env.now().UnixMilli()), Facts: f})
	}
	slices.SortFunc(out, func(a, b PartitionReasons) int { return cmp.Compare(a.Partition, b.Partition) })
	return out
}

func (m *Manager) facts(p *Partition) why.Facts {
	r := p.role.Load()
	f := why.Facts{State: map[phase]string{opening: "opening", online: "online"}[r.phase]}
	if f.State == "" {
		f.State = "offline"
	}
	if r.dir != nil {
		f.Directory = r.dir.path
	}
	if r.phase != online {
		return f
	}
	t := &r.settings.topic
	f.Delete, f.Compact, f.RetentionMs, f.RetentionBytes, f.SegmentBytes = t.Delete, t.Compact, t.RetentionMs, t.RetentionBytes, int64(t.SegmentBytes)
	f.NextCheck, f.CheckEveryMs = r.dir.nextCheck.Load(), m.config().Logs.RetentionCheckInterval.Milliseconds()
	for range staleLimit {
		if err := logFacts(&f, r.log.Snapshot()); err == nil || !errors.Is(err, commitlog.ErrStale) {
			if err != nil {
				f.Failure, f.FailureAt = err.Error(), m.env.now().UnixMilli()
			}
			break
		}
	}
	p.mu.Lock()
	if at, ok := r.log.RollTime(); ok {
		f.RollsAt = at
	}
	p.mu.Unlock()
	if x := p.retentionFailure.Load(); x != nil {
		f.Failure, f.FailureAt = x.text, x.at.UnixMilli()
	}
	r.dir.waitingFacts(&f, r.log.Dir())
	if c, ok := m.Cleaning(p.id.Topic, p.id.Partition); ok {
		f.Cleaning = cleaningFacts(c, t.MinCompactionLagMs)
	}
	return f
}

func logFacts(f *why.Facts, snap *commitlog.Snapshot) error {
	f.LogStart, f.HighWatermark, f.LastStableOffset, f.LogEnd = snap.LogStart(), snap.HighWatermark(), snap.LastStableOffset(), snap.LogEnd()
	f.Bytes, f.Segments = snap.Size(), snap.Segments()
	f.Active = why.Segment{Base: snap.SegmentBase(f.LogEnd), End: f.LogEnd, Bytes: f.Bytes}
	first := true
	snap.SealedSizes(func(base, next kafka.Offset, size int64) {
		f.Active.Bytes -= size
		if first {
			first, f.Oldest = false, why.Segment{Base: base, End: next, Bytes: size}
		}
	})
	if first {
		f.Oldest = f.Active
	}
	if f.Oldest.Bytes == 0 {
		return nil
	}
	var err error
	if f.Oldest.LargestTimestamp, err = snap.LargestTimestamp(0); err != nil {
		return err
	}
	f.Active.LargestTimestamp, err = snap.LargestTimestamp(f.Segments - 1)
	return err
}

// waitingFacts counts the files of a log that wait for file.delete.delay.ms.
func (d *Dir) waitingFacts(f *why.Facts, folder string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, x := range d.deletions {
		if x.folder == "" && x.files.Dir == folder {
			f.WaitingFiles += len(x.files.Files)
			f.WaitingUntil = max(f.WaitingUntil, x.at.UnixMilli())
		}
	}
}

func cleaningFacts(c CleaningStatus, minLagMs int64) *why.Cleaning {
	out := &why.Cleaning{
		FirstDirty: c.FirstDirty, FirstUncleanable: c.FirstUncleanable, DirtyRatio: c.Ratio(), MinRatio: c.MinRatio, MinLagMs: minLagMs,
		Due: c.Due, Busy: c.Busy, Disabled: c.Disabled, Aside: c.Aside,
	}
	if !c.Last.At.IsZero() {
		out.LastEnd = c.Last.At.UnixMilli()
	}
	return out
}
