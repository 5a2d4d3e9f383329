package vfs

import (
	"io"
	"io/fs"
	"syscall"
	"time"
)

// memData is the content of a file: as it reads now, as it was when it was last
// synced, and the ranges that differ. Guarded by Mem.mu.
type memData struct {
	bytes    []byte
	synced   []byte
	dirty    []memRange
	modTime  time.Time
	unlinked bool // its bytes no longer count
	// reserved is up to where Preallocate has taken space; 0: nowhere.
	reserved int64
}

// occupied is how much space the file takes.
func (d *memData) occupied() int64 { return max(int64(len(d.bytes)), d.reserved) }

type memRange struct{ from, to int64 }

// truncate sets the size and returns how much space it gives back.
func (d *memData) truncate(size int64) (given int64) {
	before, old := d.occupied(), int64(len(d.bytes))
	d.reserved = 0
	if size <= old {
		d.bytes = d.bytes[:size:size]
	} else {
		d.bytes = append(d.bytes, make([]byte, size-old)...)
		d.dirty = append(d.dirty, memRange{old, size})
	}
	return before - size
}

func (d *memData) write(p []byte, off int64) {
	end := off + int64(len(p))
	if old := int64(len(d.bytes)); end > old {
		d.bytes = append(d.bytes, make([]byte, end-old)...)
		if off > old { // a hole reads as zeros, and they too must be synced
			d.dirty = append(d.dirty, memRange{old, off})
		}
	}
	copy(d.bytes[off:], p)
	if last := len(d.dirty) - 1; last >= 0 && d.dirty[last].to == off {
		d.dirty[last].to = end
		return
	}
	d.dirty = append(d.dirty, memRange{off, end})
}

// sync makes the content durable. Only what changed is copied, so that a test
// that syncs a growing file stays linear.
func (d *memData) sync() {
	size := int64(len(d.bytes))
	if int64(len(d.synced)) > size {
		d.synced = d.synced[:size]
	} else {
		d.synced = append(d.synced, make([]byte, size-int64(len(d.synced)))...)
	}
	for _, r := range d.dirty {
		if r.from < size {
			copy(d.synced[r.from:], d.bytes[r.from:min(r.to, size)])
		}
	}
	d.dirty = nil
}

// memFile is an open file of Mem. It goes on working after the file was renamed
// or removed, as a descriptor does.
type memFile struct {
	fs       *Mem
	node     *memNode
	path     string
	readOnly bool
	closed   bool // guarded by fs.mu
}

// enterLocked runs the checks that all calls share.
func (f *memFile) enterLocked(kind OpKind, n int64) Fault {
	if f.closed {
		return Fault{Err: syscall.EBADF}
	}
	return f.fs.opLocked(Op{Kind: kind, Path: f.path, Bytes: n})
}

func (f *memFile) ReadAt(p []byte, off int64) (int, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if fault := f.enterLocked(OpRead, int64(len(p))); fault.Err != nil {
		return 0, pathError("pread", f.path, fault.Err)
	}
	if off < 0 {
		return 0, pathError("pread", f.path, syscall.EINVAL)
	}
	d := f.node.file
	if off >= int64(len(d.bytes)) {
		if len(p) == 0 {
			return 0, nil
		}
		return 0, io.EOF
	}
	n := copy(p, d.bytes[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *memFile) WriteAt(p []byte, off int64) (int, error) {
	n, err := f.WritevAt([][]byte{p}, off)
	return int(n), err
}

func (f *memFile) WritevAt(bufs [][]byte, off int64) (int64, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	var all []byte
	for _, b := range bufs {
		all = append(all, b...)
	}
	n, err := f.writeLocked(all, off)
	return n, pathError("pwritev", f.path, err)
}

func (f *memFile) writeLocked(p []byte, off int64) (int64, error) {
	fault := f.enterLocked(OpWrite, int64(len(p)))
	if fault.Err == nil && f.readOnly {
		fault.Err = syscall.EBADF
	}
	if fault.Err == nil && off < 0 {
		fault.Err = syscall.EINVAL
	}
	if fault.Err != nil {
		// The bytes of a failed write may be there although it says n = 0.
		if done := min(fault.Written, int64(len(p))); done > 0 {
			f.storeLocked(p[:done], off)
		}
		return 0, fault.Err
	}
	if room := f.roomLocked(off); int64(len(p)) > room {
		f.storeLocked(p[:room], off)
		return room, syscall.ENOSPC
	}
	f.storeLocked(p, off)
	return int64(len(p)), nil
}

// roomLocked is how many bytes fit at off before the disk is full.
func (f *memFile) roomLocked(off int64) int64 {
	if f.fs.capacity == 0 {
		return 1 << 62
	}
	free := f.fs.capacity - f.fs.used
	return max(0, f.node.file.occupied()-off+free)
}

func (f *memFile) storeLocked(p []byte, off int64) {
	d := f.node.file
	before := d.occupied()
	d.write(p, off)
	if f.fs.volatile {
		d.dirty = nil
	}
	d.modTime = f.fs.now()
	f.countLocked(d.occupied() - before)
}

func (f *memFile) countLocked(grown int64) {
	if !f.node.file.unlinked {
		f.fs.used += grown
	}
}

func (f *memFile) Truncate(size int64) error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	fault := f.enterLocked(OpTruncate, size)
	switch {
	case fault.Err != nil:
	case f.readOnly || size < 0:
		fault.Err = syscall.EINVAL
	default:
		f.countLocked(-f.node.file.truncate(size))
		f.node.file.modTime = f.fs.now()
	}
	return pathError("ftruncate", f.path, fault.Err)
}

func (f *memFile) Preallocate(off, n int64) error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	return pathError("fallocate", f.path, f.preallocateLocked(off+n, f.enterLocked(OpPreallocate, n)))
}

func (f *memFile) preallocateLocked(upTo int64, fault Fault) error {
	d := f.node.file
	grown := upTo - d.occupied()
	switch {
	case fault.Err != nil || grown <= 0:
		return fault.Err
	case f.fs.capacity > 0 && grown > f.fs.capacity-f.fs.used:
		return syscall.ENOSPC
	}
	d.reserved = upTo
	f.countLocked(grown)
	return nil
}

func (f *memFile) Size() (int64, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if f.closed {
		return 0, pathError("fstat", f.path, syscall.EBADF)
	}
	return int64(len(f.node.file.bytes)), nil
}

func (f *memFile) Sync() error     { return f.sync("fsync") }
func (f *memFile) SyncData() error { return f.sync("fdatasync") }

func (f *memFile) sync(op string) error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if fault := f.enterLocked(OpSync, 0); fault.Err != nil {
		return pathError(op, f.path, fault.Err)
	}
	if !f.fs.volatile {
		f.node.file.sync()
	}
	return nil
}

func (f *memFile) Fd() (int, bool) { return 0, false }

func (f *memFile) Close() error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if f.closed {
		return pathError("close", f.path, fs.ErrClosed)
	}
	f.closed = true
	return nil
}
