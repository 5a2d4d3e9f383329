package commitlog

import (
	"math"

	"barnabas/internal/kafka"
	"barnabas/internal/record"
)

// keptBatches is how many batches of a producer are remembered, so that one that
// is sent again is recognised.
const keptBatches = 5

// batchMeta remembers one batch of a producer.
type batchMeta struct {
	lastOffset   kafka.Offset
	timestamp    kafka.TimestampMs
	lastSequence int32
	offsetDelta  int32
}

func (m batchMeta) firstSequence() int32 {
	if m.offsetDelta > m.lastSequence {
		return math.MaxInt32 - (m.offsetDelta - m.lastSequence) + 1
	}
	return m.lastSequence - m.offsetDelta
}

func (m batchMeta) firstOffset() kafka.Offset { return m.lastOffset - kafka.Offset(m.offsetDelta) }

// producer is the state of one producer. It holds no pointers and is copied while
// an append is tried.
type producer struct {
	id               kafka.ProducerID
	txnStart         kafka.Offset // first offset of the open transaction; -1: none
	lastTimestamp    kafka.TimestampMs
	coordinatorEpoch int32
	epoch            kafka.ProducerEpoch
	count            int8 // batches that are remembered, oldest first
	batches          [keptBatches]batchMeta
}

func newProducer(id kafka.ProducerID) producer {
	return producer{
		id: id, txnStart: kafka.NoOffset, lastTimestamp: kafka.NoTimestamp,
		coordinatorEpoch: -1, epoch: kafka.NoProducerEpoch,
	}
}

func (p *producer) last() (batchMeta, bool) {
	if p.count == 0 {
		return batchMeta{}, false
	}
	return p.batches[p.count-1], true
}

func (p *producer) lastSequence() int32 {
	if m, ok := p.last(); ok {
		return m.lastSequence
	}
	return record.NoSequence
}

// lastOffset is that of its last batch that is remembered.
func (p *producer) lastOffset() kafka.Offset {
	if m, ok := p.last(); ok {
		return m.lastOffset
	}
	return kafka.NoOffset
}

// duplicate finds the remembered batch that has exactly these sequences.
func (p *producer) duplicate(h *record.Header) (batchMeta, bool) {
	if h.ProducerEpoch != p.epoch {
		return batchMeta{}, false
	}
	last := h.LastSequence()
	for _, m := range p.batches[:p.count] {
		if m.lastSequence == last && m.firstSequence() == h.BaseSequence {
			return m, true
		}
	}
	return batchMeta{}, false
}

// inTransaction says whether the producer has a transaction open in the epoch.
func (p *producer) inTransaction(epoch kafka.ProducerEpoch) bool {
	return p.txnStart >= 0 && p.epoch == epoch
}

// checkData says why a batch of records must not be appended, or ErrNone.
// Sequences are checked for clients only.
func (p *producer) checkData(h *record.Header, sequences bool) kafka.ErrorCode {
	switch {
	case h.ProducerEpoch < p.epoch:
		return kafka.ErrInvalidProducerEpoch
	case sequences && !p.inSequence(h):
		return kafka.ErrOutOfOrderSequenceNumber
	case p.txnStart >= 0 && !h.Attributes.IsTransactional():
		return kafka.ErrInvalidTxnState
	}
	return kafka.ErrNone
}

// inSequence says whether the batch follows the last one: in a new epoch it must
// begin at 0; in the same epoch at the next number. A producer of whom nothing is
// known (its state has expired, or its records are gone) may begin anywhere.
func (p *producer) inSequence(h *record.Header) bool {
	switch {
	case p.epoch == kafka.NoProducerEpoch:
		return true
	case h.ProducerEpoch != p.epoch:
		return h.BaseSequence == 0
	}
	last := p.lastSequence()
	return int64(h.BaseSequence) == int64(last)+1 || h.BaseSequence == 0 && last == math.MaxInt32
}

// addData takes over a batch of records. began says that it opens a transaction.
func (p *producer) addData(h *record.Header, base kafka.Offset) (began bool) {
	p.setEpoch(h.ProducerEpoch)
	if p.count == keptBatches {
		copy(p.batches[:], p.batches[1:])
		p.count--
	}
	p.batches[p.count] = batchMeta{
		lastOffset:   base + kafka.Offset(h.LastOffsetDelta),
		timestamp:    h.MaxTimestamp,
		lastSequence: h.LastSequence(),
		offsetDelta:  h.LastOffsetDelta,
	}
	p.count++
	p.lastTimestamp = h.MaxTimestamp
	if p.txnStart < 0 && h.Attributes.IsTransactional() {
		p.txnStart = base
		return true
	}
	return false
}

func (p *producer) setEpoch(epoch kafka.ProducerEpoch) {
	if epoch != p.epoch {
		p.epoch = epoch
		p.count = 0
	}
}

// checkMarker says why a transaction marker must not be appended, or ErrNone.
// From transaction version 2 on each transaction has an epoch of its own, so a
// marker of the producer's current epoch can only repeat one that was written.
func (p *producer) checkMarker(m kafka.Marker) kafka.ErrorCode {
	stale := m.ProducerEpoch < p.epoch
	if m.TransactionVersion >= 2 && m.ProducerEpoch == p.epoch {
		stale = p.txnStart >= 0 && p.epoch != math.MaxInt16
	}
	switch {
	case stale:
		return kafka.ErrInvalidProducerEpoch
	case p.coordinatorEpoch > m.CoordinatorEpoch:
		return kafka.ErrTransactionCoordinatorFenced
	}
	return kafka.ErrNone
}

// addMarker takes over a marker and returns where the transaction that it ends
// began, or -1 if none was open.
func (p *producer) addMarker(epoch kafka.ProducerEpoch, coordinatorEpoch int32, timestamp kafka.TimestampMs) (began kafka.Offset) {
	began = p.txnStart
	p.setEpoch(epoch)
	p.coordinatorEpoch = coordinatorEpoch
	p.txnStart = kafka.NoOffset
	p.lastTimestamp = timestamp
	return began
}

func (p *producer) expired(now kafka.TimestampMs, c *Config) bool {
	return p.txnStart < 0 && now-p.lastTimestamp >= c.ProducerExpirationMs
}
