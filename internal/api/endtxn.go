package api

import (
	"barnabas/internal/coordinator/txn"
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// endTxn serves EndTxn v0-v5: v2 PRODUCER_FENCED, v4 TRANSACTION_ABORTABLE, v5 the
// producer id and epoch of the next transaction (KIP-890). Which rules hold follows
// from the version alone.
func (b *Broker) endTxn(c *call) {
	req := c.Msg.(*kmsg.EndTxnRequest)
	answer := func(p txn.Producer) {
		resp := kmsg.NewPtrEndTxnResponse()
		resp.ErrorCode = int16(fencedBefore(req.Version, 2, p.Code))
		resp.ProducerID, resp.ProducerEpoch = int64(p.ID), int16(p.Epoch)
		c.ReplyMessage(resp)
	}
	if !c.mayTransactionalID(kmsg.ACLOperationWrite, req.TransactionalID) {
		answer(txn.Producer{Code: kafka.ErrTransactionalIDAuthorizationFailed, ID: kafka.NoProducerID, Epoch: kafka.NoProducerEpoch})
		return
	}
	end := txn.End{
		TransactionalID: req.TransactionalID, ProducerID: kafka.ProducerID(req.ProducerID), Epoch: kafka.ProducerEpoch(req.ProducerEpoch), Commit: req.Commit,
	}
	if req.Version >= 5 {
		end.Client = 2
	}
	b.Transactions.End(end, answer)
}
