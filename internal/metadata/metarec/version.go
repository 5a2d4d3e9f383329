package metarec

import "barnabas/internal/kafka"

// NoLeaderChange is the Leader of a PartitionChangeRecord that leaves the leader as
// it is.
const NoLeaderChange kafka.BrokerID = -2

// Values of BrokerRegistrationChangeRecord.Fenced.
const (
	FencingNoChange int8 = 0
	FencingFence    int8 = 1
	FencingUnfence  int8 = -1
)

// Values of BrokerRegistrationChangeRecord.InControlledShutdown.
const (
	ControlledShutdownNoChange int8 = 0
	ControlledShutdownEnter    int8 = 1
)

// VersionAt returns the version at which a cluster of that metadata.version writes
// m. BrokerRegistrationChangeRecord goes by its content: the lowest version that has
// room for the fields that are set.
func VersionAt(m Message, mv kafka.MetadataVersion) int16 {
	switch m := m.(type) {
	case *RegisterBrokerRecord:
		return registerBrokerVersion(mv)
	case *PartitionRecord, *PartitionChangeRecord:
		return partitionVersion(mv)
	case *BrokerRegistrationChangeRecord:
		return m.lowestVersion()
	}
	return 0
}

// At pairs m with the version that VersionAt chooses.
func At(m Message, mv kafka.MetadataVersion) Versioned {
	return Versioned{Message: m, Version: VersionAt(m, mv)}
}

func registerBrokerVersion(mv kafka.MetadataVersion) int16 {
	switch {
	case mv >= kafka.MetadataVersionCordonedDirs:
		return 4
	case mv >= kafka.MetadataVersionDirectories:
		return 3
	case mv >= kafka.MetadataVersionMigration:
		return 2
	default:
		return 1
	}
}

func partitionVersion(mv kafka.MetadataVersion) int16 {
	switch {
	case mv >= kafka.MetadataVersionELR:
		return 2
	case mv >= kafka.MetadataVersionDirectories:
		return 1
	default:
		return 0
	}
}

func (m *BrokerRegistrationChangeRecord) lowestVersion() int16 {
	switch {
	case m.CordonedLogDirs != nil:
		return 3
	case len(m.LogDirs) > 0:
		return 2
	case m.InControlledShutdown != ControlledShutdownNoChange:
		return 1
	default:
		return 0
	}
}
