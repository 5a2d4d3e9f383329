package logdir

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
)

// Checkpoint is the name of a file that keeps an offset for each replica of a log
// directory.
type Checkpoint string

// The checkpoints.
const (
	RecoveryPoints  Checkpoint = "recovery-point-offset-checkpoint" // below it everything was flushed
	LogStartOffsets Checkpoint = "log-start-offset-checkpoint"      // where it is not the first segment's base
	HighWatermarks  Checkpoint = "replication-offset-checkpoint"
	CleanerOffsets  Checkpoint = "cleaner-offset-checkpoint" // the first offset that is not cleaned
)

// Checkpoints lists all of them.
func Checkpoints() []Checkpoint {
	return []Checkpoint{RecoveryPoints, LogStartOffsets, HighWatermarks, CleanerOffsets}
}

// checkpointVersion is the one version of the format: a line with the version, a
// line with the number of entries, and a line "topic partition offset" for each.
const checkpointVersion = 0

// CreateCheckpoints makes the files that are not there, empty, as the first start
// of a node does.
func CreateCheckpoints(fsys vfs.FS, dir string) error {
	created := false
	for _, c := range Checkpoints() {
		f, err := fsys.Open(filepath.Join(dir, string(c)), vfs.CreateNew)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
		created = true
	}
	if !created {
		return nil
	}
	return fsys.SyncDir(dir)
}

// CheckpointError says that what a checkpoint says makes no sense.
type CheckpointError struct{ text string }

func (e *CheckpointError) Error() string { return e.text }

func checkpointError(format string, args ...any) error {
	return &CheckpointError{fmt.Sprintf(format, args...)}
}

// ReadCheckpoint reads a checkpoint of a log directory. No file and an empty file
// have no entries. A *CheckpointError is one of the content, any other of the disk.
func ReadCheckpoint(fsys vfs.FS, dir string, c Checkpoint) (map[kafka.TopicPartition]kafka.Offset, error) {
	path := filepath.Join(dir, string(c))
	text, err := vfs.ReadFile(fsys, path)
	if errors.Is(err, fs.ErrNotExist) {
		return map[kafka.TopicPartition]kafka.Offset{}, nil
	}
	if err != nil {
		return nil, err
	}
	return parseCheckpoint(path, string(text))
}

// parseCheckpoint is class CheckpointFile, with its texts.
func parseCheckpoint(path, text string) (map[kafka.TopicPartition]kafka.Offset, error) {
	out := map[kafka.TopicPartition]kafka.Offset{}
	malformed := func(line string) error {
		return checkpointError("Malformed line in checkpoint file [%s]: %s", path, line)
	}
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	if len(lines) == 0 {
		return out, nil
	}
	version, err := strconv.Atoi(lines[0])
	if err != nil {
		return nil, malformed(lines[0])
	}
	if version != checkpointVersion {
		return nil, checkpointError("Unrecognised version:%d, expected version: %d in checkpoint file at: %s", version, checkpointVersion, path)
	}
	if len(lines) == 1 {
		return out, nil
	}
	expected, err := strconv.Atoi(lines[1])
	if err != nil {
		return nil, malformed(lines[1])
	}
	for _, line := range lines[2:] {
		tp, offset, ok := parseCheckpointLine(line)
		if !ok {
			return nil, malformed(line)
		}
		out[tp] = offset
	}
	if n := len(lines) - 2; n != expected {
		return nil, checkpointError("Expected [%d] entries in checkpoint file [%s], but found only [%d]", expected, path, n)
	}
	return out, nil
}

func parseCheckpointLine(line string) (tp kafka.TopicPartition, offset kafka.Offset, ok bool) {
	fields := strings.Fields(line)
	if len(fields) != 3 || line[0] == ' ' || line[0] == '\t' {
		return tp, 0, false
	}
	partition, err := strconv.ParseInt(fields[1], 10, 32)
	if err != nil {
		return tp, 0, false
	}
	n, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil {
		return tp, 0, false
	}
	return kafka.TopicPartition{Topic: fields[0], Partition: int32(partition)}, kafka.Offset(n), true
}

// WriteCheckpoint replaces a checkpoint of a log directory, in order of topic and
// partition.
func WriteCheckpoint(fsys vfs.FS, dir string, c Checkpoint, offsets map[kafka.TopicPartition]kafka.Offset) error {
	return vfs.WriteFileAtomic(fsys, filepath.Join(dir, string(c)), formatCheckpoint(offsets))
}

func formatCheckpoint(offsets map[kafka.TopicPartition]kafka.Offset) []byte {
	partitions := slices.SortedFunc(maps.Keys(offsets), kafka.TopicPartition.Compare)
	b := make([]byte, 0, 16+32*len(partitions))
	b = strconv.AppendInt(b, checkpointVersion, 10)
	b = append(b, '\n')
	b = strconv.AppendInt(b, int64(len(partitions)), 10)
	b = append(b, '\n')
	for _, tp := range partitions {
		b = append(b, tp.Topic...)
		b = append(b, ' ')
		b = strconv.AppendInt(b, int64(tp.Partition), 10)
		b = append(b, ' ')
		b = strconv.AppendInt(b, int64(offsets[tp]), 10)
		b = append(b, '\n')
	}
	return b
}
