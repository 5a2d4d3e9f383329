package runtime

import (
	"fmt"
	"io"
	"log/slog"
	"testing"
	"time"

	"barnabas/internal/base/timeline"
	"barnabas/internal/base/wheel"
	"barnabas/internal/coordinator/group"
	"barnabas/internal/coordinator/grouprec"
	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"
	"barnabas/internal/record"
)

// offsetsLog is a log of n commits of 200 groups, each with 1,000 partitions.
func offsetsLog(b *testing.B, n int) *fakeLog {
	l := newFakeLog()
	var builder record.Builder
	for i := range n {
		if i%200 == 0 {
			builder.Reset(record.BatchOptions{})
		}
		key := &grouprec.OffsetCommitKey{Group: fmt.Sprint("group-", i/1000%200), Topic: "a-topic-of-usual-length", Partition: int32(i % 1000)}
		value := &grouprec.OffsetCommitValue{Offset: kafka.Offset(i), LeaderEpoch: 3, CommitTimestamp: epoch.UnixMilli(), ExpireTimestamp: -1}
		k, err := grouprec.AppendKey(nil, key)
		if err != nil {
			b.Fatal(err)
		}
		v, err := grouprec.AppendValue(nil, value, 3)
		if err != nil {
			b.Fatal(err)
		}
		builder.Append(record.Record{Timestamp: epoch.UnixMilli(), Key: k, Value: v})
		if i%200 == 199 {
			l.putLocked(mustBuild(&builder))
		}
	}
	return l
}

// BenchmarkLoadOffsets loads a million commits over 200,000 keys into the core of
// groups, as a start does, but for the disk.
func BenchmarkLoadOffsets(b *testing.B) {
	const commits = 1_000_000
	l := offsetsLog(b, commits)
	bytes := 0
	for _, batch := range l.batches {
		bytes += len(batch)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		loaded := make(chan time.Duration, 1)
		r := New(Options[*group.Core]{
			Topic: "__consumer_offsets", Wheel: wheel.New(time.Millisecond, epoch), Now: time.Now, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
			New: func(_ int32, registry *timeline.Registry) *group.Core {
				return group.New(group.Options{Registry: registry, Settings: group.Settings{RetentionCheck: time.Hour, MaxSize: 1000}})
			},
			CommitTimeout: time.Second, LoadBuffer: 5 << 20, Linger: -1, Loaded: func(d time.Duration) { loaded <- d },
		})
		r.Lead(0, Leadership{Log: sliceLog{handle{l, 0}}})
		took := <-loaded
		for r.Stats().Active == 0 {
			time.Sleep(time.Millisecond)
		}
		b.ReportMetric(commits/took.Seconds(), "records/s")
		b.ReportMetric(float64(bytes)/took.Seconds()/1e6, "MB/s")
		counted := make(chan struct{})
		r.Do(0, func(c *group.Core, _ time.Time) machine.Decision {
			if _, offsets := c.Census(); offsets != 200_000 {
				b.Errorf("%d offsets", offsets)
			}
			close(counted)
			return machine.Decision{}
		}, func(code kafka.ErrorCode) { b.Error(code); close(counted) })
		<-counted
		r.Close()
	}
}

// sliceLog finds its batches without going over all of them.
type sliceLog struct{ handle }

func (l sliceLog) Read(from kafka.Offset, buf []byte) ([]byte, error) {
	out := buf[:0]
	for _, b := range l.batches[from/200:] {
		if len(out)+len(b) > len(buf) && len(out) > 0 {
			break
		}
		out = append(out, b...)
	}
	return out, nil
}
