package api

import (
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// initProducerID serves InitProducerId v0-v5: v3 a producer may name the id and
// epoch it has (KIP-360), v4 PRODUCER_FENCED. Ids come from this broker's block.
//
// A transactional id belongs to a transaction coordinator. This node has none,
// and says so as a broker does that is not the coordinator.
func (b *Broker) initProducerID(c *call) {
	req := c.Msg.(*kmsg.InitProducerIDRequest)
	refuse := func(code kafka.ErrorCode) {
		resp := kmsg.NewPtrInitProducerIDResponse()
		resp.ErrorCode, resp.ProducerID, resp.ProducerEpoch = int16(code), int64(kafka.NoProducerID), int16(kafka.NoProducerEpoch)
		c.ReplyMessage(resp)
	}
	switch {
	case req.TransactionalID != nil && !c.mayTransactionalID(kmsg.ACLOperationWrite, *req.TransactionalID):
		refuse(kafka.ErrTransactionalIDAuthorizationFailed)
	case req.TransactionalID == nil && !c.mayCluster(kmsg.ACLOperationIdempotentWrite) && !b.mayWriteSomewhere(c):
		refuse(kafka.ErrClusterAuthorizationFailed)
	case (req.ProducerID == int64(kafka.NoProducerID)) != (req.ProducerEpoch == int16(kafka.NoProducerEpoch)):
		refuse(kafka.ErrInvalidRequest)
	case req.TransactionalID != nil && *req.TransactionalID == "":
		refuse(kafka.ErrInvalidRequest)
	case req.TransactionalID != nil:
		refuse(kafka.ErrNotCoordinator)
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
