package why

import (
	"fmt"
	"strings"
	"testing"

	"barnabas/internal/base/script"
	"barnabas/internal/kafka"
)

// The scripts: "explain" with what differs from an ordinary partition, in words
// key=value, and the reasons.
func TestExplanations(t *testing.T) {
	script.RunDir(t, "testdata", func(t *testing.T) func(script.Command) string {
		return func(c script.Command) string {
			if c.Name == "words" {
				return fmt.Sprintf("%s, %s, %s\n", size(c.Int("bytes", 0)), span(c.Int("ms", 0)), when(c.Int("at", 0)))
			}
			f := facts(c)
			var out strings.Builder
			for _, r := range Explain(&f, 1_800_000_000_000) {
				fmt.Fprintf(&out, "%s: %s", r.Rule, r.Text)
				if r.At != 0 {
					fmt.Fprintf(&out, " @%s", when(r.At))
				}
				out.WriteByte('\n')
			}
			return out.String()
		}
	})
}

// facts are those of a log of 10 segments of 1 MiB, hourly until now, kept a day.
func facts(c script.Command) Facts {
	const now, hour = 1_800_000_000_000, 3_600_000
	f := Facts{
		State: "online", HighWatermark: 1000, LastStableOffset: 1000, LogEnd: 1000, Bytes: c.Int("size", 10<<20), Segments: 10,
		Oldest:  Segment{Base: 0, End: 100, Bytes: 1 << 20, LargestTimestamp: now + c.Int("oldest", -10*hour)},
		Active:  Segment{Base: 900, End: 1000, Bytes: 1 << 20, LargestTimestamp: now},
		RollsAt: now + 6*hour, Delete: true, RetentionMs: c.Int("ms", 24*hour), RetentionBytes: c.Int("bytes", -1), SegmentBytes: 1 << 30,
		NextCheck: now + 100_000, CheckEveryMs: 300_000,
	}
	f.LogStart = f.Oldest.Base
	if c.Has("single") {
		f.Segments, f.Oldest = 1, f.Active
		f.LogStart = f.Oldest.Base
	}
	f.LogStart += kafka.Offset(c.Int("start", 0))
	f.HighWatermark = kafka.Offset(c.Int("high", 1000))
	f.LastStableOffset = kafka.Offset(c.Int("stable", int64(f.HighWatermark)))
	if c.Has("offline") {
		f.State = "offline"
	}
	if c.Has("failure") {
		f.Failure, f.FailureAt = "segment 0: bad index", now-hour
	}
	if c.Has("waiting") {
		f.WaitingFiles, f.WaitingUntil = 4, now+60_000
	}
	f.Delete = !c.Has("compact") && !c.Has("nopolicy")
	if f.Compact = c.Has("compact"); f.Compact {
		f.Cleaning = &Cleaning{FirstDirty: 500, FirstUncleanable: kafka.Offset(c.Int("uncleanable", 900)), DirtyRatio: 0.4, MinRatio: 0.5,
			Due: c.Has("due"), Busy: c.Has("busy"), Disabled: c.Has("disabled"), LastEnd: c.Int("cleaned", 0)}
		if c.Has("aside") {
			f.Cleaning.Aside = "segment 0: checksum mismatch"
		}
	}
	return f
}
