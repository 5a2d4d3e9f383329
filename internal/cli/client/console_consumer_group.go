package client

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/internal/kafka"
)

// groupReader keeps the positions of a member of a group and commits them as
// Apache's consumer does: from time to time, before partitions are taken away, and at
// the end. A position is what follows the last record that was printed; a partition
// of which nothing was read yet counts with the offset at which reading begins.
type groupReader struct {
	autoCommit bool
	interval   time.Duration
	reset      resetPolicy
	// alone is the group of a reader that is no member, "" for members. It commits
	// what it has read of the partitions it was told to read.
	alone string

	mu        sync.Mutex
	cl        *kgo.Client                       // guarded by mu; known at the first assignment
	positions map[kafka.TopicPartition]position // guarded by mu
	tried     time.Time                         // guarded by mu; the last commit
}

// position is where a member stands in a partition.
type position struct {
	next  int64
	epoch int32 // of the record before, if next is the end of what was polled; else -1
	// polledEnd and polledEpoch are of the last record that was polled.
	polledEnd   int64
	polledEpoch int32
}

// resetPolicy is auto.offset.reset: a timestamp of ListOffsets, or none.
type resetPolicy struct {
	none      bool
	timestamp func() int64
}

func resetPolicyOf(value string) (resetPolicy, error) {
	at := func(timestamp int64) resetPolicy { return resetPolicy{timestamp: func() int64 { return timestamp }} }
	switch strings.ToLower(value) {
	case "earliest":
		return at(kafka.TimestampEarliest), nil
	case "latest":
		return at(kafka.TimestampLatest), nil
	case "none":
		return resetPolicy{none: true}, nil
	}
	if text, ok := strings.CutPrefix(strings.ToLower(value), "by_duration:"); ok {
		if ago, err := parseDuration(text); err == nil && ago >= 0 {
			return resetPolicy{timestamp: func() int64 { return time.Now().Add(-ago).UnixMilli() }}, nil
		}
	}
	return resetPolicy{}, &failure{"org.apache.kafka.common.config.ConfigException", fmt.Sprintf("Invalid value %[1]s for configuration auto.offset.reset: Invalid value `%[1]s` for configuration auto.offset.reset. The value must be either 'earliest', 'latest', 'none' or of the format 'by_duration:<PnDTnHnMn.nS.>'.", value)}
}

// newGroupReader takes the properties that are the reader's own out of those of the
// client.
func newGroupReader(props map[string]string) (*groupReader, error) {
	g := &groupReader{autoCommit: props["enable.auto.commit"] != "false", interval: 5 * time.Second, positions: map[kafka.TopicPartition]position{}, tried: time.Now()}
	if text := props["auto.commit.interval.ms"]; text != "" {
		milliseconds, err := strconv.ParseInt(text, 10, 32)
		if err != nil || milliseconds < 0 {
			return nil, &failure{"org.apache.kafka.common.config.ConfigException", fmt.Sprintf("Invalid value %s for configuration auto.commit.interval.ms: Value must be at least 0", text)}
		}
		g.interval = time.Duration(milliseconds) * time.Millisecond
		delete(props, "auto.commit.interval.ms")
	}
	var err error
	g.reset, err = resetPolicyOf(props["auto.offset.reset"])
	if strings.HasPrefix(props["auto.offset.reset"], "by_duration:") {
		// Where a position is out of the log, the engine only knows the ends.
		props["auto.offset.reset"] = "earliest"
	}
	if props["partition.assignment.strategy"] == "" && !strings.EqualFold(props["group.protocol"], "consumer") {
		props["partition.assignment.strategy"] = "RangeAssignor,CooperativeStickyAssignor"
	}
	if props["max.poll.interval.ms"] == "" {
		props["max.poll.interval.ms"] = "300000"
	}
	return g, err
}

// newLoneReader is for the reader of one partition, which is in no group: nil unless
// enable.auto.commit asks for commits all the same. Kafka's consumer makes them under
// the group's id, which the tool has made up.
func newLoneReader(props map[string]string) (*groupReader, error) {
	id := props["group.id"]
	delete(props, "group.id")
	if props["enable.auto.commit"] != "true" {
		return nil, nil
	}
	g, err := newGroupReader(props)
	if err != nil {
		return nil, err
	}
	g.alone = id
	return g, nil
}

func (g *groupReader) options() []kgo.Opt {
	return []kgo.Opt{
		kgo.DisableAutoCommit(),
		kgo.OnPartitionsAssigned(func(_ context.Context, cl *kgo.Client, _ map[string][]int32) {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.cl = cl
		}),
		kgo.AdjustFetchOffsetsFn(g.resolve),
		kgo.BlockRebalanceOnPoll(),
		kgo.OnPartitionsRevoked(func(ctx context.Context, cl *kgo.Client, gone map[string][]int32) {
			// A failed commit shows in the next position of whoever gets the partitions.
			_ = g.commit(ctx, cl, gone)
			g.forget(gone)
		}),
		kgo.OnPartitionsLost(func(_ context.Context, _ *kgo.Client, gone map[string][]int32) { g.forget(gone) }),
	}
}

// resolve turns "no offset yet" into an offset, so that it can be committed.
func (g *groupReader) resolve(ctx context.Context, offsets map[string]map[int32]kgo.Offset) (map[string]map[int32]kgo.Offset, error) {
	var without []kafka.TopicPartition
	g.mu.Lock()
	cl := g.cl
	for topic, partitions := range offsets {
		for number, offset := range partitions {
			p := kafka.TopicPartition{Topic: topic, Partition: number}
			if at := offset.EpochOffset(); at.Offset >= 0 {
				g.positions[p] = position{next: at.Offset, epoch: at.Epoch, polledEnd: -1}
			} else {
				without = append(without, p)
			}
		}
	}
	g.mu.Unlock()
	if len(without) == 0 {
		return offsets, nil
	}
	slices.SortFunc(without, kafka.TopicPartition.Compare)
	if g.reset.none {
		return nil, &failure{"org.apache.kafka.clients.consumer.NoOffsetForPartitionException", "Undefined offset with no reset policy for partitions: " + strings.ReplaceAll(fmt.Sprint(without), " ", ", ")}
	}
	found, err := startOffsets(ctx, cl, without, g.reset.timestamp())
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, p := range without {
		offsets[p.Topic][p.Partition] = kgo.NewOffset().At(found[p])
		g.positions[p] = position{next: found[p], epoch: -1, polledEnd: -1}
	}
	return offsets, nil
}

// startOffsets are the offsets of a timestamp; after the last record, the end.
func startOffsets(ctx context.Context, cl *kgo.Client, partitions []kafka.TopicPartition, timestamp int64) (map[kafka.TopicPartition]int64, error) {
	found, err := listOffsets(ctx, cl, partitions, timestamp)
	if err != nil {
		return nil, err
	}
	var after []kafka.TopicPartition
	for _, p := range partitions {
		if found[p] < 0 {
			after = append(after, p)
		}
	}
	ends, err := listOffsets(ctx, cl, after, kafka.TimestampLatest)
	for p, end := range ends {
		found[p] = end
	}
	return found, err
}

// beforePoll commits if it is time, and lets a rebalance go on that waited for the
// records to be printed.
func (g *groupReader) beforePoll(ctx context.Context, cl *kgo.Client) {
	g.mu.Lock()
	due := g.autoCommit && time.Since(g.tried) >= g.interval
	g.mu.Unlock()
	if due {
		// The next commit, or that of the end, tries again.
		_ = g.commit(ctx, cl, nil)
	}
	cl.AllowRebalance()
}

func (g *groupReader) polled(fetches kgo.Fetches) {
	g.mu.Lock()
	defer g.mu.Unlock()
	fetches.EachPartition(func(f kgo.FetchTopicPartition) {
		if len(f.Records) == 0 {
			return
		}
		p := kafka.TopicPartition{Topic: f.Topic, Partition: f.Partition}
		last := f.Records[len(f.Records)-1]
		at := g.positions[p]
		at.polledEnd, at.polledEpoch = last.Offset+1, last.LeaderEpoch
		g.positions[p] = at
	})
}

func (g *groupReader) consumed(r *kgo.Record) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := kafka.TopicPartition{Topic: r.Topic, Partition: r.Partition}
	at := g.positions[p]
	at.next, at.epoch = r.Offset+1, -1
	if at.next == at.polledEnd {
		at.epoch = at.polledEpoch
	}
	g.positions[p] = at
}

func (g *groupReader) forget(gone map[string][]int32) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for topic, numbers := range gone {
		for _, n := range numbers {
			delete(g.positions, kafka.TopicPartition{Topic: topic, Partition: n})
		}
	}
}

// commit commits the positions of some partitions, or of all if only is nil.
func (g *groupReader) commit(ctx context.Context, cl *kgo.Client, only map[string][]int32) error {
	if !g.autoCommit {
		return nil
	}
	offsets := map[string]map[int32]kgo.EpochOffset{}
	g.mu.Lock()
	g.tried = time.Now()
	for p, at := range g.positions {
		if only != nil && !slices.Contains(only[p.Topic], p.Partition) {
			continue
		}
		if offsets[p.Topic] == nil {
			offsets[p.Topic] = map[int32]kgo.EpochOffset{}
		}
		offsets[p.Topic][p.Partition] = kgo.EpochOffset{Epoch: at.epoch, Offset: at.next}
	}
	g.mu.Unlock()
	if len(offsets) == 0 {
		return nil
	}
	if g.alone != "" {
		return commitAlone(ctx, cl, g.alone, offsets)
	}
	var failed error
	cl.CommitOffsetsSync(ctx, offsets, func(_ *kgo.Client, _ *kmsg.OffsetCommitRequest, resp *kmsg.OffsetCommitResponse, err error) {
		failed = err
		if err != nil {
			return
		}
		for _, t := range resp.Topics {
			for _, p := range t.Partitions {
				failed = firstError(failed, kerr.ErrorForCode(p.ErrorCode))
			}
		}
	})
	return failed
}

// commitAlone commits to a group without being a member.
func commitAlone(ctx context.Context, cl *kgo.Client, group string, offsets map[string]map[int32]kgo.EpochOffset) error {
	var commit kadm.Offsets
	for topic, partitions := range offsets {
		for p, at := range partitions {
			commit.AddOffset(topic, p, at.Offset, at.Epoch)
		}
	}
	answer, err := kadm.NewClient(cl).CommitOffsets(ctx, group, commit)
	if err != nil {
		return err
	}
	return answer.Error()
}

// leaveTimeout bounds the commit at the end.
const leaveTimeout = 30 * time.Second

// leave commits where the member stands. The client must be closed after it.
func (g *groupReader) leave(cl *kgo.Client) error {
	ctx, cancel := context.WithTimeout(context.Background(), leaveTimeout)
	defer cancel()
	err := g.commit(ctx, cl, nil)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.positions = map[kafka.TopicPartition]position{}
	return err
}
