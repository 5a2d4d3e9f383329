package main

import (
	"time"

	"barnabas/bench/load"
	"barnabas/bench/proc"
	"barnabas/bench/table"
	"barnabas/test/kit"
)

const idleTime = 10 * time.Second

// runIdle starts a server and leaves it alone.
func runIdle(s *side) (outcome, error) {
	n, err := s.running()
	if err != nil {
		return outcome{}, err
	}
	time.Sleep(idleTime)
	m, err := proc.ReadMemory(n.PID())
	return outcome{readings: []reading{
		{"RSS", "MB", table.Goal{OursAtMost: 30}, megabytes(m.RSS)},
		{"RssAnon", "MB", table.Goal{RatioAtMost: 0.1}, megabytes(m.Anon)},
	}}, err
}

// runMemoryAfterLoad reads memory right after a load, as it stands.
func runMemoryAfterLoad(s *side) (outcome, error) {
	const many = 16
	n, err := s.running()
	if err != nil {
		return outcome{}, err
	}
	topic, err := load.CreateTopic(n.Address(), s.topicName(), many, nil)
	if err != nil {
		return outcome{}, err
	}
	written, err := load.Produce{Address: n.Address(), Topic: topic, Connections: many, InFlight: inFlight, Acks: -1,
		Requests: s.pick(1e9, 1.5e8) / (16 << 10), BatchBytes: 16 << 10, RecordBytes: recordBytes}.Run()
	if err != nil {
		return outcome{}, err
	}
	consume := load.Consume{Address: n.Address(), Topic: topic, Connections: many, FetchBytes: 1 << 20, Bytes: written.Bytes, End: written.Records / many}
	if _, err := consume.Run(); err != nil {
		return outcome{}, err
	}
	m, err := proc.ReadMemory(n.PID())
	return outcome{readings: []reading{
		{"RSS", "MB", table.Goal{OursAtMost: 64}, megabytes(m.RSS)},
		{"RssAnon", "MB", table.Goal{RatioAtMost: 0.1}, megabytes(m.Anon)},
		{"highest RSS", "MB", table.Goal{}, megabytes(m.Peak)},
	}}, err
}

// runMemoryOfPartitions reads what a topic of many partitions adds, none of which was
// written to.
func runMemoryOfPartitions(s *side) (outcome, error) {
	many := s.pick(2_000, 1_000)
	return memoryOf(s, "1,000 partitions", many, func(n *kit.Node) (end func(), err error) {
		_, err = load.CreateTopic(n.Address(), s.topicName(), int32(many), nil)
		return func() {}, err
	})
}

// runMemoryOfConnections reads what many connections add that have asked once.
func runMemoryOfConnections(s *side) (outcome, error) {
	many := s.pick(5_000, 1_000)
	name := s.topicName()
	return memoryOf(s, "1,000 connections", many, func(n *kit.Node) (end func(), err error) {
		if _, err := load.CreateTopic(n.Address(), name, 1, nil); err != nil {
			return func() {}, err
		}
		conns, err := load.DialMany(n.Address(), many)
		for _, c := range conns {
			if err == nil {
				err = c.EndOffset(name)
			}
		}
		return func() { load.CloseAll(conns) }, err
	})
}

// memoryOf reads memory before and ten seconds after there is much of something,
// and tells the difference for a thousand. Apache's heap grows by what was allocated
// on the way too: it is not collected in between.
func memoryOf(s *side, of string, many int, create func(*kit.Node) (end func(), err error)) (outcome, error) {
	n, err := s.running()
	if err != nil {
		return outcome{}, err
	}
	time.Sleep(idleTime)
	before, err := proc.ReadMemory(n.PID())
	if err != nil {
		return outcome{}, err
	}
	end, err := create(n)
	defer end()
	if err != nil {
		return outcome{}, err
	}
	time.Sleep(idleTime)
	after, err := proc.ReadMemory(n.PID())
	thousands := float64(many) / 1000
	return outcome{readings: []reading{
		{"RSS for " + of, "MB", table.Goal{}, megabytes(after.RSS-before.RSS) / thousands},
		{"RssAnon for " + of, "MB", table.Goal{}, megabytes(after.Anon-before.Anon) / thousands},
	}}, err
}
