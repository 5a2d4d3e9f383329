package immut

import "iter"

// Owner marks the nodes that may be changed in place.
type Owner struct{ _ byte } // not of size zero: each has an address of its own

// NewOwner returns an owner that owns nothing yet.
func NewOwner() *Owner { return new(Owner) }

// Map is a sorted map. The zero Map is empty and can be read; New returns one that
// can be changed.
type Map[K, V any] struct {
	cmp  func(a, b K) int
	root *node[K, V] // nil: empty
	size int
}

// New returns an empty map in the order of cmp.
func New[K, V any](cmp func(a, b K) int) Map[K, V] { return Map[K, V]{cmp: cmp} }

// Len is the number of keys.
func (m Map[K, V]) Len() int { return m.size }

// Get returns the value of k.
func (m Map[K, V]) Get(k K) (v V, ok bool) {
	for n := m.root; n != nil; {
		i, found := n.search(m.cmp, k)
		if n.leaf() {
			if found {
				return n.vals[i], true
			}
			return v, false
		}
		n = n.kids[n.child(i, found)]
	}
	return v, false
}

// Set puts v in place of k's value.
func (m *Map[K, V]) Set(o *Owner, k K, v V) {
	if m.root == nil {
		m.root = newLeaf[K, V](o)
	}
	m.root = m.root.own(o)
	if right := m.root.set(m, o, k, v); right != nil {
		root := newInner[K, V](o)
		root.keys = append(root.keys, m.root.first(), right.first())
		root.kids = append(root.kids, m.root, right)
		m.root = root
	}
}

// Delete takes k away and says whether it was there.
func (m *Map[K, V]) Delete(o *Owner, k K) bool {
	if _, ok := m.Get(k); !ok {
		return false
	}
	m.root = m.root.own(o)
	m.root.remove(m, o, k)
	m.size--
	for !m.root.leaf() && len(m.root.kids) == 1 {
		m.root = m.root.kids[0]
	}
	if m.size == 0 {
		m.root = nil
	}
	return true
}

// All goes over the map in order.
func (m Map[K, V]) All() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		if m.root != nil {
			m.root.walk(yield)
		}
	}
}

// From goes over the keys from k on, in order.
func (m Map[K, V]) From(k K) iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		if m.root != nil {
			m.root.walkFrom(m.cmp, k, yield)
		}
	}
}

// Keys goes over the keys in order.
func (m Map[K, V]) Keys() iter.Seq[K] {
	return func(yield func(K) bool) {
		for k := range m.All() {
			if !yield(k) {
				return
			}
		}
	}
}

// Values goes over the values in order of their keys.
func (m Map[K, V]) Values() iter.Seq[V] {
	return func(yield func(V) bool) {
		for _, v := range m.All() {
			if !yield(v) {
				return
			}
		}
	}
}
