package commitlog

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"barnabas/internal/kafka"
)

// Suffixes of the files in a replica's folder.
const (
	logSuffix       = ".log"
	indexSuffix     = ".index"
	timeIndexSuffix = ".timeindex"
	txnIndexSuffix  = ".txnindex"
	snapshotSuffix  = ".snapshot"
	deletedSuffix   = ".deleted" // waits for removal
	cleanedSuffix   = ".cleaned" // output of a cleaning that did not finish
	swapSuffix      = ".swap"    // finished output that has to take its place

	// raftDeletedSuffix marks metadata snapshots, whose owner removes them.
	raftDeletedSuffix = ".checkpoint" + deletedSuffix

	epochFileName = "leader-epoch-checkpoint"
)

// segmentSuffixes are the files that belong to one segment.
var segmentSuffixes = [...]string{logSuffix, indexSuffix, timeIndexSuffix, txnIndexSuffix}

// fileName is the name of a file that belongs to an offset.
func fileName(base kafka.Offset, suffix string) string { return fmt.Sprintf("%020d", base) + suffix }

func joinPath(dir, name string) string { return dir + string(filepath.Separator) + name }

func filePath(dir string, base kafka.Offset, suffix string) string {
	return joinPath(dir, fileName(base, suffix))
}

// parseName splits a file name into offset and suffix. ok is false for names that
// do not begin with an offset.
func parseName(name string) (base kafka.Offset, suffix string, ok bool) {
	digits, _, found := strings.Cut(name, ".")
	n, err := strconv.ParseUint(digits, 10, 63)
	if !found || err != nil {
		return 0, "", false
	}
	return kafka.Offset(n), name[len(digits):], true
}

// CutSuffix ends the names of files with bytes that recovery took off and kept.
const CutSuffix = ".cut"
