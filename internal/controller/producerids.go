package controller

import (
	"math"

	"barnabas/internal/kafka"
	"barnabas/internal/metadata/metarec"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// producerBlock is how many producer ids a broker gets at once.
const producerBlock = 1000

// AllocateProducerIDs serves AllocateProducerIds v0 (KIP-730).
func (c *Controller) AllocateProducerIDs(ctx Context, req *kmsg.AllocateProducerIDsRequest, done func(*kmsg.AllocateProducerIDsResponse)) {
	answer := req.ResponseKind().(*kmsg.AllocateProducerIDsResponse)
	c.submit(operation{
		name: "allocate producer ids",
		decide: func(a *active) (decision, *refusal) {
			id, epoch := kafka.BrokerID(req.BrokerID), kafka.BrokerEpoch(req.BrokerEpoch)
			if refused := a.checkEpoch(id, epoch); refused != nil {
				return decision{}, refused
			}
			first := max(a.image.NextProducerID, 0)
			if first > math.MaxInt64-producerBlock {
				return decision{}, refuse(kafka.ErrUnknownServerError, "Exhausted all producerIds as the next block's end producerId has exceeded the int64 type limit")
			}
			record := metarec.NewProducerIdsRecord()
			record.BrokerID, record.BrokerEpoch, record.NextProducerID = id, epoch, first+producerBlock
			answer.ProducerIDStart, answer.ProducerIDLen = int64(first), producerBlock
			return decision{records: []metarec.Message{record}, growing: true, answer: func() { done(answer) }}, nil
		},
		refuse: func(r refusal) {
			answer.ErrorCode = int16(r.code)
			answer.ProducerIDStart, answer.ProducerIDLen = 0, 0
			done(answer)
		},
	})
}
