package why

import (
	"fmt"

	"barnabas/internal/kafka"
)

// Reason is one thing that keeps records or lets them go.
type Reason struct {
	// Rule is a word for programs: offline, empty, cleanup-policy, retention-ms,
	// retention-bytes, uncommitted, future-timestamp, segment, log-start,
	// transaction, compaction, failure, file-delete-delay.
	Rule string `json:"rule"`
	Text string `json:"text"`
	// At is when it happens, in milliseconds since 1970; 0: not known, or never.
	At kafka.TimestampMs `json:"at,omitempty"`
}

// explanation collects reasons.
type explanation struct {
	f   *Facts
	now kafka.TimestampMs
	out []Reason
}

// Explain says what keeps the records of a partition and what deletes them.
func Explain(f *Facts, now kafka.TimestampMs) []Reason {
	x := explanation{f: f, now: now}
	if f.State != "online" {
		x.add("offline", 0, "the replica is %s: nothing of it is deleted", f.State)
		return x.out
	}
	if f.Failure != "" {
		x.add("failure", 0, "retention could not look at the log at %s: %s", when(f.FailureAt), f.Failure)
	}
	if f.Bytes == 0 {
		x.add("empty", 0, "there are no records")
	} else {
		x.policy()
		x.logStart()
		x.segment()
		x.transaction()
		x.compaction()
	}
	if f.WaitingFiles > 0 {
		x.add("file-delete-delay", f.WaitingUntil, "%s of deleted segments, of the log no more, leave the disk by %s (file.delete.delay.ms)",
			count(int64(f.WaitingFiles), "file"), when(f.WaitingUntil))
	}
	return x.out
}

func (x *explanation) add(rule string, at kafka.TimestampMs, format string, args ...any) {
	x.out = append(x.out, Reason{rule, fmt.Sprintf(format, args...), at})
}

// policy says which rules are in force, and what each means for the oldest segment.
func (x *explanation) policy() {
	f := x.f
	switch {
	case f.Delete:
		if f.Oldest.End > f.HighWatermark {
			x.add("uncommitted", 0, "the oldest segment reaches over the high watermark %d: only what is committed is deleted", f.HighWatermark)
		}
		x.byTime()
		x.bySize()
	case f.Compact:
		x.add("cleanup-policy", 0, "cleanup.policy is compact: neither age nor size deletes anything, a record goes when a newer one has its key")
	default:
		x.add("cleanup-policy", 0, "cleanup.policy is empty: nothing is deleted but below the log start")
	}
}

// check is the first check of retention at or after a time.
func (x *explanation) check(at kafka.TimestampMs) kafka.TimestampMs {
	next := x.f.NextCheck
	if at > next && x.f.CheckEveryMs > 0 {
		next += (at - next + x.f.CheckEveryMs - 1) / x.f.CheckEveryMs * x.f.CheckEveryMs
	}
	return next
}

func (x *explanation) byTime() {
	f, oldest := x.f, x.f.Oldest
	if f.RetentionMs < 0 {
		x.add("retention-ms", 0, "retention.ms is -1: age deletes nothing")
		return
	}
	due := oldest.LargestTimestamp + f.RetentionMs
	if due < oldest.LargestTimestamp || due > latest {
		x.add("future-timestamp", 0, "the oldest segment has a record of %s: no clock will ever be retention.ms=%d (%s) behind that",
			when(oldest.LargestTimestamp), f.RetentionMs, span(f.RetentionMs))
		return
	}
	gone := x.check(due + 1)
	if oldest.LargestTimestamp > x.now {
		x.add("future-timestamp", gone, "the oldest segment has a record of %s, which is %s in the future: by retention.ms=%d (%s) it stays until %s",
			when(oldest.LargestTimestamp), span(oldest.LargestTimestamp-x.now), f.RetentionMs, span(f.RetentionMs), when(due))
		return
	}
	if due < x.now {
		x.add("retention-ms", gone, "the newest record of the oldest segment is of %s, older than retention.ms=%d (%s): it goes at the next check, at %s",
			when(oldest.LargestTimestamp), f.RetentionMs, span(f.RetentionMs), when(gone))
		return
	}
	x.add("retention-ms", gone, "a segment goes as a whole when its newest record is older than retention.ms=%d (%s): the oldest one's is of %s, so it stays until %s, and goes at the check at %s",
		f.RetentionMs, span(f.RetentionMs), when(oldest.LargestTimestamp), when(due), when(gone))
}

func (x *explanation) bySize() {
	f := x.f
	if f.RetentionBytes < 0 {
		x.add("retention-bytes", 0, "retention.bytes is -1: size deletes nothing")
		return
	}
	if missing := f.RetentionBytes + f.Oldest.Bytes - f.Bytes; missing > 0 {
		x.add("retention-bytes", 0, "the log has %s, retention.bytes is %s: the oldest segment of %s goes when %s more have come, so that the limit stays filled without it",
			size(f.Bytes), size(f.RetentionBytes), size(f.Oldest.Bytes), size(missing))
		return
	}
	x.add("retention-bytes", f.NextCheck, "the log has %s, retention.bytes is %s: the oldest segment of %s goes at the next check, at %s",
		size(f.Bytes), size(f.RetentionBytes), size(f.Oldest.Bytes), when(f.NextCheck))
}

func (x *explanation) logStart() {
	f := x.f
	switch {
	case f.Segments > 1 && f.Oldest.End <= f.LogStart:
		x.add("log-start", f.NextCheck, "the oldest segment lies below the log start %d: it goes at the next check, at %s", f.LogStart, when(f.NextCheck))
	case f.LogStart > f.Oldest.Base:
		x.add("log-start", 0, "records %d to %d lie below the log start and are not served; their bytes go with the segment, which ends at %d",
			f.Oldest.Base, f.LogStart-1, f.Oldest.End-1)
	}
}

// segment says when the active segment ends, which is what most of the rules wait
// for.
func (x *explanation) segment() {
	f := x.f
	if f.Active.Bytes == 0 {
		return
	}
	which := "the active segment"
	if f.Segments == 1 {
		which = "all records are in the active segment, which"
	}
	x.add("segment", f.RollsAt, "%s has %s: it is written to until it has %s (segment.bytes) or until the first record of %s or later comes (segment.ms)",
		which, size(f.Active.Bytes), size(f.SegmentBytes), when(f.RollsAt))
}

func (x *explanation) transaction() {
	f := x.f
	if f.LastStableOffset < f.HighWatermark {
		x.add("transaction", 0, "a transaction is open since offset %d: compaction stops there, and so do consumers that read committed records (deletion does not)", f.LastStableOffset)
	}
}

func (x *explanation) compaction() {
	c := x.f.Cleaning
	if c == nil {
		return
	}
	if c.LastEnd > 0 {
		x.add("compaction", 0, "compaction was last done at %s; offsets below %d are clean", when(c.LastEnd), c.FirstDirty)
	}
	switch {
	case c.Disabled:
		x.add("compaction", 0, "the cleaner is switched off (log.cleaner.enable, log.cleaner.threads): nothing is compacted")
	case c.Aside != "":
		x.add("compaction", 0, "the partition is set aside and not compacted any more: %s", c.Aside)
	case c.Busy:
		x.add("compaction", 0, "it is being compacted now")
	case c.Due:
		x.add("compaction", 0, "it is compacted as soon as a cleaner thread is free: %s", x.ratio(c))
	case c.FirstDirty >= c.FirstUncleanable:
		x.add("compaction", 0, "nothing can be compacted now: from offset %d on lies the active segment, or an open transaction, or what is not synced, or records younger than min.compaction.lag.ms=%d (%s)",
			c.FirstUncleanable, c.MinLagMs, span(c.MinLagMs))
	default:
		x.add("compaction", 0, "it is not dirty enough to be compacted: %s", x.ratio(c))
	}
}

func (x *explanation) ratio(c *Cleaning) string {
	return fmt.Sprintf("offsets %d to %d were not compacted yet, %.2f of what can be, and min.cleanable.dirty.ratio is %.2f",
		c.FirstDirty, c.FirstUncleanable-1, c.DirtyRatio, c.MinRatio)
}
