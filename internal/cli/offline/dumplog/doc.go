// Package dumplog is the command "barnabas dump-log", Kafka's kafka-dump-log: it
// prints what is in a segment, an index, a producer snapshot, an index of aborted
// transactions or a snapshot of the metadata log, and says what does not fit
// together.
//
// Flags, output, complaints and exit codes are those of Apache Kafka 4.4
// (class DumpLogSegments), with these differences:
//
//   - what Apache prints as a Java exception with its stack is the first line
//     alone; texts about broken records and messages are ours;
//   - --help exits with 0 and prints to standard output, as all our tools do;
//   - a missing .index beside a .timeindex counts as empty; Apache makes an empty
//     file there and fails;
//   - keys and values are decoded by Apache's String, Integer and Long decoder;
//     other classes cannot be loaded;
//   - --remote-log-metadata-decoder and --share-group-state-decoder are refused:
//     those records belong to parts that are not in this release.
//
// The formats are read here anew, not by the packages that write them, so that
// the tool is a second opinion on their files. It holds no state and writes
// nothing.
//
//	dumplog.go  Run: the command line, which file is what, the complaints
//	option.go   the options with their help
//	segment.go  entries of a log; their lines
//	records.go  records and control records
//	decoder.go  keys and values: text, metadata, offsets
//	members.go  what the members of a classic group want and have
//	index.go    .index and .timeindex
//	state.go    .snapshot and .txnindex
//	java.go     Java's words: exceptions, optional numbers, text from bytes
package dumplog
