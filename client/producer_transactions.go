package client

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// InitTransactions gets the producer's id and epoch for transactional.id, waits until
// what an earlier producer of the same id left is committed or aborted, and fences that
// producer (initTransactions). It is called once, before all else. It may be called
// again after an error that is not IsFatal. It takes max.block.ms at most, then fails
// with ErrTimeout.
func (p *Producer) InitTransactions(ctx context.Context) error {
	t := &p.transaction
	t.calls.Lock()
	defer t.calls.Unlock()
	if err := t.enter("InitTransactions", uninitialized); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, p.maxBlock)
	defer cancel()
	_, _, err := p.engine.ProducerID(limited)
	if err == nil {
		t.become(ready)
		return nil
	}
	if limited.Err() == nil && endsProducer(err) {
		return t.fail(coordinatorRefused(err))
	}
	// The engine keeps the error; a transaction that is begun has it try again.
	if begun := p.engine.BeginTransaction(); begun == nil {
		_ = p.engine.EndTransaction(limited, kgo.TryAbort)
	}
	if limited.Err() != nil {
		err = limited.Err()
	}
	return outOfTime(ctx, err, "transactional.id "+p.transactionalID)
}

// BeginTransaction begins a transaction (beginTransaction). Nothing is sent: a broker
// hears of it with the first record or offsets.
func (p *Producer) BeginTransaction() error {
	t := &p.transaction
	t.calls.Lock()
	defer t.calls.Unlock()
	if err := t.enter("BeginTransaction", ready); err != nil {
		return err
	}
	if err := p.engine.BeginTransaction(); err != nil {
		return t.fail(coordinatorRefused(told(err)))
	}
	t.begin()
	return nil
}

// SendOffsetsToTransaction makes the offsets of a consumer part of the transaction:
// they count as committed if, and when, it is committed (sendOffsetsToTransaction).
// The group's metadata is Consumer.GroupMetadata, by which a member that the group has
// gone on without is refused: ErrCommitFailed, which is abortable (KIP-447). The
// consumer has enable.auto.commit=false.
func (p *Producer) SendOffsetsToTransaction(ctx context.Context, offsets Offsets, group GroupMetadata) error {
	t := &p.transaction
	t.calls.Lock()
	defer t.calls.Unlock()
	if err := t.enter("SendOffsetsToTransaction", open); err != nil || len(offsets) == 0 {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, p.maxBlock)
	defer cancel()
	err := p.addOffsets(limited, offsets, group)
	if err == nil {
		return nil
	}
	if limited.Err() != nil {
		return t.fail(outOfTime(ctx, limited.Err(), "offsets of group "+group.GroupID))
	}
	return t.fail(err)
}

// CommitTransaction flushes, and commits the transaction (commitTransaction). When a
// record was not delivered it fails with that error; IsAbortable says so, and
// AbortTransaction is next. After ErrTimeout or the end of the context before anything
// was asked of the coordinator it may be called again. An error after that leaves open
// whether the transaction was committed, as it does in Kafka; it is abortable, and
// AbortTransaction then aborts only what is still open.
func (p *Producer) CommitTransaction(ctx context.Context) error {
	t := &p.transaction
	t.calls.Lock()
	defer t.calls.Unlock()
	if err := t.enter("CommitTransaction", open); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, p.maxBlock)
	defer cancel()
	if err := p.engine.Flush(limited); err != nil {
		return outOfTime(ctx, err, "flush before the commit within max.block.ms")
	}
	if err := t.enter("CommitTransaction", open); err != nil {
		_ = p.takeFailure() // it is what err is about
		return err
	}
	if err := p.end(limited, kgo.TryCommit); err != nil {
		if limited.Err() != nil {
			err = outOfTime(ctx, limited.Err(), "commit")
		}
		return t.fail(err)
	}
	t.become(ready)
	return nil
}

// AbortTransaction gives up what is still buffered and aborts the transaction
// (abortTransaction). It may be called again after an error that is not IsFatal.
func (p *Producer) AbortTransaction(ctx context.Context) error {
	t := &p.transaction
	t.calls.Lock()
	defer t.calls.Unlock()
	if err := t.enter("AbortTransaction", open, failed); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, p.maxBlock)
	defer cancel()
	if err := p.engine.AbortBufferedRecords(limited); err != nil {
		return outOfTime(ctx, err, "the end of records that are on their way")
	}
	err := p.end(limited, kgo.TryAbort)
	_ = p.takeFailure() // the records are aborted, whatever became of each
	switch {
	case err == nil:
		t.become(ready)
		return nil
	case limited.Err() != nil:
		return outOfTime(ctx, limited.Err(), "abort")
	}
	return t.fail(err)
}

// end has the coordinator end the transaction.
//
// The engine ends a transaction only if it knows of a record in it. Offsets that a
// consumer of its own sent are not known to it; where they are all there is, the
// request is ours.
func (p *Producer) end(ctx context.Context, how kgo.TransactionEndTry) error {
	tried, wrote, moved := p.transaction.sides()
	if moved && !tried {
		if err := p.endOffsets(ctx, how); err != nil {
			return err
		}
		return told(p.engine.EndTransaction(ctx, how))
	}
	_, before, _ := p.engine.ProducerID(ctx)
	err := p.engine.EndTransaction(ctx, how)
	switch {
	case errors.Is(err, kerr.OperationNotAttempted):
		// The engine lost its producer id; that error says why.
		_, _, why := p.engine.ProducerID(ctx)
		return coordinatorRefused(told(cmpError(why, err)))
	case err != nil:
		return coordinatorRefused(told(err))
	}
	_, after, err := p.engine.ProducerID(ctx)
	if how == kgo.TryAbort && moved && !wrote && err == nil && before == after {
		// No record arrived, and the epoch says that the engine ended nothing.
		err = p.endOffsets(ctx, how)
		if errors.Is(err, kerr.InvalidTxnState) {
			err = nil // it had ended it, in the way without a new epoch
		}
	}
	return err
}

func cmpError(first, second error) error {
	if first != nil {
		return first
	}
	return second
}

// InTransaction runs work in a transaction: it begins one, commits it when work returns
// nil, and aborts it otherwise. The error is that of work or of the commit; that of an
// abort is joined to it.
func (p *Producer) InTransaction(ctx context.Context, work func() error) error {
	if err := p.BeginTransaction(); err != nil {
		return err
	}
	err := work()
	if err == nil {
		err = p.CommitTransaction(ctx)
	}
	if err == nil || IsFatal(err) {
		return err
	}
	if aborted := p.AbortTransaction(context.WithoutCancel(ctx)); aborted != nil {
		return errors.Join(err, fmt.Errorf("abort: %w", aborted))
	}
	return err
}
