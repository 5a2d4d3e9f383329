package group

import (
	"time"

	"barnabas/internal/coordinator/consumergroup"
	"barnabas/internal/coordinator/machine"
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// TransactionalCommit is what TxnOffsetCommit asks for. Versions: 2 leader epochs; 3
// members may be named (KIP-447); 5 the partition in which the group lives is added to
// the transaction by who leads it (KIP-890); 6 topic ids, GROUP_ID_NOT_FOUND and
// STALE_MEMBER_EPOCH (KIP-1319).
type TransactionalCommit struct {
	// Offsets has group, member and topics as OffsetCommit has them. Its version is one
	// without a retention time.
	Offsets *kmsg.OffsetCommitRequest
	// ByIDs says that the request is of version 6 or later.
	ByIDs       bool
	Transaction machine.Transaction
}

// CommitInTransaction serves TxnOffsetCommit, when the partition is known to be part of
// the transaction. The topics have been looked up. The offsets count when the
// transaction is committed.
//
// The answer comes when the records are committed. Its codes are also what the log has
// against the producer.
func (c *Core) CommitInTransaction(now time.Time, r TransactionalCommit, reply func(*kmsg.OffsetCommitResponse)) machine.Decision {
	c.tell(now)
	if code := c.mayCommitInTransaction(&r); code != kafka.ErrNone {
		reply(RefusedCommit(r.Offsets, code))
		return machine.Decision{}
	}
	d := c.commit(now, r.Offsets, reply)
	if len(d.Records) > 0 {
		d.Transaction = &r.Transaction
	}
	return d
}

// mayCommitInTransaction says whether the group takes the commit. Who names no member
// is not checked: clients before KIP-447 do not.
func (c *Core) mayCommitInTransaction(r *TransactionalCommit) kafka.ErrorCode {
	req := r.Offsets
	e, ok := c.groups.Get(req.Group)
	switch {
	case !ok && req.Generation >= 0 && r.ByIDs:
		return kafka.ErrGroupIDNotFound
	case !ok && req.Generation >= 0:
		return kafka.ErrIllegalGeneration
	case !ok && c.groups.Len() >= maxGroups:
		return kafka.ErrCoordinatorNotAvailable
	case !ok:
		return kafka.ErrNone
	case e.foreign != nil:
		return e.foreign.mayCommitInTransaction(r)
	case e.consumer != nil:
		return c.mayCommitConsumerInTransaction(e.consumer, r)
	}
	g := e.classic
	if req.Generation < 0 && g.state == stateEmpty || namesNobody(req) {
		return kafka.ErrNone
	}
	if _, code := g.validate(req.MemberID, req.InstanceID); code != kafka.ErrNone {
		return code
	}
	if req.Generation != g.generation {
		return kafka.ErrIllegalGeneration
	}
	return kafka.ErrNone
}

// mayCommitConsumerInTransaction is mayCommitConsumer for TxnOffsetCommit. Clients before
// version 6 know of generations alone.
func (c *Core) mayCommitConsumerInTransaction(g *consumergroup.Group, r *TransactionalCommit) kafka.ErrorCode {
	if namesNobody(r.Offsets) {
		return kafka.ErrNone
	}
	stale, code := c.mayCommitConsumer(g, r.Offsets)
	if code == kafka.ErrNone && stale != nil {
		code = stale.check(r.Offsets)
	}
	if code == kafka.ErrStaleMemberEpoch && !r.ByIDs {
		return kafka.ErrIllegalGeneration
	}
	return code
}

// namesNobody says whether a commit comes without a member.
func namesNobody(req *kmsg.OffsetCommitRequest) bool {
	return req.Generation < 0 && req.MemberID == "" && req.InstanceID == nil
}

// mayCommitInTransaction is why the group does not take the offsets of TxnOffsetCommit.
func (f *foreignGroup) mayCommitInTransaction(r *TransactionalCommit) kafka.ErrorCode {
	req := r.Offsets
	m, ok := f.members[req.MemberID]
	switch {
	case f.kind == kindShare:
		return kafka.ErrGroupIDNotFound
	case req.Generation < 0 && len(f.members) == 0 || namesNobody(req):
		return kafka.ErrNone
	case !ok:
		return kafka.ErrUnknownMemberID
	case req.Generation != m.epoch && r.ByIDs:
		return kafka.ErrStaleMemberEpoch
	case req.Generation != m.epoch:
		return kafka.ErrIllegalGeneration
	}
	return kafka.ErrNone
}
