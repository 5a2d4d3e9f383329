package vfs

import (
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Mem is a file system in memory, for tests and the simulator. It keeps what was
// made durable apart from what was only written, and can crash, fill up and fail.
type Mem struct {
	mu       sync.Mutex
	root     *memNode
	faults   func(Op) Fault
	counts   map[OpKind]int
	capacity int64 // bytes of all files together; 0: no limit
	used     int64
	now      func() time.Time
	volatile bool // it never crashes, so that nothing is kept apart for that
}

// NewMem returns an empty file system. now gives modification times; nil leaves
// them at the Unix epoch.
func NewMem(now func() time.Time) *Mem {
	if now == nil {
		now = func() time.Time { return time.Unix(0, 0) }
	}
	return &Mem{root: newMemDir(), counts: map[OpKind]int{}, now: now}
}

// NewVolatile returns an empty file system that must not crash: a byte that was
// synced is not kept a second time, so that files take the memory of their bytes.
func NewVolatile(now func() time.Time) *Mem {
	m := NewMem(now)
	m.volatile = true
	return m
}

// memNode is a file or a directory. Fields are guarded by Mem.mu.
type memNode struct {
	dir     map[string]*memNode // nil for a file
	durable map[string]*memNode // the names that SyncDir made durable
	pending []memDirOp          // what happened to dir since then
	file    *memData            // nil for a directory
	mode    fs.FileMode
}

// memDirOp is one change of a directory: it becomes durable whole or not at all.
type memDirOp map[string]*memNode // nil: the name is removed

func newMemDir() *memNode {
	return &memNode{dir: map[string]*memNode{}, durable: map[string]*memNode{}, mode: fs.ModeDir | 0o755}
}

func (n *memNode) apply(op memDirOp) {
	applyDirOp(n.dir, op)
	n.pending = append(n.pending, op)
}

func applyDirOp(names map[string]*memNode, op memDirOp) {
	for name, node := range op {
		if node == nil {
			delete(names, name)
		} else {
			names[name] = node
		}
	}
}

// split cuts a path into its elements; the file system has one root, whatever the
// path begins with.
func split(path string) []string {
	return strings.FieldsFunc(filepath.Clean(path), func(r rune) bool { return r == filepath.Separator })
}

func (m *Mem) findLocked(path string) (*memNode, error) {
	n := m.root
	for _, name := range split(path) {
		if name == "." {
			continue
		}
		if n.dir == nil {
			return nil, syscall.ENOTDIR
		}
		next := n.dir[name]
		if next == nil {
			return nil, fs.ErrNotExist
		}
		n = next
	}
	return n, nil
}

// parentLocked returns the directory that holds path, and the last element.
func (m *Mem) parentLocked(path string) (*memNode, string, error) {
	n, err := m.findLocked(filepath.Dir(path))
	if err != nil {
		return nil, "", err
	}
	if n.dir == nil {
		return nil, "", syscall.ENOTDIR
	}
	return n, filepath.Base(path), nil
}

// Open implements FS.
func (m *Mem) Open(path string, mode Mode) (File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f, err := m.openLocked(path, mode)
	return f, pathError("open", path, err)
}

func (m *Mem) openLocked(path string, mode Mode) (File, error) {
	if f := m.opLocked(Op{Kind: OpOpen, Path: path}); f.Err != nil {
		return nil, f.Err
	}
	n, err := m.findLocked(path)
	if err == nil {
		if n.dir != nil {
			return nil, syscall.EISDIR
		}
		if mode == CreateNew {
			return nil, fs.ErrExist
		}
		if mode == CreateEmpty {
			m.used -= n.file.truncate(0)
		}
		return &memFile{fs: m, node: n, path: path, readOnly: mode == Read}, nil
	}
	if mode == Read || mode == ReadWrite || !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if f := m.opLocked(Op{Kind: OpCreate, Path: path}); f.Err != nil {
		return nil, f.Err
	}
	dir, name, err := m.parentLocked(path)
	if err != nil {
		return nil, err
	}
	n = &memNode{file: &memData{modTime: m.now()}, mode: 0o644}
	dir.apply(memDirOp{name: n})
	return &memFile{fs: m, node: n, path: path}, nil
}

// Stat implements FS.
func (m *Mem) Stat(path string) (Info, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.findLocked(path)
	if err != nil {
		return Info{}, pathError("stat", path, err)
	}
	if n.dir != nil {
		return Info{Mode: n.mode}, nil
	}
	return Info{Size: int64(len(n.file.bytes)), ModTime: n.file.modTime, Mode: n.mode}, nil
}

// ReadDir implements FS.
func (m *Mem) ReadDir(path string) ([]Entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := m.opLocked(Op{Kind: OpReadDir, Path: path}); f.Err != nil {
		return nil, pathError("readdir", path, f.Err)
	}
	n, err := m.findLocked(path)
	if err != nil {
		return nil, pathError("readdir", path, err)
	}
	if n.dir == nil {
		return nil, pathError("readdir", path, syscall.ENOTDIR)
	}
	var entries []Entry
	for _, name := range slices.Sorted(maps.Keys(n.dir)) {
		entries = append(entries, Entry{Name: name, Dir: n.dir[name].dir != nil})
	}
	return entries, nil
}

// Rename implements FS.
func (m *Mem) Rename(oldPath, newPath string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return pathError("rename", oldPath, m.renameLocked(oldPath, newPath))
}

func (m *Mem) renameLocked(oldPath, newPath string) error {
	if f := m.opLocked(Op{Kind: OpRename, Path: oldPath}); f.Err != nil {
		return f.Err
	}
	from, oldName, err := m.parentLocked(oldPath)
	if err != nil {
		return err
	}
	to, newName, err := m.parentLocked(newPath)
	if err != nil {
		return err
	}
	n := from.dir[oldName]
	if n == nil {
		return fs.ErrNotExist
	}
	old := to.dir[newName]
	switch {
	case old == n:
		return nil
	case old == nil:
	case old.dir != nil && n.dir == nil:
		return syscall.EISDIR
	case old.dir == nil && n.dir != nil:
		return syscall.ENOTDIR
	case len(old.dir) > 0:
		return syscall.ENOTEMPTY
	}
	if old != nil && old.file != nil {
		m.used -= old.file.occupied()
		old.file.unlinked = true
	}
	if from == to {
		from.apply(memDirOp{oldName: nil, newName: n})
		return nil
	}
	to.apply(memDirOp{newName: n})
	from.apply(memDirOp{oldName: nil})
	return nil
}

// Remove implements FS.
func (m *Mem) Remove(path string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return pathError("remove", path, m.removeLocked(path))
}

func (m *Mem) removeLocked(path string) error {
	if f := m.opLocked(Op{Kind: OpRemove, Path: path}); f.Err != nil {
		return f.Err
	}
	dir, name, err := m.parentLocked(path)
	if err != nil {
		return err
	}
	n := dir.dir[name]
	switch {
	case n == nil:
		return fs.ErrNotExist
	case n.dir != nil && len(n.dir) > 0:
		return syscall.ENOTEMPTY
	}
	if n.file != nil {
		m.used -= n.file.occupied()
		n.file.unlinked = true
	}
	dir.apply(memDirOp{name: nil})
	return nil
}

// MkdirAll implements FS.
func (m *Mem) MkdirAll(path string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := m.opLocked(Op{Kind: OpMkdir, Path: path}); f.Err != nil {
		return pathError("mkdir", path, f.Err)
	}
	n := m.root
	for _, name := range split(path) {
		if name == "." {
			continue
		}
		if n.dir == nil {
			return pathError("mkdir", path, syscall.ENOTDIR)
		}
		if n.dir[name] == nil {
			n.apply(memDirOp{name: newMemDir()})
		}
		n = n.dir[name]
	}
	if n.dir == nil {
		return pathError("mkdir", path, syscall.ENOTDIR)
	}
	return nil
}

// Chmod implements FS.
func (m *Mem) Chmod(path string, mode fs.FileMode) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.findLocked(path)
	if err != nil {
		return pathError("chmod", path, err)
	}
	n.mode = n.mode&fs.ModeDir | mode.Perm()
	return nil
}

// SetModTime implements FS.
func (m *Mem) SetModTime(path string, at time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.findLocked(path)
	if err != nil {
		return pathError("chtimes", path, err)
	}
	if n.file != nil {
		n.file.modTime = at
	}
	return nil
}

// Space implements FS: the capacity, if there is one.
func (m *Mem) Space(path string) (total, usable int64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.findLocked(path); err != nil {
		return -1, -1, pathError("statfs", path, err)
	}
	if m.capacity == 0 {
		return -1, -1, nil
	}
	return m.capacity, max(0, m.capacity-m.used), nil
}

// SyncDir implements FS.
func (m *Mem) SyncDir(path string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := m.opLocked(Op{Kind: OpSyncDir, Path: path}); f.Err != nil {
		return pathError("sync", path, f.Err)
	}
	n, err := m.findLocked(path)
	if err != nil {
		return pathError("sync", path, err)
	}
	if n.dir == nil {
		return pathError("sync", path, syscall.ENOTDIR)
	}
	n.durable = maps.Clone(n.dir)
	n.pending = nil
	return nil
}
