package table

import "slices"

// summary is the median of values with their extremes.
type summary struct{ median, low, high float64 }

func summarize(values []float64) summary {
	if len(values) == 0 {
		return summary{}
	}
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return summary{(sorted[(n-1)/2] + sorted[n/2]) / 2, sorted[0], sorted[n-1]}
}
