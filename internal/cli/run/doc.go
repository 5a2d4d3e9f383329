// Package run holds the command that runs a node: barnabas server, which is also
// kafka-server-start.
package run
