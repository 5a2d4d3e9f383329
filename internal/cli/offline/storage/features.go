package storage

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"barnabas/internal/cli/offline/storage/argparse"
	"barnabas/internal/kafka"
)

// parseRelease reads --release-version. known lists the versions that may be named;
// one that is not in production has no release yet that could stand for it.
func parseRelease(text string, known []kafka.MetadataVersion) (kafka.MetadataVersion, error) {
	mv, ok := kafka.ParseMetadataVersion(text)
	if ok && slices.Contains(known, mv) && (mv.Production() || text == mv.String()) {
		return mv, nil
	}
	names := make([]string, len(known))
	for i, mv := range known {
		names[i] = mv.String()
	}
	return 0, fmt.Errorf("Unknown metadata.version '%s'. Supported metadata.version are: %s", text, strings.Join(names, ", "))
}

// productionVersions are those that a cluster may be formatted to.
func productionVersions() []kafka.MetadataVersion {
	return slices.DeleteFunc(kafka.MetadataVersions(), func(mv kafka.MetadataVersion) bool { return !mv.Production() })
}

// versionMapping prints the levels that Apache Kafka gives to a new cluster of a
// release, whether this release serves the features or not.
func (r *run) versionMapping(args *argparse.Args) error {
	mv, name := kafka.LatestMetadataVersion, kafka.LatestMetadataVersion.String()
	if text, ok := args.Value("--release-version"); ok {
		var err error
		if mv, err = parseRelease(text, kafka.MetadataVersions()); err != nil {
			return err
		}
		name = text
	}
	r.printf("metadata.version=%d (%s)\n", mv, name)
	for _, f := range kafka.Features() {
		r.printf("%s=%d\n", f.Name, f.DefaultLevel(mv))
	}
	return nil
}

// featureDependencies prints what each feature=level needs. The answers before a
// wrong one are printed.
func (r *run) featureDependencies(args *argparse.Args) error {
	for _, text := range args.Values("--feature") {
		name, levelText, ok := strings.Cut(text, "=")
		if !ok {
			return fmt.Errorf("Invalid feature format: %s. Expected format: 'feature=version' (e.g. 'group.version=1')", text)
		}
		level, err := strconv.ParseInt(levelText, 10, 16)
		if err != nil {
			return fmt.Errorf("Invalid version format: %s for feature %s", levelText, name)
		}
		if name == kafka.FeatureMetadataVersion {
			mv := kafka.MetadataVersion(level)
			if !slices.Contains(kafka.MetadataVersions(), mv) {
				return fmt.Errorf("Unknown metadata.version %d", level)
			}
			r.printf("%s=%d (%s) has no dependencies.\n", name, level, mv)
			continue
		}
		if err := r.dependencies(name, int16(level)); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) dependencies(name string, level int16) error {
	features := kafka.Features()
	at := slices.IndexFunc(features, func(f kafka.Feature) bool { return f.Name == name })
	if at < 0 {
		return fmt.Errorf("Unknown feature: %s", name)
	}
	f := features[at]
	if level < 0 || level > f.Max() {
		return fmt.Errorf("Feature level %d is not supported for feature %s", level, name)
	}
	if need := f.Needs[level]; need > 0 {
		r.printf("%s=%d requires:\n    %s=%d (%s)\n", name, level, kafka.FeatureMetadataVersion, need, need)
		return nil
	}
	r.printf("%s=%d has no dependencies.\n", name, level)
	return nil
}

// parseLevels reads the values of --feature of the format command.
func parseLevels(texts []string) (map[string]int16, error) {
	out := map[string]int16{}
	for _, text := range texts {
		name, levelText, ok := strings.Cut(text, "=")
		if !ok {
			return nil, fmt.Errorf("Can't parse feature=level string %s: equals sign not found.", text)
		}
		name, levelText = strings.TrimSpace(name), strings.TrimSpace(levelText)
		level, err := strconv.ParseInt(levelText, 10, 16)
		if err != nil {
			return nil, fmt.Errorf("Can't parse feature=level string %s: unable to parse %s as a short.", text, levelText)
		}
		out[name] = int16(level)
	}
	return out, nil
}
