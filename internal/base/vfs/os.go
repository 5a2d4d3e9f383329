package vfs

import (
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// DescriptorLimit is how many files and sockets this process may have open at once
// (RLIMIT_NOFILE, which Go raises to what the system allows).
func DescriptorLimit() int {
	var r unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &r); err != nil {
		return 1024 // what every system allows
	}
	return int(min(uint64(r.Cur), math.MaxInt32))
}

// OS is the real file system, seen through one gate. Each log directory has one
// of its own.
type OS struct {
	gate *Gate
}

// NewOS returns the real file system. The gate may be nil.
func NewOS(gate *Gate) *OS { return &OS{gate: gate} }

// Gate is the gate of all calls, for those who use a descriptor themselves.
func (o *OS) Gate() *Gate { return o.gate }

var openFlags = [...]int{
	Read:        unix.O_RDONLY,
	ReadWrite:   unix.O_RDWR,
	Create:      unix.O_RDWR | unix.O_CREAT,
	CreateNew:   unix.O_RDWR | unix.O_CREAT | unix.O_EXCL,
	CreateEmpty: unix.O_RDWR | unix.O_CREAT | unix.O_TRUNC,
}

// Open implements FS. It opens a plain descriptor: os.File would cost four times
// the time and sixty times the memory for features that a log does not use.
func (o *OS) Open(path string, mode Mode) (File, error) {
	if mode < 0 || int(mode) >= len(openFlags) {
		return nil, pathError("open", path, badMode(mode))
	}
	o.gate.Enter()
	defer o.gate.Leave()
	for {
		fd, err := unix.Open(path, openFlags[mode]|unix.O_CLOEXEC, 0o644)
		if err == nil {
			f := &osFile{gate: o.gate, path: path}
			f.fd.Store(int64(fd))
			return f, nil
		}
		if err != unix.EINTR {
			return nil, pathError("open", path, err)
		}
	}
}

// Stat implements FS.
func (o *OS) Stat(path string) (Info, error) {
	o.gate.Enter()
	defer o.gate.Leave()
	i, err := os.Stat(path)
	if err != nil {
		return Info{}, err
	}
	return Info{Size: i.Size(), ModTime: i.ModTime(), Mode: i.Mode()}, nil
}

// ReadDir implements FS.
func (o *OS) ReadDir(path string) ([]Entry, error) {
	o.gate.Enter()
	defer o.gate.Leave()
	list, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	entries := make([]Entry, len(list))
	for i, e := range list {
		entries[i] = Entry{Name: e.Name(), Dir: e.IsDir()}
	}
	return entries, nil
}

// Rename implements FS.
func (o *OS) Rename(oldPath, newPath string) error {
	o.gate.Enter()
	defer o.gate.Leave()
	err := os.Rename(oldPath, newPath)
	if link := (*os.LinkError)(nil); errors.As(err, &link) {
		return pathError("rename", oldPath, link.Err)
	}
	return err
}

// Remove implements FS.
func (o *OS) Remove(path string) error {
	o.gate.Enter()
	defer o.gate.Leave()
	return os.Remove(path)
}

// MkdirAll implements FS.
func (o *OS) MkdirAll(path string) error {
	o.gate.Enter()
	defer o.gate.Leave()
	return os.MkdirAll(path, 0o755)
}

// Chmod implements FS.
func (o *OS) Chmod(path string, mode fs.FileMode) error {
	o.gate.Enter()
	defer o.gate.Leave()
	return os.Chmod(path, mode)
}

// SetModTime implements FS. The time of access becomes the same.
func (o *OS) SetModTime(path string, at time.Time) error {
	o.gate.Enter()
	defer o.gate.Leave()
	return os.Chtimes(path, at, at)
}

// Space implements FS.
func (o *OS) Space(path string) (total, usable int64, err error) {
	o.gate.Enter()
	defer o.gate.Leave()
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return -1, -1, pathError("statfs", path, err)
	}
	return int64(s.Blocks) * int64(s.Bsize), int64(s.Bavail) * int64(s.Bsize), nil
}

// SyncDir implements FS.
func (o *OS) SyncDir(path string) error {
	o.gate.Enter()
	defer o.gate.Leave()
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// osFile is a descriptor. fd becomes -1 when it is closed, so that a call after
// Close fails with EBADF instead of reaching a reused number.
type osFile struct {
	fd   atomic.Int64
	gate *Gate
	path string
}

// call runs one system call, again after EINTR.
func (f *osFile) call(op string, do func(fd int) error) error {
	f.gate.Enter()
	defer f.gate.Leave()
	for {
		err := do(int(f.fd.Load()))
		if err != unix.EINTR {
			return pathError(op, f.path, err)
		}
	}
}

func (f *osFile) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, pathError("pread", f.path, unix.EINVAL)
	}
	f.gate.Enter()
	defer f.gate.Leave()
	for n < len(p) {
		m, err := unix.Pread(int(f.fd.Load()), p[n:], off+int64(n))
		switch {
		case err == unix.EINTR:
		case err != nil:
			return n, pathError("pread", f.path, err)
		case m == 0:
			return n, io.EOF
		default:
			n += m
		}
	}
	return n, nil
}

func (f *osFile) WriteAt(p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, pathError("pwrite", f.path, unix.EINVAL)
	}
	f.gate.Enter()
	defer f.gate.Leave()
	for n < len(p) {
		m, err := unix.Pwrite(int(f.fd.Load()), p[n:], off+int64(n))
		switch {
		case err == unix.EINTR:
		case err != nil:
			return n, pathError("pwrite", f.path, err)
		case m == 0:
			return n, pathError("pwrite", f.path, io.ErrShortWrite)
		default:
			n += m
		}
	}
	return n, nil
}

// maxVectors is IOV_MAX, the number of buffers that one call takes.
const maxVectors = 1024

func (f *osFile) WritevAt(bufs [][]byte, off int64) (n int64, err error) {
	if off < 0 {
		return 0, pathError("pwritev", f.path, unix.EINVAL)
	}
	f.gate.Enter()
	defer f.gate.Leave()
	for len(bufs) > 0 {
		if len(bufs[0]) == 0 {
			bufs = bufs[1:]
			continue
		}
		m, err := pwritev(int(f.fd.Load()), bufs[:min(len(bufs), maxVectors)], off+n)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return n, pathError("pwritev", f.path, err)
		case m == 0:
			return n, pathError("pwritev", f.path, io.ErrShortWrite)
		}
		n += int64(m)
		bufs = dropBytes(bufs, m)
	}
	return n, nil
}

// dropBytes takes the first n bytes off the buffers.
func dropBytes(bufs [][]byte, n int) [][]byte {
	for n > 0 {
		if n < len(bufs[0]) {
			bufs[0] = bufs[0][n:]
			return bufs
		}
		n -= len(bufs[0])
		bufs = bufs[1:]
	}
	return bufs
}

func (f *osFile) Truncate(size int64) error {
	return f.call("ftruncate", func(fd int) error { return unix.Ftruncate(fd, size) })
}

func (f *osFile) Preallocate(off, n int64) error {
	return f.call("fallocate", func(fd int) error { return preallocate(fd, off, n) })
}

func (f *osFile) Size() (int64, error) {
	var st unix.Stat_t
	err := f.call("fstat", func(fd int) error { return unix.Fstat(fd, &st) })
	return st.Size, err
}

func (f *osFile) Sync() error { return f.syncOnce("fsync", unix.Fsync) }

func (f *osFile) SyncData() error { return f.syncOnce("fdatasync", fdatasync) }

// syncOnce does not retry: after a failed sync the kernel has dropped the dirty
// pages, and a second call would report success for bytes that are lost. EINTR
// is no answer at all, so that one is asked again.
func (f *osFile) syncOnce(op string, sync func(fd int) error) error { return f.call(op, sync) }

func (f *osFile) Fd() (int, bool) { return int(f.fd.Load()), true }

func (f *osFile) Close() error {
	fd := f.fd.Swap(-1)
	if fd < 0 {
		return pathError("close", f.path, fs.ErrClosed)
	}
	f.gate.Enter()
	defer f.gate.Leave()
	// Linux releases the descriptor even when close says EINTR.
	if err := unix.Close(int(fd)); err != nil && err != unix.EINTR {
		return pathError("close", f.path, err)
	}
	return nil
}
