package kafka

// MetadataVersion is a level of the feature metadata.version: which records a
// cluster may write.
type MetadataVersion int16

// The metadata.version levels that this release knows (class MetadataVersion).
const (
	MinMetadataVersion    MetadataVersion = 7  // 3.3-IV3, the oldest that 4.x opens
	LatestMetadataVersion MetadataVersion = 33 // 4.4-IV2, the newest in production
)

// Levels from which something may be written or done.
const (
	MetadataVersionMigration        MetadataVersion = 8  // 3.4-IV0: migration from ZooKeeper
	MetadataVersionSCRAM            MetadataVersion = 11 // 3.5-IV2: SCRAM credentials
	MetadataVersionTransactions     MetadataVersion = 13 // 3.6-IV1: Begin, End, Abort
	MetadataVersionTokens           MetadataVersion = 14 // 3.6-IV2: delegation tokens
	MetadataVersionControllerRecord MetadataVersion = 15 // 3.7-IV0: RegisterController
	MetadataVersionDirectories      MetadataVersion = 17 // 3.7-IV2: directories of replicas
	MetadataVersionKRaft1           MetadataVersion = 21 // 3.9-IV0: kraft.version 1
	MetadataVersionELR              MetadataVersion = 23 // 4.0-IV1: eligible leader replicas
	MetadataVersionCordonedDirs     MetadataVersion = 30 // 4.3-IV0: cordoned log directories

	MetadataVersionUnregisterController MetadataVersion = 33 // 4.4-IV2: UnregisterController
)

// metadataVersionInfo is what is known of one level.
type metadataVersionInfo struct {
	level      MetadataVersion
	version    string // "4.4-IV2"
	release    string // "4.4"
	production bool
	// changed: it writes records, or versions of them, that the level below does
	// not read.
	changed bool
}

// metadataVersionInfos is in order of level, from MinMetadataVersion on.
var metadataVersionInfos = [...]metadataVersionInfo{
	{7, "3.3-IV3", "3.3", true, true},
	{8, "3.4-IV0", "3.4", true, true},
	{9, "3.5-IV0", "3.5", true, false},
	{10, "3.5-IV1", "3.5", true, false},
	{11, "3.5-IV2", "3.5", true, true},
	{12, "3.6-IV0", "3.6", true, false},
	{13, "3.6-IV1", "3.6", true, true},
	{14, "3.6-IV2", "3.6", true, true},
	{15, "3.7-IV0", "3.7", true, true},
	{16, "3.7-IV1", "3.7", true, false},
	{17, "3.7-IV2", "3.7", true, true},
	{18, "3.7-IV3", "3.7", true, false},
	{19, "3.7-IV4", "3.7", true, false},
	{20, "3.8-IV0", "3.8", true, false},
	{21, "3.9-IV0", "3.9", true, false},
	{22, "4.0-IV0", "4.0", true, false},
	{23, "4.0-IV1", "4.0", true, true},
	{24, "4.0-IV2", "4.0", true, false},
	{25, "4.0-IV3", "4.0", true, false},
	{26, "4.1-IV0", "4.1", true, false},
	{27, "4.1-IV1", "4.1", true, false},
	{28, "4.2-IV0", "4.2", true, false},
	{29, "4.2-IV1", "4.2", true, false},
	{30, "4.3-IV0", "4.3", true, true},
	{31, "4.4-IV0", "4.4", true, false},
	{32, "4.4-IV1", "4.4", true, true},
	{33, "4.4-IV2", "4.4", true, true},
	{34, "4.5-IV0", "4.5", false, false},
}

func (v MetadataVersion) info() (metadataVersionInfo, bool) {
	if i := int(v - MinMetadataVersion); i >= 0 && i < len(metadataVersionInfos) {
		return metadataVersionInfos[i], true
	}
	return metadataVersionInfo{}, false
}

// String is the version's name such as "4.4-IV2", or "UNKNOWN".
func (v MetadataVersion) String() string {
	if i, ok := v.info(); ok {
		return i.version
	}
	return "UNKNOWN"
}

// Known says whether this release knows the level, be it for tests only.
func (v MetadataVersion) Known() bool {
	_, ok := v.info()
	return ok
}

// Production says whether a cluster may run at this level without the switch
// for unstable features.
func (v MetadataVersion) Production() bool {
	i, ok := v.info()
	return ok && i.production
}

// MetadataChanged says whether between two levels, low < high, one writes what the
// level below it does not read, so that a cluster at high may not go to low.
func MetadataChanged(low, high MetadataVersion) bool {
	for v := high; v > low; v-- {
		if i, ok := v.info(); !ok || i.changed {
			return true
		}
	}
	return false
}

// MetadataVersions lists all known levels in order, the unstable ones included.
func MetadataVersions() []MetadataVersion {
	out := make([]MetadataVersion, len(metadataVersionInfos))
	for i, v := range metadataVersionInfos {
		out[i] = v.level
	}
	return out
}

// ParseMetadataVersion reads "4.4-IV2" or a release such as "4.4", "4.4.1",
// which stands for the last level of that release.
func ParseMetadataVersion(s string) (MetadataVersion, bool) {
	found := MetadataVersion(-1)
	for _, i := range metadataVersionInfos {
		if i.version == s {
			return i.level, true
		}
		if i.release == s || len(s) > len(i.release) && s[:len(i.release)+1] == i.release+"." {
			found = i.level
		}
	}
	return found, found >= 0
}

// Names of the features (KIP-584, 853, 848, 890, 966, 932, 1071).
const (
	FeatureMetadataVersion = "metadata.version"
	FeatureKRaftVersion    = "kraft.version"
	FeatureTransaction     = "transaction.version"
	FeatureGroup           = "group.version"
	FeatureELR             = "eligible.leader.replicas.version"
	FeatureShare           = "share.version"
	FeatureStreams         = "streams.version"
)

// Feature is one feature of the cluster beside metadata.version.
type Feature struct {
	Name string
	// Levels[n] is the metadata.version from which level n is the default of a
	// new cluster.
	Levels []MetadataVersion
	// Needs[n] is the metadata.version below which level n is refused; 0 is none.
	Needs []MetadataVersion
}

// Max is the highest level.
func (f Feature) Max() int16 { return int16(len(f.Levels) - 1) }

// DefaultLevel is the level of a new cluster at metadata.version v.
func (f Feature) DefaultLevel(v MetadataVersion) int16 {
	level := 0
	for n, from := range f.Levels {
		if v >= from {
			level = n
		}
	}
	return int16(level)
}

// Features lists the features beside metadata.version in Apache's order (class
// Feature, PRODUCTION_FEATURES).
func Features() []Feature {
	return []Feature{
		{"kraft.version", []MetadataVersion{7, 21}, []MetadataVersion{0, 0}},
		{"transaction.version", []MetadataVersion{7, 24, 24}, []MetadataVersion{0, 0, 0}},
		{"group.version", []MetadataVersion{7, 22}, []MetadataVersion{0, 0}},
		{"eligible.leader.replicas.version", []MetadataVersion{7, 26}, []MetadataVersion{0, 23}},
		{"share.version", []MetadataVersion{7, 28, 31}, []MetadataVersion{0, 0, 0}},
		{"streams.version", []MetadataVersion{7, 29}, []MetadataVersion{0, 0}},
	}
}
