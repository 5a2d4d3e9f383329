package txn

import (
	"time"

	"barnabas/internal/base/immut"
	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"
)

// Partitions asks for partitions to be part of a transaction.
type Partitions struct {
	TransactionalID string
	ProducerID      kafka.ProducerID
	Epoch           kafka.ProducerEpoch
	List            []kafka.TopicPartition
	// Client is the level of transaction.version that the client speaks: 0, or 2 if the
	// request comes from a broker to which it has produced.
	Client int16
}

// belongs says why the request is not one of the producer of the transactional id.
func (t *transaction) belongs(id kafka.ProducerID, epoch kafka.ProducerEpoch) kafka.ErrorCode {
	switch {
	case t == nil || t.producer != id:
		return kafka.ErrInvalidProducerIDMapping
	case t.epoch != epoch:
		return kafka.ErrProducerFenced
	case t.state.prepared():
		return kafka.ErrConcurrentTransactions
	}
	return kafka.ErrNone
}

// AddPartitions adds partitions to the transaction of a producer, and begins one if
// none is under way.
func (c *Core) AddPartitions(now time.Time, r Partitions, answer func(kafka.ErrorCode)) machine.Decision {
	if r.TransactionalID == "" {
		return refuse(kafka.ErrInvalidRequest, answer)
	}
	t := c.get(r.TransactionalID)
	if code := t.belongs(r.ProducerID, r.Epoch); code != kafka.ErrNone {
		return refuse(code, answer)
	}
	partitions, added := noPartitions(), false
	if t.state == Ongoing {
		partitions = t.partitions
	}
	owner := immut.NewOwner()
	for _, tp := range r.List {
		if _, there := partitions.Get(tp); !there {
			partitions.Set(owner, tp, struct{}{})
			added = true
		}
	}
	switch {
	case t.state == Ongoing && !added:
		return refuse(kafka.ErrNone, answer)
	case c.overfull():
		return refuse(kafka.ErrCoordinatorNotAvailable, answer)
	}
	next := t.step(now.UnixMilli())
	next.state, next.partitions, next.client = Ongoing, partitions, r.Client
	if t.state != Ongoing {
		next.startMs = now.UnixMilli()
	}
	return c.decide(next, answer)
}

// overfull says whether no transaction may grow.
func (c *Core) overfull() bool {
	bytes, _ := c.total.Get(struct{}{})
	return bytes >= maxBytes
}

// Verify says of each partition whether it is part of the transaction that the
// producer has under way: TRANSACTION_ABORTABLE if not. It changes nothing.
func (c *Core) Verify(r Partitions, answer func([]kafka.ErrorCode)) machine.Decision {
	codes := make([]kafka.ErrorCode, len(r.List))
	t := c.get(r.TransactionalID)
	all := t.belongs(r.ProducerID, r.Epoch)
	if r.TransactionalID == "" {
		all = kafka.ErrInvalidRequest
	}
	for i, tp := range r.List {
		codes[i] = all
		if all != kafka.ErrNone {
			continue
		}
		if _, there := t.partitions.Get(tp); !there {
			codes[i] = kafka.ErrTransactionAbortable
		}
	}
	return refuse(kafka.ErrNone, func(failed kafka.ErrorCode) {
		for i := range codes {
			if failed != kafka.ErrNone {
				codes[i] = failed
			}
		}
		answer(codes)
	})
}
