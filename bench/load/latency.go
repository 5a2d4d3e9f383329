package load

import (
	"slices"
	"time"
)

// Latencies is a list of samples in no order.
type Latencies []time.Duration

// Percentile is the sample below which the share p of all lies, 0 < p <= 1.
func (l Latencies) Percentile(p float64) time.Duration {
	if len(l) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(l))
	return sorted[min(len(sorted)-1, int(p*float64(len(sorted))))]
}
