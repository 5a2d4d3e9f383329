// Package lag watches how far groups are behind: from samples of committed offsets
// and of the ends of logs it says by how many records and for how long each group is
// behind in each partition, and which partitions are stuck.
//
//	w := lag.New(10_000)
//	w.Observe(now, samples, 0)   // every few seconds
//	w.Rows()
//
// A partition is stuck when its group has members that are alive, there are records
// to read, and the committed offset has not moved for StuckAfter. That is said of
// what the group commits: a group that commits nowhere else is not watched.
//
// How long a group is behind is the age of the first sample in which the log ended
// behind the committed offset: exact to the interval of samples for what was just
// now, to some percent for what is long ago, and never longer than the watch watches.
//
// It reads no clock and starts no goroutine. Whoever owns a Watch guards it.
//
// Bounds: the number of rows is given. Where there are more, groups are left out as a
// whole, by a rule (Fit), and their rows are counted as dropped.
//
// Files:
//
//	watch.go    Watch, Sample, Row
//	fit.go      which groups are watched where there are too many
//	history.go  when a log ended where
package lag
