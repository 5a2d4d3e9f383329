package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"time"
)

// Mode says how a file is opened. All files are readable.
type Mode int8

// The modes of Open.
const (
	// Read opens an existing file for reading only.
	Read Mode = iota
	// ReadWrite opens an existing file.
	ReadWrite
	// Create opens a file and creates it (0644) if it is not there.
	Create
	// CreateNew creates a file and fails with fs.ErrExist if it is there.
	CreateNew
	// CreateEmpty creates a file or cuts an existing one to no bytes.
	CreateEmpty
)

// Info is what is known of a file without opening it.
type Info struct {
	Size    int64
	ModTime time.Time
	Mode    fs.FileMode
}

// Entry is one name in a directory.
type Entry struct {
	Name string
	Dir  bool
}

// FS is a file system. Paths are those of the operating system. Errors wrap
// *fs.PathError, so that errors.Is(err, fs.ErrNotExist) and syscall numbers work.
// It is safe for concurrent use.
type FS interface {
	Open(path string, mode Mode) (File, error)
	Stat(path string) (Info, error)
	// ReadDir lists a directory in order of names.
	ReadDir(path string) ([]Entry, error)
	// Rename replaces newPath if it is a file. It is durable after SyncDir of the
	// directories of both.
	Rename(oldPath, newPath string) error
	// Remove removes a file or an empty directory.
	Remove(path string) error
	// MkdirAll creates a directory and those above it; it is no error if it is
	// there.
	MkdirAll(path string) error
	// Chmod sets the permission bits.
	Chmod(path string, mode fs.FileMode) error
	// SetModTime sets when a file was last modified.
	SetModTime(path string, at time.Time) error
	// SyncDir makes the names in a directory durable.
	SyncDir(path string) error
	// Space is the size of the volume that path lies in, and how much of it may
	// still be written, in bytes; -1 where there is no limit.
	Space(path string) (total, usable int64, err error)
}

// File is an open file. Its methods are safe for concurrent use, except Close,
// which must come last.
type File interface {
	// ReadAt is io.ReaderAt: less than len(p) bytes come with an error.
	io.ReaderAt
	// WriteAt writes all of p or returns an error; bytes may be written then.
	io.WriterAt
	// WritevAt writes the buffers one after another, with one system call unless
	// the system splits it. When it fails, n bytes or more may have been written.
	// It does not keep bufs but may change its elements.
	WritevAt(bufs [][]byte, off int64) (n int64, err error)
	// Truncate sets the size. The blocks beyond it, also those that Preallocate
	// reserved, are given back.
	Truncate(size int64) error
	// Preallocate reserves blocks for a range without changing the size.
	Preallocate(off, n int64) error
	Size() (int64, error)
	// Sync makes bytes and all of the file's attributes durable (fsync).
	Sync() error
	// SyncData makes bytes and what is needed to read them durable (fdatasync).
	SyncData() error
	// Fd is the descriptor; ok is false where there is none.
	Fd() (fd int, ok bool)
	Close() error
}

// ErrUnsupported says that a file system cannot do what was asked, such as
// Preallocate; the caller goes on without it.
var ErrUnsupported = errors.ErrUnsupported

// ReadFile returns all bytes of a file.
func ReadFile(fsys FS, path string) (data []byte, err error) {
	f, err := fsys.Open(path, Read)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	data = make([]byte, size)
	n, err := f.ReadAt(data, 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	return data[:n], nil
}

// WriteFile creates or replaces a file and syncs it. The name is not durable
// before SyncDir.
func WriteFile(fsys FS, path string, data []byte) (err error) {
	f, err := fsys.Open(path, CreateEmpty)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.WriteAt(data, 0); err != nil {
		return err
	}
	return f.Sync()
}

// WriteFileAtomic replaces a file so that after a crash either the old or the new
// content is there: it writes path+".tmp", syncs it, renames it and syncs the
// directory. Where the disk is full it takes back what it wrote.
func WriteFileAtomic(fsys FS, path string, data []byte) error {
	tmp := path + ".tmp"
	if err := WriteFile(fsys, tmp, data); err != nil {
		if IsFull(err) {
			_ = fsys.Remove(tmp) // at worst it lies there until the next time
		}
		return err
	}
	if err := fsys.Rename(tmp, path); err != nil {
		return err
	}
	return fsys.SyncDir(filepath.Dir(path))
}

// Exists says whether there is a file or directory at path.
func Exists(fsys FS, path string) (bool, error) {
	_, err := fsys.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// RemoveAll removes path and what is below it. It is no error if it is not there.
func RemoveAll(fsys FS, path string) error {
	err := fsys.Remove(path)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	entries, listErr := fsys.ReadDir(path)
	if listErr != nil {
		return err
	}
	for _, e := range entries {
		if err := RemoveAll(fsys, filepath.Join(path, e.Name)); err != nil {
			return err
		}
	}
	if err := fsys.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// pathError is the form of all errors of this package.
func pathError(op, path string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: path, Err: err}
}

func badMode(mode Mode) error { return fmt.Errorf("unknown open mode %d", mode) }
