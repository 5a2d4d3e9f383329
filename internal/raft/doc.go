// Package raft is KRaft (KIP-595, 630, 853, 996) as a deterministic state
// machine. It takes what happened, one thing at a time, and returns what has to
// be done, in order. It knows no clock, file, goroutine, record format or
// network; internal/quorum carries its effects out and feeds results back.
//
// The machine serves a quorum of one voter, this node. Of the way that KIP-996
// describes, Unattached, Prospective, Candidate, Leader, it takes all in the one
// step of Start, because its own vote is a majority. A voter set that has other
// members, or lacks this node, is refused by New. The exchange with other voters
// (votes, fetches, truncation) joins this machine as further inputs.
//
// Its owner calls it from one goroutine at a time.
//
// Invariants:
//
//	R1  A Persist effect precedes every effect that depends on what it says.
//	    Nothing leaves the node between two Persists that are neighbours, so
//	    whoever carries out the effects may write the last of them only.
//	R2  The epoch never falls, neither below the persisted one nor below the
//	    epoch of the last record in the log.
//	R3  An epoch is led once. A node that led before a restart (its persisted
//	    leader is itself) moves to a new epoch; only one that had voted for
//	    itself and never led may go on in the persisted epoch.
//	R4  The high watermark never falls, never passes the flushed end of the log,
//	    and is unknown until a record of the leader's own epoch is flushed.
//
// Files:
//
//	words.go    replica keys, voters, the persisted election state
//	effect.go   what the machine asks for
//	machine.go  the machine
package raft
