// Package run holds the command that runs a node: barnabas server, which is also
// kafka-server-start. What is of the process and not of the node is here: the log,
// the memory, the end.
//
// The log goes to stderr, one line of key=value pairs per event; the start line goes
// to stdout, for people.
//
// Files:
//
//	server.go    the command line, and a node from start to end
//	welcome.go   the start line
//	completion.go  what shells complete
//	notify.go    what a service manager is told
//	log.go       the log and its level
//	memory.go    when garbage is collected, and memory given back
package run
