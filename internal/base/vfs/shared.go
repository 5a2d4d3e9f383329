package vfs

import (
	"io/fs"
	"sync/atomic"
)

// Shared is an open file with a count of those who use it. Whoever needs the
// bytes later than now holds it, so that the descriptor stays what it is; the
// last Release closes it. It starts with one hold, its maker's.
type Shared struct {
	File
	holds atomic.Int32

	// used is set by each hold and cleared by the cache's clock.
	used atomic.Bool

	// owned by the cache
	cache *Cache
	slot  *Slot
	index int
}

// NewShared makes a file shared that no cache knows. The caller has the first
// hold.
func NewShared(f File) *Shared {
	s := &Shared{File: f, index: -1}
	s.holds.Store(1)
	return s
}

// TryHold takes a hold, or returns false if the file has been closed.
func (s *Shared) TryHold() bool {
	for {
		n := s.holds.Load()
		if n <= 0 {
			return false
		}
		if s.holds.CompareAndSwap(n, n+1) {
			if !s.used.Load() {
				s.used.Store(true)
			}
			return true
		}
	}
}

// Release gives a hold back. The last one closes the file. An error of that
// close goes to the cache's owner: the bytes that mattered have been synced, and
// whoever happens to be last cannot do anything about the others.
func (s *Shared) Release() {
	n := s.holds.Add(-1)
	if n > 0 {
		return
	}
	if n < 0 {
		panic("BUG: vfs: file released more often than held")
	}
	if err := s.File.Close(); err != nil && s.cache != nil {
		s.cache.closeFailed(err)
	}
}

// Close is not for holders: they call Release.
func (s *Shared) Close() error { return fs.ErrInvalid }

// Slot is where an owner keeps its open file while there is one. The zero Slot
// is closed. A Slot must not move in memory once it was used.
type Slot struct {
	file atomic.Pointer[Shared]
}

// TryHold returns the open file with a hold, or nil if it is not open.
func (s *Slot) TryHold() *Shared {
	if f := s.file.Load(); f != nil && f.TryHold() {
		return f
	}
	return nil
}

// Drop takes the file out. It is closed when its last holder releases it.
func (s *Slot) Drop() {
	if f := s.file.Swap(nil); f != nil {
		f.cache.forget(f)
		f.Release()
	}
}
