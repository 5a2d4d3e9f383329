package main

import (
	"errors"
	"time"

	"barnabas/bench/load"
	"barnabas/bench/table"
	"barnabas/test/kit"
)

// runStart times an empty node from nothing to a record that is acknowledged.
func runStart(s *side) (outcome, error) {
	n, err := s.prepare()
	if err != nil {
		return outcome{}, err
	}
	if err := s.waitQuiet(); err != nil {
		return outcome{}, err
	}
	began := time.Now()
	if err := n.Format(); err != nil {
		return outcome{}, err
	}
	formatted := time.Since(began)
	started := time.Now()
	window, err := s.startInWindow(n)
	if err != nil {
		return outcome{}, err
	}
	listening := time.Since(started)
	if err := s.firstRecord(n); err != nil {
		return outcome{}, err
	}
	acknowledged := time.Since(started)
	if err := s.closeWindow(window, n); err != nil {
		return outcome{}, err
	}
	return outcome{readings: []reading{
		{"listens", "ms", table.Goal{}, milliseconds(listening)},
		{"first record acknowledged", "ms", table.Goal{OursAtMost: 50}, milliseconds(acknowledged)},
		{"same, with formatting", "ms", table.Goal{RatioAtMost: 1.0 / 30}, milliseconds(formatted + acknowledged)},
	}}, nil
}

// firstRecord creates a topic and produces to it, again and again until that
// succeeds.
func (s *side) firstRecord(n *kit.Node) error {
	var err error
	for deadline := time.Now().Add(kit.Patience); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		var topic load.Topic
		if topic, err = load.CreateTopic(n.Address(), s.topicName(), 1, nil); err != nil {
			continue
		}
		one := load.Produce{Address: n.Address(), Topic: topic, Connections: 1, InFlight: 1, Requests: 1, BatchBytes: 1 << 10, RecordBytes: recordBytes, Acks: -1}
		if _, err = one.Run(); err == nil {
			return nil
		}
	}
	return errors.Join(errors.New("no record was acknowledged"), err)
}
