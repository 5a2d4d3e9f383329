package main

import (
	"barnabas/bench/load"
	"barnabas/bench/table"
)

// consumeLoad reads partitions that lie in the page cache.
type consumeLoad struct {
	batch int // of what is written first
	fetch int
	goal  table.Goal // for CPU per GB
}

func (c consumeLoad) run(s *side) (outcome, error) {
	n, err := s.running()
	if err != nil {
		return outcome{}, err
	}
	topic, err := load.CreateTopic(n.Address(), s.topicName(), connections, nil)
	if err != nil {
		return outcome{}, err
	}
	filled, err := load.Produce{Address: n.Address(), Topic: topic, Connections: connections, InFlight: inFlight,
		Requests: s.pick(5e8, 1.2e8) / c.batch, BatchBytes: c.batch, RecordBytes: recordBytes, Acks: 1}.Run()
	if err != nil {
		return outcome{}, err
	}
	l := load.Consume{Address: n.Address(), Topic: topic, Connections: connections, FetchBytes: c.fetch, End: filled.Records / connections}
	l.Bytes = int64(s.warmRequests(c.fetch)) * int64(c.fetch)
	if _, err := l.Run(); err != nil {
		return outcome{}, err
	}
	l.Bytes = int64(min(s.pick(4e9, 1e9), s.pick(30_000, 8_000)*c.fetch))
	result, cost, err := measure(s, n, l.Run)
	if err != nil {
		return outcome{}, err
	}
	return outcome{readings: []reading{
		{"broker CPU", "CPU-s/GB", c.goal, perGB(cost.Server, result.Bytes)},
		{"broker CPU", "us/fetch", table.Goal{}, perRequest(cost.Server, result.Requests)},
		{"client CPU", "CPU-s/GB", table.Goal{}, perGB(cost.Client, result.Bytes)},
		{"rate", "MB/s", table.Goal{}, megabytes(result.Bytes) / result.Wall.Seconds()},
	}}, nil
}
