package cleaner

import (
	"math"

	"barnabas/internal/kafka"
	"barnabas/internal/storage/commitlog"
)

// Range says what of a log can be cleaned, and how much it wants it.
type Range struct {
	// FirstDirty is where the part begins that was never cleaned, FirstUncleanable
	// where the part begins that cannot be: the base of a segment. If they are equal
	// there is nothing to do.
	FirstDirty, FirstUncleanable kafka.Offset
	// Reset says why the checkpointed offset cannot be right, and the whole log is
	// dirty: "" if it can.
	Reset string
	// BelowStart says that it was only left behind by the log start.
	BelowStart bool

	CleanBytes     int64 // of segments that were cleaned
	CleanableBytes int64 // of those that can be
	// DelayMs is for how long max.compaction.lag.ms has been exceeded.
	DelayMs int64
}

// Ratio is the dirty part of what can be cleaned.
func (r Range) Ratio() float64 {
	if total := r.CleanBytes + r.CleanableBytes; total > 0 {
		return float64(r.CleanableBytes) / float64(total)
	}
	return 0
}

// Due says whether the log is to be cleaned now: it is dirtier than
// min.cleanable.dirty.ratio, or something in it has waited for too long.
func (r Range) Due(minRatio float64) bool {
	return r.FirstDirty < r.FirstUncleanable && r.CleanableBytes > 0 && (r.DelayMs > 0 || r.Ratio() > minRatio)
}

// Rules is what a topic's configuration says of when it is cleaned.
type Rules struct {
	MinLagMs int64 // min.compaction.lag.ms
	MaxLagMs int64 // max.compaction.lag.ms
}

// Measure finds what of a log can be cleaned: whole sealed segments, from the
// checkpointed offset (-1: there is none) on, below the last stable offset and the
// recovery point, without those that have records younger than min.compaction.lag.ms.
//
// Apache goes above the recovery point. But what is there can be lost by a power cut,
// while the older records that it makes superfluous would be gone from synced files.
func Measure(s *commitlog.Snapshot, checkpoint, recoveryPoint kafka.Offset, rules Rules, now kafka.TimestampMs) (Range, error) {
	r := Range{FirstDirty: max(checkpoint, 0)}
	switch {
	case checkpoint < 0:
		r.FirstDirty = s.LogStart()
	case checkpoint < s.LogStart():
		r.FirstDirty, r.BelowStart = s.LogStart(), true
	case checkpoint > s.LogEnd():
		r.FirstDirty, r.Reset = s.LogStart(), "it is behind the log's end"
	}
	limit := min(s.LastStableOffset(), recoveryPoint)
	end, err := firstUncleanable(s, r.FirstDirty, limit, rules, now)
	if err != nil {
		return r, err
	}
	r.FirstUncleanable = max(end, r.FirstDirty)
	s.SealedSizes(func(base, next kafka.Offset, size int64) {
		// A segment that is clean in part counts as both, as with Apache.
		if base < r.FirstDirty {
			r.CleanBytes += size
		}
		if next > r.FirstDirty && base < end {
			r.CleanableBytes += size
		}
	})
	r.DelayMs, err = delay(s, r.FirstDirty, rules, now)
	return r, err
}

// firstUncleanable is the base of the first segment that cannot be cleaned.
func firstUncleanable(s *commitlog.Snapshot, firstDirty, limit kafka.Offset, rules Rules, now kafka.TimestampMs) (kafka.Offset, error) {
	n := s.SealedSegments()
	end, young := kafka.NoOffset, 0
	s.SealedSizes(func(base, next kafka.Offset, _ int64) {
		if end < 0 && next > limit {
			end = base
		}
		if next <= firstDirty {
			young++
		}
	})
	if end < 0 {
		end = s.SegmentBase(s.LogEnd()) // the active segment
	}
	if rules.MinLagMs <= 0 {
		return end, nil
	}
	for i := young; i < n; i++ {
		info, err := s.SealedSegment(i)
		if err != nil || info.Base >= end {
			return end, err
		}
		ts, err := s.LargestTimestamp(i)
		if err != nil {
			return end, err
		}
		if ts > now-rules.MinLagMs {
			return info.Base, nil
		}
	}
	return end, nil
}

// delay is for how long the first of the dirty segments has been dirty beyond
// max.compaction.lag.ms.
func delay(s *commitlog.Snapshot, firstDirty kafka.Offset, rules Rules, now kafka.TimestampMs) (int64, error) {
	if rules.MaxLagMs == math.MaxInt64 {
		return 0, nil
	}
	earliest := int64(math.MaxInt64)
	for i := range s.SealedSegments() {
		info, err := s.SealedSegment(i)
		if err != nil {
			return 0, err
		}
		if info.Next <= firstDirty {
			continue
		}
		ts, err := s.FirstTimestamp(i)
		if err != nil {
			return 0, err
		}
		if ts > 0 {
			earliest = min(earliest, ts)
		}
	}
	if until := now - max(rules.MaxLagMs, 0); earliest < until {
		return until - earliest, nil
	}
	return 0, nil
}
