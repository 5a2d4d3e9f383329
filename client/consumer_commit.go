package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// CommitSync commits offsets and waits for it (commitSync). Nil commits the position
// of every partition: all that Poll has returned. An offset is the one to read next,
// one more than that of the last record processed.
//
// What can be tried again is, for default.api.timeout.ms. ErrCommitFailed says that the
// group has gone on without this consumer; ErrRebalanceInProgress that a Poll has to
// come first.
func (c *Consumer) CommitSync(ctx context.Context, offsets Offsets) error {
	offsets, err := c.toCommit(offsets)
	if err != nil || len(offsets) == 0 {
		return err
	}
	c.answer()
	limited, cancel := c.limited(ctx)
	defer cancel()
	turn, done := c.queueUp()
	defer close(done)
	if !comes(limited, turn) {
		return outOfTime(ctx, limited.Err(), "commits before this one to group "+c.group.GroupID)
	}
	for {
		err := c.commit(limited, offsets)
		again := err != nil && IsRetriable(err) && !errors.Is(err, kerr.RebalanceInProgress)
		if !again || pause(limited) != nil {
			return outOfTime(ctx, err, "commit to group "+c.group.GroupID)
		}
	}
}

// CommitAsync commits offsets without waiting and without trying again (commitAsync).
// Nil commits the position of every partition. The callback, which may be nil, is
// called within a later Poll, CommitSync, Unsubscribe or Close.
func (c *Consumer) CommitAsync(offsets Offsets, done func(Offsets, error)) {
	offsets, err := c.toCommit(offsets)
	if done == nil {
		done = func(Offsets, error) {}
	}
	answer := func(err error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.answers = append(c.answers, func() { done(offsets, err) })
	}
	if err != nil || len(offsets) == 0 {
		answer(err)
		return
	}
	turn, ended := c.queueUp()
	c.commits.Go(func() {
		defer close(ended)
		ctx, cancel := c.limited(context.Background())
		defer cancel()
		if !comes(ctx, turn) {
			answer(fmt.Errorf("%w: commits before this one to group %s", ErrTimeout, c.group.GroupID))
			return
		}
		answer(outOfTime(context.Background(), c.commit(ctx, offsets), "commit to group "+c.group.GroupID))
	})
}

// queueUp takes a place in the line of commits, which go out one after the other: an
// older one must not overtake. The turn comes when the first channel is closed, nil is
// at once; the second is to be closed at the end.
func (c *Consumer) queueUp() (turn <-chan struct{}, ended chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	turn, ended = c.lastCommit, make(chan struct{})
	c.lastCommit = ended
	return turn, ended
}

// comes says whether the channel was closed before the context ended.
func comes(ctx context.Context, turn <-chan struct{}) bool {
	if turn == nil {
		return true
	}
	select {
	case <-turn:
		return true
	case <-ctx.Done():
		return false
	}
}

// commitWhenDue commits what has been polled, when auto.commit.interval.ms have passed.
func (c *Consumer) commitWhenDue() {
	now := time.Now()
	if c.nextCommit.IsZero() {
		c.nextCommit = now.Add(c.autoCommit)
	}
	if now.Before(c.nextCommit) {
		return
	}
	c.nextCommit = now.Add(c.autoCommit)
	c.mu.Lock()
	changed := c.positionsLocked(true)
	c.mu.Unlock()
	if len(changed) > 0 {
		c.CommitAsync(changed, func(_ Offsets, err error) {
			if err != nil {
				c.log.Warn("offsets were not committed; the next attempt follows", "group", c.group.GroupID, "err", err)
			}
		})
	}
}

// toCommit checks and completes what is to be committed.
func (c *Consumer) toCommit(offsets Offsets) (Offsets, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.group.GroupID == "":
		return nil, illegal("commit: group.id is not set")
	case c.overdue:
		return nil, fmt.Errorf("%w: max.poll.interval.ms passed without a Poll", ErrCommitFailed)
	case offsets == nil:
		return c.positionsLocked(false), nil
	}
	for tp, o := range offsets {
		if o.Offset < 0 {
			return nil, illegal(fmt.Sprintf("commit: offset %d of %s", o.Offset, tp))
		}
	}
	return offsets, nil
}

// positionsLocked is the positions as offsets; changed leaves out those that are
// committed already.
func (c *Consumer) positionsLocked(changed bool) Offsets {
	offsets := Offsets{}
	for tp, p := range c.partitions {
		if p.position >= 0 && !(changed && p.told == p.position) {
			offsets[tp] = OffsetAndMetadata{Offset: p.position, LeaderEpoch: epochOf(p.epoch)}
		}
	}
	return offsets
}

// commit sends offsets once.
func (c *Consumer) commit(ctx context.Context, offsets Offsets) (err error) {
	c.mu.Lock()
	engine, inGroup := c.engine, c.inGroup
	c.mu.Unlock()
	if inGroup {
		err = commitAsMember(ctx, engine, offsets)
	} else {
		err = commitAlone(ctx, engine, c.group.GroupID, offsets)
	}
	if err != nil {
		return memberRefused(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for tp, o := range offsets {
		if p, ok := c.partitions[tp]; ok {
			p.told = o.Offset
		}
	}
	return nil
}

func commitAsMember(ctx context.Context, engine *kgo.Client, offsets Offsets) (err error) {
	commit := make(map[string]map[int32]kgo.EpochOffset)
	for tp, o := range offsets {
		if commit[tp.Topic] == nil {
			commit[tp.Topic] = make(map[int32]kgo.EpochOffset)
		}
		commit[tp.Topic][tp.Partition] = kgo.EpochOffset{Epoch: epochOrUnknown(o.LeaderEpoch), Offset: o.Offset}
	}
	// The engine would have its own text as metadata.
	ctx = kgo.PreCommitFnContext(ctx, func(r *kmsg.OffsetCommitRequest) error {
		for _, t := range r.Topics {
			for i, p := range t.Partitions {
				metadata := offsets[TopicPartition{t.Topic, p.Partition}].Metadata
				t.Partitions[i].Metadata = &metadata
			}
		}
		return nil
	})
	engine.CommitOffsetsSync(ctx, commit, func(_ *kgo.Client, _ *kmsg.OffsetCommitRequest, response *kmsg.OffsetCommitResponse, failed error) {
		if err = told(failed); err != nil {
			return
		}
		for _, t := range response.Topics {
			for _, p := range t.Partitions {
				if e := kerr.ErrorForCode(p.ErrorCode); e != nil {
					err = refusal("partition "+TopicPartition{t.Topic, p.Partition}.String(), e, "")
				}
			}
		}
	})
	return err
}

func commitAlone(ctx context.Context, engine *kgo.Client, group string, offsets Offsets) error {
	return commitTo(ctx, kadm.NewClient(engine), group, offsets)
}

// commitTo commits for nobody, which a group without members takes.
func commitTo(ctx context.Context, admin *kadm.Client, group string, offsets Offsets) error {
	commit := kadm.Offsets{}
	for tp, o := range offsets {
		commit.Add(kadm.Offset{Topic: tp.Topic, Partition: tp.Partition, At: o.Offset, LeaderEpoch: epochOrUnknown(o.LeaderEpoch), Metadata: o.Metadata})
	}
	responses, err := admin.CommitOffsets(ctx, group, commit)
	if err != nil {
		return told(err)
	}
	var errs []error
	responses.Each(func(o kadm.OffsetResponse) {
		errs = append(errs, refusal("partition "+TopicPartition{o.Topic, o.Partition}.String(), o.Err, ""))
	})
	return errors.Join(errs...)
}

// Committed is what the group has committed for partitions (committed). Partitions
// without are not in it. Offsets of transactions that are open are waited for.
func (c *Consumer) Committed(ctx context.Context, partitions ...TopicPartition) (Offsets, error) {
	if c.group.GroupID == "" {
		return nil, illegal("Committed: group.id is not set")
	}
	limited, cancel := c.limited(ctx)
	defer cancel()
	offsets, err := c.committedOf(limited, partitions)
	return offsets, outOfTime(ctx, err, "offsets of group "+c.group.GroupID)
}

func (c *Consumer) committedOf(ctx context.Context, partitions []TopicPartition) (Offsets, error) {
	return committed(ctx, c.currentEngine(), c.group.GroupID, partitions)
}

// committed is what a group has committed, of all partitions if none are named. It
// waits for a coordinator, and for offsets of open transactions.
func committed(ctx context.Context, engine *kgo.Client, group string, partitions []TopicPartition) (Offsets, error) {
	for {
		offsets, err := fetchCommitted(ctx, engine, group, partitions)
		unstable := errors.Is(err, kerr.UnstableOffsetCommit)
		if err == nil || !unstable && !retriableMetadata(err) {
			return offsets, err
		}
		if pause(ctx) != nil {
			return nil, err
		}
	}
}

// pause waits before something is tried again; its error is the context's.
func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(metadataAgain):
		return nil
	}
}

// fetchCommitted asks once.
func fetchCommitted(ctx context.Context, engine *kgo.Client, group string, partitions []TopicPartition) (Offsets, error) {
	fetched, err := kadm.NewClient(engine).FetchOffsets(kadm.RequireStable(ctx), group)
	if err != nil {
		return nil, err
	}
	offsets := Offsets{}
	var errs []error
	fetched.Each(func(o kadm.OffsetResponse) {
		tp := TopicPartition{o.Topic, o.Partition}
		switch {
		case len(partitions) > 0 && !slices.Contains(partitions, tp):
		case o.Err != nil:
			errs = append(errs, refusal("partition "+tp.String(), o.Err, ""))
		case o.At >= 0:
			offsets[tp] = OffsetAndMetadata{Offset: o.At, LeaderEpoch: epochOf(o.LeaderEpoch), Metadata: o.Metadata}
		}
	})
	return offsets, errors.Join(errs...)
}
