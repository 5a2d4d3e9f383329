package vfs

import (
	"errors"
	"sync"
	"sync/atomic"
	"syscall"
)

// DefaultOpenFiles is the number of cached descriptors unless the operator says
// otherwise.
const DefaultOpenFiles = 20_000

// Cache bounds the number of open files. It gives each open file a second
// chance before it closes it (the clock algorithm), so that the hot path, a hold
// on a file that is open, touches no lock and no list.
type Cache struct {
	limit       int
	closeFailed func(error)
	evictions   atomic.Int64

	mu   sync.Mutex
	open []*Shared // guarded by mu; the clock's face
	hand int       // guarded by mu
}

// NewCache returns a cache for limit open files; zero or less means
// DefaultOpenFiles. It takes a quarter of what the process may open at most: the
// rest is for connections, and for files that are opened for a moment. closeFailed, which may be nil, is told of each close that
// returned an error.
func NewCache(limit int, closeFailed func(error)) *Cache {
	if limit <= 0 {
		limit = DefaultOpenFiles
	}
	limit = min(limit, max(1, DescriptorLimit()/4))
	if closeFailed == nil {
		closeFailed = func(error) {}
	}
	return &Cache{limit: limit, closeFailed: closeFailed}
}

// Hold returns the slot's file with a hold, and opens it if it is not open. If the
// process has no descriptor left, because connections have taken them, the cache
// gives some of its own back.
func (c *Cache) Hold(slot *Slot, fsys FS, path string, mode Mode) (*Shared, error) {
	if s := slot.TryHold(); s != nil {
		return s, nil
	}
	f, err := fsys.Open(path, mode)
	for errors.Is(err, syscall.EMFILE) && c.giveBack() {
		f, err = fsys.Open(path, mode)
	}
	if err != nil {
		return nil, err
	}
	return c.Adopt(slot, f), nil
}

// giveBack closes an eighth of the cached files, and says whether it closed any.
func (c *Cache) giveBack() bool {
	var victims []*Shared
	c.mu.Lock()
	for range len(c.open)/8 + 1 {
		if v := c.evictLocked(nil); v != nil {
			victims = append(victims, v)
		}
	}
	c.mu.Unlock()
	for _, v := range victims {
		v.Release()
	}
	return len(victims) > 0
}

// Adopt puts an open file into a slot and returns it with a hold. If another
// goroutine has filled the slot meanwhile, f is closed and the other's file is
// returned: both name the same file.
func (c *Cache) Adopt(slot *Slot, f File) *Shared {
	s := &Shared{File: f, cache: c, slot: slot, index: -1}
	s.holds.Store(2) // the slot's and the caller's
	s.used.Store(true)
	for {
		if slot.file.CompareAndSwap(nil, s) {
			break
		}
		if other := slot.TryHold(); other != nil {
			s.holds.Store(1)
			s.Release()
			return other
		}
	}
	c.add(s)
	return s
}

// add puts s on the clock's face and closes others while there are too many.
func (c *Cache) add(s *Shared) {
	c.mu.Lock()
	// Its owner may have dropped it since it was put into the slot.
	if s.slot.file.Load() == s {
		s.index = len(c.open)
		c.open = append(c.open, s)
	}
	var victims []*Shared
	for len(c.open) > c.limit {
		v := c.evictLocked(s)
		if v == nil {
			break
		}
		victims = append(victims, v)
	}
	c.mu.Unlock()
	for _, v := range victims {
		v.Release()
	}
}

// evictLocked takes one file off the face and out of its slot, or returns nil if
// keep is the only one. Each file that was used since the hand last passed is
// spared once.
func (c *Cache) evictLocked(keep *Shared) *Shared {
	for range 2*len(c.open) + 1 {
		if len(c.open) == 0 {
			return nil
		}
		if c.hand >= len(c.open) {
			c.hand = 0
		}
		s := c.open[c.hand]
		if s == keep || s.used.Swap(false) {
			c.hand++
			continue
		}
		c.removeLocked(s)
		if s.slot.file.CompareAndSwap(s, nil) {
			c.evictions.Add(1)
			return s
		}
		// Its owner drops it just now and will release the slot's hold.
		return nil
	}
	return nil
}

func (c *Cache) removeLocked(s *Shared) {
	last := len(c.open) - 1
	c.open[s.index] = c.open[last]
	c.open[s.index].index = s.index
	c.open[last] = nil
	c.open = c.open[:last]
	s.index = -1
}

// forget takes a file off the face after its owner has dropped it.
func (c *Cache) forget(s *Shared) {
	c.mu.Lock()
	if s.index >= 0 {
		c.removeLocked(s)
	}
	c.mu.Unlock()
}

// Open is the number of files that slots keep open, for gauges.
func (c *Cache) Open() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open)
}

// Evictions counts the files that were closed to make room.
func (c *Cache) Evictions() int64 { return c.evictions.Load() }
