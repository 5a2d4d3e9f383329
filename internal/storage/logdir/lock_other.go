//go:build !linux

package logdir

import "golang.org/x/sys/unix"

// lockFile takes the lock of the whole file that all Unixes have. It keeps nodes
// of ours apart; Java's locks do not see it everywhere.
func lockFile(fd int, path string) (named bool, err error) {
	if err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		if err == unix.EWOULDBLOCK {
			return false, errLocked
		}
		return false, err
	}
	return leadsTo(path, fd)
}

// lockHolder has no way to know.
func lockHolder(int, string) int { return 0 }
