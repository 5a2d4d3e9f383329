package api

import (
	"barnabas/internal/coordinator/txn"
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// addOffsetsToTxn serves AddOffsetsToTxn v0-v4: v2 PRODUCER_FENCED, v4
// TRANSACTION_ABORTABLE. The partition of __consumer_offsets in which the group lives
// becomes part of the transaction.
func (b *Broker) addOffsetsToTxn(c *call) {
	req := c.Msg.(*kmsg.AddOffsetsToTxnRequest)
	answer := func(code kafka.ErrorCode) {
		resp := kmsg.NewPtrAddOffsetsToTxnResponse()
		resp.ErrorCode = int16(fencedBefore(req.Version, 2, code))
		c.ReplyMessage(resp)
	}
	switch {
	case !c.mayTransactionalID(kmsg.ACLOperationWrite, req.TransactionalID):
		answer(kafka.ErrTransactionalIDAuthorizationFailed)
		return
	case !c.mayGroup(kmsg.ACLOperationRead, req.Group):
		answer(kafka.ErrGroupAuthorizationFailed)
		return
	}
	b.Transactions.AddPartitions(txn.Partitions{
		TransactionalID: req.TransactionalID, ProducerID: kafka.ProducerID(req.ProducerID), Epoch: kafka.ProducerEpoch(req.ProducerEpoch),
		List: []kafka.TopicPartition{{Topic: kafka.ConsumerOffsetsTopic, Partition: b.groupPartition(req.Group)}},
	}, answer)
}
