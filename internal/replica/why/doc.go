// Package why says in plain words why old records of a partition are still there,
// and when they will go. It gets facts and the time, and looks at nothing itself.
//
// Files:
//
//	facts.go    what is to be known of a partition
//	explain.go  what follows from it
//	words.go    sizes, times and durations for people
package why
