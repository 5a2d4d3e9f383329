// Package commitlog keeps the bytes of one replica: segments of record batches
// with their indexes, the state of producers and transactions, the history of
// leader epochs. It appends, reads, truncates, and opens again what a stop or a
// crash has left, in Apache Kafka's files to the byte.
//
// It has never heard of a topic, starts no goroutine and reads no clock. All
// methods of Log but Snapshot are called under its owner's append lock; readers
// work on a Snapshot, which is immutable, without a lock. A sync is never done
// under the lock: a flush has three steps (BeginFlush, Sync, EndFlush).
//
// Invariants:
//
//  1. The log file of the active segment is written only at its known end. After
//     a failed write it is cut back to that end; if that fails too the log takes
//     no more appends.
//  2. What a producer, a transaction or an index says of a batch becomes true
//     after the batch was written, and visible to readers with it.
//  3. Slices that a snapshot shows (segments, epochs, index entries) only grow
//     behind what it shows, or are replaced; they are never changed in place.
//  4. A segment whose files are removed, cut or renamed is marked gone first, and
//     what remains of it in the log is a new object. A reader who finds gone set,
//     before or after a read, has found nothing and asks for a new snapshot
//     (ErrStale). So a descriptor or a position never serves other bytes than
//     those that were promised.
//  5. Readers see a shorter log before the files are shortened.
//  6. Below the recovery point everything has been synced: logs, indexes of sealed
//     segments, names. Indexes of the segment in which it lies may be behind;
//     recovery makes them anew. What a truncation takes away is durably gone when
//     it returns: a power cut must not bring it back beside what is written next.
//  7. An index is a hint. Whatever it says, a read begins at an entry whose header
//     says that it is the right one.
//  8. Recovery cuts only above the recovery point, or where nothing good follows,
//     and keeps what it cuts off if any of it was good. Segments behind a cut go
//     before the cut is made, so that an opening which is interrupted is repeated.
//
// An idle log costs no descriptor and three objects that the garbage collector
// looks at: Log, Snapshot and one segment.
//
// Differences to Apache, on purpose: indexes are not preallocated (it opens short
// ones), the index of a new segment is made with it, a segment that is empty is
// not rolled, a duplicate does not roll, damage below the recovery point is left
// in place, read errors fail the opening instead of emptying the segment, a
// segment that has offsets of the next one ends before them, an epoch file that
// cannot be read is made from the batches, becoming leader does not write it, and the
// recovery point does not follow the log start. Segments whose offsets do not fit into 31 bits, which Kafka before
// 2.0 could write and Apache splits, are cut there when they are scanned (and what
// is cut off is kept).
//
// Files:
//
//	options.go          what is given to Open, and what it reports
//	log.go              Log: its state, high watermark, log start
//	append.go           appends of a leader: check, stage, write, commit
//	append_marker.go    transaction markers
//	append_follower.go  appends of a follower
//	active.go           the active segment; the rules for indexes and rolls
//	roll.go             a new segment
//	flush.go            flush, checkpoint, close
//	truncate.go         truncation; Garbage
//	retention.go        which old segments go
//	sealed.go           sealed segments as a cleaning sees them
//	replacement.go      new segments in the place of old ones, while they are written
//	swap.go             putting them in place
//	snapshot.go         Snapshot
//	read.go             reads by offset; aborted transactions
//	lookup.go           lookups by timestamp
//	view.go             a segment as a reader sees it: search by index and walk
//	scanner.go          walks over headers
//	segment.go          the segment and its files
//	files.go            names
//	index.go            entries and search of offset and time index
//	txnindex.go         the transaction index
//	producer.go         one producer: sequences, epochs, its transaction
//	producers.go        all of them
//	verification.go     first batches of transactions, which the coordinator has to know of
//	producer_snapshot.go the snapshot file's format
//	snapshots.go        the snapshot files of a log
//	producers_load.go   the state after opening and truncation
//	epochs.go           leader epochs and their checkpoint file
//	partitionmeta.go    partition.metadata
//	open.go             opening
//	open_leftovers.go   .deleted, .cleaned and .swap files
//	recover.go          recovery after a crash
//	verifier.go         whole batches, checked from front to back
//	scratch.go          reused memory
package commitlog
