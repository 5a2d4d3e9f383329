package storage

import (
	"slices"

	"barnabas/internal/cli/levels"
	"barnabas/internal/kafka"
)

// productionVersions are those that a cluster may be formatted to.
func productionVersions() []kafka.MetadataVersion {
	return slices.DeleteFunc(kafka.MetadataVersions(), func(mv kafka.MetadataVersion) bool { return !mv.Production() })
}

// parseLevels reads the values of --feature of the format command; of two for one
// feature the later counts.
func parseLevels(texts []string) (map[string]int16, error) {
	out := map[string]int16{}
	for _, text := range texts {
		name, level, err := levels.Parse(text)
		if err != nil {
			return nil, err
		}
		out[name] = level
	}
	return out, nil
}
