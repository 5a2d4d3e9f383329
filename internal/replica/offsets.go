package replica

import (
	"errors"

	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/internal/kafka"
	"barnabas/internal/storage/commitlog"
)

// ListOffsets answers what a ListOffsets request asks of one partition. Whether
// the request's version knows the timestamp is for its caller to check. Clients
// see the log to the high watermark or the last stable offset; other askers (a
// replica id other than -1) to its end.
func (m *Manager) ListOffsets(topic string, replica kafka.BrokerID, isolation kafka.IsolationLevel, q *kmsg.ListOffsetsRequestTopicPartition) kmsg.ListOffsetsResponseTopicPartition {
	out := kmsg.NewListOffsetsResponseTopicPartition()
	out.Partition, out.Timestamp, out.Offset, out.LeaderEpoch = q.Partition, kafka.NoTimestamp, int64(kafka.NoOffset), int32(kafka.NoLeaderEpoch)
	part, code := m.hosted(topic, q.Partition)
	if code == kafka.ErrNone {
		code = part.listOffset(view{replica != kafka.NoBroker, isolation}, kafka.LeaderEpoch(q.CurrentLeaderEpoch), q.Timestamp, &out)
	}
	out.ErrorCode = int16(code)
	return out
}

// view is how much of a log someone may see.
type view struct {
	whole     bool // to its end
	isolation kafka.IsolationLevel
}

func (v view) end(snap *commitlog.Snapshot) kafka.Offset {
	switch {
	case v.whole:
		return snap.LogEnd()
	case v.isolation == kafka.ReadCommitted:
		return snap.LastStableOffset()
	}
	return snap.HighWatermark()
}

func (p *Partition) listOffset(v view, epoch kafka.LeaderEpoch, timestamp kafka.TimestampMs, out *kmsg.ListOffsetsResponseTopicPartition) kafka.ErrorCode {
	r := p.role.Load()
	if code := r.forClient(epoch); code != kafka.ErrNone {
		return code
	}
	for range staleLimit {
		snap := r.log.Snapshot()
		at, code, err := r.lookup(snap, v, timestamp)
		switch {
		case errors.Is(err, commitlog.ErrStale):
			continue
		case err != nil:
			return p.readFailed(r, err)
		case code == kafka.ErrNone:
			out.Timestamp, out.Offset, out.LeaderEpoch = at.Timestamp, int64(at.Offset), int32(at.LeaderEpoch)
		}
		return code
	}
	return p.role.Load().gone()
}

// lookup finds the offset for a timestamp, or for one of the special ones. What
// is not found has offset -1.
func (r *role) lookup(snap *commitlog.Snapshot, v view, timestamp kafka.TimestampMs) (at commitlog.TimestampOffset, code kafka.ErrorCode, err error) {
	none := commitlog.TimestampOffset{Timestamp: kafka.NoTimestamp, Offset: kafka.NoOffset, LeaderEpoch: kafka.NoLeaderEpoch}
	end := v.end(snap)
	// Until the high watermark has reached this leader's epoch, its end says less
	// than what was committed before (KIP-207).
	unsure := !v.whole && snap.HighWatermark() < r.epochStart
	found := true
	switch timestamp {
	case kafka.TimestampLatest:
		if unsure {
			return none, kafka.ErrOffsetNotAvailable, nil
		}
		return commitlog.TimestampOffset{Timestamp: kafka.NoTimestamp, Offset: end, LeaderEpoch: r.leaderEpoch}, kafka.ErrNone, nil
	case kafka.TimestampEarliest, kafka.TimestampEarliestLocal:
		start := snap.LogStart()
		return commitlog.TimestampOffset{Timestamp: kafka.NoTimestamp, Offset: start, LeaderEpoch: snap.EpochOf(start)}, kafka.ErrNone, nil
	case kafka.TimestampLatestTiered, kafka.TimestampEarliestPendingUpload:
		return none, kafka.ErrNone, nil // nothing is tiered here
	case kafka.TimestampMax:
		at, found, err = snap.MaxTimestamp()
	default:
		at, found, err = snap.OffsetByTimestamp(timestamp)
	}
	switch {
	case err != nil || !found:
		return none, kafka.ErrNone, err
	case at.Offset < end:
		return at, kafka.ErrNone, nil
	case unsure:
		return none, kafka.ErrOffsetNotAvailable, nil
	}
	return none, kafka.ErrNone, nil
}

// OffsetForLeaderEpoch answers what an OffsetForLeaderEpoch request asks of one
// partition.
func (m *Manager) OffsetForLeaderEpoch(topic string, q *kmsg.OffsetForLeaderEpochRequestTopicPartition) kmsg.OffsetForLeaderEpochResponseTopicPartition {
	out := kmsg.NewOffsetForLeaderEpochResponseTopicPartition()
	out.Partition, out.LeaderEpoch, out.EndOffset = q.Partition, int32(kafka.NoLeaderEpoch), int64(kafka.NoOffset)
	part, code := m.hosted(topic, q.Partition)
	if code == kafka.ErrNone {
		r := part.role.Load()
		if code = r.forClient(kafka.LeaderEpoch(q.CurrentLeaderEpoch)); code == kafka.ErrNone {
			epoch, end := r.log.Snapshot().EndOffsetForEpoch(kafka.LeaderEpoch(q.LeaderEpoch))
			out.LeaderEpoch, out.EndOffset = int32(epoch), int64(end)
		}
	}
	out.ErrorCode = int16(code)
	return out
}

// DescribeProducers lists the producers that a replica here knows, leader or not.
func (m *Manager) DescribeProducers(topic string, partition int32) kmsg.DescribeProducersResponseTopicPartition {
	out := kmsg.NewDescribeProducersResponseTopicPartition()
	out.Partition = partition
	part, code := m.hosted(topic, partition)
	if code == kafka.ErrNone {
		out.ActiveProducers, code = part.producers()
	}
	out.ErrorCode = int16(code)
	return out
}

func (p *Partition) producers() ([]kmsg.DescribeProducersResponseTopicPartitionActiveProducer, kafka.ErrorCode) {
	p.mu.Lock()
	r := p.role.Load()
	if r.phase != online {
		p.mu.Unlock()
		return nil, r.gone()
	}
	states := r.log.Producers(nil)
	p.mu.Unlock()
	out := make([]kmsg.DescribeProducersResponseTopicPartitionActiveProducer, 0, len(states))
	for _, s := range states {
		out = append(out, kmsg.DescribeProducersResponseTopicPartitionActiveProducer{
			ProducerID: int64(s.ID), ProducerEpoch: int32(s.Epoch), LastSequence: s.LastSequence, LastTimestamp: s.LastTimestamp,
			CoordinatorEpoch: s.CoordinatorEpoch, CurrentTxnStartOffset: int64(s.TxnStart),
		})
	}
	return out, kafka.ErrNone
}
