// Package server moves requests and answers between sockets and a Handler. It
// owns listeners, connections, the order of answers and the admission of memory;
// it answers nothing itself.
//
// # A connection
//
// One goroutine reads a connection, drains all complete requests that the socket
// has, and gives them to the Handler on its own stack, so that no goroutine has
// to be woken on the way to an answer. Neighbouring requests of an API whose row
// says Batch (Produce) come as one run. The answers of one drain leave with one
// write.
//
// Everything blocks its connection until it is answered, but a request that has
// called Ordered: its effects are placed, the next request is served at once,
// and the answers still leave in the order of the requests. Reply may be called
// by any goroutine. Whoever completes the head of the queue writes all answers
// that are ready, without waiting; there is no writer goroutine. When the socket
// is full, the rest is left to the connection's goroutine, which is about to come
// by; only when that one sits in a read does a goroutine of its own take over,
// one per connection, until the queue is written.
//
// A connection that has been quiet for a second lets its goroutine go; a sentinel
// watches the sockets of such connections and starts a new one.
//
// A connection is authenticating or serving. Without an Authenticator it serves
// from the start, as User:ANONYMOUS.
//
// # Memory
//
// Memory follows the bytes that have arrived, never the length that was named:
// 64 KiB first, then doubling (or at once what the connection's last frame
// needed). A connection without bytes holds no buffer, one that waits for the
// rest of a frame holds at most four times the bytes it has. Buffers and what
// decoding and answering allocate (wire.Measure) are charged to the listener's
// budget. A connection that is first in line for memory may go over the limit, one
// at a time, so a request larger than the budget is served; if it stalls as long
// as it has that privilege, it is closed. A request that would take more than the
// budget and many times its own size is refused.
//
// An eighth of the budget is a reserve for connections that hold little: while memory
// is short, small requests are served and large ones wait in line. Answers that a full
// socket keeps back are charged, too, and all of them may take a half of the budget:
// beyond that the connection is closed whose socket has taken nothing for the longest
// time (backlog). What an answer will take while it is made is charged as far as earlier
// answers of its API tell. Ranges of files are no memory until they are sent. While anybody waits, a connection that has kept
// memory for StallTimeout and moved less than leastRate is closed: half a request, a
// request byte by byte, answers that nobody reads.
//
// The bytes of a Produce request live in a pooled buffer that is given back at
// Ordered or Reply, whichever comes first: its Msg must not be touched after
// that. Other requests own their memory.
//
// At most maxUnanswered requests and maxQueued bytes of answers wait in a
// connection before it stops reading.
//
// # Who owns what
//
//	read side (inbound, phase, drain)   the connection's goroutine
//	queue of requests and answers       Conn.mu
//	bytes on their way out (outbound)   whoever set Conn.writing
//	set of connections, counts          Server.mu, quota.mu
//	who reads too little                backlog.mu, the last lock to be taken but the budget's
//
// Invariants:
//
//  1. Answers are written in the order in which the requests came, each whole.
//  2. A request is answered exactly once; a second answer is an error of ours.
//  3. At most one goroutine writes to a connection.
//  4. Nothing is held while a goroutine waits for a client, but what inbound and
//     outbound show: no lock, and no answer that could leave.
//  5. Every File of a Piece is released exactly once, sent or not.
//  6. The end of a file inside a promised range closes the connection.
//  7. A panic of a handler ends the process, and the log says which request it was.
//
// Files:
//
//	options.go    what a server is told: listeners, limits, hooks
//	server.go     Server: listen, start, janitor, shutdown
//	accept.go     accepting connections
//	quota.go      how many connections, from where, how fast
//	conn.go       Conn and the loop of its goroutine
//	inbound.go    the buffer it reads into, frames
//	dispatch.go   frames to runs of requests: header, admission, decoding
//	request.go    Request: Ordered, Reply and the others
//	queue.go      the order of answers, who writes
//	outbound.go   pieces to bytes on the socket
//	expect.go     what answers will take while they are made
//	unread.go     what full sockets keep back, of all connections
//	sleep.go      connections without a goroutine; sentinel_linux.go, sentinel_other.go
//	transport.go  transport: what a connection needs from a socket
//	tcp.go        the plain one; tcp_linux.go, tcp_other.go
//	stats.go      counters
//	complaints.go lines about clients, so many a second
//	panic.go      the last words of a process whose handler panicked
package server
