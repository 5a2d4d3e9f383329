package client

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// The engine moves offsets within a transaction only for a consumer that is the same
// client as the producer. Kafka's API has two; these are the requests for that. They
// are sent in the versions before KIP-890 part 2: an EndTxn of ours that raised the
// epoch would leave the engine with the old one.

type txnOffsetCommit struct{ *kmsg.TxnOffsetCommitRequest }

func (txnOffsetCommit) MaxVersion() int16 { return 4 }

type endTxn struct{ *kmsg.EndTxnRequest }

func (endTxn) MaxVersion() int16 { return 4 }

// addOffsets adds the group to the transaction and then writes the offsets.
func (p *Producer) addOffsets(ctx context.Context, offsets Offsets, group GroupMetadata) error {
	id, epoch, err := p.engine.ProducerID(ctx)
	if err != nil {
		return coordinatorRefused(told(err))
	}
	add := kmsg.NewPtrAddOffsetsToTxnRequest()
	add.TransactionalID, add.ProducerID, add.ProducerEpoch, add.Group = p.transactionalID, id, epoch, group.GroupID
	err = untilCoordinated(ctx, func() error {
		response, err := add.RequestWith(ctx, p.engine)
		if err != nil {
			return err
		}
		return kerr.ErrorForCode(response.ErrorCode)
	})
	if err != nil {
		return coordinatorRefused(fmt.Errorf("group %s: %w", group.GroupID, err))
	}
	p.transaction.offsetsMoved()
	commit := kmsg.NewPtrTxnOffsetCommitRequest()
	commit.TransactionalID, commit.Group, commit.ProducerID, commit.ProducerEpoch = p.transactionalID, group.GroupID, id, epoch
	commit.Generation, commit.MemberID = group.GenerationID, group.MemberID
	if group.InstanceID != "" {
		commit.InstanceID = &group.InstanceID
	}
	for _, topic := range slices.Sorted(maps.Keys(offsets.byTopic())) {
		t := kmsg.NewTxnOffsetCommitRequestTopic()
		t.Topic = topic
		for _, tp := range offsets.byTopic()[topic] {
			o := offsets[tp]
			q := kmsg.NewTxnOffsetCommitRequestTopicPartition()
			q.Partition, q.Offset, q.LeaderEpoch, q.Metadata = tp.Partition, o.Offset, epochOrUnknown(o.LeaderEpoch), &o.Metadata
			t.Partitions = append(t.Partitions, q)
		}
		commit.Topics = append(commit.Topics, t)
	}
	return p.commitInTransaction(ctx, commit, group)
}

func (p *Producer) commitInTransaction(ctx context.Context, commit *kmsg.TxnOffsetCommitRequest, group GroupMetadata) error {
	err := untilCoordinated(ctx, func() error {
		response, err := p.askCoordinator(ctx, ofGroup, group.GroupID, txnOffsetCommit{commit})
		if err != nil {
			return err
		}
		for _, t := range response.(*kmsg.TxnOffsetCommitResponse).Topics {
			for _, q := range t.Partitions {
				if err := kerr.ErrorForCode(q.ErrorCode); err != nil {
					return refusal("partition "+TopicPartition{t.Topic, q.Partition}.String(), err, "")
				}
			}
		}
		return nil
	})
	return coordinatorRefused(memberRefused(err))
}

// endOffsets ends a transaction that has offsets and no records.
func (p *Producer) endOffsets(ctx context.Context, how kgo.TransactionEndTry) error {
	id, epoch, err := p.engine.ProducerID(ctx)
	if err != nil {
		return coordinatorRefused(told(err))
	}
	end := kmsg.NewPtrEndTxnRequest()
	end.TransactionalID, end.ProducerID, end.ProducerEpoch, end.Commit = p.transactionalID, id, epoch, bool(how)
	err = untilCoordinated(ctx, func() error {
		response, err := p.askCoordinator(ctx, ofTransaction, p.transactionalID, endTxn{end})
		if err != nil {
			return err
		}
		return kerr.ErrorForCode(response.(*kmsg.EndTxnResponse).ErrorCode)
	})
	return coordinatorRefused(err)
}

type coordinatorKind int

const (
	ofGroup coordinatorKind = iota
	ofTransaction
)

// askCoordinator finds a coordinator and sends it a request.
func (p *Producer) askCoordinator(ctx context.Context, kind coordinatorKind, name string, request kmsg.Request) (kmsg.Response, error) {
	find, admin := kadm.FindCoordinatorResponse{}, kadm.NewClient(p.engine)
	if kind == ofGroup {
		find = admin.FindGroupCoordinators(ctx, name)[name]
	} else {
		find = admin.FindTxnCoordinators(ctx, name)[name]
	}
	if find.Err != nil {
		return nil, find.Err
	}
	return p.engine.Broker(int(find.NodeID)).Request(ctx, request)
}

// untilCoordinated calls again while a coordinator moves or is still busy with the
// transaction before.
func untilCoordinated(ctx context.Context, call func() error) error {
	for {
		err := call()
		switch {
		case err == nil || ctx.Err() != nil:
			return err
		case !coordinatorAgain(err):
			return told(err)
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return err
		}
	}
}

func coordinatorAgain(err error) bool {
	for _, code := range []*kerr.Error{kerr.CoordinatorNotAvailable, kerr.CoordinatorLoadInProgress, kerr.NotCoordinator,
		kerr.ConcurrentTransactions, kerr.UnknownTopicOrPartition, kerr.RequestTimedOut} {
		if errors.Is(err, code) {
			return true
		}
	}
	_, isCode := errors.AsType[*kerr.Error](err)
	return !isCode && !errors.Is(told(err), ErrClosed)
}

// memberRefused turns what a group answers to a member that it doesn't know any more
// into ErrCommitFailed.
func memberRefused(err error) error {
	for _, code := range []*kerr.Error{kerr.UnknownMemberID, kerr.IllegalGeneration, kerr.StaleMemberEpoch} {
		if errors.Is(err, code) {
			return fmt.Errorf("%w: %w", ErrCommitFailed, err)
		}
	}
	return err
}

func (o Offsets) byTopic() map[string][]TopicPartition {
	m := make(map[string][]TopicPartition)
	for _, tp := range slices.SortedFunc(maps.Keys(o), compareTopicPartitions) {
		m[tp.Topic] = append(m[tp.Topic], tp)
	}
	return m
}
