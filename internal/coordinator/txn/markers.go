package txn

import (
	"slices"
	"time"

	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"
)

// Markers are to be written to the partitions of a transaction that ends.
type Markers struct {
	TransactionalID string
	ProducerID      kafka.ProducerID
	Epoch           kafka.ProducerEpoch
	Commit          bool
	// TransactionVersion is the level that the transaction was ended with: from 2 on
	// partitions hold the epoch against what they have (KIP-1228).
	TransactionVersion int16
	Partitions         []kafka.TopicPartition // none, if nothing was added

	of *transaction // as it was prepared
}

// sendAll sends the markers of all transactions whose end is in the log and has not
// been sent yet.
func (c *Core) sendAll() {
	var ids []string
	for id := range c.open.All() {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		c.sendCommitted(id)
	}
}

// sendCommitted sends the markers of a transaction if its end is in the log. One that
// is on its way there, and was not committed in time, is looked after later.
func (c *Core) sendCommitted(id string) {
	t := c.get(id)
	if t == nil || !t.state.prepared() || c.sending[id] == t {
		return
	}
	if in, _ := c.ids.GetCommitted(id); in != t {
		c.resendAt = time.UnixMilli(max(t.updatedMs, c.tickedMs)).Add(resendInterval)
		return
	}
	c.sending[id] = t
	c.send(Markers{
		TransactionalID: id, ProducerID: t.producer, Epoch: t.epoch, Commit: t.committed(),
		TransactionVersion: t.client, Partitions: t.list(), of: t,
	})
}

// Complete says that all markers of a transaction are written. It may be said again,
// and has to be if the answer is an error.
func (c *Core) Complete(now time.Time, m Markers, answer func(kafka.ErrorCode)) machine.Decision {
	done := func(code kafka.ErrorCode) {
		if code == kafka.ErrNone && c.sending[m.TransactionalID] == m.of {
			delete(c.sending, m.TransactionalID)
		}
		answer(code)
	}
	if c.get(m.TransactionalID) != m.of {
		return refuse(kafka.ErrNone, done) // it was completed before
	}
	return c.decide(m.of.complete(now), done)
}

// complete is what follows when all markers are written. With the epochs of a producer
// id used up, the next transaction has the next id.
func (t *transaction) complete(now time.Time) *transaction {
	next := t.step(now.UnixMilli())
	next.state, next.partitions = CompleteAbort, noPartitions()
	if t.state == PrepareCommit {
		next.state = CompleteCommit
	}
	if t.client >= epochBump && t.next != kafka.NoProducerID {
		next.producer, next.epoch = t.next, 0
	}
	next.next = kafka.NoProducerID
	return next
}
