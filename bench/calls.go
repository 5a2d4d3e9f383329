package main

import (
	"errors"

	"barnabas/bench/load"
	"barnabas/bench/proc"
	"barnabas/bench/table"
)

// runCalls counts the system calls of all threads under a short load.
func runCalls(s *side) (outcome, error) {
	n, err := s.running()
	if err != nil {
		return outcome{}, err
	}
	l := load.Produce{Address: n.Address(), Connections: connections, InFlight: inFlight, BatchBytes: 16 << 10, RecordBytes: recordBytes, Acks: 1}
	if _, err := s.produceTo(l, s.warmRequests(l.BatchBytes), nil); err != nil {
		return outcome{}, err
	}
	if l.Topic, err = load.CreateTopic(n.Address(), s.topicName(), connections, nil); err != nil {
		return outcome{}, err
	}
	l.Requests = s.pick(12_000, 3_000)
	calls, err := proc.CountCalls(n.PID(), func() error {
		_, err := l.Run()
		return err
	})
	if errors.Is(err, proc.ErrNoStrace) {
		return outcome{skipped: err.Error()}, nil
	}
	if err != nil {
		return outcome{}, err
	}
	return outcome{readings: []reading{{"system calls", "per request", table.Goal{RatioAtMost: 0.2}, float64(calls) / float64(l.Requests)}}}, nil
}
