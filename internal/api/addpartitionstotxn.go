package api

import (
	"sync"

	"barnabas/internal/coordinator/txn"
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// addPartitionsToTxn serves AddPartitionsToTxn v0-v5: v2 PRODUCER_FENCED, v4 from
// brokers alone, several transactions and verification (KIP-890), v5
// TRANSACTION_ABORTABLE.
func (b *Broker) addPartitionsToTxn(c *call) {
	if c.Header.Version >= 4 {
		b.addPartitionsOfTransactions(c)
		return
	}
	req := c.Msg.(*kmsg.AddPartitionsToTxnRequest)
	resp := kmsg.NewPtrAddPartitionsToTxnResponse()
	var list []kafka.TopicPartition
	for i := range req.Topics {
		t := &req.Topics[i]
		out := kmsg.NewAddPartitionsToTxnResponseTopic()
		out.Topic = t.Topic
		for _, p := range t.Partitions {
			list = append(list, kafka.TopicPartition{Topic: t.Topic, Partition: p})
			out.Partitions = append(out.Partitions, kmsg.AddPartitionsToTxnResponseTopicPartition{Partition: p})
		}
		resp.Topics = append(resp.Topics, out)
	}
	answer := func(codeOf func(kafka.TopicPartition) kafka.ErrorCode) {
		for i := range resp.Topics {
			for j := range resp.Topics[i].Partitions {
				p := &resp.Topics[i].Partitions[j]
				code := codeOf(kafka.TopicPartition{Topic: resp.Topics[i].Topic, Partition: p.Partition})
				p.ErrorCode = int16(fencedBefore(req.Version, 2, code))
			}
		}
		c.ReplyMessage(resp)
	}
	if !c.mayTransactionalID(kmsg.ACLOperationWrite, req.TransactionalID) {
		answer(func(kafka.TopicPartition) kafka.ErrorCode { return kafka.ErrTransactionalIDAuthorizationFailed })
		return
	}
	r := txn.Partitions{
		TransactionalID: req.TransactionalID, ProducerID: kafka.ProducerID(req.ProducerID), Epoch: kafka.ProducerEpoch(req.ProducerEpoch), List: list,
	}
	b.addOrVerify(c, false, true, r, func(codes map[kafka.TopicPartition]kafka.ErrorCode) {
		answer(func(tp kafka.TopicPartition) kafka.ErrorCode { return codes[tp] })
	})
}

// addPartitionsOfTransactions serves v4 and v5, which brokers send.
func (b *Broker) addPartitionsOfTransactions(c *call) {
	req := c.Msg.(*kmsg.AddPartitionsToTxnRequest)
	resp := kmsg.NewPtrAddPartitionsToTxnResponse()
	if !clusterAction(c, resp, func(code int16) { resp.ErrorCode = code }) {
		return
	}
	resp.Transactions = make([]kmsg.AddPartitionsToTxnResponseTransaction, len(req.Transactions))
	var mu sync.Mutex // guards resp until all are done
	all := newGathering(len(req.Transactions), func() { c.ReplyMessage(resp) })
	for i := range req.Transactions {
		t := &req.Transactions[i]
		r := txn.Partitions{
			TransactionalID: t.TransactionalID, ProducerID: kafka.ProducerID(t.ProducerID), Epoch: kafka.ProducerEpoch(t.ProducerEpoch), Client: 2,
		}
		for j := range t.Topics {
			for _, p := range t.Topics[j].Partitions {
				r.List = append(r.List, kafka.TopicPartition{Topic: t.Topics[j].Topic, Partition: p})
			}
		}
		b.addOrVerify(c, t.VerifyOnly, false, r, func(codes map[kafka.TopicPartition]kafka.ErrorCode) {
			mu.Lock()
			resp.Transactions[i] = transactionResult(t, codes)
			mu.Unlock()
			all.done()
		})
	}
}

func transactionResult(t *kmsg.AddPartitionsToTxnRequestTransaction, codes map[kafka.TopicPartition]kafka.ErrorCode) kmsg.AddPartitionsToTxnResponseTransaction {
	out := kmsg.NewAddPartitionsToTxnResponseTransaction()
	out.TransactionalID = t.TransactionalID
	for i := range t.Topics {
		if t.VerifyOnly && len(t.Topics[i].Partitions) == 0 {
			continue // there is nothing to say of it [4.4]
		}
		topic := kmsg.NewAddPartitionsToTxnResponseTransactionTopic()
		topic.Topic = t.Topics[i].Topic
		for _, p := range t.Topics[i].Partitions {
			code := codes[kafka.TopicPartition{Topic: topic.Topic, Partition: p}]
			topic.Partitions = append(topic.Partitions, kmsg.AddPartitionsToTxnResponseTransactionTopicPartition{Partition: p, ErrorCode: int16(code)})
		}
		out.Topics = append(out.Topics, topic)
	}
	return out
}
