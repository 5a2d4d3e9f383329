// Package oracle sends the same requests to Apache Kafka and to Barnabas and
// compares the answers, field by field, as text.
//
// A sequence is a Go function on a Session: it opens connections, sends
// requests, and may use what came back in later requests. It runs once against
// each server. Each writes a transcript, in which ids, times, ports and other
// things that differ from run to run carry names ("<id 1>", "<now>"), so equal
// behaviour gives equal transcripts. Where we answer otherwise on purpose, the
// line stands in known_differences.txt with both answers and the reason; an
// entry that no longer differs is an error too.
//
//	session.go          connections, requests, answers
//	transcript.go       answers as lines, with names for what varies
//	batches.go          record sets as lines
//	helpers.go          hand-made batches
//	mutate.go           batches with something wrong
//	codecs.go           compression
//	transactions.go     clients of the transaction coordinator, and what it logs
//	requests.go         requests that sequences have in common
//	known.go            known_differences.txt
//	oracle_test.go      starts both servers, runs all sequences, compares
//	sequences_test.go   the list of sequences
//	seq_*_test.go       the sequences, by subject
//	txn_levels_test.go  transactional ids with few epochs left, and lower levels of transaction.version
//
// Folders are compared, and handed from one server to the other and back:
//
//	golden_test.go      folders that Apache wrote; older releases: releases_test.go
//	swap_test.go        a folder of ours, after a stop and a kill; deletion_test.go: with deletions
//	bytes_test.go       the same operations, the same files to the byte
//	compaction_*test.go what both make of one folder, of half-done swaps, of committed offsets
//	dirs_test.go        where the metadata log says that partitions lie
//
// What Apache's tools print is compared in two ways: side by side against one
// Apache Kafka, and our tools against our node with samples that were taken of
// Apache's (testdata/samples; treatment.txt there lists what can't be equal).
//
//	tools_test.go           both tools, one Apache Kafka
//	samples.go              reading samples, and naming what varies in them
//	samples_test.go         scenes: nodes on which samples are played
//	samples_*_test.go       what single scenes need
package oracle
