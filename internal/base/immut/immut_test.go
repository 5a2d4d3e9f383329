package immut

import (
	"cmp"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// checkTree holds the tree against invariants 2 and 3.
func checkTree(t interface{ Fatalf(string, ...any) }, m Map[int, int]) {
	if m.root == nil {
		return
	}
	depth := -1
	var visit func(n *node[int, int], level int, low, high *int)
	visit = func(n *node[int, int], level int, low, high *int) {
		if len(n.keys) == 0 || len(n.keys) > fanout {
			t.Fatalf("a node of %d keys", len(n.keys))
		}
		for i, k := range n.keys {
			if i > 0 && n.keys[i-1] >= k || low != nil && k < *low || high != nil && k >= *high {
				t.Fatalf("key %d is out of order", k)
			}
		}
		if n.leaf() {
			if depth < 0 {
				depth = level
			}
			if depth != level || len(n.vals) != len(n.keys) {
				t.Fatalf("a leaf at depth %d with %d values", level, len(n.vals))
			}
			return
		}
		if len(n.kids) != len(n.keys) {
			t.Fatalf("%d children for %d keys", len(n.kids), len(n.keys))
		}
		for i, kid := range n.kids {
			lower, upper := &n.keys[i], high
			if i == 0 {
				lower = low
			}
			if i+1 < len(n.keys) {
				upper = &n.keys[i+1]
			}
			visit(kid, level+1, lower, upper)
		}
	}
	visit(m.root, 0, nil, nil)
}

// checkContent holds m against a plain map.
func checkContent(t interface{ Fatalf(string, ...any) }, m Map[int, int], want map[int]int) {
	if m.Len() != len(want) {
		t.Fatalf("%d keys, want %d", m.Len(), len(want))
	}
	keys := slices.Sorted(maps.Keys(want))
	if got := slices.Collect(m.Keys()); !slices.Equal(got, keys) {
		t.Fatalf("keys %v, want %v", got, keys)
	}
	for k, v := range want {
		if got, ok := m.Get(k); !ok || got != v {
			t.Fatalf("key %d is %d, %v, want %d", k, got, ok, v)
		}
	}
}

// TestCopiesStayAsTheyWere changes a map at random, keeps copies on the way, and
// holds all of them against plain maps at the end.
func TestCopiesStayAsTheyWere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, want := New[int, int](cmp.Compare[int]), map[int]int{}
		o := NewOwner()
		type copied struct {
			m    Map[int, int]
			want map[int]int
		}
		var copies []copied
		space := rapid.SampledFrom([]int{20, 200, 3000}).Draw(t, "space")
		for range rapid.IntRange(0, 1500).Draw(t, "steps") {
			k := rapid.IntRange(0, space).Draw(t, "key")
			switch op := rapid.IntRange(0, 9).Draw(t, "op"); {
			case op < 6:
				m.Set(o, k, op)
				want[k] = op
			case op < 9:
				_, there := want[k]
				if m.Delete(o, k) != there {
					t.Fatalf("delete of %d", k)
				}
				delete(want, k)
			default:
				copies = append(copies, copied{m, maps.Clone(want)})
				o = NewOwner()
			}
		}
		copies = append(copies, copied{m, want})
		for _, c := range copies {
			checkTree(t, c.m)
			checkContent(t, c.m, c.want)
		}
	})
}

// TestLargeMapInAnyOrder grows and shrinks a map in orders that reach every edge of
// the tree.
func TestLargeMapInAnyOrder(t *testing.T) {
	const n = 5000
	for name, order := range map[string]func(i int) int{
		"ascending":  func(i int) int { return i },
		"descending": func(i int) int { return n - i },
		"scattered":  func(i int) int { return i * 7919 % n },
		"inwards":    func(i int) int { return i * (1 - i%2*2) },
	} {
		m, want, o := New[int, int](cmp.Compare[int]), map[int]int{}, NewOwner()
		for i := range n {
			m.Set(o, order(i), i)
			want[order(i)] = i
			if i%97 == 0 {
				checkTree(t, m)
			}
		}
		full, all := m, maps.Clone(want)
		o = NewOwner()
		for i := range n {
			k := order(i * 3 % n)
			m.Delete(o, k)
			delete(want, k)
			if i%97 == 0 {
				checkTree(t, m)
				checkContent(t, m, want)
			}
		}
		if m.Len() != 0 || m.root != nil {
			t.Errorf("%s: %d keys are left", name, m.Len())
		}
		checkTree(t, full)
		checkContent(t, full, all)
	}
}

func TestFromBeginsAtTheKeyOrBehindIt(t *testing.T) {
	m, o := New[int, int](cmp.Compare[int]), NewOwner()
	for i := range 1000 {
		m.Set(o, i*2, i)
	}
	for _, from := range []int{-5, 0, 1, 63, 64, 1997, 1998, 1999} {
		var got []int
		for k := range m.From(from) {
			got = append(got, k)
		}
		first := max(0, (from+1)/2)
		if len(got) != 1000-first || len(got) > 0 && got[0] != first*2 {
			t.Errorf("from %d: %d keys", from, len(got))
		}
	}
	n := 0
	for range m.From(10) {
		if n++; n == 3 {
			break
		}
	}
	for range m.All() {
		if n++; n == 6 {
			break
		}
	}
	for range m.Values() {
		if n++; n == 9 {
			break
		}
	}
	if n != 9 {
		t.Errorf("%d steps", n)
	}
}

func TestZeroMapCanBeRead(t *testing.T) {
	var m Map[int, int]
	if _, ok := m.Get(1); ok || m.Len() != 0 {
		t.Error("a key")
	}
	for range m.All() {
		t.Error("an entry")
	}
	for range m.From(1) {
		t.Error("an entry")
	}
}

func BenchmarkSetOneOf200000(b *testing.B) {
	m, o := New[int, int](cmp.Compare[int]), NewOwner()
	for i := range 200_000 {
		m.Set(o, i, i)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		c := m
		c.Set(NewOwner(), i*7919%200_000, i)
	}
}

func BenchmarkGetOneOf200000(b *testing.B) {
	m, o := New[int, int](cmp.Compare[int]), NewOwner()
	for i := range 200_000 {
		m.Set(o, i, i)
	}
	for i := 0; b.Loop(); i++ {
		m.Get(i * 7919 % 200_000)
	}
}
