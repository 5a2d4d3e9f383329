package api

import (
	"barnabas/internal/coordinator/group"
	"barnabas/internal/coordinator/runtime"
	"barnabas/internal/kafka"
)

// withGroup runs an operation with the core in which a group lives, or calls refuse
// with the reason why not.
func (b *Broker) withGroup(id string, op runtime.Operation[*group.Core], refuse func(kafka.ErrorCode)) {
	b.Groups.Do(b.groupPartition(id), op, refuse)
}

// groupPartition is the partition of __consumer_offsets in which a group lives.
// While there is no such topic it is one of those that there will be.
func (b *Broker) groupPartition(id string) int32 {
	n := int32(b.Config.InternalTopics.OffsetsPartitions)
	if t := b.Image().Topics.ByName(kafka.ConsumerOffsetsTopic); t != nil {
		n = int32(t.Len())
	}
	return kafka.CoordinatorPartition(id, n)
}
