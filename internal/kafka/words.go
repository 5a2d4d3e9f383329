package kafka

import (
	"cmp"
	"strconv"
)

// Release is the release of Apache Kafka that this one is equal to.
const Release = "4.4.0"

// Offset is the position of a record in its partition. The first is 0.
type Offset int64

// NoOffset stands for "unknown" in the protocol and on disk.
const NoOffset Offset = -1

// LeaderEpoch counts the leaders of a partition; it is written into every batch.
type LeaderEpoch int32

// NoLeaderEpoch stands for "unknown" or "do not check".
const NoLeaderEpoch LeaderEpoch = -1

// PartitionEpoch counts the changes of a partition's registration.
type PartitionEpoch int32

// BrokerID is a node id. It is never negative for a real node.
type BrokerID int32

// NoBroker stands for "no leader" and "unknown node".
const NoBroker BrokerID = -1

// BrokerEpoch is the metadata offset of a broker's registration record.
type BrokerEpoch int64

// NoBrokerEpoch stands for "unknown".
const NoBrokerEpoch BrokerEpoch = -1

// ProducerID names an idempotent or transactional producer.
type ProducerID int64

// NoProducerID marks a batch of a producer that is not idempotent.
const NoProducerID ProducerID = -1

// ProducerEpoch fences older sessions of a producer.
type ProducerEpoch int16

// NoProducerEpoch stands for "unknown".
const NoProducerEpoch ProducerEpoch = -1

// TimestampMs is a record timestamp in milliseconds since 1970-01-01 UTC.
type TimestampMs = int64

// NoTimestamp is the timestamp of a batch or record that has none.
const NoTimestamp TimestampMs = -1

// Timestamps with a meaning of their own in ListOffsets (KIP-79, 734, 405,
// 1005, 1023).
const (
	TimestampLatest                TimestampMs = -1
	TimestampEarliest              TimestampMs = -2
	TimestampMax                   TimestampMs = -3
	TimestampEarliestLocal         TimestampMs = -4
	TimestampLatestTiered          TimestampMs = -5
	TimestampEarliestPendingUpload TimestampMs = -6
)

// Marker ends the transaction of a producer in a partition.
type Marker struct {
	ProducerID    ProducerID
	ProducerEpoch ProducerEpoch
	// CoordinatorEpoch is the leader epoch of the coordinator's partition of
	// __transaction_state.
	CoordinatorEpoch int32
	Commit           bool
	// TransactionVersion is the level of the feature that the transaction ends with. From
	// 2 on the epoch must be above the producer's in the partition, or repeat a marker
	// that has been written.
	TransactionVersion int16
}

// TopicPartition names a partition by topic name.
type TopicPartition struct {
	Topic     string
	Partition int32
}

// String is Kafka's text form, which is also the name of the replica's folder.
func (tp TopicPartition) String() string {
	return tp.Topic + "-" + strconv.Itoa(int(tp.Partition))
}

// Compare orders by topic and number.
func (tp TopicPartition) Compare(other TopicPartition) int {
	return cmp.Or(cmp.Compare(tp.Topic, other.Topic), cmp.Compare(tp.Partition, other.Partition))
}

// TopicIDPartition names a partition by topic id; Topic is for people.
type TopicIDPartition struct {
	ID        UUID
	Topic     string
	Partition int32
}

// TopicPartition drops the id.
func (p TopicIDPartition) TopicPartition() TopicPartition {
	return TopicPartition{Topic: p.Topic, Partition: p.Partition}
}

// IsolationLevel says how far a consumer may read.
type IsolationLevel int8

// The isolation levels of the protocol.
const (
	ReadUncommitted IsolationLevel = 0
	ReadCommitted   IsolationLevel = 1
)

// Valid says whether the protocol knows the level.
func (l IsolationLevel) Valid() bool { return l == ReadUncommitted || l == ReadCommitted }

// LeaderRecoveryState says whether a leader came from an unclean election and
// has not yet said that it is whole again.
type LeaderRecoveryState int8

// The recovery states of the metadata records; RecoveryStateNoChange is used in
// PartitionChangeRecord only.
const (
	RecoveryStateNoChange LeaderRecoveryState = -1
	Recovered             LeaderRecoveryState = 0
	Recovering            LeaderRecoveryState = 1
)

// SecurityProtocol is the protocol of a listener, by Kafka's numbers.
type SecurityProtocol int16

// The security protocols.
const (
	Plaintext     SecurityProtocol = 0
	SSL           SecurityProtocol = 1
	SASLPlaintext SecurityProtocol = 2
	SASLSSL       SecurityProtocol = 3
)

// String is the name used in listener.security.protocol.map.
func (p SecurityProtocol) String() string {
	switch p {
	case Plaintext:
		return "PLAINTEXT"
	case SSL:
		return "SSL"
	case SASLPlaintext:
		return "SASL_PLAINTEXT"
	case SASLSSL:
		return "SASL_SSL"
	}
	return "UNKNOWN_" + strconv.Itoa(int(p))
}

// ParseSecurityProtocol is the reverse of String; ok is false for other names.
func ParseSecurityProtocol(s string) (p SecurityProtocol, ok bool) {
	for p := Plaintext; p <= SASLSSL; p++ {
		if p.String() == s {
			return p, true
		}
	}
	return 0, false
}
