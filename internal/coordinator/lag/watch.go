package lag

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"barnabas/internal/kafka"
)

// StuckAfter is how long a committed offset may stand still before records that wait
// are said to be stuck.
const StuckAfter = time.Minute

// Key is a partition of a group.
type Key struct {
	Group string
	kafka.TopicPartition
}

// Sample is where a group stands in a partition.
type Sample struct {
	Key
	Committed, End kafka.Offset
	Alive          bool // the group has members, and they do not rebalance
	Members        bool // the group has members
}

// Row is what is known of a partition of a group.
type Row struct {
	Sample
	// Behind is for how long there have been records to read; 0 if there are none.
	Behind time.Duration
	// Still is for how long the committed offset has not moved while there were records
	// to read and members to read them.
	Still time.Duration
}

// Lag is the number of records to read.
func (r *Row) Lag() int64 { return max(0, int64(r.End-r.Committed)) }

// Stuck says whether the partition is stuck.
func (r *Row) Stuck() bool { return r.Still >= StuckAfter }

// Watch keeps what it was shown. The zero Watch has room for nothing.
type Watch struct {
	limit   int
	rows    map[Key]watched
	ends    map[kafka.TopicPartition]*history
	now     time.Time
	dropped int
}

// watched is a sample and since when it has been as it is.
type watched struct {
	Sample
	still time.Time // zero while the partition is not suspected
}

// New returns a Watch with room for so many rows.
func New(limit int) *Watch {
	return &Watch{limit: limit, rows: map[Key]watched{}, ends: map[kafka.TopicPartition]*history{}}
}

// Observe takes a sample of each partition of each group. What is not among them is
// forgotten. Where there are more than there is room for, Fit chooses; dropped is how
// many there are of which no sample was taken, for the same reason.
func (w *Watch) Observe(now time.Time, samples []Sample, dropped int) {
	samples, left := fitting(samples, w.limit)
	w.dropped = dropped + left
	rows, ends := make(map[Key]watched, len(samples)), map[kafka.TopicPartition]*history{}
	for _, s := range samples {
		h := ends[s.TopicPartition]
		if h == nil {
			if h = w.ends[s.TopicPartition]; h == nil {
				h = &history{}
			}
			ends[s.TopicPartition] = h
		}
		h.note(now, s.End)
		next := watched{Sample: s}
		if s.Alive && s.End > s.Committed {
			next.still = now
			if old, known := w.rows[s.Key]; known && old.Committed == s.Committed && !old.still.IsZero() {
				next.still = old.still
			}
		}
		rows[s.Key] = next
	}
	w.rows, w.ends, w.now = rows, ends, now
}

// fitting are the samples of the groups that Fit takes.
func fitting(samples []Sample, limit int) (taken []Sample, left int) {
	if len(samples) <= limit {
		return samples, 0
	}
	groups := map[string]Holding{}
	for i := range samples {
		g := groups[samples[i].Group]
		groups[samples[i].Group] = Holding{Group: samples[i].Group, Partitions: g.Partitions + 1, Members: samples[i].Members}
	}
	chosen, left := Fit(maps.Values(groups), limit)
	clear(groups)
	for _, g := range chosen {
		groups[g.Group] = g
	}
	return slices.DeleteFunc(samples, func(s Sample) bool {
		_, is := groups[s.Group]
		return !is
	}), left
}

func compareKeys(a, b Key) int {
	return cmp.Or(cmp.Compare(a.Group, b.Group), a.TopicPartition.Compare(b.TopicPartition))
}

// Rows are all rows, by group, topic and partition, as of the last sample.
func (w *Watch) Rows() []Row {
	out := make([]Row, 0, len(w.rows))
	for _, s := range w.rows {
		out = append(out, w.row(s))
	}
	slices.SortFunc(out, func(a, b Row) int { return compareKeys(a.Key, b.Key) })
	return out
}

func (w *Watch) row(s watched) Row {
	r := Row{Sample: s.Sample}
	if since, behind := w.ends[s.TopicPartition].since(s.Committed); behind {
		r.Behind = w.now.Sub(since)
	}
	if !s.still.IsZero() {
		r.Still = w.now.Sub(s.still)
	}
	return r
}

// Dropped is the number of partitions of groups for which there was no room the last
// time.
func (w *Watch) Dropped() int { return w.dropped }
