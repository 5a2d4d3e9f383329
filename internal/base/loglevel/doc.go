// Package loglevel gives the parts of a program log levels of their own, which can
// change while it runs.
//
//	loggers := loglevel.New(&root)
//	log := slog.New(loggers.Handler(h))
//	log.With("part", "server").Debug("…") // written while "server" is at DEBUG
//
// A logger is known from the moment that With names its part, and follows the root
// until a level is set for it. The package starts no goroutine. A check of a level
// is two atomic reads.
//
// # Invariants
//
//  1. What has no level of its own has the root's, also after the root's changes.
//  2. Loggers are never forgotten; their number is that of the program's parts.
//
// # Files
//
//	loggers.go   the set of loggers, and the handler
//	level.go     names of levels
package loglevel
