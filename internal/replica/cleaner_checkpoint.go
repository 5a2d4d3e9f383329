package replica

import (
	"maps"

	"barnabas/internal/base/vfs"
	"barnabas/internal/kafka"
	"barnabas/internal/storage/logdir"
)

// cleanedOffset is the first offset of a partition that was never cleaned.
func (d *Dir) cleanedOffset(tp kafka.TopicPartition) (kafka.Offset, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	o, ok := d.points.cleaner[tp]
	return o, ok
}

// setCleaned notes how far a partition was cleaned, durably.
func (d *Dir) setCleaned(p *Partition, o kafka.Offset) error {
	if !d.moveCleaned(p, o) {
		return nil // it left meanwhile
	}
	return d.checkpointCleaned()
}

// moveCleaned notes it in memory. It is false for a partition that has left.
func (d *Dir) moveCleaned(p *Partition, o kafka.Offset) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, here := d.partitions[p]; !here {
		return false
	}
	if d.points.cleaner == nil {
		d.points.cleaner = map[kafka.TopicPartition]kafka.Offset{}
	}
	d.points.cleaner[p.id.TopicPartition()] = o
	d.cleanedMoved = true
	return true
}

// forgetCleaned drops the offset of a partition that is deleted, so that another one
// of its name begins anew.
func (d *Dir) forgetCleaned(tp kafka.TopicPartition) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.points.cleaner[tp]; ok {
		delete(d.points.cleaner, tp)
		d.cleanedMoved = true
	}
}

// checkpointCleaned writes the offsets if one has moved. On a full disk it is done
// later.
func (d *Dir) checkpointCleaned() error {
	d.checkpointMu.Lock()
	defer d.checkpointMu.Unlock()
	d.mu.Lock()
	moved := d.cleanedMoved
	d.cleanedMoved = false
	if moved && d.unopened == 0 {
		d.dropStrangersLocked()
	}
	offsets := maps.Clone(d.points.cleaner)
	d.mu.Unlock()
	if !moved {
		return nil
	}
	err := logdir.WriteCheckpoint(d.fs, d.path, logdir.CleanerOffsets, offsets)
	if vfs.IsFull(err) {
		// Nothing is lost: what the file does not say is cleaned once more.
		d.mu.Lock()
		d.cleanedMoved = true
		d.mu.Unlock()
		return nil
	}
	return err
}

// dropStrangersLocked forgets the offsets of partitions that are no longer here.
func (d *Dir) dropStrangersLocked() {
	here := map[kafka.TopicPartition]bool{}
	for p := range d.partitions {
		here[p.id.TopicPartition()] = true
	}
	maps.DeleteFunc(d.points.cleaner, func(tp kafka.TopicPartition, _ kafka.Offset) bool { return !here[tp] })
}
