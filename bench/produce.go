package main

import (
	"barnabas/bench/load"
	"barnabas/bench/table"
)

const (
	connections = 4
	inFlight    = 5
	recordBytes = 100
)

// warmBytes and warmRequests end a warm-up, whichever comes first: what Apache's
// virtual machine needs to compile its hot paths. Ours gets the same.
func (s *side) warmRequests(batch int) int {
	bytes, requests := s.pick(1e9, 2e8), s.pick(60_000, 10_000)
	return min(bytes/batch, requests)
}

// produceLoad is a closed loop of producers, each with a partition of its own.
type produceLoad struct {
	batch int
	acks  int16
	goal  table.Goal // for CPU per GB
}

// run warms the server up with the same load on another topic, then measures.
func (p produceLoad) run(s *side) (outcome, error) {
	n, err := s.running()
	if err != nil {
		return outcome{}, err
	}
	l := load.Produce{Address: n.Address(), Connections: connections, InFlight: inFlight, BatchBytes: p.batch, RecordBytes: recordBytes, Acks: p.acks}
	if _, err := s.produceTo(l, s.warmRequests(p.batch), nil); err != nil {
		return outcome{}, err
	}
	if l.Topic, err = load.CreateTopic(n.Address(), s.topicName(), connections, nil); err != nil {
		return outcome{}, err
	}
	l.Requests = min(s.pick(1e9, 2e8)/p.batch, s.pick(100_000, 15_000))
	if p.batch >= 1<<20 {
		l.Requests = s.pick(2e9, 5e8) / p.batch
	}
	result, cost, err := measure(s, n, l.Run)
	if err != nil {
		return outcome{}, err
	}
	return outcome{readings: []reading{
		{"broker CPU", "CPU-s/GB", p.goal, perGB(cost.Server, result.Bytes)},
		{"broker CPU", "us/request", table.Goal{}, perRequest(cost.Server, result.Requests)},
		{"context switches", "per request", table.Goal{}, float64(cost.Switches) / float64(result.Requests)},
		{"client CPU", "us/request", table.Goal{}, perRequest(cost.Client, result.Requests)},
		{"rate", "MB/s", table.Goal{}, megabytes(result.Bytes) / result.Wall.Seconds()},
	}}, nil
}

// produceTo runs a load on a topic of its own.
func (s *side) produceTo(l load.Produce, requests int, configs map[string]string) (load.Result, error) {
	topic, err := load.CreateTopic(l.Address, s.topicName(), connections, configs)
	if err != nil {
		return load.Result{}, err
	}
	l.Topic, l.Requests = topic, requests
	return l.Run()
}

// runFlush has 16 producers that each wait for a synced append.
func runFlush(s *side) (outcome, error) {
	n, err := s.running()
	if err != nil {
		return outcome{}, err
	}
	topic, err := load.CreateTopic(n.Address(), s.topicName(), 1, map[string]string{"flush.messages": "1"})
	if err != nil {
		return outcome{}, err
	}
	l := load.Produce{Address: n.Address(), Topic: topic, Connections: 16, InFlight: 1, BatchBytes: 16 << 10, RecordBytes: recordBytes, Acks: -1}
	l.Requests = s.pick(2_000, 800)
	if _, err := l.Run(); err != nil {
		return outcome{}, err
	}
	l.Requests = s.pick(10_000, 3_000)
	result, cost, err := measure(s, n, l.Run)
	if err != nil {
		return outcome{}, err
	}
	return outcome{readings: []reading{
		{"commits", "per second", table.Goal{RatioAtLeast: 3}, float64(result.Requests) / result.Wall.Seconds()},
		{"p50", "ms", table.Goal{}, milliseconds(result.Latencies.Percentile(0.5))},
		{"p99", "ms", table.Goal{RatioAtMost: 0.5}, milliseconds(result.Latencies.Percentile(0.99))},
		{"broker CPU", "us/request", table.Goal{}, perRequest(cost.Server, result.Requests)},
	}}, nil
}
