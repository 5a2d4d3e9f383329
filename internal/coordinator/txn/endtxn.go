package txn

import (
	"time"

	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"
)

// End asks for the end of a transaction.
type End struct {
	TransactionalID string
	ProducerID      kafka.ProducerID
	Epoch           kafka.ProducerEpoch
	Commit          bool
	// Client is the level of transaction.version that the client speaks: 0 or 2.
	Client int16
	// Fresh is a producer id that nobody has, for where one is needed; see
	// EndNeedsProducerID.
	Fresh kafka.ProducerID
}

// EndNeedsProducerID says whether the request can only be served with a fresh producer
// id: the epochs of the one it has are used up.
func (c *Core) EndNeedsProducerID(r *End) bool {
	t := c.get(r.TransactionalID)
	return t != nil && r.Client >= epochBump && t.exhausted() && !t.state.prepared() &&
		t.producer == r.ProducerID && t.epoch == r.Epoch
}

// EndTransaction serves EndTxn. The answer comes when the decision is in the log; the
// markers follow. Clients of level 2 get the epoch of their next transaction, or
// another producer id.
func (c *Core) EndTransaction(now time.Time, r End, answer func(Producer)) machine.Decision {
	reply := func(p Producer) machine.Decision {
		return refuse(p.Code, func(code kafka.ErrorCode) {
			if code != p.Code {
				p = noProducer(code)
			}
			answer(p)
		})
	}
	if r.TransactionalID == "" {
		return reply(noProducer(kafka.ErrInvalidRequest))
	}
	t := c.get(r.TransactionalID)
	if t == nil {
		return reply(noProducer(kafka.ErrInvalidProducerIDMapping))
	}
	code, ends := t.endV1(&r)
	repeats := Producer{code, kafka.NoProducerID, kafka.NoProducerEpoch}
	if r.Client >= epochBump {
		code, ends = t.endV2(&r)
		repeats = Producer{code, t.producer, t.epoch}
	}
	switch {
	case code != kafka.ErrNone:
		return reply(noProducer(code))
	case !ends:
		return reply(repeats)
	}
	next := t.end(now, &r)
	told := Producer{kafka.ErrNone, kafka.NoProducerID, kafka.NoProducerEpoch}
	if r.Client >= epochBump {
		completed := next.complete(now)
		told.ID, told.Epoch = completed.producer, completed.epoch
	}
	return c.prepare(next, func(code kafka.ErrorCode) {
		if code != kafka.ErrNone {
			told = noProducer(code)
		}
		answer(told)
	})
}

// endV1 says what an EndTxn of v0 to v4 does: an error; or that the transaction ends
// now; or nothing, for it has ended so before.
func (t *transaction) endV1(r *End) (code kafka.ErrorCode, ends bool) {
	switch {
	case t.producer != r.ProducerID:
		return kafka.ErrInvalidProducerIDMapping, false
	case t.epoch != r.Epoch:
		return kafka.ErrProducerFenced, false
	case t.state == Ongoing:
		return kafka.ErrNone, true
	case t.state == Empty || t.committed() != r.Commit:
		return kafka.ErrInvalidTxnState, false
	case t.state.prepared():
		return kafka.ErrConcurrentTransactions, false
	}
	return kafka.ErrNone, false
}

// committed says how the transaction has ended or ends.
func (t *transaction) committed() bool { return t.state == PrepareCommit || t.state == CompleteCommit }

// endV2 is endV1 for EndTxn v5 (KIP-890). The epoch tells a retry, which has the one
// before, from the end of the next transaction. That may be aborted before anything
// was added to it: the client cannot know what arrived.
func (t *transaction) endV2(r *End) (code kafka.ErrorCode, ends bool) {
	afterOverflow := t.previous == r.ProducerID && r.Epoch == lastEpoch && t.epoch == 0 && t.producer != r.ProducerID
	retry := afterOverflow || r.Epoch != lastEpoch+1 && t.epoch == r.Epoch+1
	valid := r.Epoch == t.epoch
	switch t.state {
	case PrepareCommit, PrepareAbort:
		valid = retry && !afterOverflow
	case CompleteCommit, CompleteAbort:
		valid = valid || retry
	}
	switch {
	case t.producer != r.ProducerID && !afterOverflow:
		return kafka.ErrInvalidProducerIDMapping, false
	case !valid:
		return kafka.ErrProducerFenced, false
	case t.state == Ongoing:
		return kafka.ErrNone, true
	case t.state.prepared() && t.committed() == r.Commit:
		return kafka.ErrConcurrentTransactions, false
	case t.state.prepared():
		return kafka.ErrInvalidTxnState, false
	case retry && t.committed() == r.Commit:
		return kafka.ErrNone, false
	case retry || r.Commit:
		return kafka.ErrInvalidTxnState, false
	}
	return kafka.ErrNone, true
}

// end decides how the transaction ends.
func (t *transaction) end(now time.Time, r *End) *transaction {
	next := t.step(now.UnixMilli())
	next.state = PrepareAbort
	if r.Commit {
		next.state = PrepareCommit
	}
	next.client, next.next = r.Client, kafka.NoProducerID
	if r.Client < epochBump {
		return next
	}
	if t.exhausted() {
		next.next = r.Fresh
	}
	next.epoch, next.last = t.epoch+1, t.epoch
	if t.state != Ongoing {
		next.startMs = now.UnixMilli() // nothing was added: it begins and ends now
	}
	return next
}

// fence aborts the transaction that is under way, with an epoch that its producer does
// not have. From transaction.version 2 on that is like an abort by the producer, which
// may go on from there.
func (c *Core) fence(now time.Time, t *transaction, done func(kafka.ErrorCode)) machine.Decision {
	next := t.step(now.UnixMilli())
	next.state, next.client, next.next = PrepareAbort, 0, kafka.NoProducerID
	next.epoch, next.last = above(t.epoch), kafka.NoProducerEpoch
	if c.version() >= epochBump {
		next.client, next.last = epochBump, t.epoch
	}
	return c.prepare(next, done)
}

// above is the next epoch; there is none above the largest.
func above(epoch kafka.ProducerEpoch) kafka.ProducerEpoch { return min(epoch, lastEpoch) + 1 }

// prepare is the decision to end a transaction. When it is in the log it is answered,
// and its markers are sent.
func (c *Core) prepare(t *transaction, done func(kafka.ErrorCode)) machine.Decision {
	return c.decide(t, func(code kafka.ErrorCode) {
		done(code)
		c.sendCommitted(t.id)
	})
}
