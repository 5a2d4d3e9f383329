package main

import (
	"fmt"

	"barnabas/bench/table"
)

// workload is something to do to a server, and what to read off.
type workload struct {
	name   string
	about  string
	shares bool // may run in one life of the server with others (-quick)
	run    func(s *side) (outcome, error)
}

// reading is one value of one run.
type reading struct {
	what  string
	unit  string
	goal  table.Goal
	value float64
}

// outcome is what a workload read off one server.
type outcome struct {
	readings []reading
	noisy    bool   // others disturbed it, or the load could not be kept up
	skipped  string // why there is nothing
}

// noisyAbove is how many CPUs others may keep busy during a measurement.
const noisyAbove = 0.3

// addTo adds the two outcomes of a pair to the table.
func (w workload) addTo(t *table.Table, theirs, ours outcome) {
	if theirs.skipped != "" || ours.skipped != "" {
		logf("%s: skipped: %s", w.name, theirs.skipped+ours.skipped)
		return
	}
	noisy := theirs.noisy || ours.noisy
	for i, r := range ours.readings {
		t.Add(table.Row{Workload: w.name, What: r.what, Unit: r.unit, Goal: r.goal}, theirs.readings[i].value, r.value, noisy)
	}
}

// workloads is the list of all, in the order of the table.
func workloads() []workload {
	all := []workload{
		{name: "start", about: "from the start of the process to the first acknowledged record", run: runStart},
		{name: "idle", about: "memory ten seconds after the start", shares: true, run: runIdle},
		{name: "produce-16k-acks1", about: "16 KiB batches, acks=1", shares: true, run: produceLoad{batch: 16 << 10, acks: 1, goal: third}.run},
		{name: "produce-16k-all", about: "16 KiB batches, acks=all", shares: true, run: produceLoad{batch: 16 << 10, acks: -1, goal: third}.run},
		{name: "produce-1k", about: "1 KiB batches, acks=all", shares: true, run: produceLoad{batch: 1 << 10, acks: -1, goal: third}.run},
		{name: "produce-1m", about: "1 MiB batches, acks=all", shares: true, run: produceLoad{batch: 1 << 20, acks: -1, goal: table.Goal{RatioAtMost: 0.6}}.run},
		{name: "consume-1m", about: "fetches of 1 MiB", shares: true, run: consumeLoad{batch: 1 << 20, fetch: 1 << 20, goal: table.Goal{RatioAtMost: 0.85}}.run},
		{name: "consume-64k", about: "fetches of 64 KiB", shares: true, run: consumeLoad{batch: 16 << 10, fetch: 64 << 10}.run},
		{name: "consume-16k", about: "fetches of 16 KiB", shares: true, run: consumeLoad{batch: 16 << 10, fetch: 16 << 10, goal: third}.run},
		{name: "syscalls-16k", about: "system calls, 16 KiB batches, acks=1", shares: true, run: runCalls},
		{name: "memory-load", about: "memory after 16 connections have produced and consumed", shares: true, run: runMemoryAfterLoad},
		{name: "memory-partitions", about: "memory that partitions take", run: runMemoryOfPartitions},
		{name: "memory-connections", about: "memory that idle connections take", run: runMemoryOfConnections},
		{name: "small", about: "CPU of small requests (ListOffsets)", shares: true, run: runSmall},
		{name: "groups", about: "members that join and leave, commits", run: runGroups},
		{name: "partitions", about: "creation of a topic of many partitions, restarts with it", run: runPartitions},
		{name: "flush", about: "16 producers, one partition, flush.messages=1", shares: true, run: runFlush},
	}
	for _, l := range []pacedLoad{{batch: 16 << 10, rate: 2000}, {batch: 1 << 10, rate: 2000}} {
		all = append(all, workload{name: fmt.Sprintf("latency-%dk", l.batch>>10), shares: true, run: l.run,
			about: fmt.Sprintf("%d KiB batches, acks=all, %d a second from 4 connections", l.batch>>10, l.rate)})
	}
	for _, variant := range []string{"clean", "killed"} {
		all = append(all, workload{name: "swap-" + variant, run: swap(variant).run,
			about: "start on a folder of Apache Kafka's (" + variant + ") until each partition has a leader"})
	}
	return all
}

var third = table.Goal{RatioAtMost: 0.333}
