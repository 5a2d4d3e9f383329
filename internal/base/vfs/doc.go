// Package vfs is the file system as the rest of the house sees it: a small
// interface, the real one of the operating system, and one in memory that can
// crash, fill up and fail. It also owns what must be bounded about files: how
// many blocking calls a disk may hold (Gate), and how many descriptors are open
// (Cache), and it keeps a descriptor alive while a piece of an answer needs it
// (Shared).
//
// It knows nothing of logs, names or formats. Every error of the system is
// returned with the operation and the path; none is retried here except EINTR
// and a short read or write that made progress.
//
// Invariants:
//
//  1. A File is closed exactly once, after its last holder has released it.
//     So a descriptor number that someone still uses never names another file.
//  2. The Cache closes a file only after it has taken it out of its Slot; whoever
//     finds a file in a Slot may hold it, or finds that it is gone.
//  3. At most Gate's limit of calls are inside the kernel at once; the others
//     wait as parked goroutines, not as threads.
//  4. Mem keeps what was synced apart from what was written: after Crash, bytes
//     that no Sync covered and directory entries that no SyncDir covered are
//     gone (or, with a seed, gone in part, torn at sector borders).
//
// A file that holds unsynced bytes may leave the cache. Linux keeps a failed
// write-back with the inode and reports it to the first Sync of a descriptor that
// was opened later, unless the inode has left memory too; the cache is sized so
// that this does not happen to logs in use.
//
// Files:
//
//	vfs.go       FS, File and their words; WriteFileAtomic, ReadFile
//	full.go      which errors are a lack of space
//	gate.go      Gate
//	os.go        the real file system
//	os_linux.go  what only Linux has: pwritev, fdatasync, fallocate
//	os_other.go  the same by slower means
//	shared.go    Shared and Slot: files that are held and shared
//	cache.go     Cache: the bound on open files
//	mem.go       Mem: the file system in memory
//	mem_file.go  its files, their synced and unsynced bytes
//	mem_crash.go crash and faults
package vfs
