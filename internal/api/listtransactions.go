package api

import (
	"sync"
	"time"

	"barnabas/internal/coordinator/txn"
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// listTransactions serves ListTransactions v0-v2: v1 a filter of durations (KIP-994),
// v2 a pattern of ids (KIP-1152). It lists the transactional ids of this node's
// coordinators that the client may describe. If one of them is being loaded the list
// would not be whole: that is an error.
func (b *Broker) listTransactions(c *call) {
	req := c.Msg.(*kmsg.ListTransactionsRequest)
	resp := kmsg.NewPtrListTransactionsResponse()
	filter, code := txn.NewFilter(req)
	if code != kafka.ErrNone {
		resp.ErrorCode = int16(code)
		c.ReplyMessage(resp)
		return
	}
	resp.UnknownStateFilters = filter.Unknown
	var mu sync.Mutex // guards resp until all are done
	b.Transactions.EachCore(func(core *txn.Core, now time.Time) {
		list := core.List(now, &filter)
		mu.Lock()
		defer mu.Unlock()
		for _, t := range list {
			if c.mayTransactionalID(kmsg.ACLOperationDescribe, t.TransactionalID) {
				resp.TransactionStates = append(resp.TransactionStates, t)
			}
		}
	}, func(code kafka.ErrorCode) {
		if code != kafka.ErrNone {
			resp = kmsg.NewPtrListTransactionsResponse()
			resp.ErrorCode = int16(code)
		}
		c.ReplyMessage(resp)
	})
}
