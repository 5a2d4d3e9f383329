package replica

import (
	"slices"
	"strings"
	"sync/atomic"

	"barnabas/internal/kafka"
	"barnabas/internal/record"
	"barnabas/internal/storage/commitlog"
)

// Transactions knows which partitions are part of which transaction.
type Transactions interface {
	// Enlist makes sure that partitions are part of a transaction, and calls answer once
	// with a code for each of them, on any goroutine, possibly before it returns.
	Enlist(e Enlistment, answer func([]kafka.ErrorCode))
}

// Enlistment is what a Produce request is about to do.
type Enlistment struct {
	TransactionalID string
	ProducerID      kafka.ProducerID
	ProducerEpoch   kafka.ProducerEpoch
	Version         int16 // of the request
	Partitions      []kafka.TopicPartition
}

// epochBumpFrom is the version of Produce from which on each transaction of its sender
// has an epoch of its own, and partitions are added here (KIP-890).
const epochBumpFrom = 12

// beginVerification gives a guard if the coordinator has to be asked whether the batch
// belongs to a transaction: none of its producer and epoch is open here.
func (p *Partition) beginVerification(r *role, b record.Batch, version int16) commitlog.Guard {
	bump := version >= epochBumpFrom
	if !bump && !r.settings.log.VerifyTransactions {
		return commitlog.NoGuard
	}
	guard, _ := p.guard(r.leaderEpoch, commitlog.Verification{
		ProducerID: b.ProducerID(), ProducerEpoch: b.ProducerEpoch(), Sequence: b.BaseSequence(), EpochBump: bump,
	})
	return guard
}

// guard is commitlog's BeginVerification under the append lock. Where this node does
// not lead with the epoch any more there is none, and the append will say so.
func (p *Partition) guard(epoch kafka.LeaderEpoch, v commitlog.Verification) (commitlog.Guard, kafka.ErrorCode) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.role.Load()
	if code := r.forClient(epoch); code != kafka.ErrNone {
		return commitlog.NoGuard, code
	}
	guard, _ := r.log.BeginVerification(p.env.now().UnixMilli(), v)
	return guard, kafka.ErrNone
}

// BeginVerification is for batches that a coordinator appends on behalf of a producer:
// needed says that the producer's coordinator has to be asked first. The guard goes to
// Led.Append.
func (m *Manager) BeginVerification(topic string, partition int32, v commitlog.Verification) (guard commitlog.Guard, needed bool, code kafka.ErrorCode) {
	p, code := m.hosted(topic, partition)
	if code != kafka.ErrNone {
		return commitlog.NoGuard, false, code
	}
	r := p.role.Load()
	if code := r.forClient(kafka.NoLeaderEpoch); code != kafka.ErrNone {
		return commitlog.NoGuard, false, code
	}
	if !v.EpochBump && !r.settings.log.VerifyTransactions {
		return commitlog.NoGuard, false, kafka.ErrNone
	}
	guard, code = p.guard(r.leaderEpoch, v)
	return guard, guard != commitlog.NoGuard, code
}

// verification is a request whose transaction begins in partitions. Nothing of it, nor
// of what its connection has sent after it, is appended before the coordinator has
// answered. Each connection has one at most.
type verification struct {
	m     *Manager
	rest  []*Produce // the request and those behind it, once Manager.Produce has left
	state atomic.Int32
}

// The states of a verification.
const (
	asking   int32 = iota
	answered       // while Manager.Produce was there
	left           // Manager.Produce has left before
)

// verify asks the coordinator about a request. It is false if the answer takes longer:
// then the request, and those behind it, go on when it is there.
func (m *Manager) verify(p *Produce, behind []*Produce) bool {
	v := &verification{m: m}
	e := Enlistment{TransactionalID: strings.Clone(p.TransactionalID), Version: p.Version}
	var list []*Append
	for i := range p.Appends {
		if a := &p.Appends[i]; a.Out.ErrorCode == 0 && a.guard != commitlog.NoGuard {
			list = append(list, a)
			e.ProducerID, e.ProducerEpoch = a.batch.Batch.ProducerID(), a.batch.Batch.ProducerEpoch()
			e.Partitions = append(e.Partitions, a.partition.id.TopicPartition())
		}
	}
	m.opts.Transactions.Enlist(e, func(codes []kafka.ErrorCode) {
		for i, a := range list {
			if codes[i] != kafka.ErrNone {
				a.refuseUnverified(codes[i])
			}
		}
		p.verified = true
		if !v.state.CompareAndSwap(asking, answered) {
			m.env.answers.submit(v)
		}
	})
	if v.state.Load() == answered {
		return true
	}
	v.rest = append([]*Produce{p}, slices.Clone(behind)...)
	return !v.state.CompareAndSwap(asking, left)
}

// run goes on with the requests.
func (v *verification) run() { v.m.Produce(v.rest) }

// refuseUnverified refuses an append with what the coordinator said. Where that may
// pass, the client is told something that every client tries again without looking for
// another leader.
func (a *Append) refuseUnverified(code kafka.ErrorCode) {
	var text string
	switch code {
	case kafka.ErrInvalidTxnState:
		text = "Partition was not added to the transaction"
	case kafka.ErrNetworkException, kafka.ErrCoordinatorLoadInProgress, kafka.ErrCoordinatorNotAvailable, kafka.ErrNotCoordinator, kafka.ErrConcurrentTransactions:
		text = "Unable to verify the partition has been added to the transaction. Underlying error: " + code.String()
		code = kafka.ErrNotEnoughReplicas
	}
	if text != "" {
		a.Out.ErrorMessage = &text
	}
	a.refuse(code)
}
