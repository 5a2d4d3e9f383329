// Command bench runs Apache Kafka and Barnabas in turn under the same loads and
// prints one table. See README.md for how to run it and what each row means.
//
// A pair is one run of a workload on Apache Kafka and one on Barnabas right after
// it, never both at once, each on a fresh folder, with the same client (this
// process), the same requests and the same warm-up. The table shows medians over
// pairs, and ratios that were taken inside pairs.
//
// Files:
//
//	main.go       flags, the order of runs
//	workload.go   the list of workloads, readings
//	side.go       one of the two servers: folders, start, stop
//	measure.go    warm-up, quiet, windows
//	produce.go    CPU of producing, commits with flush.messages=1
//	consume.go    CPU of consuming
//	latency.go    produce latency at a fixed rate
//	calls.go      system calls
//	memory.go     idle, after load, of partitions and connections
//	small.go      CPU of small requests
//	groups.go     joins and commits
//	partitions.go creating many partitions, and restarts with them
//	start.go      start to first acknowledged record
//	swap.go       start on a folder of Apache Kafka's to leaders everywhere
package main
