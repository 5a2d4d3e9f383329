// Package purgatory holds what waits for a partition: appends that wait until an
// offset is reached, and fetches that wait for data. It decides who is done and
// hands them back; it calls nobody, starts no goroutine and reads no clock.
// Timing out is the owner's business: it takes a wait out, and whoever takes it
// out completes it.
//
// Offsets is a queue per partition, sorted by offset and popped as a prefix when
// the high watermark (or the flushed offset) moves.
//
// Watcher is one object per parked fetch, or per fetch session, whatever the
// number of its partitions. A partition that changes sets a bit in each watcher
// that watches it and takes the bytes that became readable off what the watcher
// still needs; the one change that brings this to nothing wakes it. Everything
// there is atomic, so a change costs an appender no lock of the fetch's.
//
// Invariants:
//
//	P1  A wait is completed by exactly one caller: the one that took it out of
//	    its queue.
//	P2  A parked watcher is woken at most once, by exactly one caller.
//	P3  No change is missed: a fetch watches first, looks second and parks last,
//	    and Park refuses while there are marks that it has not taken.
//
// Files:
//
//	offsets.go   waits for an offset
//	watcher.go   marks, parking, waking
//	watchers.go  a partition's list of who watches it
package purgatory
