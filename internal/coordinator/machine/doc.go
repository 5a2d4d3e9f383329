// Package machine is the contract between a coordinator's pure core (groups,
// later transactions and share state) and the runtime that gives it a partition
// of an internal topic to live in.
//
// The shape is decide, append, replay, answer on commit. An operation of the core
// looks at its state and returns a Decision: records, and what to do when they
// are committed. The runtime hands the records to Replay, appends them as
// one batch, and calls Done when the high watermark has passed the batch, or with
// an error when that cannot happen any more; then it has reverted the state to
// what it was before the batch. At start the same Replay reads the log.
// Operations share a batch where several wait; if it fails, it fails for all.
//
// A core starts no goroutine, takes no lock, reads no clock and does no I/O. It is
// called by one goroutine at a time. Its state lives in maps of package timeline
// that belong to the runtime's registry, so that the runtime can revert them.
// Replies leave through functions that the operation's caller gave to the core;
// they may be called at any time after the operation began, each once.
//
// Files:
//
//	machine.go  Record, Decision, Machine
package machine
