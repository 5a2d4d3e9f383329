package main

import (
	"barnabas/bench/load"
	"barnabas/bench/table"
)

// runSmall has 4 connections ask for the end of a partition, one request at a time.
func runSmall(s *side) (outcome, error) {
	n, err := s.running()
	if err != nil {
		return outcome{}, err
	}
	name := s.topicName()
	if _, err := load.CreateTopic(n.Address(), name, 1, nil); err != nil {
		return outcome{}, err
	}
	l := load.Calls{Address: n.Address(), Connections: connections, Rounds: s.pick(60_000, 10_000),
		Round: func(c *load.Conn, _ int) error { return c.EndOffset(name) }}
	if _, err := l.Run(); err != nil {
		return outcome{}, err
	}
	l.Rounds = s.pick(200_000, 20_000)
	result, cost, err := measure(s, n, l.Run)
	if err != nil {
		return outcome{}, err
	}
	return outcome{readings: []reading{
		{"broker CPU", "us/request", table.Goal{}, perRequest(cost.Server, result.Requests)},
		{"client CPU", "us/request", table.Goal{}, perRequest(cost.Client, result.Requests)},
		{"rate", "per second", table.Goal{}, float64(result.Requests) / result.Wall.Seconds()},
		{"p99", "ms", table.Goal{}, milliseconds(result.Latencies.Percentile(0.99))},
	}}, nil
}
