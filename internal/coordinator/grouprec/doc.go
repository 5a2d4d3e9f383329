// Package grouprec holds the records of __consumer_offsets: a Go type for each key and
// value of Apache Kafka 4.4, with its codec for each version and its JSON as Apache's
// tools print it. The types are generated from schema/group.def.
//
// A key is the record type as int16 and the key message at version 0. A value is its
// version as int16 and the value message; no value is a tombstone. Make a message with
// its New function: some defaults are not Go's zero values. In arrays that may be null,
// nil is null and an empty array is not.
//
// The types that the kmsg library has too (OffsetCommit, GroupMetadata) are here as
// well, so that readers of the topic need one registry. What the records mean is not
// known here.
//
// Invariants:
//
//  1. Every message that Apache Kafka wrote is read and written back byte for byte.
//  2. Decoding takes all bytes or fails; it never takes memory out of proportion to
//     them, and what it returns shares none with them.
//
// Files:
//
//	record.go     keys and values with what stands before them
//	group.gen.go  the messages (generated)
package grouprec

//go:generate go run barnabas/internal/gen/recordgen -def ../../../schema/group.def -out group.gen.go
