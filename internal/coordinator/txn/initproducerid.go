package txn

import (
	"time"

	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"
)

// InitProducerID asks for the producer id and epoch of a transactional id.
type InitProducerID struct {
	TransactionalID string
	TimeoutMs       int32
	// ProducerID and Epoch are what the producer has (KIP-360); kafka.NoProducerID if it
	// begins.
	ProducerID kafka.ProducerID
	Epoch      kafka.ProducerEpoch
	// Fresh is a producer id that nobody has, for where one is needed; see
	// NeedsProducerID.
	Fresh kafka.ProducerID
}

// Producer is the answer to who asks for a producer id and epoch: an error, or both.
type Producer struct {
	Code  kafka.ErrorCode
	ID    kafka.ProducerID
	Epoch kafka.ProducerEpoch
}

func noProducer(code kafka.ErrorCode) Producer {
	return Producer{code, kafka.NoProducerID, kafka.NoProducerEpoch}
}

func (r *InitProducerID) continues() bool { return r.ProducerID != kafka.NoProducerID }

// Refusal says why the request is refused, whatever the coordinator knows of the id.
func (r *InitProducerID) Refusal(s Settings) kafka.ErrorCode {
	switch {
	case r.TransactionalID == "":
		return kafka.ErrInvalidRequest
	case r.TimeoutMs <= 0 || int64(r.TimeoutMs) > s.MaxTimeout.Milliseconds():
		return kafka.ErrInvalidTransactionTimeout
	}
	return kafka.ErrNone
}

// NeedsProducerID says whether the request can only be served with a fresh producer id.
func (c *Core) NeedsProducerID(r *InitProducerID) bool {
	t := c.get(r.TransactionalID)
	return t == nil || t.state.over() && t.rotates(r)
}

// rotates says whether a producer that comes gets another producer id.
func (t *transaction) rotates(r *InitProducerID) bool {
	return t.exhausted() && (!r.continues() || r.Epoch == t.epoch)
}

// InitProducerID serves one. A producer that begins fences all earlier ones of its
// transactional id; while a transaction of theirs is open it is aborted first, and
// the answer is CONCURRENT_TRANSACTIONS until that is done.
func (c *Core) InitProducerID(now time.Time, r InitProducerID, answer func(Producer)) machine.Decision {
	no := func(code kafka.ErrorCode) machine.Decision {
		return refuse(code, func(code kafka.ErrorCode) { answer(noProducer(code)) })
	}
	t := c.get(r.TransactionalID)
	switch {
	case r.Refusal(c.settings) != kafka.ErrNone:
		return no(r.Refusal(c.settings))
	case t == nil && c.full():
		return no(kafka.ErrCoordinatorNotAvailable)
	case t == nil:
		t = &transaction{
			id: r.TransactionalID, producer: r.Fresh, epoch: kafka.NoProducerEpoch, last: kafka.NoProducerEpoch,
			previous: kafka.NoProducerID, next: kafka.NoProducerID, nextEpoch: kafka.NoProducerEpoch,
		}
	case !t.knows(&r):
		return no(kafka.ErrProducerFenced)
	case t.state.prepared():
		return no(kafka.ErrConcurrentTransactions)
	case t.state == Ongoing:
		return c.fence(now, t, func(code kafka.ErrorCode) {
			if code == kafka.ErrNone {
				code = kafka.ErrConcurrentTransactions
			}
			answer(noProducer(code))
		})
	}
	next, code := t.begin(now, &r)
	if code != kafka.ErrNone {
		return no(code)
	}
	return c.decide(next, func(code kafka.ErrorCode) {
		if code != kafka.ErrNone {
			answer(noProducer(code))
			return
		}
		answer(Producer{kafka.ErrNone, next.producer, next.epoch})
	})
}

// knows says whether the producer id that a producer has is that of the transactional
// id, or was before the epochs were used up: then the request may be one that was
// served and whose answer was lost.
func (t *transaction) knows(r *InitProducerID) bool {
	return !r.continues() || t.epoch == kafka.NoProducerEpoch || r.ProducerID == t.producer ||
		r.ProducerID == t.previous && r.Epoch >= lastEpoch
}

// begin gives the producer its epoch.
func (t *transaction) begin(now time.Time, r *InitProducerID) (*transaction, kafka.ErrorCode) {
	next := t.step(now.UnixMilli())
	next.state, next.partitions, next.timeoutMs, next.startMs = Empty, noPartitions(), r.TimeoutMs, noStart
	switch {
	case t.rotates(r):
		next.producer, next.epoch, next.last = r.Fresh, 0, kafka.NoProducerEpoch
		if r.continues() {
			next.last = t.epoch
		}
	case !r.continues():
		next.epoch, next.last = t.epoch+1, kafka.NoProducerEpoch
	case t.epoch == kafka.NoProducerEpoch || r.Epoch == t.epoch:
		next.epoch, next.last = t.epoch+1, t.epoch
	case r.Epoch == t.last:
		// It was served before: nobody else has come since, or last would be unknown.
	default:
		return nil, kafka.ErrProducerFenced
	}
	return next, kafka.ErrNone
}
