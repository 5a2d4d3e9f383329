package replica

import (
	"errors"
	"syscall"

	"barnabas/internal/kafka"
)

// A disk that is full is not a disk that has failed: what was there before is
// whole, and what could not be written was refused. The directory stays in service.
// Producers get KAFKA_STORAGE_ERROR, after which they try again; whoever reads or
// deletes goes on, and so do the chores once there is space.

// isFull says whether an error is a lack of space.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// fullEvery is how often a full disk is logged.
const fullEvery = 60_000

// full logs that there is no space, not too often.
func (d *Dir) full(doing string, tp kafka.TopicPartition, err error) {
	now, last := d.m.env.now().UnixMilli(), d.fullLogged.Load()
	if now-last < fullEvery || !d.fullLogged.CompareAndSwap(last, now) {
		return
	}
	about := []any{"dir", d.path, "while", doing, "error", err}
	if tp.Topic != "" {
		about = append(about, "partition", tp.String())
	}
	d.m.env.log.Error("a log directory is full: producers are refused until there is space", about...)
}
