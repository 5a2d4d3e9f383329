package replica

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
)

// partitionMetadata is the file in a replica's folder that says to which topic,
// by id, it belongs. It has two lines:
//
//	version: 0
//	topic_id: 22 characters of base64
const partitionMetadata = "partition.metadata"

// readTopicID reads the file; ok is false if there is none.
func readTopicID(fsys vfs.FS, folder string) (id kafka.UUID, ok bool, err error) {
	path := filepath.Join(folder, partitionMetadata)
	text, err := vfs.ReadFile(fsys, path)
	if errors.Is(err, fs.ErrNotExist) {
		return kafka.UUID{}, false, nil
	}
	if err != nil {
		return kafka.UUID{}, false, err
	}
	id, err = parsePartitionMetadata(string(text))
	if err != nil {
		return kafka.UUID{}, false, fmt.Errorf("%s: %w", path, err)
	}
	return id, true, nil
}

func parsePartitionMetadata(text string) (kafka.UUID, error) {
	lines := strings.Split(strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), "\n")
	if len(lines) != 2 {
		return kafka.UUID{}, fmt.Errorf("%d lines, want 2", len(lines))
	}
	version, ok := strings.CutPrefix(lines[0], "version:")
	if version = strings.TrimSpace(version); !ok || version != "0" {
		return kafka.UUID{}, fmt.Errorf("unknown version in %q", lines[0])
	}
	text, ok = strings.CutPrefix(lines[1], "topic_id:")
	if !ok {
		return kafka.UUID{}, fmt.Errorf("no topic id in %q", lines[1])
	}
	id, err := kafka.ParseUUID(strings.TrimSpace(text))
	if err == nil && id.IsZero() {
		err = errors.New("the topic id is the zero id")
	}
	return id, err
}

func formatPartitionMetadata(id kafka.UUID) []byte {
	return []byte("version: 0\ntopic_id: " + id.String())
}

func writeTopicID(fsys vfs.FS, folder string, id kafka.UUID) error {
	return vfs.WriteFileAtomic(fsys, filepath.Join(folder, partitionMetadata), formatPartitionMetadata(id))
}
