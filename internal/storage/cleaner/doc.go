// Package cleaner compacts a log: of all records with one key it leaves the last.
//
//	r, err := cleaner.Measure(snapshot, checkpoint, recoveryPoint, rules, now)
//	if r.Due(minRatio) {
//		firstDirty, stats, err := cleaner.Clean(target, r, config, keys, now)
//	}
//
// It knows batches and segments (package commitlog writes what it leaves and puts it
// in place), but no topic, no schedule and no checkpoint. It starts no goroutine and
// reads no clock. What it needs of the owner of the log (the append lock, patience) is
// the Target. One Clean at a time works on a log; it may run while the log is appended
// to, read, truncated and shortened.
//
// A run has two passes. The first reads the dirty part and notes the last offset of
// each key in a map of bounded memory; where that is full the run ends there, and the
// rest stays dirty. The second reads all segments from the log's first on and writes
// those records that are the last of their key. Neighbouring small segments become
// one. Memory is that of the map, of one read, and of the largest batch.
//
// Invariants:
//
//  1. A record is removed only if the log keeps, below the last stable offset and
//     synced, a later record of its key; or if it is a tombstone whose horizon has
//     passed, belongs to an aborted transaction, or has no key.
//  2. Records keep their offsets, batches their last offset, epoch, producer and
//     sequences.
//  3. The last batch of a producer that is known stays, be it without records, and so
//     does the last batch of a run. A marker stays as long as data of its transaction
//     does, and then until its horizon.
//  4. Each group of segments is put in place whole or not at all, the oldest first, so
//     that a run which is interrupted leaves a log that a later one can clean.
//  5. Every batch is checked before it is used: bytes that are damaged are not copied.
//     Then the log stays as it is and a *CorruptError says where.
//
// Entries of magic 0 and 1 stay as they are or go. What is left of a compressed wrapper
// of which only a part stays is written as a batch of magic 2.
//
// Files:
//
//	range.go         what can be cleaned, and whether it is worth it
//	clean.go         a run: the two passes, groups, swaps
//	offsetmap.go     keys and their last offsets; siphash.go
//	batches.go       reading, checked
//	transactions.go  which data was aborted, which marker is still needed
//	filter.go        what stays of a batch
package cleaner
