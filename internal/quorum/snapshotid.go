package quorum

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"barnabas/internal/kafka"
)

// SnapshotID names a snapshot: it holds what the log held below EndOffset, and
// Epoch is that of the last record below it.
type SnapshotID struct {
	EndOffset kafka.Offset
	Epoch     kafka.LeaderEpoch
}

// bootstrapID names the snapshot that formatting writes: the content of an empty
// log. It holds what the first leader is to write, not what was committed.
func bootstrapID() SnapshotID { return SnapshotID{} }

// Suffixes of snapshot files.
const (
	snapshotSuffix        = ".checkpoint"
	partSnapshotSuffix    = ".checkpoint.part"    // being written, or left by a crash
	deletedSnapshotSuffix = ".checkpoint.deleted" // being removed
)

// String is the file name without its suffix.
func (id SnapshotID) String() string { return fmt.Sprintf("%020d-%010d", id.EndOffset, id.Epoch) }

// Compare orders by offset, then by epoch.
func (id SnapshotID) Compare(o SnapshotID) int {
	return cmp.Or(cmp.Compare(id.EndOffset, o.EndOffset), cmp.Compare(id.Epoch, o.Epoch))
}

func (id SnapshotID) fileName() string { return id.String() + snapshotSuffix }

// parseSnapshotName reads the name of a finished snapshot.
func parseSnapshotName(name string) (SnapshotID, bool) {
	stem, ok := strings.CutSuffix(name, snapshotSuffix)
	if !ok || len(stem) != 31 || stem[20] != '-' {
		return SnapshotID{}, false
	}
	offset, err := strconv.ParseUint(stem[:20], 10, 63)
	if err != nil {
		return SnapshotID{}, false
	}
	epoch, err := strconv.ParseUint(stem[21:], 10, 31)
	if err != nil {
		return SnapshotID{}, false
	}
	return SnapshotID{kafka.Offset(offset), kafka.LeaderEpoch(epoch)}, true
}

// leftOver says whether the file is what an interrupted write or removal of a
// snapshot leaves.
func leftOver(name string) bool {
	return strings.HasSuffix(name, partSnapshotSuffix) || strings.HasSuffix(name, deletedSnapshotSuffix)
}
