package main

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"barnabas/bench/table"
)

func TestQuickRunsShareOneLife(t *testing.T) {
	names := func(groups [][]workload) (s []string) {
		for _, g := range groups {
			var in []string
			for _, w := range g {
				in = append(in, w.name)
			}
			s = append(s, strings.Join(in, "+"))
		}
		return s
	}
	ws := []workload{{name: "a"}, {name: "b", shares: true}, {name: "c", shares: true}, {name: "d"}, {name: "e", shares: true}}
	if got := names(groups(ws, true)); !slices.Equal(got, []string{"a", "b+c+e", "d"}) {
		t.Error(got)
	}
	if got := names(groups(ws, false)); !slices.Equal(got, []string{"a", "b", "c", "d", "e"}) {
		t.Error(got)
	}
}

func TestOnlyChoosesByBeginning(t *testing.T) {
	var names []string
	for _, w := range choose("swap-k,produce-16k") {
		names = append(names, w.name)
	}
	if !slices.Equal(names, []string{"produce-16k-acks1", "produce-16k-all", "swap-killed"}) {
		t.Error(names)
	}
	if n := len(choose("")); n != len(workloads()) {
		t.Errorf("%d of %d workloads without -only", n, len(workloads()))
	}
}

func TestGoldenFoldersAreThere(t *testing.T) {
	for _, variant := range []swap{"clean", "killed"} {
		if n, err := variant.partitions(); err != nil || n < 10 {
			t.Errorf("%s: %d partitions, %v", variant, n, err)
		}
	}
}

// TestEachPairGoesToTheTable runs workloads that need no server.
func TestEachPairGoesToTheTable(t *testing.T) {
	var order []string
	fake := func(name string, value map[string]float64) workload {
		return workload{name: name, run: func(s *side) (outcome, error) {
			order = append(order, name+" "+s.name)
			return outcome{readings: []reading{{what: "it", unit: "u", value: value[s.name]}}}, nil
		}}
	}
	both := [2]*side{{name: "A"}, {name: "B"}}
	ws := []workload{fake("one", map[string]float64{"A": 4, "B": 2}), fake("two", map[string]float64{"A": 1, "B": 3})}
	results := table.Table{Theirs: "A", Ours: "B"}
	if err := runPairs(context.Background(), flags{pairs: 2}, both, ws, &results); err != nil {
		t.Fatal(err)
	}
	want := []string{"one A", "one B", "two A", "two B", "one A", "one B", "two A", "two B"}
	if !slices.Equal(order, want) {
		t.Error(order)
	}
	var out bytes.Buffer
	if err := results.Print(&out); err != nil {
		t.Fatal(err)
	}
	for _, cells := range []string{"| one      | it   | 4.00 | 2.00 | 0.50  |", "| two      | it   | 1.00 | 3.00 | 3.00  |"} {
		if !strings.Contains(out.String(), cells) {
			t.Errorf("no %q in\n%s", cells, out.String())
		}
	}
}
