package server

import (
	"errors"
	"net/netip"
)

// errNoMemory is returned by transport.read when the lender had no buffer.
var errNoMemory = errors.New("no memory for a buffer")

// errInterrupted is returned by transport.read after interrupt.
var errInterrupted = errors.New("read interrupted")

// lender gives the buffer to read into, at the moment when there is something to
// read.
type lender interface {
	// lend returns room for bytes, or nil if there is no memory. It must not wait.
	lend() []byte
	// idle is called when nothing can be read at present.
	idle()
}

// patience says whether a call may wait for the client.
type patience uint8

const (
	now   patience = iota // write what fits
	later                 // wait until something fits
)

// transport is what a connection needs from its socket. One goroutine reads and
// one writes at a time; close may be called by others and ends both.
type transport interface {
	// read waits until there are bytes and reads into what l lends.
	read(l lender) (int, error)
	// write sends what fits of the buffers and returns how many bytes that were.
	// more says that further bytes follow at once.
	write(bufs [][]byte, more bool, p patience) (int, error)
	// sendFile sends what fits of n bytes of a file; ok is false if this transport
	// cannot, and then nothing was sent. No bytes and no error means that the
	// socket is full, unless eof.
	sendFile(fd int, off, n int64, p patience) (sent int64, eof, ok bool, err error)
	// interrupt ends a read that waits, or the next one.
	interrupt() error
	// watch calls do with the socket's descriptor, which stays open meanwhile.
	watch(do func(fd int) error) error
	local() netip.AddrPort
	remote() netip.AddrPort
	close() error
}
