package bufpool

import (
	"bytes"
	"math/bits"
	"sync"
	"sync/atomic"
)

const (
	smallest = 12 // the smallest class holds 1<<smallest bytes and the slack
	largest  = 22
	slack    = 8 << 10
	poison   = 0xdb
)

// Pool lends buffers. The zero value is ready for use, from any goroutine.
type Pool struct {
	classes [largest - smallest + 1]sync.Pool
}

// Buffer is a piece of memory with a count of references.
type Buffer struct {
	bytes []byte
	refs  atomic.Int32
	pool  *Pool
	class int // -1: ordinary memory
}

// class returns the class of buffers of at least n bytes, or -1.
func class(n int) int {
	if n <= 1<<smallest+slack {
		return 0
	}
	if n > 1<<largest+slack {
		return -1
	}
	return bits.Len(uint(n-slack-1)) - smallest
}

// Size is the length of the buffer that Get(n) returns.
func Size(n int) int {
	if c := class(n); c >= 0 {
		return 1<<(smallest+c) + slack
	}
	return n
}

// Get returns a buffer of at least n bytes, with one reference. Its bytes are
// those of an earlier user.
func (p *Pool) Get(n int) *Buffer {
	c := class(n)
	if c >= 0 {
		if b, ok := p.classes[c].Get().(*Buffer); ok {
			b.checkPoison()
			b.refs.Store(1)
			return b
		}
	}
	b := &Buffer{bytes: make([]byte, Size(n)), pool: p, class: c}
	b.refs.Store(1)
	return b
}

// Bytes is the whole buffer. The caller must hold a reference while it uses it.
func (b *Buffer) Bytes() []byte { return b.bytes }

// Hold adds a reference.
func (b *Buffer) Hold() {
	if b.refs.Add(1) < 2 {
		panic("BUG: bufpool: hold of a released buffer")
	}
}

// Unique says that the caller's reference is the only one.
func (b *Buffer) Unique() bool { return b.refs.Load() == 1 }

// Release takes a reference away and says whether it was the last one.
func (b *Buffer) Release() bool {
	switch n := b.refs.Add(-1); {
	case n > 0:
		return false
	case n < 0:
		panic("BUG: bufpool: release of a released buffer")
	}
	if b.class >= 0 {
		b.fillPoison()
		b.pool.classes[b.class].Put(b)
	}
	return true
}

// Both work in blocks, which the race detector watches as one access each.

func (b *Buffer) fillPoison() {
	if !poisoned {
		return
	}
	block := poisonBlock()
	for rest := b.bytes; len(rest) > 0; {
		rest = rest[copy(rest, block):]
	}
}

func (b *Buffer) checkPoison() {
	if !poisoned {
		return
	}
	block := poisonBlock()
	for rest := b.bytes; len(rest) > 0; {
		n := min(len(rest), len(block))
		if !bytes.Equal(rest[:n], block[:n]) {
			panic("BUG: bufpool: a released buffer was written")
		}
		rest = rest[n:]
	}
}

func poisonBlock() []byte { return bytes.Repeat([]byte{poison}, 4<<10) }
