package commitlog

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
)

// partitionMetadataName is the file that says which topic a folder belongs to.
const partitionMetadataName = "partition.metadata"

// WritePartitionMetadata writes the topic id into a replica's folder. It is done
// before the first append.
func WritePartitionMetadata(fsys vfs.FS, dir string, topicID kafka.UUID) error {
	return vfs.WriteFileAtomic(fsys, joinPath(dir, partitionMetadataName), fmt.Appendf(nil, "version: 0\ntopic_id: %s", topicID))
}

// ReadPartitionMetadata reads the topic id of a replica's folder. found is false
// if the folder has none.
func ReadPartitionMetadata(fsys vfs.FS, dir string) (topicID kafka.UUID, found bool, err error) {
	path := joinPath(dir, partitionMetadataName)
	text, err := vfs.ReadFile(fsys, path)
	if errors.Is(err, fs.ErrNotExist) {
		return topicID, false, nil
	}
	if err == nil {
		topicID, err = parsePartitionMetadata(string(text))
	}
	if err != nil {
		return topicID, false, fmt.Errorf("%s: %w", path, err)
	}
	return topicID, true, nil
}

func parsePartitionMetadata(text string) (id kafka.UUID, err error) {
	versionLine, idLine, _ := strings.Cut(text, "\n")
	if value(versionLine, "version") != "0" {
		return id, fmt.Errorf("unknown version in %q", versionLine)
	}
	idLine, _, _ = strings.Cut(idLine, "\n")
	if id, err = kafka.ParseUUID(value(idLine, "topic_id")); err != nil {
		return id, err
	}
	if id.IsZero() {
		return id, errors.New("the topic id is zero")
	}
	return id, nil
}

// value is what follows "key:" in a line.
func value(line, key string) string {
	k, v, _ := strings.Cut(strings.TrimSuffix(line, "\r"), ":")
	if k != key {
		return ""
	}
	return strings.TrimSpace(v)
}
