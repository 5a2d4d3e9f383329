// Package bufpool lends byte buffers of a few sizes and counts who holds them.
//
// A buffer comes with one reference; it goes back to the pool when the last
// reference is released. A size class holds a power of two and two pages more,
// because what is read comes with headers: a batch of the default
// max.message.bytes and its request fit into the class of one mebibyte.
// Buffers beyond the largest class are ordinary memory, and the garbage
// collector empties the pool when the process idles.
//
// In race builds a released buffer is filled with poison, and a change to the
// poison stops the process when the buffer is lent again: so a user of bytes
// that are no longer its own is found by the tests.
//
// Files:
//
//	bufpool.go             Pool, Buffer
//	race.go, norace.go     whether poison is used
package bufpool
