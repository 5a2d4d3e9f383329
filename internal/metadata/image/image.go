package image

import (
	"cmp"

	"barnabas/internal/base/immut"
	"barnabas/internal/kafka"
	"barnabas/internal/metadata/metarec"
)

// Image is everything that the metadata log says up to a position. Pass it by
// pointer. The fields are to be read only.
type Image struct {
	Position Position
	Features Features
	Cluster  Cluster
	Topics   Topics
	Configs  Configs
	// Quotas are the client quotas by the key of their entity.
	Quotas immut.Map[QuotaKey, *Quota]
	// NextProducerID is the first id of the next block; NoProducerID when no block
	// was handed out yet.
	NextProducerID kafka.ProducerID
	// ACLs are the access control entries by id, as their records said.
	ACLs immut.Map[kafka.UUID, *metarec.AccessControlEntryRecord]
	// SCRAM are the credentials, as their records said.
	SCRAM immut.Map[SCRAMKey, *metarec.UserScramCredentialRecord]
	// Tokens are the delegation tokens by token id, as their records said.
	Tokens immut.Map[string, *metarec.DelegationTokenRecord]
}

// Empty returns the image of a log without records.
func Empty() *Image {
	return &Image{
		Position: Position{Offset: kafka.NoOffset, Epoch: kafka.NoLeaderEpoch, Timestamp: kafka.NoTimestamp, Aligned: true},
		Features: Features{Levels: immut.New[string, int16](cmp.Compare[string])},
		Cluster: Cluster{
			Brokers:     immut.New[kafka.BrokerID, *Broker](cmp.Compare[kafka.BrokerID]),
			Controllers: immut.New[kafka.BrokerID, *metarec.RegisterControllerRecord](cmp.Compare[kafka.BrokerID]),
		},
		Topics: Topics{
			byName: immut.New[string, *Topic](cmp.Compare[string]),
			byID:   immut.New[kafka.UUID, *Topic](compareUUID),
		},
		Configs:        Configs{immut.New[ConfigResource, ConfigValues](compareResource)},
		Quotas:         immut.New[QuotaKey, *Quota](cmp.Compare[QuotaKey]),
		NextProducerID: kafka.NoProducerID,
		ACLs:           immut.New[kafka.UUID, *metarec.AccessControlEntryRecord](compareUUID),
		SCRAM:          immut.New[SCRAMKey, *metarec.UserScramCredentialRecord](compareSCRAMKey),
		Tokens:         immut.New[string, *metarec.DelegationTokenRecord](cmp.Compare[string]),
	}
}

// Position says which part of the log an image stands for.
type Position struct {
	// Offset is that of the last record; NoOffset before the first.
	Offset kafka.Offset
	Epoch  kafka.LeaderEpoch
	// Timestamp is the append time of the last batch.
	Timestamp kafka.TimestampMs
	// Aligned says that the position is the end of a batch, so that a snapshot may
	// stand for it.
	Aligned bool
}

// Features are the finalized levels of the cluster's features.
type Features struct {
	// MetadataVersion is 0 as long as no record named it.
	MetadataVersion kafka.MetadataVersion
	// Levels are those of the other features that are above 0.
	Levels immut.Map[string, int16]
}

// Level is the finalized level of the feature, metadata.version included; 0 when it
// has none.
func (f *Features) Level(name string) int16 {
	if name == kafka.FeatureMetadataVersion {
		return int16(f.MetadataVersion)
	}
	level, _ := f.Levels.Get(name)
	return level
}

// ELREnabled says whether eligible leader replicas are kept (KIP-966).
func (f *Features) ELREnabled() bool { return f.Level(kafka.FeatureELR) >= 1 }
