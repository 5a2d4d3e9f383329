package timeline

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// model keeps whole copies of the state: one per batch in flight.
type model struct {
	committed map[string]int
	batches   []modelBatch
	latest    map[string]int
}

type modelBatch struct {
	end   int64
	state map[string]int
}

func (m *model) commit(upTo int64) {
	for len(m.batches) > 0 && m.batches[0].end <= upTo {
		m.committed = m.batches[0].state
		m.batches = m.batches[1:]
	}
}

func (m *model) revert(to int64) {
	for len(m.batches) > 0 && m.batches[len(m.batches)-1].end > to {
		m.batches = m.batches[:len(m.batches)-1]
	}
	m.latest = maps.Clone(m.committed)
	if n := len(m.batches); n > 0 {
		m.latest = maps.Clone(m.batches[n-1].state)
	}
}

// TestMapsFollowAModel drives two maps of one registry, whose keys are "a…" and
// "b…" in the model.
func TestMapsFollowAModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := NewRegistry()
		both := map[string]*Map[string, int]{"a": NewMap[string, int](r), "b": NewMap[string, int](r)}
		m := model{committed: map[string]int{}, latest: map[string]int{}}
		end := int64(rapid.IntRange(0, 100).Draw(t, "start"))
		key := rapid.Custom(func(t *rapid.T) string {
			return rapid.SampledFrom([]string{"a", "b"}).Draw(t, "map") + fmt.Sprint(rapid.IntRange(0, 5).Draw(t, "key"))
		})
		aim := func(t *rapid.T) int64 { return end - int64(rapid.IntRange(-1, 12).Draw(t, "back")) }
		set := func(t *rapid.T) {
			k, v := key.Draw(t, "key"), rapid.IntRange(1, 99).Draw(t, "value")
			both[k[:1]].Set(k, v)
			m.latest[k] = v
		}
		t.Repeat(map[string]func(*rapid.T){
			"set":  set,
			"set2": set,
			"delete": func(t *rapid.T) {
				k := key.Draw(t, "key")
				both[k[:1]].Delete(k)
				delete(m.latest, k)
			},
			"mark": func(t *rapid.T) {
				end += int64(rapid.IntRange(1, 4).Draw(t, "records"))
				r.Mark(end)
				m.batches = append(m.batches, modelBatch{end, maps.Clone(m.latest)})
			},
			"commit": func(t *rapid.T) { to := aim(t); r.Commit(to); m.commit(to) },
			"revert": func(t *rapid.T) { to := aim(t); r.Revert(to); m.revert(to) },
			"direct": func(t *rapid.T) {
				r.Revert(-1)
				m.batches = nil
				m.revert(-1)
				r.Direct(true)
				set(t)
				m.committed = maps.Clone(m.latest)
				r.Direct(false)
			},
			"": func(t *rapid.T) { compare(t, both, &m) },
		})
		r.Mark(end + 1)
		r.Commit(end + 1)
		if r.InFlight() != 0 || len(both["a"].pending)+len(both["b"].pending) != 0 {
			t.Fatalf("something is in flight after all is committed")
		}
	})
}

func compare(t *rapid.T, both map[string]*Map[string, int], m *model) {
	latest, committed, length, lengthCommitted := map[string]int{}, map[string]int{}, 0, 0
	for _, half := range both {
		length += half.Len()
		lengthCommitted += half.LenCommitted()
		for k, v := range half.All() {
			if _, twice := latest[k]; twice {
				t.Fatalf("All gave %q twice", k)
			}
			latest[k] = v
		}
		maps.Insert(committed, half.AllCommitted())
	}
	if !maps.Equal(latest, m.latest) || !maps.Equal(committed, m.committed) {
		t.Fatalf("latest %v, committed %v; want %v, %v", latest, committed, m.latest, m.committed)
	}
	if length != len(m.latest) || lengthCommitted != len(m.committed) {
		t.Fatalf("lengths %d, %d; want %d, %d", length, lengthCommitted, len(m.latest), len(m.committed))
	}
	for i := range 6 {
		for name, half := range both {
			k := name + fmt.Sprint(i)
			got, ok := half.Get(k)
			if want, there := m.latest[k]; got != want || ok != there {
				t.Fatalf("Get(%q) = %d, %v; want %d, %v", k, got, ok, want, there)
			}
			got, ok = half.GetCommitted(k)
			if want, there := m.committed[k]; got != want || ok != there {
				t.Fatalf("GetCommitted(%q) = %d, %v; want %d, %v", k, got, ok, want, there)
			}
		}
	}
}

func TestRevertUndoesTheLaterBatchesOnly(t *testing.T) {
	r := NewRegistry()
	m := NewMap[string, string](r)
	m.Set("k", "first")
	r.Mark(1)
	m.Set("k", "second")
	m.Set("other", "x")
	r.Mark(3)
	m.Delete("k")

	r.Revert(3)
	if v, _ := m.Get("k"); v != "second" {
		t.Errorf("after the unmarked change is undone: %q", v)
	}
	r.Revert(2)
	if v, _ := m.Get("k"); v != "first" || m.Len() != 1 {
		t.Errorf("after the second batch is undone: %q, %d keys", v, m.Len())
	}
	if _, ok := m.GetCommitted("k"); ok {
		t.Error("an uncommitted key is among the committed")
	}
	r.Commit(1)
	r.Revert(0)
	if v, _ := m.GetCommitted("k"); v != "first" {
		t.Errorf("Revert touched what is committed: %q", v)
	}
}

func TestMapMayBeChangedWhileItIsIterated(t *testing.T) {
	r := NewRegistry()
	m := NewMap[int, int](r)
	for i := range 100 {
		m.Set(i, i)
		if i == 50 {
			r.Mark(1)
			r.Commit(1)
		}
	}
	seen := map[int]int{}
	for k := range m.All() {
		seen[k]++
		m.Delete(k)
		m.Set(k+1000, k) // may be visited or not
		if k >= 1000 {
			m.Delete(k + 1000)
		}
	}
	for i := range 100 {
		if seen[i] != 1 {
			t.Fatalf("key %d was visited %d times", i, seen[i])
		}
	}
}

func TestMarksMustGrow(t *testing.T) {
	r := NewRegistry()
	r.Mark(5)
	defer func() {
		if recover() == nil {
			t.Error("a second mark at the same end was taken")
		}
	}()
	r.Mark(5)
}

func TestLogGivesBackTheMemoryOfABurst(t *testing.T) {
	r := NewRegistry()
	m := NewMap[int, int](r)
	for i := range 10_000 {
		m.Set(i, i)
	}
	r.Mark(1)
	r.Commit(1)
	if cap(r.changes) > keepLog || len(m.pending) != 0 {
		t.Errorf("after the commit the log holds room for %d changes, %d keys are pending", cap(r.changes), len(m.pending))
	}
	if keys := slices.Collect(maps.Keys(maps.Collect(m.AllCommitted()))); len(keys) != 10_000 {
		t.Errorf("%d keys are committed", len(keys))
	}
}

func BenchmarkSetCommit(b *testing.B) {
	r := NewRegistry()
	m := NewMap[int, int](r)
	b.ReportAllocs()
	for i := range b.N {
		m.Set(i%1000, i)
		r.Mark(int64(i + 1))
		r.Commit(int64(i + 1))
	}
}

func BenchmarkSetDirect(b *testing.B) {
	r := NewRegistry()
	m := NewMap[int, int](r)
	r.Direct(true)
	b.ReportAllocs()
	for i := range b.N {
		m.Set(i%1000, i)
	}
}
