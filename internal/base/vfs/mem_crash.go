package vfs

import (
	"maps"
	"math/rand/v2"
	"slices"
)

// OpKind names an operation of Mem that can fail.
type OpKind string

// The operations that faults see and Count counts.
const (
	OpOpen        OpKind = "open"
	OpCreate      OpKind = "create"
	OpRead        OpKind = "read"
	OpWrite       OpKind = "write"
	OpTruncate    OpKind = "truncate"
	OpPreallocate OpKind = "preallocate"
	OpSync        OpKind = "sync"
	OpRename      OpKind = "rename"
	OpRemove      OpKind = "remove"
	OpMkdir       OpKind = "mkdir"
	OpReadDir     OpKind = "readdir"
	OpSyncDir     OpKind = "syncdir"
)

// Op is an operation that is about to happen.
type Op struct {
	Kind  OpKind
	Path  string
	Bytes int64
}

// Fault is how an operation fails; the zero Fault lets it happen.
type Fault struct {
	Err error
	// Written is how many bytes of a write reach the file although it fails.
	Written int64
}

// Inject lets decide say of each operation whether it fails. It is called with
// the file system locked and must not use it. Nil ends all faults.
func (m *Mem) Inject(decide func(Op) Fault) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.faults = decide
}

// SetCapacity limits the bytes of all files and what is reserved for them; writes beyond it do what fits and
// fail with ENOSPC. Zero lifts the limit.
func (m *Mem) SetCapacity(bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.capacity = bytes
}

// Used is the number of bytes of all files, or reserved for them.
func (m *Mem) Used() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.used
}

// Count returns how often an operation has been asked for.
func (m *Mem) Count(kind OpKind) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.counts[kind]
}

func (m *Mem) opLocked(op Op) Fault {
	m.counts[op.Kind]++
	if m.faults == nil {
		return Fault{}
	}
	return m.faults(op)
}

// sectorSize is what a disk writes whole or not at all.
const sectorSize = 512

// Crash returns the file system as it is after the power was cut: what was
// synced, and nothing else. m itself goes on as it is, so that a test may crash
// it at every step.
func (m *Mem) Crash() *Mem { return m.crash(nil) }

// CrashTorn is Crash, but part of what was not synced has reached the disk, as
// the seed decides: sectors of writes in any order, sizes, and the first few
// changes of a directory.
func (m *Mem) CrashTorn(seed uint64) *Mem { return m.crash(rand.New(rand.NewPCG(seed, 0))) }

func (m *Mem) crash(rnd *rand.Rand) *Mem {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.volatile {
		panic("BUG: a volatile file system must not crash")
	}
	after := NewMem(m.now)
	after.root = m.root.survivor(rnd, map[*memNode]*memNode{})
	after.used = after.root.size()
	return after
}

// survivor copies what is left of a node. A node that has two names, because a
// move between directories was torn, stays one node.
func (n *memNode) survivor(rnd *rand.Rand, seen map[*memNode]*memNode) *memNode {
	if s := seen[n]; s != nil {
		return s
	}
	s := &memNode{mode: n.mode}
	seen[n] = s
	if n.file != nil {
		data := n.file.survivor(rnd)
		s.file = &memData{bytes: data, synced: slices.Clone(data), modTime: n.file.modTime}
		return s
	}
	names := maps.Clone(n.durable)
	if rnd != nil && len(n.pending) > 0 {
		for _, op := range n.pending[:rnd.IntN(len(n.pending)+1)] {
			applyDirOp(names, op)
		}
	}
	s.dir = map[string]*memNode{}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		s.dir[name] = names[name].survivor(rnd, seen)
	}
	s.durable = maps.Clone(s.dir)
	return s
}

func (d *memData) survivor(rnd *rand.Rand) []byte {
	left := slices.Clone(d.synced)
	if rnd == nil {
		return left
	}
	size := int64(len(d.bytes))
	if size < int64(len(left)) && rnd.IntN(2) == 0 {
		left = left[:size] // the truncation came through
	}
	for _, r := range d.dirty {
		for at := r.from - r.from%sectorSize; at < min(r.to, size); at += sectorSize {
			from, to := max(at, r.from), min(at+sectorSize, r.to, size)
			if from >= to || rnd.IntN(3) == 0 {
				continue
			}
			if grow := to - int64(len(left)); grow > 0 {
				left = append(left, make([]byte, grow)...)
			}
			copy(left[from:to], d.bytes[from:to])
		}
	}
	return left
}

func (n *memNode) size() int64 {
	if n.file != nil {
		return int64(len(n.file.bytes))
	}
	var sum int64
	for _, child := range n.dir {
		sum += child.size()
	}
	return sum
}
