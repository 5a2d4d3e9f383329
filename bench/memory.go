package main

import (
	"time"

	"barnabas/bench/load"
	"barnabas/bench/proc"
	"barnabas/bench/table"
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
