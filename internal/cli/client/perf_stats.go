package client

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

// maxSamples bounds the latencies that are kept for percentiles.
const maxSamples = 500_000

// latencyStats sums up records that were answered. Whoever is told of an answer
// calls add; report and summary are for the tool.
type latencyStats struct {
	out       io.Writer
	interval  time.Duration // between lines; 0: none
	begin     time.Time
	every     int64 // each so many-th latency is kept
	mu        sync.Mutex
	total     latencyWindow // guarded by mu
	window    latencyWindow // guarded by mu; since the last line
	windowAt  time.Time     // guarded by mu
	latencies []int         // guarded by mu; ms
}

type latencyWindow struct {
	count, bytes, sum int64
	max               int
}

func (w *latencyWindow) add(bytes, ms int) {
	w.count++
	w.bytes += int64(bytes)
	w.sum += int64(ms)
	w.max = max(w.max, ms)
}

func newLatencyStats(out io.Writer, interval time.Duration, records int64, now time.Time) *latencyStats {
	return &latencyStats{out: out, interval: interval, begin: now, windowAt: now, every: records / min(records, maxSamples)}
}

// add takes a record that was answered, and prints a line if one is due.
func (s *latencyStats) add(number int64, bytes int, sent, now time.Time) {
	ms := int(now.Sub(sent).Milliseconds())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total.add(bytes, ms)
	s.window.add(bytes, ms)
	if number%s.every == 0 && len(s.latencies) < maxSamples {
		s.latencies = append(s.latencies, ms)
	}
	if took := now.Sub(s.windowAt); s.interval > 0 && took >= s.interval {
		w := s.window
		perSecond := float64(w.count) / took.Seconds()
		fmt.Fprintf(s.out, "%d records sent, %.1f records/sec (%.2f MB/sec), %.1f ms avg latency, %.1f ms max latency.\n", w.count,
			perSecond, float64(w.bytes)/took.Seconds()/(1<<20), float64(w.sum)/float64(w.count), float64(w.max))
		s.window, s.windowAt = latencyWindow{}, now
	}
}

// summary prints what came of all records; what says which, "" for all.
func (s *latencyStats) summary(what string, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	seconds := now.Sub(s.begin).Seconds()
	p := percentiles(s.latencies, 0.5, 0.95, 0.99, 0.999)
	w := s.total
	fmt.Fprintf(s.out, "%d%s records sent, %.6f records/sec (%.2f MB/sec), %.2f ms avg latency, %.2f ms max latency, %d ms 50th, %d ms 95th, %d ms 99th, %d ms 99.9th.\n",
		w.count, what, float64(w.count)/seconds, float64(w.bytes)/seconds/(1<<20), float64(w.sum)/float64(max(w.count, 1)), float64(w.max), p[0], p[1], p[2], p[3])
}

// percentiles sorts values and picks.
func percentiles(values []int, fractions ...float64) []int {
	slices.Sort(values)
	out := make([]int, len(fractions))
	for i, f := range fractions {
		if len(values) > 0 {
			out[i] = values[int(f*float64(len(values)))]
		}
	}
	return out
}

// throttle holds a loop to a number of rounds per second, about.
type throttle struct {
	begin     time.Time
	perSecond float64 // 0 or less: no limit
}

// wait sleeps until the round of a number is due.
func (t throttle) wait(done <-chan struct{}, number int64) {
	if t.perSecond <= 0 {
		return
	}
	due := t.begin.Add(time.Duration(float64(number) / t.perSecond * float64(time.Second)))
	if early := time.Until(due); early > 0 {
		timer := time.NewTimer(early)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-done:
		}
	}
}
