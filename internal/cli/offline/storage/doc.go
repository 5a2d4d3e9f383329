// Package storage is the command "barnabas storage", Kafka's kafka-storage: it
// formats the folders of a new node, says what is in them, and knows what feature
// levels belong to a release.
//
// Flags, output, complaints and exit codes are those of Apache Kafka 4.4, with
// these differences: what Apache prints as a Java exception is its message alone;
// directories are formatted in the order of their names; help texts are our own;
// the levels of features that this release does not serve are 0 unless they are
// asked for (docs/decisions/0001-fresh-format-levels.md). Settings in the
// environment count as they do for the server.
//
// It holds no state. What is written is quorum.Format's.
//
//	storage.go     Run
//	usage.go       the command line and its texts
//	format.go      format
//	voters.go      --standalone, --initial-controllers
//	scram.go       --add-scram
//	info.go        info
//	features.go    --feature
package storage
