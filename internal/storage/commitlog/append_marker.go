package commitlog

import (
	"barnabas/internal/kafka"
	"barnabas/internal/record"
)

// AppendMarker appends a transaction marker. It is written even if no
// transaction is open, as Apache does: the marker carries the new epoch. timestamps is
// the topic's message.timestamp.type.
func (l *Log) AppendMarker(epoch kafka.LeaderEpoch, now kafka.TimestampMs, timestamps record.TimestampType, m kafka.Marker) (Appended, error) {
	refused := Appended{Err: kafka.ErrKafkaStorageError, Base: kafka.NoOffset, Last: kafka.NoOffset}
	if err := l.prepareAppend(epoch); err != nil {
		return refused, err
	}
	p := l.producers.get(m.ProducerID)
	if refused.Err = p.checkMarker(m); refused.Err != kafka.ErrNone {
		return refused, nil
	}
	b, err := markerBatch(m, now, timestamps)
	if err != nil {
		return refused, err
	}
	b.SetBaseOffset(l.end)
	b.SetLeaderEpoch(epoch)
	h := b.Header()
	refused.Err = kafka.ErrKafkaStorageError
	if err := l.appendAt(factsOfHeader(&h), [][]byte{b}, now); err != nil {
		return refused, err
	}
	marker := record.EndTxnMarker{Commit: m.Commit, CoordinatorEpoch: m.CoordinatorEpoch}
	err = l.follow(&h, &marker)
	l.producers.voidBy(m)
	l.publish()
	if err != nil {
		return refused, err
	}
	return Appended{Base: h.BaseOffset, Last: h.BaseOffset}, nil
}

func markerBatch(m kafka.Marker, now kafka.TimestampMs, timestamps record.TimestampType) (record.Batch, error) {
	b := record.NewBuilder(record.BatchOptions{
		Producer:      &record.Producer{ID: m.ProducerID, Epoch: m.ProducerEpoch, BaseSequence: record.NoSequence},
		Transactional: true,
		Control:       true,
		TimestampType: timestamps,
		AppendTime:    now,
	})
	b.Append(record.EndTxnMarker{Commit: m.Commit, CoordinatorEpoch: m.CoordinatorEpoch}.Record(now))
	return b.Build()
}

func factsOfHeader(h *record.Header) batchFacts {
	return batchFacts{base: h.BaseOffset, last: h.LastOffset(), size: h.Size, maxTimestamp: h.MaxTimestamp}
}

// appendAt writes one batch that has its offset, after a roll if one is due.
func (l *Log) appendAt(b batchFacts, iov [][]byte, now kafka.TimestampMs) error {
	if l.act.mustRoll(l.config.Load(), l.active().base, b, now) {
		if err := l.rollAt(b.base, now); err != nil {
			return err
		}
	}
	before := l.act
	l.act.grow(l.config.Load(), l.active().base, b)
	if err := l.write(iov, &before); err != nil {
		l.act = before
		return err
	}
	l.end = b.last + 1
	return nil
}

// follow takes over what a batch in the log says of producers and transactions.
// An aborted transaction goes into the index before any reader can see its
// marker. If that fails, the bytes are in the log and what they mean is not: the
// log takes no more, and recovery will put it right.
func (l *Log) follow(h *record.Header, marker *record.EndTxnMarker) error {
	aborted := l.producers.replicate(h, marker)
	if aborted == nil {
		return nil
	}
	if err := l.addAborted(*aborted); err != nil {
		return l.fail(err)
	}
	return nil
}
