package immut

import "slices"

// fanout is the most entries of a node. A path of a map of 200,000 strings is three
// or four nodes.
const fanout = 32

// node is a leaf, with values, or an inner node, with children. keys[i] of an inner
// node is not above any key of kids[i] and above all keys of kids[i-1].
type node[K, V any] struct {
	owner *Owner
	keys  []K
	vals  []V           // of a leaf
	kids  []*node[K, V] // of an inner node
}

func newLeaf[K, V any](o *Owner) *node[K, V] {
	return &node[K, V]{owner: o}
}

func newInner[K, V any](o *Owner) *node[K, V] {
	return &node[K, V]{owner: o, kids: make([]*node[K, V], 0, 2)}
}

func (n *node[K, V]) leaf() bool { return n.kids == nil }

// first is a lower bound of the keys, exact in a leaf.
func (n *node[K, V]) first() K { return n.keys[0] }

// own returns n if o owns it, else a copy that o owns.
func (n *node[K, V]) own(o *Owner) *node[K, V] {
	if n.owner == o {
		return n
	}
	c := &node[K, V]{owner: o, keys: slices.Clone(n.keys)}
	if n.leaf() {
		c.vals = slices.Clone(n.vals)
	} else {
		c.kids = slices.Clone(n.kids)
	}
	return c
}

// search finds the first key that is not below k.
func (n *node[K, V]) search(cmp func(a, b K) int, k K) (int, bool) {
	low, high := 0, len(n.keys)
	for low < high {
		mid := (low + high) / 2
		switch c := cmp(n.keys[mid], k); {
		case c == 0:
			return mid, true
		case c < 0:
			low = mid + 1
		default:
			high = mid
		}
	}
	return low, false
}

// child turns the result of search in an inner node into the child to go to.
func (n *node[K, V]) child(i int, found bool) int {
	if found || i == 0 {
		return i
	}
	return i - 1
}

// set puts k into the tree under n, which o owns. When n becomes too large it keeps
// its lower half and the upper one is returned.
func (n *node[K, V]) set(m *Map[K, V], o *Owner, k K, v V) *node[K, V] {
	i, found := n.search(m.cmp, k)
	if n.leaf() {
		if found {
			n.vals[i] = v
			return nil
		}
		n.keys = slices.Insert(n.keys, i, k)
		n.vals = slices.Insert(n.vals, i, v)
		m.size++
		return n.split(o)
	}
	i = n.child(i, found)
	kid := n.kids[i].own(o)
	n.kids[i] = kid
	right := kid.set(m, o, k, v)
	n.keys[i] = kid.first() // k may be below all others
	if right == nil {
		return nil
	}
	n.keys = slices.Insert(n.keys, i+1, right.first())
	n.kids = slices.Insert(n.kids, i+1, right)
	return n.split(o)
}

// split moves the upper half of a node with too many entries to a new one.
func (n *node[K, V]) split(o *Owner) *node[K, V] {
	if len(n.keys) <= fanout {
		return nil
	}
	at := fanout / 2
	right := &node[K, V]{owner: o, keys: slices.Clone(n.keys[at:])}
	n.keys = shorten(n.keys, at)
	if n.leaf() {
		right.vals = slices.Clone(n.vals[at:])
		n.vals = shorten(n.vals, at)
	} else {
		right.kids = slices.Clone(n.kids[at:])
		n.kids = shorten(n.kids, at)
	}
	return right
}

// shorten cuts s to n elements and drops what the rest points to.
func shorten[T any](s []T, n int) []T {
	clear(s[n:])
	return s[:n]
}

// remove takes k, which is there, out of the tree under n, which o owns.
func (n *node[K, V]) remove(m *Map[K, V], o *Owner, k K) {
	i, found := n.search(m.cmp, k)
	if n.leaf() {
		n.keys = slices.Delete(n.keys, i, i+1)
		n.vals = slices.Delete(n.vals, i, i+1)
		return
	}
	i = n.child(i, found)
	kid := n.kids[i].own(o)
	n.kids[i] = kid
	kid.remove(m, o, k)
	if len(kid.keys) == 0 {
		n.keys = slices.Delete(n.keys, i, i+1)
		n.kids = slices.Delete(n.kids, i, i+1)
	}
}

// walk visits all entries under n and says whether to go on.
func (n *node[K, V]) walk(yield func(K, V) bool) bool {
	if n.leaf() {
		for i, k := range n.keys {
			if !yield(k, n.vals[i]) {
				return false
			}
		}
		return true
	}
	for _, kid := range n.kids {
		if !kid.walk(yield) {
			return false
		}
	}
	return true
}

// walkFrom is walk without the keys below k.
func (n *node[K, V]) walkFrom(cmp func(a, b K) int, k K, yield func(K, V) bool) bool {
	i, found := n.search(cmp, k)
	if n.leaf() {
		for ; i < len(n.keys); i++ {
			if !yield(n.keys[i], n.vals[i]) {
				return false
			}
		}
		return true
	}
	i = n.child(i, found)
	if !n.kids[i].walkFrom(cmp, k, yield) {
		return false
	}
	for _, kid := range n.kids[i+1:] {
		if !kid.walk(yield) {
			return false
		}
	}
	return true
}
