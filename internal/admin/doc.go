// Package admin is the listener for whoever operates a node: metrics, health,
// profiles, the level of the log.
//
//	/metrics        Prometheus's text format
//	/livez          200 while the process is worth keeping, else 500 and why
//	/readyz         200 when clients are served and everything is recovered, else
//	                503; either way a JSON object that says how far the node is
//	/groups/why     ?group=NAME, JSON: a group's last rebalances, lag, stuck partitions
//	/loglevel       GET says it, PUT with debug, info, warn or error sets it: a page in
//	                a browser can send a POST to any address, a PUT only to its own
//	/topics/why     why old records of a topic (?topic=NAME) are still there, as JSON
//	/debug/pprof/   Go's profiles; heap?gc=1 gives free memory back to the system first
//
// It knows nothing of a node: it is given functions. Nothing here asks who the
// client is, so it listens on loopback unless told otherwise, and answers there only
// what was sent to an address or to localhost.
//
// A request has a deadline, and Close waits until every handler has returned.
//
// Files:
//
//	server.go   Server: listen, serve, close
//	pages.go    what is answered
package admin
