package quorum

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"barnabas/internal/kafka"
	"barnabas/internal/metadata/metarec"
	"barnabas/internal/raft"
)

// Levels are the feature levels that a cluster begins with.
type Levels struct {
	MetadataVersion kafka.MetadataVersion
	// Features holds the other features of the metadata log by name; a level that
	// is not there is 0. kraft.version is not among them: it is a control record.
	Features map[string]int16
}

// ServedLevels are the levels that this release serves at a metadata.version: what
// a cluster begins with unless asked for otherwise. The record formats of the other
// features are known, the features are not: docs/decisions/0001-fresh-format-levels.md.
func ServedLevels(mv kafka.MetadataVersion) Levels {
	l := Levels{MetadataVersion: mv, Features: map[string]int16{}}
	for _, f := range kafka.Features() {
		switch f.Name {
		case kafka.FeatureELR, kafka.FeatureGroup, kafka.FeatureTransaction:
			l.Features[f.Name] = f.DefaultLevel(mv)
		}
	}
	return l
}

// Ask says what a user wants of the levels of a new cluster.
type Ask struct {
	// Release is the metadata.version of --release-version, 0 if it was not given.
	Release kafka.MetadataVersion
	// Features are the levels of --feature by name; metadata.version may be one.
	Features map[string]int16
	// Dynamic says that the voters will be in the log (kraft.version 1).
	Dynamic bool
	// Unstable allows levels that are not in production.
	Unstable bool
}

// ResolveLevels works out the levels of a new cluster and its kraft.version, with
// the checks and messages of Apache Kafka's storage tool.
func ResolveLevels(a Ask) (l Levels, kraftVersion int16, err error) {
	mv, err := a.metadataVersion()
	if err != nil {
		return Levels{}, 0, err
	}
	l = ServedLevels(mv)
	known := kafka.Features()
	for _, name := range slices.Sorted(maps.Keys(a.Features)) {
		if name == kafka.FeatureMetadataVersion {
			continue
		}
		at := slices.IndexFunc(known, func(f kafka.Feature) bool { return f.Name == name })
		if at < 0 {
			return Levels{}, 0, fmt.Errorf("Unsupported feature: %s. Supported features are: %s", name, featureNames(known))
		}
		level := a.Features[name]
		if level < 0 || level > known[at].Max() {
			return Levels{}, 0, fmt.Errorf("No feature:%s with feature level %d", name, level)
		}
		if need := known[at].Needs[level]; mv < need {
			return Levels{}, 0, fmt.Errorf("%s could not be set to %d because it depends on %s level %d", name, level, kafka.FeatureMetadataVersion, need)
		}
		if name != kafka.FeatureKRaftVersion {
			l.Features[name] = level
		}
	}
	kraftVersion, err = a.kraftVersion()
	return l, kraftVersion, err
}

func featureNames(features []kafka.Feature) string {
	names := make([]string, len(features))
	for i, f := range features {
		names[i] = f.Name
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

func (a Ask) metadataVersion() (kafka.MetadataVersion, error) {
	level, asked := a.Features[kafka.FeatureMetadataVersion]
	mv := kafka.LatestMetadataVersion
	switch {
	case asked && a.Release != 0:
		return 0, errors.New("Use --release-version instead of --feature metadata.version=X to avoid ambiguity.")
	case asked:
		mv = kafka.MetadataVersion(level)
		if all := kafka.MetadataVersions(); !slices.Contains(all, mv) {
			return 0, fmt.Errorf("No MetadataVersion with feature level %d. Valid feature levels are from %d to %d.", level, all[0], all[len(all)-1])
		}
	case a.Release != 0:
		mv = a.Release
	}
	if !mv.Production() && !a.Unstable {
		return 0, fmt.Errorf("%s %s is not yet stable.", kafka.FeatureMetadataVersion, mv)
	}
	return mv, nil
}

func (a Ask) kraftVersion() (int16, error) {
	level, asked := a.Features[kafka.FeatureKRaftVersion]
	switch {
	case !asked && a.Dynamic:
		return raft.KRaftVersion1, nil
	case !asked:
		return raft.KRaftVersion0, nil
	case level == 0 && a.Dynamic:
		return 0, errors.New("Cannot set kraft.version to 0 if controller.quorum.voters is empty and one of the flags --standalone, --initial-controllers, or --no-initial-controllers is used. For dynamic controllers support, try removing the --feature flag for kraft.version.")
	case level > 0 && !a.Dynamic:
		return 0, fmt.Errorf("Cannot set kraft.version to %d unless controller.quorum.voters is empty and one of the flags --standalone, --initial-controllers, or --no-initial-controllers is used. For dynamic controllers support, try using one of --standalone, --initial-controllers, or --no-initial-controllers and removing controller.quorum.voters.", level)
	}
	return level, nil
}

// Records are the FeatureLevelRecords: metadata.version first, the others by name,
// those at level 0 left out.
func (l Levels) Records() []*metarec.FeatureLevelRecord {
	record := func(name string, level int16) *metarec.FeatureLevelRecord {
		r := metarec.NewFeatureLevelRecord()
		r.Name, r.FeatureLevel = name, level
		return r
	}
	out := []*metarec.FeatureLevelRecord{record(kafka.FeatureMetadataVersion, int16(l.MetadataVersion))}
	for _, name := range slices.Sorted(maps.Keys(l.Features)) {
		if l.Features[name] > 0 {
			out = append(out, record(name, l.Features[name]))
		}
	}
	return out
}

// frames are the Records, framed.
func (l Levels) frames() ([][]byte, error) {
	var out [][]byte
	for _, r := range l.Records() {
		frame, err := metarec.Encode(nil, r, 0)
		if err != nil {
			return nil, err
		}
		out = append(out, frame)
	}
	return out, nil
}
