package api

import (
	"slices"

	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// describeTransactions serves DescribeTransactions v0 (KIP-664). Topics that the client
// may not describe are left out.
func (b *Broker) describeTransactions(c *call) {
	req := c.Msg.(*kmsg.DescribeTransactionsRequest)
	resp := kmsg.NewPtrDescribeTransactionsResponse()
	named := newRepeats[string](len(req.TransactionalIDs))
	ids := slices.DeleteFunc(req.TransactionalIDs, named.tooOften)
	resp.TransactionStates = make([]kmsg.DescribeTransactionsResponseTransactionState, len(ids))
	all := newGathering(len(ids), func() { c.ReplyMessage(resp) })
	for i, id := range ids {
		if !c.mayTransactionalID(kmsg.ACLOperationDescribe, id) {
			resp.TransactionStates[i] = kmsg.NewDescribeTransactionsResponseTransactionState()
			resp.TransactionStates[i].TransactionalID = id
			resp.TransactionStates[i].ErrorCode = int16(kafka.ErrTransactionalIDAuthorizationFailed)
			all.done()
			continue
		}
		b.Transactions.Describe(id, func(s kmsg.DescribeTransactionsResponseTransactionState) {
			topics := s.Topics[:0]
			for _, t := range s.Topics {
				if c.mayTopic(kmsg.ACLOperationDescribe, t.Topic) {
					topics = append(topics, t)
				}
			}
			s.Topics = topics
			resp.TransactionStates[i] = s
			all.done()
		})
	}
}
