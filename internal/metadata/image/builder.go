package image

import (
	"encoding/binary"

	"barnabas/internal/base/immut"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/metarec"
)

// Builder makes the next image out of one and records. It belongs to one goroutine.
type Builder struct {
	base    *Image
	img     Image // base with the records so far
	owner   *immut.Owner
	changes changes
	// Lists of equal content share their memory.
	brokerLists    map[string][]kafka.BrokerID
	directoryLists map[string][]kafka.UUID
	key            []byte // room for a key of these
}

// NewBuilder begins with base, which stays as it is.
func NewBuilder(base *Image) *Builder {
	return &Builder{base: base, img: *base, owner: immut.NewOwner()}
}

// Base is the image that the builder began with.
func (b *Builder) Base() *Image { return b.base }

// Current is what the records so far give. It changes with the next Replay and must
// not be kept; so do the topics and partitions in it.
func (b *Builder) Current() *Image { return &b.img }

// Changed says whether a record changed something so far. NoOp records do not.
func (b *Builder) Changed() bool { return b.changes.any() }

// Build returns the image of base and the records so far, and what changed since
// base. The builder may go on from there; a later Build tells the changes since base
// again.
func (b *Builder) Build(pos Position) (*Image, *Delta) {
	b.img.Position = pos
	img := b.img
	b.owner = immut.NewOwner()
	return &img, b.changes.delta(b.base, &img)
}

// Replay changes the image as the record says. The builder keeps the record's memory:
// it must not be changed any more. Records of transactions are not for a builder but
// for a Stream.
func (b *Builder) Replay(m metarec.Message) error {
	switch r := m.(type) {
	case *metarec.NoOpRecord, *metarec.ZkMigrationStateRecord:
		return nil
	case *metarec.RegisterBrokerRecord, *metarec.UnregisterBrokerRecord, *metarec.FenceBrokerRecord,
		*metarec.UnfenceBrokerRecord, *metarec.BrokerRegistrationChangeRecord,
		*metarec.RegisterControllerRecord, *metarec.UnregisterControllerRecord:
		return b.replayCluster(m)
	case *metarec.TopicRecord, *metarec.PartitionRecord, *metarec.PartitionChangeRecord,
		*metarec.RemoveTopicRecord, *metarec.ClearElrRecord:
		return b.replayTopics(m)
	case *metarec.FeatureLevelRecord:
		return b.replayFeature(r)
	case *metarec.ConfigRecord:
		b.replayConfig(r)
	case *metarec.ClientQuotaRecord:
		b.replayQuota(r)
	case *metarec.ProducerIdsRecord:
		b.img.NextProducerID = r.NextProducerID
		b.changes.producerIDs = true
	default:
		return b.replayAccess(m)
	}
	return nil
}

// brokers returns a list with the content of ids that may be kept for ever.
func (b *Builder) brokers(ids []kafka.BrokerID) []kafka.BrokerID {
	if len(ids) == 0 {
		return nil
	}
	b.key = b.key[:0]
	for _, id := range ids {
		b.key = binary.BigEndian.AppendUint32(b.key, uint32(id))
	}
	if list, ok := b.brokerLists[string(b.key)]; ok {
		return list
	}
	if b.brokerLists == nil {
		b.brokerLists = map[string][]kafka.BrokerID{}
	}
	b.brokerLists[string(b.key)] = ids
	return ids
}

// directories is the same for lists of directories.
func (b *Builder) directories(ids []kafka.UUID) []kafka.UUID {
	if len(ids) == 0 {
		return nil
	}
	b.key = b.key[:0]
	for _, id := range ids {
		b.key = append(b.key, id[:]...)
	}
	if list, ok := b.directoryLists[string(b.key)]; ok {
		return list
	}
	if b.directoryLists == nil {
		b.directoryLists = map[string][]kafka.UUID{}
	}
	b.directoryLists[string(b.key)] = ids
	return ids
}
