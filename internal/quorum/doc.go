// Package quorum keeps this node's replica of the metadata log, the partition
// __cluster_metadata-0: its bytes, its snapshots, the election state, and the loop
// that carries out what the machine of package raft asks for. It also formats a
// folder, because that is writing the first snapshot.
//
// What comes in is framed metadata records from the controller; what goes out is
// committed batches, snapshots and news of leaders to one Listener. It does not
// know what the records mean, but for the control records of the log itself
// (LeaderChange, KRaftVersion, Voters, snapshot header and footer).
//
// One goroutine, the loop, owns the log and the machine; see loop.go. Append only
// gives out offsets and queues bytes, under a mutex. The loop writes all that is
// queued with one write and one fdatasync, commits it, tells the listener, and
// looks at the queue again: what arrived meanwhile rides on the next sync, and an
// append that finds the loop idle is written at once (KIP-595's linger of 25 ms is
// not needed). Snapshots are written by the goroutine that asks for them.
//
// Invariants:
//
//  1. Offsets are given out in the order of the log: the queue and the log are
//     neighbours without a gap. A failed write cannot break this: what a full disk
//     does not take is cut off the queue and given up together with all behind it,
//     before the listener is told (CutBack) and before an offset is given out again;
//     any other failure ends the quorum (Options.Fatal) and with it the node.
//  2. The listener sees the whole log in order, from the latest snapshot on, and
//     nothing that is not committed, which means flushed here. Offsets are missing
//     only where the log itself has a hole (open.go, cutHole).
//  3. The listener learns that this node leads only after it has been given
//     everything below the leader's own first record.
//  4. The election state is on disk before anything of its epoch is.
//  5. A snapshot file has its final name only when it is whole and synced; it is
//     never changed after that.
//  6. The log never starts above the end of the oldest snapshot that is kept.
//
// Files on disk, all in <metadata.log.dir>/__cluster_metadata-0, are those of
// Apache Kafka 4.4; folders of metadata.version 3.3 to 4.4 are opened:
//
//	<offset>.log, .index, .timeindex, .snapshot, leader-epoch-checkpoint
//	                                    package commitlog
//	<end offset>-<epoch>.checkpoint     snapshots; 0-0 is what formatting writes
//	….checkpoint.part, .deleted         left-overs, removed by Open
//	quorum-state                        the election state, JSON, version 0 or 1
//	partition.metadata                  the topic id
//
// Files of the package:
//
//	quorum.go         options, listener, Append, Status
//	open.go           Open: recovery of log, snapshots and voters
//	loop.go           the loop: write, flush, commit, deliver
//	full.go           a disk that is full
//	election.go       quorum-state
//	history.go        kraft.version and voters by offset
//	control.go        control records from and to the words of package raft
//	batch.go          records into batches and back
//	snapshotid.go     names of snapshots
//	snapshotread.go   reading one
//	snapshotwrite.go  writing one
//	snapshots.go      the set of them, retention
//	snapshotapi.go    snapshots as the rest of the node asks for them
//	bootstrap.go      what the first leader writes
//	levels.go         feature levels of a new cluster
//	format.go         formatting a folder
//	endpoints.go      controller endpoints and static voters from the configuration
package quorum
