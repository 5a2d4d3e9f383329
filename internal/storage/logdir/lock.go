package logdir

import (
	"errors"
	"fmt"
	"path/filepath"

	"barnabas/internal/base/vfs"

	"golang.org/x/sys/unix"
)

// LockFile is the name of the file that is locked while a node runs. It is empty;
// a clean stop removes it, and one that a crash left behind means nothing.
const LockFile = ".lock"

// Lock is the right to use a log directory. It ends with the process at the
// latest: the system drops the lock with the descriptor.
type Lock struct {
	fsys vfs.FS
	path string
	file vfs.File
}

// InUseError says that another node runs on a log directory.
type InUseError struct {
	Dir string
	PID int // 0 is unknown
}

func (e *InUseError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("log directory %s is in use by another process: its %s is locked", e.Dir, LockFile)
	}
	return fmt.Sprintf("log directory %s is in use by pid %d: its %s is locked", e.Dir, e.PID, LockFile)
}

// Acquire locks a log directory, so that neither a second node of ours nor one of
// Apache Kafka can open it. On a file system in memory, whose one owner is this
// process, it only makes the file.
//
// A node that stops removes the file while it still holds the lock. Whoever
// opened the file before that gets the lock of a file without a name, next to
// which a third node could make and lock a new one. So the lock counts only if
// the name still leads to the file that was locked.
func Acquire(fsys vfs.FS, dir string) (*Lock, error) {
	path := filepath.Join(dir, LockFile)
	for {
		file, err := fsys.Open(path, vfs.Create)
		if err != nil {
			return nil, err
		}
		fd, ok := file.Fd()
		if !ok {
			return &Lock{fsys, path, file}, nil
		}
		named, err := lockFile(fd, path)
		switch {
		case errors.Is(err, errLocked):
			pid := lockHolder(fd, path)
			return nil, errors.Join(&InUseError{Dir: dir, PID: pid}, file.Close())
		case err != nil:
			return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), file.Close())
		case named:
			return &Lock{fsys, path, file}, nil
		}
		if err := file.Close(); err != nil {
			return nil, err
		}
	}
}

// errLocked says that someone else holds the lock.
var errLocked = errors.New("locked by another process")

// leadsTo says whether path leads to the open file.
func leadsTo(path string, fd int) (bool, error) {
	var open, named unix.Stat_t
	if err := unix.Fstat(fd, &open); err != nil {
		return false, err
	}
	if err := unix.Stat(path, &named); err != nil {
		if err == unix.ENOENT {
			return false, nil
		}
		return false, err
	}
	return open.Dev == named.Dev && open.Ino == named.Ino, nil
}

// Release removes the file and gives the lock up: the last act of a clean stop.
func (l *Lock) Release() error {
	return errors.Join(l.fsys.Remove(l.path), l.file.Close())
}

// Abandon gives the lock up and leaves the file, as a crash does: for a directory
// that has failed.
func (l *Lock) Abandon() error { return l.file.Close() }
