package client

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Position is the offset of the record that Poll returns next from a partition
// (position). Where it isn't known yet it is found out, as Poll would. A partition that
// isn't assigned is ErrIllegalState.
func (c *Consumer) Position(ctx context.Context, partition TopicPartition) (int64, error) {
	at, err := c.positionOf("Position", partition)
	if at >= 0 || err != nil {
		return at, err
	}
	limited, cancel := c.limited(ctx)
	defer cancel()
	places, err := c.places(limited, []TopicPartition{partition})
	if err != nil {
		return 0, outOfTime(ctx, err, "position of "+partition.String())
	}
	return places[partition].Offset, nil
}

func (c *Consumer) positionOf(call string, partition TopicPartition) (int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, ok := c.partitions[partition]
	if !ok {
		return 0, illegal(fmt.Sprintf("%s: partition %s is not assigned", call, partition))
	}
	return p.position, nil
}

// places is where partitions begin: what is committed, else as auto.offset.reset says.
func (c *Consumer) places(ctx context.Context, partitions []TopicPartition) (Offsets, error) {
	places := Offsets{}
	if c.group.GroupID != "" && len(partitions) > 0 {
		committed, err := c.committedOf(ctx, partitions)
		if err != nil {
			return nil, err
		}
		places = committed
	}
	var without []TopicPartition
	for _, tp := range partitions {
		if _, ok := places[tp]; !ok {
			without = append(without, tp)
		}
	}
	if len(without) == 0 {
		return places, nil
	}
	initial, err := c.initialAgain(ctx, without)
	if err != nil {
		return nil, err
	}
	for tp, at := range initial {
		places[tp] = At(at)
	}
	return places, nil
}

// placeAll has the engine read the partitions of a manual assignment.
func (c *Consumer) placeAll(ctx context.Context) error {
	if !c.dirty {
		return nil
	}
	var without []TopicPartition
	c.mu.Lock()
	for tp, p := range c.partitions {
		if p.position < 0 {
			without = append(without, tp)
		}
	}
	c.mu.Unlock()
	places, err := c.places(ctx, without)
	if err != nil {
		return err
	}
	read := make(map[string]map[int32]kgo.Offset)
	c.mu.Lock()
	for tp, p := range c.partitions {
		if at, ok := places[tp]; ok && p.position < 0 {
			p.position, p.epoch, p.told = at.Offset, epochOrUnknown(at.LeaderEpoch), -1
		}
		if p.read || p.position < 0 {
			continue
		}
		p.read = true
		if read[tp.Topic] == nil {
			read[tp.Topic] = make(map[int32]kgo.Offset)
		}
		read[tp.Topic][tp.Partition] = kgo.NewOffset().At(p.position).WithEpoch(p.epoch)
	}
	engine := c.engine
	c.mu.Unlock()
	engine.AddConsumePartitions(read)
	c.dirty = false
	return nil
}

// Seek has the next Poll read a partition from an offset (seek). The partition is
// assigned; a listener may call it in Assigned.
func (c *Consumer) Seek(partition TopicPartition, offset int64) error {
	if offset < 0 {
		return illegal(fmt.Sprintf("Seek: offset %d", offset))
	}
	return c.seek("Seek", map[TopicPartition]OffsetAndMetadata{partition: At(offset)})
}

func (c *Consumer) seek(call string, places Offsets) error {
	inGroup := make(map[string]map[int32]kgo.EpochOffset)
	alone := make(map[string]map[int32]kgo.Offset)
	var moved, released []TopicPartition
	c.mu.Lock()
	for tp := range places {
		if _, ok := c.partitions[tp]; !ok {
			c.mu.Unlock()
			return illegal(fmt.Sprintf("%s: partition %s is not assigned", call, tp))
		}
	}
	for tp, at := range places {
		p := c.partitions[tp]
		p.position, p.epoch = at.Offset, epochOrUnknown(at.LeaderEpoch)
		if p.held && !p.paused {
			released = append(released, tp)
		}
		p.held = false
		switch {
		case c.inGroup:
			if inGroup[tp.Topic] == nil {
				inGroup[tp.Topic] = make(map[int32]kgo.EpochOffset)
			}
			inGroup[tp.Topic][tp.Partition] = kgo.EpochOffset{Epoch: p.epoch, Offset: p.position}
		case p.read:
			if alone[tp.Topic] == nil {
				alone[tp.Topic] = make(map[int32]kgo.Offset)
			}
			alone[tp.Topic][tp.Partition] = kgo.NewOffset().At(p.position).WithEpoch(p.epoch)
			moved = append(moved, tp)
		}
	}
	engine := c.engine
	c.mu.Unlock()
	engine.SetOffsets(inGroup)
	if len(released) > 0 {
		engine.ResumeFetchPartitions(byTopic(released))
	}
	if len(moved) > 0 {
		// What the engine hasn't begun to read can't be moved, only taken away.
		engine.RemoveConsumePartitions(byTopic(moved))
		engine.AddConsumePartitions(alone)
	}
	return nil
}

// SeekToBeginning has the next Poll read from the first records there are (seekToBeginning),
// of all assigned partitions if none are named.
func (c *Consumer) SeekToBeginning(ctx context.Context, partitions ...TopicPartition) error {
	return c.seekTo(ctx, "SeekToBeginning", beginning, partitions)
}

// SeekToEnd has the next Poll read what comes now (seekToEnd): from the high watermark,
// or from the last stable offset with isolation.level=read_committed.
func (c *Consumer) SeekToEnd(ctx context.Context, partitions ...TopicPartition) error {
	return c.seekTo(ctx, "SeekToEnd", end, partitions)
}

func (c *Consumer) seekTo(ctx context.Context, call string, kind listKind, partitions []TopicPartition) error {
	if len(partitions) == 0 {
		partitions = c.Assignment()
	}
	limited, cancel := c.limited(ctx)
	defer cancel()
	offsets, err := c.list(limited, kind, 0, partitions)
	if err != nil {
		return outOfTime(ctx, err, "offsets")
	}
	places := Offsets{}
	for tp, at := range offsets {
		places[tp] = At(at)
	}
	return c.seek(call, places)
}

// Rewind goes back to what is committed, or where auto.offset.reset says, for all
// assigned partitions: what Poll returned since comes again. That is for after a
// transaction that was aborted.
func (c *Consumer) Rewind(ctx context.Context) error {
	limited, cancel := c.limited(ctx)
	defer cancel()
	places, err := c.places(limited, c.Assignment())
	if err != nil {
		return outOfTime(ctx, err, "offsets of group "+c.group.GroupID)
	}
	return c.seek("Rewind", places)
}

// BeginningOffsets is the first offsets there are (beginningOffsets).
func (c *Consumer) BeginningOffsets(ctx context.Context, partitions ...TopicPartition) (map[TopicPartition]int64, error) {
	return c.offsetsOf(ctx, beginning, partitions)
}

// EndOffsets is the offsets of what comes next (endOffsets): the high watermark, or the
// last stable offset with isolation.level=read_committed.
func (c *Consumer) EndOffsets(ctx context.Context, partitions ...TopicPartition) (map[TopicPartition]int64, error) {
	return c.offsetsOf(ctx, end, partitions)
}

func (c *Consumer) offsetsOf(ctx context.Context, kind listKind, partitions []TopicPartition) (map[TopicPartition]int64, error) {
	limited, cancel := c.limited(ctx)
	defer cancel()
	offsets, err := c.list(limited, kind, 0, partitions)
	return offsets, outOfTime(ctx, err, "offsets")
}

// OffsetsForTimes finds the first record of each partition that is not older than a
// time (offsetsForTimes). Partitions that have none are not in the answer.
func (c *Consumer) OffsetsForTimes(ctx context.Context, times map[TopicPartition]time.Time) (map[TopicPartition]OffsetAndTimestamp, error) {
	limited, cancel := c.limited(ctx)
	defer cancel()
	at := make(map[int64][]TopicPartition)
	for tp, t := range times {
		at[t.UnixMilli()] = append(at[t.UnixMilli()], tp)
	}
	found := make(map[TopicPartition]OffsetAndTimestamp)
	for _, milli := range slices.Sorted(maps.Keys(at)) {
		listed, err := listOffsets(limited, c.admin(), atTime, milli, c.committed, at[milli])
		if err != nil {
			return nil, outOfTime(ctx, err, "offsets")
		}
		for tp, l := range listed {
			if l.Timestamp >= 0 {
				found[tp] = OffsetAndTimestamp{l.Offset, time.UnixMilli(l.Timestamp), epochOf(l.LeaderEpoch)}
			}
		}
	}
	return found, nil
}

// Pause has Poll return nothing of partitions until Resume (pause). They stay assigned;
// a partition that is revoked and comes back isn't paused any more.
func (c *Consumer) Pause(partitions ...TopicPartition) error {
	return c.setPaused("Pause", true, partitions)
}

// Resume ends Pause (resume).
func (c *Consumer) Resume(partitions ...TopicPartition) error {
	return c.setPaused("Resume", false, partitions)
}

func (c *Consumer) setPaused(call string, paused bool, partitions []TopicPartition) error {
	if len(partitions) == 0 {
		return nil
	}
	c.mu.Lock()
	for _, tp := range partitions {
		if _, ok := c.partitions[tp]; !ok {
			c.mu.Unlock()
			return illegal(fmt.Sprintf("%s: partition %s is not assigned", call, tp))
		}
	}
	var move []TopicPartition
	for _, tp := range partitions {
		p := c.partitions[tp]
		if p.paused = paused; !p.held {
			move = append(move, tp)
		}
	}
	engine := c.engine
	c.mu.Unlock()
	switch {
	case len(move) == 0:
	case paused:
		engine.PauseFetchPartitions(byTopic(move))
	default:
		engine.ResumeFetchPartitions(byTopic(move))
	}
	return nil
}

// Paused is the partitions that are (paused).
func (c *Consumer) Paused() []TopicPartition {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.DeleteFunc(c.assignmentLocked(), func(tp TopicPartition) bool { return !c.partitions[tp].paused })
}
