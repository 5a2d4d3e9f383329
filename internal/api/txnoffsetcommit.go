package api

import (
	"time"

	"barnabas/internal/coordinator/group"
	"barnabas/internal/coordinator/machine"
	"barnabas/internal/coordinator/transactions"
	"barnabas/internal/coordinator/txn"
	"barnabas/internal/kafka"
	"barnabas/internal/record"
	"barnabas/internal/storage/commitlog"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// txnOffsetCommit serves TxnOffsetCommit v0-v6: v2 leader epochs, v3 members (KIP-447),
// v4 TRANSACTION_ABORTABLE, v5 the partition of the group is added to the transaction
// here (KIP-890), v6 topic ids (KIP-1319).
//
// Partitions that are refused here come first in the answer.
func (b *Broker) txnOffsetCommit(c *call) {
	req := c.Msg.(*kmsg.TxnOffsetCommitRequest)
	asked := offsetsOf(req)
	all := func(code kafka.ErrorCode) { answerTxnCommit(c, req.Version, group.RefusedCommit(asked, code)) }
	switch {
	case !c.mayTransactionalID(kmsg.ACLOperationWrite, req.TransactionalID):
		all(kafka.ErrTransactionalIDAuthorizationFailed)
		return
	case !c.mayGroup(kmsg.ACLOperationRead, req.Group):
		all(kafka.ErrGroupAuthorizationFailed)
		return
	}
	taken, resp := b.sortCommit(c, asked, req.Version >= 6)
	answer := func(done *kmsg.OffsetCommitResponse) { answerTxnCommit(c, req.Version, mergeCommits(resp, done)) }
	refuse := func(code kafka.ErrorCode) { answer(group.RefusedCommit(taken, code)) }
	switch {
	case len(taken.Topics) == 0:
		answerTxnCommit(c, req.Version, resp)
		return
	case req.Group == "":
		refuse(kafka.ErrInvalidGroupID)
		return
	}
	transaction := machine.Transaction{ProducerID: kafka.ProducerID(req.ProducerID), Epoch: kafka.ProducerEpoch(req.ProducerEpoch)}
	b.enlistGroup(req, &transaction, func(code kafka.ErrorCode) {
		if code != kafka.ErrNone {
			refuse(code)
			return
		}
		b.withGroup(req.Group, func(core *group.Core, now time.Time) machine.Decision {
			return core.CommitInTransaction(now, group.TransactionalCommit{Offsets: taken, ByIDs: req.Version >= 6, Transaction: transaction}, answer)
		}, refuse)
	})
}

// txnOffsetCommitAbortable is the version of TxnOffsetCommit that knows TRANSACTION_ABORTABLE.
const txnOffsetCommitAbortable = 4

// enlistGroup makes sure that the partition in which the group lives is part of the
// transaction, unless the transaction is open in it, and gives the transaction the guard
// for its first records there.
func (b *Broker) enlistGroup(req *kmsg.TxnOffsetCommitRequest, t *machine.Transaction, done func(kafka.ErrorCode)) {
	speaks := transactions.SpeaksIn(req.Version, txnOffsetCommitAbortable)
	tp := kafka.TopicPartition{Topic: kafka.ConsumerOffsetsTopic, Partition: b.groupPartition(req.Group)}
	guard, needed, code := b.Replicas.BeginVerification(tp.Topic, tp.Partition, commitlog.Verification{
		ProducerID: t.ProducerID, ProducerEpoch: t.Epoch, Sequence: record.NoSequence, EpochBump: speaks == transactions.SpeaksV2,
	})
	t.Guard = uint64(guard)
	switch {
	case code != kafka.ErrNone:
		done(kafka.ErrNotCoordinator)
	case !needed:
		done(kafka.ErrNone)
	default:
		b.Transactions.Enlist(txn.Partitions{
			TransactionalID: req.TransactionalID, ProducerID: t.ProducerID, Epoch: t.Epoch, List: []kafka.TopicPartition{tp},
		}, speaks, func(codes []kafka.ErrorCode) { done(codes[0]) })
	}
}

// offsetsOf is the request as an OffsetCommit of the last version.
func offsetsOf(req *kmsg.TxnOffsetCommitRequest) *kmsg.OffsetCommitRequest {
	out := kmsg.NewPtrOffsetCommitRequest()
	out.Version = out.MaxVersion()
	out.Group, out.Generation, out.MemberID, out.InstanceID = req.Group, req.Generation, req.MemberID, req.InstanceID
	out.Topics = make([]kmsg.OffsetCommitRequestTopic, len(req.Topics))
	for i := range req.Topics {
		in, t := &req.Topics[i], &out.Topics[i]
		t.Topic, t.TopicID = in.Topic, in.TopicID
		t.Partitions = make([]kmsg.OffsetCommitRequestTopicPartition, len(in.Partitions))
		for j := range in.Partitions {
			p := &in.Partitions[j]
			t.Partitions[j] = kmsg.OffsetCommitRequestTopicPartition{Partition: p.Partition, Offset: p.Offset, LeaderEpoch: p.LeaderEpoch, Metadata: p.Metadata}
		}
	}
	return out
}

// answerTxnCommit answers with what became of the offsets. Producers before version 2
// do not know that a coordinator may be loading.
func answerTxnCommit(c *call, version int16, done *kmsg.OffsetCommitResponse) {
	resp := kmsg.NewPtrTxnOffsetCommitResponse()
	resp.Topics = make([]kmsg.TxnOffsetCommitResponseTopic, len(done.Topics))
	for i := range done.Topics {
		in, t := &done.Topics[i], &resp.Topics[i]
		t.Topic, t.TopicID = in.Topic, in.TopicID
		t.Partitions = make([]kmsg.TxnOffsetCommitResponseTopicPartition, len(in.Partitions))
		for j := range in.Partitions {
			code := kafka.ErrorCode(in.Partitions[j].ErrorCode)
			if version < 2 && code == kafka.ErrCoordinatorLoadInProgress {
				code = kafka.ErrCoordinatorNotAvailable
			}
			t.Partitions[j] = kmsg.TxnOffsetCommitResponseTopicPartition{Partition: in.Partitions[j].Partition, ErrorCode: int16(code)}
		}
	}
	c.ReplyMessage(resp)
}
