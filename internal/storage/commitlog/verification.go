package commitlog

import (
	"slices"

	"barnabas/internal/kafka"
	"barnabas/internal/record"
)

// Guard stands for a verification (KIP-890): the coordinator is asked whether the
// partition is part of the transaction, and only then the batch that begins it here is
// appended. NoGuard is none.
type Guard uint64

// NoGuard verifies nothing.
const NoGuard Guard = 0

// Verification is what has to be verified of a producer.
type Verification struct {
	ProducerID    kafka.ProducerID
	ProducerEpoch kafka.ProducerEpoch
	// Sequence is the first one of what is to be appended, record.NoSequence where there
	// is none.
	Sequence int32
	// EpochBump says that each transaction of the producer has an epoch of its own
	// (transaction version 2): one of which nothing is known begins at 0.
	EpochBump bool
}

// BeginVerification says that a producer is to be verified, or that it need not: it has
// a transaction open in this epoch, and open is set. The guard is valid until a batch of
// a transaction of the producer, or the marker of the transaction, is appended: a
// verification that takes longer than the transaction is worth nothing.
func (l *Log) BeginVerification(now kafka.TimestampMs, v Verification) (g Guard, open bool) {
	if l.HasOpenTxn(v.ProducerID, v.ProducerEpoch) {
		return NoGuard, true
	}
	return l.producers.verify(now, v), false
}

// verifying is a producer whose transaction is being verified, or was and has not begun.
type verifying struct {
	guard  Guard
	since  kafka.TimestampMs
	epoch  kafka.ProducerEpoch
	bump   bool
	lowest int32 // of the sequences that came in this epoch
}

// maxVerifying is how many producers of a log may be in verification. Beyond it those
// are forgotten that are in it for the longest time: they have to be verified anew.
// Apache Kafka has no bound there.
const maxVerifying = 20_000

// verify gives the producer's guard, a new one if it has none.
func (ps *producers) verify(now kafka.TimestampMs, v Verification) Guard {
	entry, known := ps.verifying[v.ProducerID]
	if !known {
		if len(ps.verifying) >= maxVerifying {
			ps.forgetVerifying()
		}
		if ps.verifying == nil {
			ps.verifying = map[kafka.ProducerID]verifying{}
		}
		ps.lastGuard++
		entry = verifying{guard: ps.lastGuard, since: now, epoch: v.ProducerEpoch, bump: v.EpochBump, lowest: v.Sequence}
	}
	switch {
	case v.ProducerEpoch > entry.epoch:
		entry.epoch, entry.lowest = v.ProducerEpoch, v.Sequence
	case v.ProducerEpoch == entry.epoch:
		entry.lowest = min(entry.lowest, v.Sequence)
	}
	ps.verifying[v.ProducerID] = entry
	return entry.guard
}

// forgetVerifying forgets the older half of the producers in verification.
func (ps *producers) forgetVerifying() {
	guards := make([]Guard, 0, len(ps.verifying))
	for _, entry := range ps.verifying {
		guards = append(guards, entry.guard)
	}
	slices.Sort(guards)
	ps.dropVerifying(func(entry verifying) bool { return entry.guard <= guards[len(guards)/2] })
}

func (ps *producers) expireVerifying(now kafka.TimestampMs, c *Config) {
	ps.dropVerifying(func(entry verifying) bool { return now-entry.since >= c.ProducerExpirationMs })
}

func (ps *producers) dropVerifying(drop func(verifying) bool) {
	for id, entry := range ps.verifying {
		if drop(entry) {
			delete(ps.verifying, id)
		}
	}
	if len(ps.verifying) == 0 {
		ps.verifying = nil
	}
}

// voidBy takes in the marker of a transaction: what is being verified comes too late for
// it. Where each transaction has its own epoch the marker has that of the next one, and a
// batch of that epoch or a later one may be in verification already: it belongs to what
// follows the marker. (In Apache Kafka it has to be verified anew, by the client.)
func (ps *producers) voidBy(m kafka.Marker) {
	if entry, known := ps.verifying[m.ProducerID]; known && m.TransactionVersion >= 2 && entry.epoch >= m.ProducerEpoch {
		return
	}
	ps.verified(m.ProducerID)
}

// verified says that a transaction of the producer has begun here: what was verified
// before says nothing about the next one.
func (ps *producers) verified(id kafka.ProducerID) {
	if delete(ps.verifying, id); len(ps.verifying) == 0 {
		ps.verifying = nil
	}
}

// checkVerified says why the first batch of a transaction here must not be appended, or
// ErrNone. p is its producer's state before it.
func (l *Log) checkVerified(h *record.Header, p *producer, g Guard, sequences bool) kafka.ErrorCode {
	entry, known := l.producers.verifying[h.ProducerID]
	switch {
	case l.config.Load().VerifyTransactions && (!known || entry.guard != g):
		return kafka.ErrInvalidTxnState
	case !known || !sequences:
		return kafka.ErrNone
	case entry.bump && p.count == 0 && h.BaseSequence != 0, h.BaseSequence > entry.lowest:
		// Another batch came before, and its verification has failed or is under way.
		return kafka.ErrOutOfOrderSequenceNumber
	}
	return kafka.ErrNone
}
