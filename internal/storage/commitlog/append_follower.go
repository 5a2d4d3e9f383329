package commitlog

import (
	"errors"
	"fmt"

	"barnabas/internal/kafka"
	"barnabas/internal/record"
)

// ErrOffsetOutOfOrder refuses a follower's append below the log's end or with
// falling offsets.
var ErrOffsetOutOfOrder = errors.New("commitlog: offsets out of order")

// Followed is what a follower took over.
type Followed struct {
	Base, Last   kafka.Offset // of the batches appended; -1 if none was
	Batches      int
	Bytes        int
	MaxTimestamp kafka.TimestampMs
}

// AppendFollower appends batches as the leader has them. A partial batch at the
// end is ignored, and so are all batches from the first one on whose leader epoch
// is above epoch, this replica's own: they come from a leader that it does not
// know yet. ErrOffsetOutOfOrder refuses batches below the log's end, the errors of
// package record those that are damaged; then nothing is appended.
func (l *Log) AppendFollower(epoch kafka.LeaderEpoch, now kafka.TimestampMs, raw []byte) (Followed, error) {
	done := Followed{Base: kafka.NoOffset, Last: kafka.NoOffset, MaxTimestamp: kafka.NoTimestamp}
	if err := l.change(); err != nil {
		return done, err
	}
	headers, err := l.checkFollowed(epoch, raw)
	if err != nil || len(headers) == 0 {
		return done, err
	}
	if err := l.spillIndexes(); err != nil {
		return done, err
	}
	for len(headers) > 0 {
		n, bytes, err := l.followRun(headers, raw, now, &done)
		if err != nil {
			l.publish()
			return done, err
		}
		headers, raw = headers[n:], raw[bytes:]
	}
	l.publish()
	return done, nil
}

// checkFollowed splits what a leader sent into batches and checks all of them
// before anything is written.
func (l *Log) checkFollowed(epoch kafka.LeaderEpoch, raw []byte) ([]record.Header, error) {
	var headers []record.Header
	next := l.end
	for len(raw) > 0 {
		h, err := record.ParseHeader(raw)
		if errors.Is(err, record.ErrShort) || err == nil && h.Size > len(raw) {
			break
		}
		if err != nil {
			return nil, err
		}
		if h.LeaderEpoch > epoch {
			break
		}
		if h.BaseOffset < next || h.LastOffset() < h.BaseOffset {
			return nil, fmt.Errorf("%w: batch [%d, %d], expected %d or more", ErrOffsetOutOfOrder, h.BaseOffset, h.LastOffset(), next)
		}
		if err := record.Verify(raw[:h.Size]); err != nil {
			return nil, fmt.Errorf("batch at offset %d: %w", h.BaseOffset, err)
		}
		if _, err := markerOf(&h, raw[:h.Size]); err != nil {
			return nil, err
		}
		next = h.NextOffset()
		headers = append(headers, h)
		raw = raw[h.Size:]
	}
	return headers, nil
}

// followRun appends as many batches as fit into one segment, with one write. As
// with Apache, one roll check is made for the whole set; only a set that is
// larger than a segment, or fills an index, is split.
func (l *Log) followRun(headers []record.Header, raw []byte, now kafka.TimestampMs, done *Followed) (n, bytes int, err error) {
	c := l.config.Load()
	whole := batchFacts{base: headers[0].BaseOffset, maxTimestamp: kafka.NoTimestamp}
	for i := range headers {
		h := &headers[i]
		if n > 0 && whole.size+h.Size > min(c.SegmentBytes, maxSegmentBytes) {
			break
		}
		whole.last = h.LastOffset()
		whole.size += h.Size
		whole.maxTimestamp = max(whole.maxTimestamp, h.MaxTimestamp)
		n++
	}
	if l.act.mustRoll(c, l.active().base, whole, now) {
		if err := l.rollAt(whole.base, now); err != nil {
			return 0, 0, err
		}
	}
	before := l.act
	base := l.active().base
	for i := range headers[:n] {
		h := &headers[i]
		if i > 0 && (l.act.indexFull(c) || l.act.timeFull(c) || h.LastOffset()-base > maxRelativeOffset) {
			n = i
			break
		}
		if err := l.followEpoch(h); err != nil {
			l.act = before
			return 0, 0, err
		}
		l.act.grow(c, base, factsOfHeader(h))
		bytes += h.Size
	}
	if err := l.write([][]byte{raw[:bytes]}, &before); err != nil {
		l.act = before
		return 0, 0, err
	}
	l.end = headers[n-1].NextOffset()
	return n, bytes, l.followStates(headers[:n], raw, done)
}

// followEpoch notes the epoch of a batch. An old format knows none: then what is
// known of epochs no longer tells the whole story and is dropped, as with Apache.
func (l *Log) followEpoch(h *record.Header) error {
	switch {
	case h.Magic >= record.MagicV2 && h.LeaderEpoch >= 0:
		return l.assignEpoch(h.LeaderEpoch, h.BaseOffset)
	case h.Magic < record.MagicV2 && len(l.epochs) > 0:
		return l.setEpochs(nil)
	}
	return nil
}

func (l *Log) followStates(headers []record.Header, raw []byte, done *Followed) error {
	if done.Base < 0 {
		done.Base = headers[0].BaseOffset
	}
	for i := range headers {
		h := &headers[i]
		marker, err := markerOf(h, raw[:h.Size])
		if err != nil {
			return err
		}
		if err := l.follow(h, marker); err != nil {
			return err
		}
		if h.Attributes.IsTransactional() {
			l.producers.verified(h.ProducerID)
		}
		raw = raw[h.Size:]
		done.Last = h.LastOffset()
		done.Batches++
		done.Bytes += h.Size
		done.MaxTimestamp = max(done.MaxTimestamp, h.MaxTimestamp)
	}
	return nil
}

// markerOf reads the transaction marker of a control batch. It is nil for other
// batches, for control records that belong to no producer, and for a control
// batch from which compaction has removed the record.
func markerOf(h *record.Header, entry []byte) (*record.EndTxnMarker, error) {
	if !h.Attributes.IsControl() || !h.HasProducer() || h.Count == 0 {
		return nil, nil
	}
	var it record.Iterator
	defer it.Close()
	it.Reset(entry)
	if !it.Next() {
		return nil, it.Err()
	}
	r := it.Record()
	m, err := record.ParseEndTxnMarker(r.Key, r.Value)
	if err != nil {
		return nil, fmt.Errorf("control batch at offset %d: %w", h.BaseOffset, err)
	}
	return &m, nil
}
