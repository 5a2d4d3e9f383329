// Package election decides who leads a partition and which replicas count as in
// sync after something changed: a broker came, went or was lost, a leader told
// its ISR, a directory failed. It is pure: the partition as it is registered and
// the change go in, a PartitionChangeRecord comes out, or nothing.
//
// A leader is sought in this order: the ISR; the eligible leader replicas (ELR,
// KIP-966: replicas that hold all committed data although they left the ISR when
// it was below min.insync.replicas); the last known leader, when ISR and ELR are
// empty; any live replica, when the topic allows an unclean election. The last
// two may lose data, so the ISR becomes that replica alone and its state
// RECOVERING.
//
// The decisions, their order and the fields that are set are those of Apache
// Kafka 4.4 (class PartitionChangeBuilder), because the records are read by its
// nodes and the epochs that they raise are seen by clients.
//
// Invariants, of a partition after each record:
//
//  1. ISR and ELR are subsets of the replicas and have no member in common.
//  2. The leader is in the ISR.
//  3. A leader was acceptable, or is the one that was there before.
//  4. RECOVERING comes with an ISR of one.
//  5. ELR is empty when the ISR has at least min.insync.replicas members, and
//     when the feature is off.
//
// Files:
//
//	election.go     Change and its record
//	elr.go          eligible leader replicas and the last known leader
//	reassignment.go the end of a reassignment
package election
