package vfs

import (
	"errors"

	"golang.org/x/sys/unix"
)

func pwritev(fd int, bufs [][]byte, off int64) (int, error) { return unix.Pwritev(fd, bufs, off) }

func fdatasync(fd int) error { return unix.Fdatasync(fd) }

func preallocate(fd int, off, n int64) error {
	err := unix.Fallocate(fd, unix.FALLOC_FL_KEEP_SIZE, off, n)
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
		return ErrUnsupported
	}
	return err
}
