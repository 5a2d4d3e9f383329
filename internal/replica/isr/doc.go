// Package isr decides, for the leader of one partition, how far the high
// watermark may go and which replicas are in sync. It is a pure state machine:
// offsets, fetches, time and answers of the controller go in, a high watermark
// and proposals for the controller come out.
//
// It does not know logs, the network, the metadata image or when anything
// happens: its owner, the Partition, calls it under the append lock, and sends
// what it proposes.
//
// Invariants:
//
//	I1  The high watermark of a Leader never goes back.
//	I2  The in-sync set, committed or proposed, is part of the assignment and
//	    holds the leader.
//	I3  No member of the maximal in-sync set (the committed one, and whoever a
//	    pending proposal adds) is behind the high watermark to which it moved.
//	    A member that has not fetched since this leader began holds it still.
//	I4  At most one proposal is pending. While it is, nothing else is proposed;
//	    only its answer or a newer registration ends it.
//	I5  The high watermark stands still while fewer than min.insync.replicas
//	    replicas are in sync ("strict min ISR").
//
// Rules for who is in sync are those of KIP-966, KIP-903 and KIP-497.
//
// Files:
//
//	leader.go    state, the high watermark, registrations
//	follower.go  what is known about one follower; expanding and shrinking
//	proposal.go  proposals and their answers
package isr
