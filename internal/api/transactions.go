package api

import (
	"barnabas/internal/coordinator/txn"
	"barnabas/internal/kafka"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// fencedBefore is PRODUCER_FENCED as requests below a version know it.
func fencedBefore(version, since int16, code kafka.ErrorCode) kafka.ErrorCode {
	if version < since && code == kafka.ErrProducerFenced {
		return kafka.ErrInvalidProducerEpoch
	}
	return code
}

// enlist splits the partitions that a request wants in a transaction: those that can
// be there, and what the others are answered. Clients may not name internal topics;
// brokers do, for offsets.
func (b *Broker) enlist(c *call, fromClient bool, list []kafka.TopicPartition) (good []kafka.TopicPartition, refused map[kafka.TopicPartition]kafka.ErrorCode) {
	img := b.Image()
	refused = map[kafka.TopicPartition]kafka.ErrorCode{}
	for _, tp := range list {
		switch t := img.Topics.ByName(tp.Topic); {
		case fromClient && (kafka.IsInternalTopic(tp.Topic) || !c.mayTopic(kmsg.ACLOperationWrite, tp.Topic)):
			refused[tp] = kafka.ErrTopicAuthorizationFailed
		case t == nil || t.Partition(tp.Partition) == nil:
			refused[tp] = kafka.ErrUnknownTopicOrPartition
		default:
			good = append(good, tp)
		}
	}
	return good, refused
}

// addOrVerify asks the coordinator about partitions that can be in the transaction. If
// one of the list cannot, nothing is done with the others.
func (b *Broker) addOrVerify(c *call, verify, fromClient bool, r txn.Partitions, answer func(map[kafka.TopicPartition]kafka.ErrorCode)) {
	good, codes := b.enlist(c, fromClient, r.List)
	all := func(code kafka.ErrorCode) {
		for _, tp := range good {
			codes[tp] = code
		}
		answer(codes)
	}
	r.List = good
	switch {
	case len(codes) > 0:
		all(kafka.ErrOperationNotAttempted)
	case verify:
		b.Transactions.Verify(r, func(each []kafka.ErrorCode) {
			for i, tp := range good {
				codes[tp] = each[i]
			}
			answer(codes)
		})
	default:
		b.Transactions.AddPartitions(r, all)
	}
}
