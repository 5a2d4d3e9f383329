// Package logdir knows what lies in an entry of log.dirs beside the bytes of the
// replicas: the names of their folders, meta.properties, the four checkpoints,
// the mark of a clean shutdown, and the lock that keeps a second node out.
//
// It does not know what is in a replica's folder, and it keeps no state but a
// Lock: its functions read and write files when they are called. Whoever opens a
// log directory owns it.
//
//	lock, err := logdir.Acquire(fsys, dir)          // *InUseError if another node runs
//	meta, err := logdir.ReadMeta(fsys, dir)         // fs.ErrNotExist: not formatted
//	err := logdir.CreateCheckpoints(fsys, dir)      // empty ones at the first start
//	clean, err := logdir.TakeCleanShutdown(fsys, dir)
//	folders, err := logdir.Scan(fsys, dir)          // an unknown folder is an error
//	points, err := logdir.ReadCheckpoint(fsys, dir, logdir.RecoveryPoints)
//	...
//	err := logdir.WriteCheckpoint(fsys, dir, logdir.RecoveryPoints, points)
//	err := logdir.WriteCleanShutdown(fsys, dir, brokerEpoch)
//	err := lock.Release()                           // removes .lock
//
// # Invariants
//
//  1. What is written here is there after a power cut, whole or not at all:
//     temporary file, fsync, rename, fsync of the directory.
//  2. The mark of a clean shutdown is gone from the disk before TakeCleanShutdown
//     returns: a crash after it is a crash.
//  3. Two nodes never hold one directory, also when one of them is Apache Kafka
//     and also while the .lock file of a third is being removed (lock.go).
//  4. Texts are those of Apache Kafka 4.4 where an operator may look for them.
//
// # Files
//
//	name.go        names of replica folders
//	scan.go        which folder of a log directory is what
//	meta.go        meta.properties of version 0 and 1; do directories fit together
//	checkpoint.go  the four offset checkpoints
//	clean.go       .kafka_cleanshutdown
//	lock.go        .lock; lock_linux.go, lock_other.go the system's part
package logdir
