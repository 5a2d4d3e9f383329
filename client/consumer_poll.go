package client

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Records are what one Poll returned (ConsumerRecords).
type Records struct {
	fetches kgo.Fetches
	count   int
}

// Len is how many there are, at most max.poll.records.
func (r Records) Len() int { return r.count }

// All goes through the records, those of a partition one after the other, in order.
func (r Records) All() iter.Seq[*Record] {
	return func(yield func(*Record) bool) {
		for _, records := range r.Partitions() {
			for _, record := range records {
				if !yield(record) {
					return
				}
			}
		}
	}
}

// Partitions goes through the partitions and their records. A partition may come more
// than once. The slices are the caller's.
func (r Records) Partitions() iter.Seq2[TopicPartition, []*Record] {
	return func(yield func(TopicPartition, []*Record) bool) {
		for i := range r.fetches {
			for _, t := range r.fetches[i].Topics {
				for _, p := range t.Partitions {
					if len(p.Records) > 0 && !yield(TopicPartition{t.Topic, p.Partition}, p.Records) {
						return
					}
				}
			}
		}
	}
}

// Poll waits for records and returns them, at least one unless there is an error
// (poll). When the context ends first it returns the context's error; that is all right
// at any time, and how a Poll is ended from elsewhere (wakeup).
//
// Calling Poll says that what the Poll before returned is processed: with
// enable.auto.commit it is now committed, when auto.commit.interval.ms have passed.
// Rebalances happen here, too, and only here. Who doesn't call it for
// max.poll.interval.ms leaves the group, and hears of the loss in the Poll after.
//
// Errors: ErrNoOffset and ErrOffsetOutOfRange with auto.offset.reset=none (Seek, then
// Poll again), ErrFencedInstanceID, ErrTopicAuthorization, ErrInvalidTopic, what a
// listener returned. Records that arrived together with an error come first, the error
// with the next Poll. What can be tried again is tried again without a word.
func (c *Consumer) Poll(ctx context.Context) (Records, error) {
	if !c.polling.CompareAndSwap(false, true) {
		return Records{}, illegal("Poll: another goroutine is inside Poll")
	}
	defer c.polling.Store(false)
	c.polls.Lock()
	defer c.polls.Unlock()
	c.stopLimit()
	inGroup, err := c.beginPoll(ctx)
	defer c.startLimit()
	if err != nil {
		return Records{}, err
	}
	wake := ctx
	if inGroup {
		// What a rebalance has to say ends the wait.
		var cancel context.CancelFunc
		wake, cancel = context.WithCancel(ctx)
		defer cancel()
		c.setWake(cancel)
		defer c.setWake(nil)
	}
	engine := c.currentEngine()
	for {
		records, err := c.fetched(ctx, engine.PollRecords(wake, c.maxRecords))
		if records.count > 0 || err != nil {
			return records, err
		}
	}
}

func (c *Consumer) setWake(wake context.CancelFunc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wake = wake
	if wake != nil && len(c.pending) > 0 {
		wake()
	}
}

// beginPoll does what is due before records are waited for.
func (c *Consumer) beginPoll(ctx context.Context) (inGroup bool, err error) {
	c.mu.Lock()
	s, closed := c.subscription, c.closed
	lost := c.lost
	c.lost, c.overdue = nil, false
	c.mu.Unlock()
	switch {
	case closed:
		return false, ErrClosed
	case !s.toGroup() && !s.manual:
		return false, illegal("Poll: nothing is subscribed to, and nothing is assigned")
	}
	c.answer()
	c.tellLost(ctx, s.listener, lost)
	if err := c.takePending(); err != nil {
		return s.toGroup(), err
	}
	if c.autoCommit > 0 {
		c.commitWhenDue()
	}
	if s.manual {
		return false, outOfTime(ctx, c.placeAll(ctx), "offsets")
	}
	return true, c.joinGroup(s)
}

// joinGroup brings the engine's subscription in line with ours.
func (c *Consumer) joinGroup(s subscription) error {
	c.mu.Lock()
	inGroup, engine := c.inGroup, c.engine
	c.mu.Unlock()
	if inGroup {
		engine.AllowRebalance()
	}
	switch {
	case inGroup && !c.dirty:
		return nil
	case inGroup && s.pattern == "" && c.joined != nil:
		engine.AddConsumeTopics(s.topics...)
		gone := slices.DeleteFunc(slices.Clone(c.joined), func(topic string) bool { return slices.Contains(s.topics, topic) })
		if len(gone) > 0 {
			engine.PurgeTopicsFromConsuming(gone...)
		}
	default:
		if inGroup {
			c.leave()
		} else {
			engine.Close()
		}
		if err := c.openInGroup(s); err != nil {
			return err
		}
	}
	c.dirty, c.joined = false, s.topics
	return c.takePending()
}

// fetched turns what the engine has polled into records and an error, and moves the
// positions on.
func (c *Consumer) fetched(ctx context.Context, fetches kgo.Fetches) (Records, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	count := 0
	for i := range fetches {
		for j := range fetches[i].Topics {
			t := &fetches[i].Topics[j]
			for k := range t.Partitions {
				p := &t.Partitions[k]
				c.failedLocked(ctx, t.Topic, p.Partition, p.Err)
				if len(p.Records) == 0 {
					continue
				}
				last := p.Records[len(p.Records)-1]
				if at, ok := c.partitions[TopicPartition{t.Topic, p.Partition}]; ok {
					at.position, at.epoch = last.Offset+1, last.LeaderEpoch
				}
				p.Records = slices.DeleteFunc(p.Records, func(r *Record) bool { return r.Attrs.IsControl() })
				count += len(p.Records)
			}
		}
	}
	if count > 0 {
		return Records{fetches, count}, nil
	}
	if err := c.takePendingLocked(); err != nil {
		return Records{}, err
	}
	if ctx.Err() != nil {
		return Records{}, context.Cause(ctx)
	}
	return Records{}, nil
}

// failedLocked keeps what a fetch has to say of a partition, if the application has to
// hear of it.
func (c *Consumer) failedLocked(ctx context.Context, topic string, partition int32, err error) {
	switch {
	case err == nil, ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return
	case errors.Is(err, context.Canceled): // woken up
		return
	case errors.Is(err, kgo.ErrClientClosed):
		err = ErrClosed
	}
	if lost, ok := errors.AsType[*kgo.ErrDataLoss](err); ok && c.reset.kind != toNone {
		// The log was truncated and reading goes on from where it parts, as in Kafka.
		c.log.Warn("the log was truncated", "topic", lost.Topic, "partition", lost.Partition, "read_to", lost.ConsumedTo, "goes_on_at", lost.ResetTo)
		return
	}
	if topic != "" && partition >= 0 {
		err = refusal("partition "+TopicPartition{topic, partition}.String(), err, "")
	}
	if len(c.pending) < maxPending {
		c.pending = append(c.pending, err)
	}
}

func (c *Consumer) takePendingLocked() error {
	err := errors.Join(c.pending...)
	if len(c.pending) == 1 {
		err = c.pending[0]
	}
	c.pending = nil
	return err
}

// startLimit begins to wait for the next Poll.
func (c *Consumer) startLimit() {
	c.mu.Lock()
	waits := c.inGroup && !c.closed
	c.mu.Unlock()
	if !waits || c.limit != nil {
		return
	}
	c.lastPoll = time.Now()
	c.limitEnds.Add(1)
	c.limit = time.AfterFunc(c.pollLimit, c.expire)
}

func (c *Consumer) stopLimit() {
	if c.limit != nil && c.limit.Stop() {
		c.limitEnds.Done()
	}
	c.limit = nil
}

// expire leaves the group when the application has not called Poll in time.
func (c *Consumer) expire() {
	defer c.limitEnds.Done()
	if !c.polls.TryLock() {
		return // a call is there
	}
	defer c.polls.Unlock()
	if c.limit == nil || time.Since(c.lastPoll) < c.pollLimit {
		return
	}
	c.log.Warn("the consumer leaves its group: there was no Poll for max.poll.interval.ms", "group", c.group.GroupID, "max_poll_interval", c.pollLimit)
	c.mu.Lock()
	c.overdue = true
	c.lastMember.MemberID, c.lastMember.GenerationID = c.engine.GroupMetadata()
	c.mu.Unlock()
	c.leave()
	c.dirty = true
	if err := c.openAlone(); err != nil {
		c.note(fmt.Errorf("after max.poll.interval.ms: %w", err))
	}
}
