//go:build !linux

package vfs

import "golang.org/x/sys/unix"

// pwritev writes the first buffer; the caller comes back for the others.
func pwritev(fd int, bufs [][]byte, off int64) (int, error) { return unix.Pwrite(fd, bufs[0], off) }

func fdatasync(fd int) error { return unix.Fsync(fd) }

func preallocate(int, int64, int64) error { return ErrUnsupported }
