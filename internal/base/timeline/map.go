package timeline

import "iter"

// Map is a map whose changes its registry can undo. See the package comment.
type Map[K comparable, V any] struct {
	registry  *Registry
	committed map[K]V
	pending   map[K]*versions[K, V] // invariant 2
	length    int                   // of the latest state
}

// versions are the changes of one key that are in flight, oldest first.
type versions[K comparable, V any] struct {
	owner *Map[K, V]
	key   K
	list  []version[V]
	one   [1]version[V] // where list lies while a single change is in flight
}

// version is what a key was set to, or that it was deleted.
type version[V any] struct {
	value   V
	present bool
}

// NewMap returns an empty map of the registry.
func NewMap[K comparable, V any](r *Registry) *Map[K, V] {
	return &Map[K, V]{registry: r, committed: map[K]V{}, pending: map[K]*versions[K, V]{}}
}

// Get is the latest value of the key.
func (m *Map[K, V]) Get(key K) (value V, ok bool) {
	if len(m.pending) > 0 {
		if v := m.pending[key]; v != nil {
			last := v.list[len(v.list)-1]
			return last.value, last.present
		}
	}
	value, ok = m.committed[key]
	return value, ok
}

// GetCommitted is the value of the key as of the last Commit.
func (m *Map[K, V]) GetCommitted(key K) (value V, ok bool) {
	value, ok = m.committed[key]
	return value, ok
}

// Set gives the key a value, which must not be changed afterwards.
func (m *Map[K, V]) Set(key K, value V) {
	m.change(key, version[V]{value: value, present: true})
}

// Delete removes the key. It does nothing if the key is not there.
func (m *Map[K, V]) Delete(key K) {
	if _, ok := m.Get(key); ok {
		m.change(key, version[V]{})
	}
}

// Len is the number of keys of the latest state.
func (m *Map[K, V]) Len() int { return m.length }

// LenCommitted is the number of keys as of the last Commit.
func (m *Map[K, V]) LenCommitted() int { return len(m.committed) }

// All iterates over the latest state.
func (m *Map[K, V]) All() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for key, value := range m.committed {
			if v := m.pending[key]; v != nil {
				last := v.list[len(v.list)-1]
				if !last.present {
					continue
				}
				value = last.value
			}
			if !yield(key, value) {
				return
			}
		}
		for key, v := range m.pending {
			if _, seen := m.committed[key]; seen {
				continue
			}
			if last := v.list[len(v.list)-1]; last.present && !yield(key, last.value) {
				return
			}
		}
	}
}

// AllCommitted iterates over the state as of the last Commit.
func (m *Map[K, V]) AllCommitted() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for key, value := range m.committed {
			if !yield(key, value) {
				return
			}
		}
	}
}

func (m *Map[K, V]) change(key K, next version[V]) {
	if m.registry.direct {
		m.commit(key, next)
		m.length = len(m.committed)
		return
	}
	if _, was := m.Get(key); was != next.present {
		m.grow(next.present)
	}
	v := m.pending[key]
	if v == nil {
		v = &versions[K, V]{owner: m, key: key}
		v.list = v.one[:0]
		m.pending[key] = v
	}
	v.list = append(v.list, next)
	m.registry.changes = append(m.registry.changes, v)
}

func (m *Map[K, V]) commit(key K, v version[V]) {
	if v.present {
		m.committed[key] = v.value
	} else {
		delete(m.committed, key)
	}
}

// grow follows a change of the length by one.
func (m *Map[K, V]) grow(added bool) {
	if added {
		m.length++
	} else {
		m.length--
	}
}

func (v *versions[K, V]) commitOldest() {
	v.owner.commit(v.key, v.list[0])
	v.list[0] = version[V]{}
	v.list = v.list[1:]
	v.forgetIfSettled()
}

func (v *versions[K, V]) revertNewest() {
	last := len(v.list) - 1
	was := v.list[last].present
	v.list[last] = version[V]{}
	v.list = v.list[:last]
	v.forgetIfSettled()
	if _, is := v.owner.Get(v.key); is != was {
		v.owner.grow(is)
	}
}

// forgetIfSettled keeps invariant 2.
func (v *versions[K, V]) forgetIfSettled() {
	if len(v.list) == 0 {
		delete(v.owner.pending, v.key)
	}
}
