package image

import (
	"errors"
	"fmt"

	"barnabas/internal/kafka"
	"barnabas/internal/metadata/metarec"
)

// ErrTransaction is the error for transaction records in an order that cannot be.
var ErrTransaction = errors.New("metadata transactions out of order")

// Stream replays the log batch by batch and gives an image whenever one may be shown:
// at the end of the batches that Apply was given, and before a transaction begins, but
// not inside one. It belongs to one goroutine.
type Stream struct {
	shown         *Image // the last image that was given out
	reached       Position
	builder       *Builder
	inTransaction bool
}

// NewStream begins with base.
func NewStream(base *Image) *Stream {
	return &Stream{shown: base, reached: base.Position, builder: NewBuilder(base)}
}

// Batch is a data batch of the log, decoded. A control batch is one without records.
type Batch struct {
	BaseOffset kafka.Offset
	LastOffset kafka.Offset
	Epoch      kafka.LeaderEpoch
	Timestamp  kafka.TimestampMs // the append time: the batch's largest timestamp
	Records    []metarec.Message
}

// Shown is the last image that Apply gave, or the one that the stream began with.
func (s *Stream) Shown() *Image { return s.shown }

// Reached is the end of what was replayed, a transaction that is still open included.
func (s *Stream) Reached() Position { return s.reached }

// InTransaction says whether a transaction is open.
func (s *Stream) InTransaction() bool { return s.inTransaction }

// Current is what the records so far give, those of an open transaction included. It
// changes with the next Apply and must not be kept.
func (s *Stream) Current() *Image { return s.builder.Current() }

// Apply replays the batches and returns the deltas to publish, in order: mostly one,
// none inside a transaction. Their images follow each other without a gap.
func (s *Stream) Apply(batches ...Batch) ([]*Delta, error) {
	var out []*Delta
	for i := range batches {
		b := &batches[i]
		for j, m := range b.Records {
			offset := b.BaseOffset + kafka.Offset(j)
			d, err := s.replay(m)
			if err != nil {
				return nil, fmt.Errorf("metadata record at offset %d: %w", offset, err)
			}
			if d != nil {
				out = append(out, d)
			}
			s.reached = Position{Offset: offset, Epoch: b.Epoch, Timestamp: b.Timestamp, Aligned: offset == b.LastOffset}
		}
		s.reached = Position{Offset: b.LastOffset, Epoch: b.Epoch, Timestamp: b.Timestamp, Aligned: true}
	}
	if s.inTransaction || s.reached == s.shown.Position {
		return out, nil
	}
	return append(out, s.show()), nil
}

// show ends the builder's image at what was replayed.
func (s *Stream) show() *Delta {
	img, d := s.builder.Build(s.reached)
	s.shown, s.builder = img, NewBuilder(img)
	return d
}

// replay replays one record. Where a transaction begins, what came before it is shown.
func (s *Stream) replay(m metarec.Message) (*Delta, error) {
	switch m.(type) {
	case *metarec.BeginTransactionRecord:
		if s.inTransaction {
			return nil, fmt.Errorf("%w: one begins inside another", ErrTransaction)
		}
		s.inTransaction = true
		if s.reached != s.shown.Position {
			return s.show(), nil
		}
	case *metarec.EndTransactionRecord:
		if !s.inTransaction {
			return nil, fmt.Errorf("%w: one ends that did not begin", ErrTransaction)
		}
		s.inTransaction = false
	case *metarec.AbortTransactionRecord:
		if !s.inTransaction {
			return nil, fmt.Errorf("%w: one is aborted that did not begin", ErrTransaction)
		}
		s.inTransaction = false
		s.builder = NewBuilder(s.shown)
	default:
		return nil, s.builder.Replay(m)
	}
	return nil, nil
}
