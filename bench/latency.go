package main

import (
	"time"

	"barnabas/bench/load"
	"barnabas/bench/table"
)

// pacedLoad is a fixed rate, the same for both.
type pacedLoad struct {
	batch int
	rate  int
}

func (p pacedLoad) run(s *side) (outcome, error) {
	n, err := s.running()
	if err != nil {
		return outcome{}, err
	}
	closed := load.Produce{Address: n.Address(), Connections: connections, InFlight: inFlight, BatchBytes: p.batch, RecordBytes: recordBytes, Acks: -1}
	most, err := s.produceTo(closed, s.warmRequests(p.batch), nil)
	if err != nil {
		return outcome{}, err
	}
	if maximum := float64(most.Requests) / most.Wall.Seconds(); float64(p.rate) > maximum/2 {
		logf("%s: %d requests a second are more than half of what %s did in its warm-up (%.0f)", s.workload, p.rate, s.name, maximum)
	}
	topic, err := load.CreateTopic(n.Address(), s.topicName(), connections, nil)
	if err != nil {
		return outcome{}, err
	}
	l := load.Paced{Address: n.Address(), Topic: topic, Connections: connections, Rate: p.rate, BatchBytes: p.batch, RecordBytes: recordBytes, Acks: -1,
		Duration: time.Duration(s.pick(20_000, 4_000)) * time.Millisecond}
	var paced load.PacedResult
	result, _, err := measure(s, n, func() (load.Result, error) {
		paced, err = l.Run()
		return paced.Result, err
	})
	if err != nil {
		return outcome{}, err
	}
	if paced.Achieved < 0.995 {
		s.noisy = true
		logf("%s: %s kept up with %.1f %% of the rate only", s.workload, s.name, 100*paced.Achieved)
	}
	latencies := result.Latencies
	return outcome{readings: []reading{
		{"p50", "ms", table.Goal{RatioAtMost: 0.75}, milliseconds(latencies.Percentile(0.5))},
		{"p99", "ms", table.Goal{RatioAtMost: 0.5}, milliseconds(latencies.Percentile(0.99))},
		{"p99.9", "ms", table.Goal{}, milliseconds(latencies.Percentile(0.999))},
		{"longest", "ms", table.Goal{}, milliseconds(latencies.Percentile(1))},
		{"client late, p99", "ms", table.Goal{}, milliseconds(paced.Late.Percentile(0.99))},
	}}, nil
}
