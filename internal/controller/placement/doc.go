// Package placement chooses the brokers of new partitions, striped over racks as
// Apache Kafka does (class StripedReplicaPlacer). It is pure: the brokers and the
// source of randomness are arguments, and it knows nothing of topics, directories
// or the metadata log.
//
// Invariants:
//
//  1. A partition has each broker at most once.
//  2. The first replica, which will lead, is an unfenced broker.
//  3. A rack holds a second replica of a partition only when each rack that has
//     a broker left holds one.
//  4. Leaders go round the unfenced brokers: no broker leads twice before each
//     has led once, within one call.
//
// Files:
//
//	placement.go  Place
//	rack.go       the rotation of brokers within a rack
package placement
