// Package metarec holds the records of the metadata log: a Go type for each record
// type of Apache Kafka 4.4 with its codec for each version, the frame around them,
// and the control records of that log and of its snapshots.
//
// The types are generated from schema/metadata.def and schema/raftcontrol.def. Make
// a message with its New function: some defaults are not Go's zero values (a
// PartitionChangeRecord with Leader 0 elects broker 0, its default is NoLeaderChange).
// In arrays that may be null, nil is null and an empty array is not.
//
// A data record has no key; its value is the frame: unsigned varints 1, record type
// and version, then the message. A control record has a key with its type; its value
// begins with its own version.
//
// The package is pure. It does not know what the records mean (package image does),
// nor batches, offsets or files.
//
// Invariants:
//
//  1. Decode of what Encode wrote gives an equal message, and Encode of what Decode
//     read gives the same bytes, tagged fields of later versions included; tested with
//     messages that Apache Kafka wrote.
//  2. Decode takes all bytes of the value or fails; it never takes memory out of
//     proportion to them, and what it returns shares none with them.
//  3. Encode writes nothing that the version cannot hold: it fails instead.
//
// Files:
//
//	frame.go            Message, Encode, Decode, JSON of a record
//	version.go          which version to write at a metadata.version
//	control.go          control records
//	metadata.gen.go     the records (generated)
//	raftcontrol.gen.go  the control records (generated)
package metarec

//go:generate go run barnabas/internal/gen/recordgen -def ../../../schema/metadata.def -out metadata.gen.go
//go:generate go run barnabas/internal/gen/recordgen -def ../../../schema/raftcontrol.def -out raftcontrol.gen.go
