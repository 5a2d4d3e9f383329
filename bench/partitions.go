package main

import (
	"time"

	"barnabas/bench/load"
	"barnabas/bench/table"
	"barnabas/test/kit"
)

// runPartitions times a topic of many partitions from the request to the last one
// that serves, and restarts of the node with it.
func runPartitions(s *side) (outcome, error) {
	n, err := s.running()
	if err != nil {
		return outcome{}, err
	}
	if err := s.waitQuiet(); err != nil {
		return outcome{}, err
	}
	name, many := s.topicName(), int32(s.pick(2_000, 500))
	began := time.Now()
	if _, err := load.CreateTopic(n.Address(), name, many, nil); err != nil {
		return outcome{}, err
	}
	created := time.Since(began)
	clean, err := s.restart(n, n.Stop, name, many)
	if err != nil {
		return outcome{}, err
	}
	killed, err := s.restart(n, n.Kill, name, many)
	if err != nil {
		return outcome{}, err
	}
	return outcome{readings: []reading{
		{"created and serving", "ms", table.Goal{}, milliseconds(created)},
		{"start after a stop, serving", "ms", table.Goal{}, milliseconds(clean)},
		{"start after a kill, serving", "ms", table.Goal{}, milliseconds(killed)},
	}}, nil
}

// restart ends the node and times its start until each partition serves.
func (s *side) restart(n *kit.Node, end func() error, topic string, partitions int32) (time.Duration, error) {
	if err := end(); err != nil {
		return 0, err
	}
	if err := s.waitQuiet(); err != nil {
		return 0, err
	}
	began := time.Now()
	window, err := s.startInWindow(n)
	if err != nil {
		return 0, err
	}
	if err := load.WaitServing(n.Address(), topic, partitions); err != nil {
		return 0, err
	}
	took := time.Since(began)
	return took, s.closeWindow(window, n)
}
