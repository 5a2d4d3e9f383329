// Package levels answers what Kafka's tools tell of feature levels without asking a
// cluster: which belong to a release, and what they depend on. The tools storage
// and features share it.
package levels

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"barnabas/internal/kafka"
)

// ParseRelease reads --release-version. known lists the versions that may be named;
// one that is not in production has no release yet that could stand for it.
func ParseRelease(text string, known []kafka.MetadataVersion) (kafka.MetadataVersion, error) {
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

// Mapping prints the levels that Apache Kafka gives to a new cluster of a release,
// "" for the newest, whether this release serves the features or not.
func Mapping(w io.Writer, release string) error {
	mv, name := kafka.LatestMetadataVersion, kafka.LatestMetadataVersion.String()
	if release != "" {
		var err error
		if mv, err = ParseRelease(release, kafka.MetadataVersions()); err != nil {
			return err
		}
		name = release
	}
	fmt.Fprintf(w, "metadata.version=%d (%s)\n", mv, name)
	for _, f := range kafka.Features() {
		fmt.Fprintf(w, "%s=%d\n", f.Name, f.DefaultLevel(mv))
	}
	return nil
}

// Dependencies prints what each feature=level needs. The answers before a wrong one
// are printed.
func Dependencies(w io.Writer, texts []string) error {
	for _, text := range texts {
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
			fmt.Fprintf(w, "%s=%d (%s) has no dependencies.\n", name, level, mv)
			continue
		}
		if err := dependencies(w, name, int16(level)); err != nil {
			return err
		}
	}
	return nil
}

func dependencies(w io.Writer, name string, level int16) error {
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
		fmt.Fprintf(w, "%s=%d requires:\n    %s=%d (%s)\n", name, level, kafka.FeatureMetadataVersion, need, need)
		return nil
	}
	fmt.Fprintf(w, "%s=%d has no dependencies.\n", name, level)
	return nil
}

// Parse reads one "feature=level".
func Parse(text string) (name string, level int16, err error) {
	name, levelText, ok := strings.Cut(text, "=")
	if !ok {
		return "", 0, fmt.Errorf("Can't parse feature=level string %s: equals sign not found.", text)
	}
	name, levelText = strings.TrimSpace(name), strings.TrimSpace(levelText)
	n, err := strconv.ParseInt(levelText, 10, 16)
	if err != nil {
		return "", 0, fmt.Errorf("Can't parse feature=level string %s: unable to parse %s as a short.", text, levelText)
	}
	return name, int16(n), nil
}
