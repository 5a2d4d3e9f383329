package lag

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestFitIsTheBeginningOfTheOrder holds Fit against a sort: of the groups with
// members as many as fit, then of the others as many as fit beside them.
func TestFitIsTheBeginningOfTheOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.IntRange(1, 6), 0, 30).Draw(t, "sizes")
		groups := make([]Holding, len(sizes))
		for i, n := range sizes {
			groups[i] = Holding{Group: fmt.Sprint("g", i), Partitions: n, Members: rapid.Bool().Draw(t, "members")}
		}
		limit := rapid.IntRange(0, 60).Draw(t, "limit")
		taken, left := Fit(slices.Values(groups), limit)

		sorted := slices.Clone(groups)
		slices.SortFunc(sorted, func(a, b Holding) int {
			return cmp.Or(cmp.Compare(a.Partitions, b.Partitions), cmp.Compare(a.Group, b.Group))
		})
		var want []Holding
		room, wantLeft := limit, 0
		for _, members := range []bool{true, false} {
			full := false
			for _, g := range sorted {
				switch {
				case g.Members != members:
				case full || g.Partitions > room:
					full, wantLeft = true, wantLeft+g.Partitions
				default:
					want, room = append(want, g), room-g.Partitions
				}
			}
		}
		byName := func(a, b Holding) int { return cmp.Compare(a.Group, b.Group) }
		slices.SortFunc(want, byName)
		slices.SortFunc(taken, byName)
		if !slices.Equal(taken, want) || left != wantLeft {
			t.Fatalf("of %v with room for %d: %v, %d left; want %v, %d left", groups, limit, taken, left, want, wantLeft)
		}
	})
}
