package client

import (
	"context"
	"slices"

	"github.com/twmb/franz-go/pkg/kgo"
)

// RebalanceListener hears of partitions that come and go (ConsumerRebalanceListener).
// Its functions run while the consumer is inside Poll, Unsubscribe or Close, one at a
// time; they may call the consumer's other methods, such as Seek and CommitSync. What
// they return, Poll returns next. They may be nil.
type RebalanceListener struct {
	// Assigned hears which partitions have been added, before anything of them is read
	// (onPartitionsAssigned). There may be none.
	Assigned func(ctx context.Context, added []TopicPartition) error
	// Revoked hears which partitions are about to go, while they still are this
	// consumer's: the time to commit (onPartitionsRevoked).
	Revoked func(ctx context.Context, gone []TopicPartition) error
	// Lost hears which partitions are gone already and may belong to others: nothing
	// can be committed (onPartitionsLost). Nil is Revoked.
	Lost func(ctx context.Context, gone []TopicPartition) error
}

// openInGroup opens an engine that is a member of the group.
func (c *Consumer) openInGroup(s subscription) error {
	options := []kgo.Opt{kgo.DisableAutoCommit(), kgo.BlockRebalanceOnPoll(), kgo.OnPartitionsAssigned(c.assigned), kgo.OnPartitionsRevoked(c.revoked),
		kgo.OnPartitionsLost(c.lostPartitions), kgo.AdjustFetchOffsetsFn(c.begin)}
	if s.pattern != "" {
		options = append(options, kgo.ConsumeRegex(), kgo.ConsumeTopics(s.pattern))
	} else {
		options = append(options, kgo.ConsumeTopics(s.topics...))
	}
	return c.open(c.properties, true, options...)
}

func flat(partitions map[string][]int32) []TopicPartition {
	all := []TopicPartition{}
	for topic, numbers := range partitions {
		for _, n := range numbers {
			all = append(all, TopicPartition{topic, n})
		}
	}
	slices.SortFunc(all, compareTopicPartitions)
	return all
}

// assigned is called by the engine when partitions were added.
func (c *Consumer) assigned(ctx context.Context, _ *kgo.Client, partitions map[string][]int32) {
	added := flat(partitions)
	c.mu.Lock()
	for _, tp := range added {
		c.partitions[tp] = &place{position: -1, epoch: -1}
	}
	listener := c.subscription.listener.Assigned
	c.mu.Unlock()
	if listener != nil {
		c.note(listener(ctx, added))
	}
}

// begin is called by the engine with the offsets that are committed, before it reads.
// It settles where partitions without one begin, so that positions are always known
// and are committed even if there is no record, as in Kafka.
func (c *Consumer) begin(ctx context.Context, offsets map[string]map[int32]kgo.Offset) (map[string]map[int32]kgo.Offset, error) {
	var without []TopicPartition
	c.mu.Lock()
	for topic, ofTopic := range offsets {
		for partition, o := range ofTopic {
			tp := TopicPartition{topic, partition}
			p, ok := c.partitions[tp]
			switch at := o.EpochOffset(); {
			case !ok:
			case p.position >= 0: // a listener sought
				ofTopic[partition] = kgo.NewOffset().At(p.position).WithEpoch(p.epoch)
			case at.Offset >= 0:
				p.position, p.epoch, p.told = at.Offset, at.Epoch, at.Offset
			default:
				without = append(without, tp)
			}
		}
	}
	c.mu.Unlock()
	slices.SortFunc(without, compareTopicPartitions)
	begin, err := c.initialAgain(ctx, without)
	if err != nil && ctx.Err() != nil {
		return nil, err
	}
	defer c.note(err)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, tp := range without {
		at, ok := begin[tp]
		if !ok {
			// Nothing is read until somebody seeks.
			offsets[tp.Topic][tp.Partition] = kgo.NewOffset().AtStart()
			if p, ok := c.partitions[tp]; ok && p.position < 0 {
				p.held = true
				c.engine.PauseFetchPartitions(byTopic([]TopicPartition{tp}))
			}
			continue
		}
		offsets[tp.Topic][tp.Partition] = kgo.NewOffset().At(at)
		if p, ok := c.partitions[tp]; ok && p.position < 0 {
			p.position, p.told = at, -1
		}
	}
	return offsets, nil
}

// initialAgain is initial that tries again while the brokers can't tell.
func (c *Consumer) initialAgain(ctx context.Context, partitions []TopicPartition) (map[TopicPartition]int64, error) {
	for {
		at, err := c.initial(ctx, partitions)
		if err == nil || ctx.Err() != nil || !retriableMetadata(err) {
			return at, err
		}
		if err := pause(ctx); err != nil {
			return nil, err
		}
	}
}

// revoked is called by the engine when partitions are about to go.
func (c *Consumer) revoked(_ context.Context, _ *kgo.Client, partitions map[string][]int32) {
	gone := flat(partitions)
	if len(gone) == 0 {
		return
	}
	c.mu.Lock()
	overdue, listener := c.overdue, c.subscription.listener
	c.mu.Unlock()
	if overdue {
		c.drop(gone, true)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	if c.autoCommit > 0 {
		c.note(c.CommitSync(ctx, nil))
	}
	if listener.Revoked != nil {
		c.note(listener.Revoked(ctx, gone))
	}
	c.drop(gone, false)
}

// lostPartitions is called by the engine when partitions are gone.
func (c *Consumer) lostPartitions(ctx context.Context, _ *kgo.Client, partitions map[string][]int32) {
	gone := flat(partitions)
	if len(gone) == 0 {
		return
	}
	c.mu.Lock()
	overdue, listener := c.overdue, c.subscription.listener
	c.mu.Unlock()
	if overdue {
		c.drop(gone, true)
		return
	}
	c.tellLost(ctx, listener, gone)
	c.drop(gone, false)
}

func (c *Consumer) tellLost(ctx context.Context, listener RebalanceListener, gone []TopicPartition) {
	tell := listener.Lost
	if tell == nil {
		tell = listener.Revoked
	}
	if tell != nil && len(gone) > 0 {
		c.note(tell(ctx, gone))
	}
}

// drop forgets partitions. Later is whether the listener has to be told of their loss
// by the next Poll.
func (c *Consumer) drop(gone []TopicPartition, later bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.engine.ResumeFetchPartitions(byTopic(gone))
	for _, tp := range gone {
		delete(c.partitions, tp)
	}
	if later {
		c.lost = append(c.lost, gone...)
	}
}
