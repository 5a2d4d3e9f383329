// Package wire is the outer form of the Kafka protocol: frames, headers, and
// THE table of requests. kmsg holds the bodies as Go structs; wire says which of
// them exist, in which versions, on which listener, and what a body costs before
// anything is allocated for it.
//
// It does not know sockets, and answers nothing but what is pure data: which
// versions are served (ApiVersions) and how a Fetch answer is cut into pieces.
// It owns no state; the table is constant, a Served set is made by whoever
// assembles a node and never changes.
//
// # Measuring
//
// kmsg allocates what the counts in a body tell it to: a body of empty structs
// costs 20 times its size in memory, one of unknown tags over a hundred times,
// and a body of 100 MiB is allowed. So Measure walks a body by its row's shape
// before kmsg sees it. The walk allocates nothing. It refuses what Apache Kafka
// refuses (a body that ends early, null where null is not allowed, more than
// 1,000,000 elements in an array or 10,000 tagged fields in a section) and says
// how many bytes decoding will allocate, which the server charges to its memory
// budget; and whether the decoded form will share memory with the frame.
//
// Bytes after the end of a body are ignored, as Apache Kafka does.
//
// Invariants:
//
//  1. What Measure accepts, kmsg decodes without an error; what decoding
//     allocates is at most Measure's figure. Tests hold this for every request
//     and version, and the figure is at most three times the truth.
//  2. Pieces of a Fetch answer, joined, are the bytes that kmsg writes.
//  3. The response header of ApiVersions is always version 0.
//
// Files:
//
//	api.go          API (a row), Scope, Served
//	table.go        THE table
//	shape.go        the notation of bodies, compiled
//	measure.go      the walk over a body
//	header.go       request and response headers
//	decode.go       body to kmsg struct
//	piece.go        Piece: a part of an answer, in memory or in a file
//	fetch.go        a Fetch answer as pieces
//	apiversions.go  what ApiVersions answers
package wire
