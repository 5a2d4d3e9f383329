package runtime

import (
	"fmt"
	"time"

	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"
	"barnabas/internal/record"
)

// batch is what is decided and replayed, but not appended yet.
type batch struct {
	builder   record.Builder
	of        *machine.Transaction // nil: of none
	producer  record.Producer
	records   int
	bytes     int // as if nothing were compressed; an upper bound of the size otherwise
	waiters   []waiter
	scheduled bool // its flush is queued
}

func (b *batch) open() bool { return b.records > 0 }

// reset empties the batch. It keeps the builder.
func (b *batch) reset() { *b = batch{builder: b.builder} }

// begin makes the first batch of those that follow, of a transaction if of is not nil.
func (b *batch) begin(of *machine.Transaction, c record.Compression, baseSequence int32) {
	o := record.BatchOptions{Compression: c}
	b.producer = record.Producer{ID: kafka.NoProducerID, Epoch: kafka.NoProducerEpoch, BaseSequence: baseSequence}
	if of != nil {
		b.producer = record.Producer{ID: of.ProducerID, Epoch: of.Epoch}
		o.Transactional = true
	}
	o.Producer = &b.producer
	b.builder.Reset(o)
	b.of, b.bytes = of, record.HeaderSize
}

// recordOverhead is more than a record takes beside its key and value: its own
// size, attributes, the deltas, two lengths and the number of headers.
const recordOverhead = 5 + 1 + 10 + 5 + 5 + 5 + 1

func sizeOf(records []machine.Record) int {
	n := 0
	for _, r := range records {
		n += recordOverhead + len(r.Key) + len(r.Value)
	}
	return n
}

// decideAll takes several decisions. If the shard is unloaded meanwhile, the rest is
// refused.
func (s *shard[M]) decideAll(all []machine.Decision, now time.Time) {
	for _, d := range all {
		if s.phase() == active {
			s.decided(d, now)
		} else if d.Done != nil {
			d.Done(kafka.ErrNotCoordinator)
		}
	}
}

// decided replays what an operation wants appended and lets it join the open batch.
func (s *shard[M]) decided(d machine.Decision, now time.Time) {
	if len(d.Records) == 0 {
		s.awaitAll(d.Done, now)
		return
	}
	var code kafka.ErrorCode
	if d.Divisible {
		code = s.joinDivided(d.Records, now)
	} else {
		code = s.join(d.Records, d.Transaction, now)
	}
	if code != kafka.ErrNone {
		if d.Done != nil {
			d.Done(code)
		}
		return
	}
	if d.Done != nil {
		s.batch.waiters = append(s.batch.waiters, waiter{d.Done, now.Add(s.r.o.CommitTimeout)})
	}
	if d.Transaction != nil {
		// Nobody else's answer may depend on what the log has against its producer.
		s.flush()
		return
	}
	s.flushInTime(now)
}

// awaitAll has done called when all that was replayed is committed.
func (s *shard[M]) awaitAll(done func(kafka.ErrorCode), now time.Time) {
	if done == nil {
		return
	}
	w := waiter{done, now.Add(s.r.o.CommitTimeout)}
	switch {
	case s.batch.open():
		s.batch.waiters = append(s.batch.waiters, w)
	case len(s.flights.list) > 0:
		s.flights.wait(w)
	default:
		done(kafka.ErrNone)
	}
}

// joinDivided is join for records that need not be in one batch.
func (s *shard[M]) joinDivided(records []machine.Record, now time.Time) kafka.ErrorCode {
	limit := s.led.Log.MaxBatchBytes()
	for len(records) > 0 {
		n, bytes := 0, max(s.batch.bytes, record.HeaderSize)
		for n < len(records) && (n == 0 || bytes <= limit) {
			bytes += sizeOf(records[n : n+1])
			n++
		}
		if bytes > limit && n > 1 {
			n--
		}
		if code := s.join(records[:n], nil, now); code != kafka.ErrNone {
			return code
		}
		records = records[n:]
	}
	return kafka.ErrNone
}

// join adds records to the open batch, or to a new one where they do not fit or belong
// to a transaction. An error means that they are not in the state: they are too large, or what they
// were decided on has been undone.
func (s *shard[M]) join(records []machine.Record, of *machine.Transaction, now time.Time) kafka.ErrorCode {
	limit, size := s.led.Log.MaxBatchBytes(), sizeOf(records)
	if s.batch.open() && (s.batch.bytes+size > limit || of != nil) {
		if code := s.flush(); code != kafka.ErrNone {
			return code
		}
	}
	if !s.batch.open() {
		if s.r.o.Compression.Codec == record.None && record.HeaderSize+size > limit+len(records)*recordOverhead {
			return kafka.ErrMessageTooLarge
		}
		s.batch.begin(of, s.r.o.Compression, s.r.o.BaseSequence)
	}
	timestamp := now.UnixMilli()
	for _, r := range records {
		played := machine.Replayed{Record: r, Offset: s.next, Timestamp: now, ProducerID: kafka.NoProducerID, ProducerEpoch: kafka.NoProducerEpoch}
		if of != nil {
			played.ProducerID, played.ProducerEpoch, played.Transactional = of.ProducerID, of.Epoch, true
		}
		err := s.core.Replay(played)
		if err != nil {
			panic(fmt.Sprintf("BUG: coordinator of %s: it cannot replay its own record at %d: %v", s.name(), s.next, err))
		}
		s.batch.builder.Append(record.Record{Timestamp: timestamp, Key: r.Key, Value: r.Value})
		s.next++
	}
	s.batch.records += len(records)
	s.batch.bytes += size
	return kafka.ErrNone
}

// flushInTime sees to it that the open batch is appended: now, when its time is
// over, or when nothing else is queued.
func (s *shard[M]) flushInTime(now time.Time) {
	linger := s.r.o.Linger
	switch {
	case linger == 0 || s.batch.bytes >= s.led.Log.MaxBatchBytes():
		s.flush()
	case s.batch.scheduled:
	case linger < 0:
		// It runs behind all that is queued now. Where there is no room for it,
		// there is more than enough for a batch.
		s.batch.scheduled = true
		if s.exec.Submit(s.flushOp) != nil {
			s.flush()
		}
	default:
		s.batch.scheduled = true
		s.r.o.Wheel.Schedule(&s.linger, now.Add(linger), func() {
			s.r.workers.Submit(func() { s.must(s.exec.Callback(s.flushOp)) })
		})
	}
}

// flushTurn is the turn of the open batch in the executor's queue.
func (s *shard[M]) flushTurn() {
	if s.phase() == active && s.batch.open() {
		s.flush()
	}
	s.settle()
}

// flush appends the open batch. An error means that the state is what it was before
// the batch, or that the shard is being loaded anew.
func (s *shard[M]) flush() kafka.ErrorCode {
	built, err := s.batch.builder.Build()
	if err != nil {
		panic(fmt.Sprintf("BUG: coordinator of %s: %v", s.name(), err))
	}
	if len(built) > s.led.Log.MaxBatchBytes() {
		s.abandonBatch(kafka.ErrMessageTooLarge)
		return kafka.ErrMessageTooLarge
	}
	begun := s.r.o.Now()
	guard := uint64(0)
	if s.batch.of != nil {
		guard = s.batch.of.Guard
	}
	at, code := s.led.Log.Append(built, guard)
	s.r.o.Appended(s.r.o.Now().Sub(begun))
	if code != kafka.ErrNone {
		s.r.count.appendErrors.Add(1)
		if s.batch.of == nil || !againstProducer(code) {
			code = appendRefusal(code)
		}
		s.abandonBatch(code)
		return code
	}
	s.r.count.appends.Add(1)
	s.r.count.records.Add(int64(s.batch.records))
	s.r.count.bytes.Add(int64(len(built)))
	if at.End != s.next {
		s.reload(fmt.Sprintf("a batch that was to end at offset %d ends at %d: somebody else writes to the partition", s.next, at.End))
		return kafka.ErrNotCoordinator
	}
	s.registry.Mark(int64(at.End))
	s.flights.push(flight{end: at.End, bytes: len(built), waiters: s.batch.waiters})
	s.batch.reset()
	s.reached(at.HighWatermark)
	return kafka.ErrNone
}

// appendRefusal is what an operation is told of an append that failed, by Apache's
// CoordinatorOperationExceptionHelper.
func appendRefusal(code kafka.ErrorCode) kafka.ErrorCode {
	switch code {
	case kafka.ErrMessageTooLarge, kafka.ErrRecordListTooLarge:
		return kafka.ErrMessageTooLarge
	case kafka.ErrNotEnoughReplicas, kafka.ErrUnknownTopicOrPartition, kafka.ErrRequestTimedOut:
		return kafka.ErrCoordinatorNotAvailable
	}
	return kafka.ErrNotCoordinator
}

// againstProducer says whether an error is what the log has against a producer or the
// coordinator of its transaction.
func againstProducer(code kafka.ErrorCode) bool {
	switch code {
	case kafka.ErrInvalidProducerEpoch, kafka.ErrInvalidTxnState, kafka.ErrTransactionCoordinatorFenced:
		return true
	}
	return false
}

// abandonBatch takes the state back to before the open batch and refuses all that
// is in it.
func (s *shard[M]) abandonBatch(code kafka.ErrorCode) {
	if !s.batch.open() {
		return
	}
	s.registry.Revert(int64(s.flights.end))
	s.next = s.flights.end
	waiters := s.batch.waiters
	s.batch.reset()
	for _, w := range waiters {
		w.done(code)
	}
}
