package vfs

import (
	"errors"
	"io/fs"
	"slices"
	"syscall"
)

// IsFull says whether an error is a lack of space or quota: what was there before
// is whole, and the same may succeed later. A sync that reports one is a failed
// sync like any other, and must not be repeated: what it was to make durable may be
// gone.
func IsFull(err error) bool {
	if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) {
		return false
	}
	var at *fs.PathError
	return !errors.As(err, &at) || !slices.Contains(syncOps, at.Op)
}

// syncOps are the names that errors of Sync, SyncData and SyncDir carry.
var syncOps = []string{"fsync", "fdatasync", "sync"}
