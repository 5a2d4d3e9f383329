package api

import (
	"barnabas/internal/coordinator/txn"
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// initProducerID serves InitProducerId v0-v5: v3 a producer may name the id and
// epoch it has (KIP-360), v4 PRODUCER_FENCED. Ids come from this broker's block.
//
// A transactional id belongs to a transaction coordinator, which gives out epochs.
func (b *Broker) initProducerID(c *call) {
	req := c.Msg.(*kmsg.InitProducerIDRequest)
	refuse := func(code kafka.ErrorCode) {
		resp := kmsg.NewPtrInitProducerIDResponse()
		resp.ErrorCode, resp.ProducerID, resp.ProducerEpoch = int16(fencedBefore(req.Version, 4, code)), int64(kafka.NoProducerID), int16(kafka.NoProducerEpoch)
		c.ReplyMessage(resp)
	}
	switch {
	case req.TransactionalID != nil && !c.mayTransactionalID(kmsg.ACLOperationWrite, *req.TransactionalID):
		refuse(kafka.ErrTransactionalIDAuthorizationFailed)
	case req.TransactionalID == nil && !c.mayCluster(kmsg.ACLOperationIdempotentWrite) && !b.mayWriteSomewhere(c):
		refuse(kafka.ErrClusterAuthorizationFailed)
	case (req.ProducerID == int64(kafka.NoProducerID)) != (req.ProducerEpoch == int16(kafka.NoProducerEpoch)):
		refuse(kafka.ErrInvalidRequest)
	case req.TransactionalID != nil:
		b.Transactions.InitProducerID(txn.InitProducerID{
			TransactionalID: *req.TransactionalID, TimeoutMs: req.TransactionTimeoutMillis,
			ProducerID: kafka.ProducerID(req.ProducerID), Epoch: kafka.ProducerEpoch(req.ProducerEpoch),
		}, func(p txn.Producer) {
			if p.Code != kafka.ErrNone {
				refuse(p.Code)
				return
			}
			resp := kmsg.NewPtrInitProducerIDResponse()
			resp.ProducerID, resp.ProducerEpoch = int64(p.ID), int16(p.Epoch)
			c.ReplyMessage(resp)
		})
	default:
		b.ProducerIDs.Next(func(id kafka.ProducerID, code kafka.ErrorCode) {
			if code != kafka.ErrNone {
				refuse(code)
				return
			}
			resp := kmsg.NewPtrInitProducerIDResponse()
			resp.ProducerID = int64(id)
			c.ReplyMessage(resp)
		})
	}
}

// mayWriteSomewhere says whether the client may write to any topic, which allows
// idempotent writing too (KIP-679).
func (b *Broker) mayWriteSomewhere(c *call) bool {
	for t := range b.Image().Topics.All() {
		if c.mayTopic(kmsg.ACLOperationWrite, t.Name) {
			return true
		}
	}
	return false
}
