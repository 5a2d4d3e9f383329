// Package table collects readings of two contenders in pairs and prints what they
// say about each other. A ratio is taken inside each pair; what is shown is the
// median of the ratios with the smallest and the largest, because the figures
// themselves move by a factor of two within an hour on a shared machine.
//
// A goal is met when the median meets it and the worst pair is within a quarter
// of it.
//
//	table.go   Table, rows, rendering
//	goal.go    what is aimed at
//	stats.go   medians
package table
