package transactions

import (
	"time"

	"barnabas/internal/base/wheel"
	"barnabas/internal/coordinator/txn"
	"barnabas/internal/kafka"
)

// Speaks is what a client that writes to a partition knows of KIP-890, by the version
// of its request (Apache's TransactionSupportedOperation).
type Speaks int8

const (
	// SpeaksV1 clients add partitions themselves and know no TRANSACTION_ABORTABLE:
	// Produce below v11, TxnOffsetCommit below v4.
	SpeaksV1 Speaks = iota
	// SpeaksAbortable clients know TRANSACTION_ABORTABLE.
	SpeaksAbortable
	// SpeaksV2 clients have their partitions added by who leads them: Produce from v12,
	// TxnOffsetCommit from v5.
	SpeaksV2
)

// SpeaksIn is what a client speaks that sends a request in a version; abortable is the
// version of the request that knows TRANSACTION_ABORTABLE, and the one after it is of v2.
func SpeaksIn(version, abortable int16) Speaks {
	switch {
	case version > abortable:
		return SpeaksV2
	case version == abortable:
		return SpeaksAbortable
	}
	return SpeaksV1
}

// Enlist makes sure, before something is written, that partitions are part of the
// transaction of a producer: it adds them for clients that speak v2, and looks for
// others. There is one code for each partition. While the markers of the transaction
// before are on their way it tries again for a while (add.partitions.to.txn.retry.*),
// then, and for clients that do not speak v2 at once, it is CONCURRENT_TRANSACTIONS.
//
// What clients would not understand from who leads a partition is translated as in
// Apache Kafka: PRODUCER_FENCED is INVALID_PRODUCER_EPOCH, and for those that speak v1
// TRANSACTION_ABORTABLE is INVALID_TXN_STATE.
func (c *Coordinator) Enlist(r txn.Partitions, s Speaks, answer func([]kafka.ErrorCode)) {
	told := func(codes []kafka.ErrorCode) {
		for i, code := range codes {
			switch {
			case code == kafka.ErrProducerFenced:
				codes[i] = kafka.ErrInvalidProducerEpoch
			case code == kafka.ErrTransactionAbortable && s == SpeaksV1:
				codes[i] = kafka.ErrInvalidTxnState
			}
		}
		answer(codes)
	}
	if s != SpeaksV2 {
		c.Verify(r, told)
		return
	}
	r.Client = 2
	e := &enlistment{c: c, r: r, answer: told, until: c.o.Now().Add(c.o.EnlistFor)}
	c.mu.Lock()
	closed := c.closed
	if !closed {
		c.enlisting.Add(1)
	}
	c.mu.Unlock()
	if closed {
		e.end(kafka.ErrNotCoordinator)
		return
	}
	e.run()
}

// enlistment is an addition that may have to be tried again.
type enlistment struct {
	c      *Coordinator
	r      txn.Partitions
	answer func([]kafka.ErrorCode)
	until  time.Time
	timer  wheel.Timer
}

func (e *enlistment) run() {
	e.c.AddPartitions(e.r, func(code kafka.ErrorCode) {
		if now := e.c.o.Now(); code == kafka.ErrConcurrentTransactions && now.Before(e.until) {
			e.c.o.Wheel.Schedule(&e.timer, now.Add(e.c.o.EnlistPause), func() { e.c.workers.Submit(e.run) })
			return
		}
		e.end(code)
		e.c.enlisting.Done()
	})
}

func (e *enlistment) end(code kafka.ErrorCode) {
	codes := make([]kafka.ErrorCode, len(e.r.List))
	for i := range codes {
		codes[i] = code
	}
	e.answer(codes)
}
