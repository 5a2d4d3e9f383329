package metrics

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// bounds are the upper ends of the buckets of Durations. Each is at least twice
// the one before, so that a bucket is found without a search.
var bounds = [...]time.Duration{
	10 * time.Microsecond, 25 * time.Microsecond, 50 * time.Microsecond,
	100 * time.Microsecond, 250 * time.Microsecond, 500 * time.Microsecond,
	time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond,
	10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2500 * time.Millisecond, 5 * time.Second,
	10 * time.Second, 30 * time.Second,
}

// firstBucket gives, by the number of bits of a duration in nanoseconds, the
// bucket of the smallest duration with so many bits.
var firstBucket = func() (first [65]uint8) {
	for n := range first {
		smallest := time.Duration(0)
		if n > 0 {
			smallest = 1 << (n - 1)
		}
		for first[n] < uint8(len(bounds)) && (smallest > bounds[first[n]] || n > 63) {
			first[n]++
		}
	}
	return first
}()

// Durations is a histogram of durations. Its zero value is ready, and its methods
// may be called from any goroutine.
type Durations struct {
	buckets [len(bounds) + 1]atomic.Uint64
	sum     atomic.Int64 // nanoseconds
}

// Observe counts a duration.
func (d *Durations) Observe(t time.Duration) {
	t = max(t, 0)
	i := firstBucket[bits.Len64(uint64(t))]
	// Bounds are so far apart that there is one at most within a number of bits.
	if int(i) < len(bounds) && t > bounds[i] {
		i++
	}
	d.buckets[i].Add(1)
	d.sum.Add(int64(t))
}

// totals are the sums of some histograms.
type totals struct {
	buckets [len(bounds) + 1]uint64
	sum     time.Duration
}

func (t *totals) add(d *Durations) {
	for i := range d.buckets {
		t.buckets[i] += d.buckets[i].Load()
	}
	t.sum += time.Duration(d.sum.Load())
}

// cumulative gives the count, the sum in seconds, and how many lie at or below
// each bound, as Prometheus wants them.
func (t *totals) cumulative() (count uint64, sum float64, below map[float64]uint64) {
	below = make(map[float64]uint64, len(bounds))
	for i, n := range t.buckets {
		count += n
		if i < len(bounds) {
			below[bounds[i].Seconds()] = count
		}
	}
	return count, t.sum.Seconds(), below
}
