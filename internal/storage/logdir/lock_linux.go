package logdir

import (
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// wholeFile is the range that Java's FileChannel.tryLock takes.
func wholeFile() *unix.Flock_t { return &unix.Flock_t{Type: unix.F_WRLCK, Whence: unix.SEEK_SET} }

// lockFile takes a write lock of the open file description. It stands against
// Java's FileLock, a record lock of the process, and against a second one in this
// process, which a record lock would not. named says whether path leads to the
// locked file.
func lockFile(fd int, path string) (named bool, err error) {
	for {
		err := unix.FcntlFlock(uintptr(fd), unix.F_OFD_SETLK, wholeFile())
		if err == nil {
			break
		}
		if err == unix.EAGAIN || err == unix.EACCES {
			return false, errLocked
		}
		if err != unix.EINTR {
			return false, err
		}
	}
	return leadsTo(path, fd)
}

// lockHolder finds the process that holds the lock, or 0. The system names the
// owner of a record lock (a JVM); ours belong to no process, so the one that has
// the file open is looked for.
func lockHolder(fd int, path string) int {
	lock := wholeFile()
	if err := unix.FcntlFlock(uintptr(fd), unix.F_OFD_GETLK, lock); err == nil && lock.Type != unix.F_UNLCK && lock.Pid > 0 {
		return int(lock.Pid)
	}
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return 0
	}
	if path, err = filepath.Abs(path); err != nil {
		return 0
	}
	links, err := filepath.Glob("/proc/[0-9]*/fd/*")
	if err != nil {
		return 0
	}
	for _, link := range links {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(link))))
		if err != nil || pid == os.Getpid() {
			continue
		}
		if target, err := os.Readlink(link); err == nil && target == path {
			return pid
		}
	}
	return 0
}
